package git

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// Verdict is what git says of a commit's signature by the keys that it knows: gpg.ssh.allowedSignersFile, or a keyring.
type Verdict struct {
	// as of "%G?" in "git log": G good, U good of an unknown key, B bad, R of a revoked key, X and Y expired, E of a key
	// that is not here, or not looked at, N none
	Letter string
	// as of "%GS": principals, or a user ID; of a certificate the addresses in it, as principals; "" where none is known
	Signer string
}

// perGit is how many signatures are worth another process: each takes git some 10 ms.
const perGit = 20

// Verdicts asks git about signed commits. sameForKey says that all signatures of one ssh key are worth the same, if
// they fit: where no key holds for a time only. Then git is asked once for each key of the common kind, and whether its
// other signatures fit is worked out here: ssh-keygen takes 10 ms for each.
func (r *Repo) Verdicts(ctx context.Context, ids []OID, sameForKey bool) (map[OID]Verdict, error) {
	byKey := map[string][]OID{}
	unreadable := map[OID]Verdict{}
	var asked, left []OID
	for _, id := range ids {
		raw, err := r.read(id, kindCommit)
		if err != nil {
			return nil, err
		}
		key := ""
		payload, signature, n := r.format.splitSigned(string(raw))
		switch {
		case signature != "" && !slices.ContainsFunc(signatureArmors(),
			func(begin string) bool { return strings.HasPrefix(signature, begin) }):
			unreadable[id] = Verdict{Letter: "B"}
			continue
		case sameForKey && n == 1:
			key = sshKey(payload, signature)
		}
		if key == "" || byKey[key] == nil {
			asked = append(asked, id)
		}
		if key != "" {
			byKey[key] = append(byKey[key], id)
		}
	}
	out, err := r.askVerdicts(ctx, asked)
	if err != nil {
		return nil, err
	}
	for _, of := range byKey {
		first := out[of[0]]
		for _, id := range of[1:] {
			if first.Letter == "G" || first.Letter == "U" {
				out[id] = first
			} else { // git looks closer
				left = append(left, id)
			}
		}
	}
	more, err := r.askVerdicts(ctx, left)
	maps.Copy(out, more)
	maps.Copy(out, unreadable)
	return out, err
}

// signatureArmors is how signatures begin that git knows (gpg-interface.c); at another one it dies.
func signatureArmors() []string {
	return []string{
		"-----BEGIN PGP SIGNATURE-----", "-----BEGIN PGP MESSAGE-----", "-----BEGIN SIGNED MESSAGE-----",
		"-----BEGIN SSH SIGNATURE-----",
	}
}

// maxBrokenPipes is how often git is asked that dies, as it may when a program that looks at a signature ends before
// git wrote it all (2.39).
const maxBrokenPipes = 5

func isBrokenPipe(done *exec.Cmd) bool {
	if done.ProcessState == nil { // it did not start
		return false
	}
	status, ok := done.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGPIPE
}

// askVerdicts asks as many gits at a time as there are cores.
func (r *Repo) askVerdicts(ctx context.Context, ids []OID) (map[OID]Verdict, error) {
	gits := min(runtime.GOMAXPROCS(0), 1+len(ids)/perGit)
	programs, err := r.usersSigningPrograms(ctx)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	said, failed := make([]string, gits), make([]error, gits)
	var beside sync.WaitGroup
	for i, some := range slices.Collect(slices.Chunk(ids, max(1, (len(ids)+gits-1)/gits))) {
		var asked strings.Builder
		for _, id := range some {
			fmt.Fprintln(&asked, id)
		}
		beside.Go(func() {
			for range maxBrokenPipes {
				cmd := r.Command(ctx, slices.Concat(programs, []string{
					"--no-replace-objects", "-c", "log.showSignature=false", "log", "--no-walk=unsorted", "--stdin",
					"--format=%H%x00%G?%x00%GS%x00%GG%x00%GF%x00",
				})...)
				cmd.Dir = cmp.Or(r.layout.WorkTree, cmd.Dir) // where relative paths of settings begin
				cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
				// the programs that it starts, too
				cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
				cmd.Stdin = strings.NewReader(asked.String())
				if said[i], failed[i] = runGit(ctx, cmd, lastLine); !isBrokenPipe(cmd) {
					return
				}
			}
		})
	}
	beside.Wait()
	if err := cmp.Or(failed...); err != nil {
		return nil, fmt.Errorf("git: read signatures: %w", err)
	}
	out := make(map[OID]Verdict, len(ids))
	certified := map[string]string{}
	for f := range slices.Chunk(strings.Split(strings.Join(said, ""), "\x00"), 5) {
		if len(f) < 5 {
			break // the end of the last line
		}
		v := Verdict{Letter: f[1], Signer: f[2]}
		if v.Letter == "B" && f[3] == "" { // nothing was said of the signature: the program that looks at it did not run
			v.Letter = "E"
		}
		// the name of a certificate, which need not have an address and may look like a user ID
		if strings.HasPrefix(v.Signer, "/") {
			addresses, ok := certified[f[4]]
			if !ok {
				addresses = r.certifiedAddresses(ctx, f[4])
				certified[f[4]] = addresses
			}
			if v.Signer = addresses; v.Signer == "" && v.Letter == "G" {
				v.Letter = "U"
			}
		}
		out[OID(strings.TrimSpace(f[0]))] = v
	}
	return out, nil
}

// usersSigningPrograms are options that name the programs by which git looks at signatures as the user's and the
// system's configuration do, where the repository's own is not trusted.
func (r *Repo) usersSigningPrograms(ctx context.Context) (options []string, err error) {
	if r.IsTrusted() {
		return nil, nil
	}
	own, err := OwnSettings(ctx, r.dir, r.env, `^gpg\.([a-z0-9]+\.)?program$`)
	for _, program := range [][2]string{
		{"gpg.program", "gpg"},
		{"gpg.openpgp.program", ""},
		{"gpg.x509.program", "gpgsm"},
		{"gpg.ssh.program", "ssh-keygen"},
	} {
		path := program[1]
		if program[0] == "gpg.openpgp.program" { // the other name of the first
			path = strings.TrimPrefix(options[1], "gpg.program=")
		}
		if said := own[program[0]]; len(said) > 0 {
			path = said[len(said)-1]
		}
		options = append(options, "-c", program[0]+"="+path)
	}
	return options, err
}

// certifiedAddresses are the addresses in a certificate, by its fingerprint, with commas between them; "" where gpgsm
// is not here, or does not know it.
func (r *Repo) certifiedAddresses(ctx context.Context, fingerprint string) string {
	cmd := exec.CommandContext(ctx, "gpgsm", "--batch", "--with-colons", "--list-keys", fingerprint)
	cmd.Env, cmd.WaitDelay = r.env, stopGrace
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	var all []string
	for line := range strings.Lines(string(out)) {
		f := strings.Split(line, ":")
		if f[0] != "uid" || len(f) < 10 {
			continue
		}
		// it is no pattern of principals
		if address, ok := strings.CutPrefix(strings.TrimSuffix(f[9], ">"), "<"); ok &&
			!strings.ContainsAny(address, `*?[\,`) {
			all = append(all, address)
		}
	}
	return strings.Join(all, ",")
}
