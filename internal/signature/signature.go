// Package signature signs a commit's bytes as git would with the user's own settings: commit.gpgSign, gpg.format,
// user.signingKey and the programs that they name. rekal.sign says otherwise for the ledger alone.
//
// In: git's configuration, who signs, and the bytes. Out: an armored signature for the commit's header. A quiet signer
// never asks for a passphrase, shows no window and ends after a second; whoever signs by hand may be asked. It keeps no
// key, and writes one temporary file where the configuration holds a public key instead of a path.
package signature

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// patience is how long a quiet signer waits: an agent with an unlocked key answers in some 10 ms, a security key waits
// to be touched.
const patience = time.Second

// ErrNoKey is a configuration that wants signatures and names no key.
var ErrNoKey = errors.New(`signature: no key: set user.signingKey, or "git config rekal.sign false"`)

// Signer signs for one person.
type Signer struct {
	// Quiet is for a process that nobody sits at.
	Quiet  bool
	Stderr io.Writer // of who signs by hand: what the programs say; nil: nobody looks

	format, key, program, keyCommand string
	home                             string
	env                              []string
	failed                           error
}

// NewSigner is the signer that a configuration asks for; nil where nothing is to be signed. committer is, "Name
// <email>".
func NewSigner(conf map[string][]string, wanted bool, committer, home string, env []string) *Signer {
	if !wanted {
		return nil
	}
	last := func(key string) string {
		if all := conf[key]; len(all) > 0 {
			return all[len(all)-1]
		}
		return ""
	}
	s := &Signer{format: cmp.Or(last("gpg.format"), "openpgp"), key: last("user.signingkey"), home: home, env: env}
	switch s.format {
	case "ssh":
		s.program, s.keyCommand = cmp.Or(last("gpg.ssh.program"), "ssh-keygen"), last("gpg.ssh.defaultkeycommand")
	case "x509":
		s.program, s.key = cmp.Or(last("gpg.x509.program"), "gpgsm"), cmp.Or(s.key, committer)
	default:
		s.program, s.key = cmp.Or(last("gpg.openpgp.program"), last("gpg.program"), "gpg"), cmp.Or(s.key, committer)
	}
	return s
}

// Sign signs some bytes. After an error it gives the same one again, without another try: what kept it won't be better
// at the next commit.
func (s *Signer) Sign(ctx context.Context, payload []byte) ([]byte, error) {
	if s.failed != nil {
		return nil, s.failed
	}
	if s.Quiet {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, patience)
		defer stop()
	}
	signed, err := s.sign(ctx, payload)
	if err == nil && !bytes.HasPrefix(signed, []byte("-----BEGIN ")) {
		err = fmt.Errorf("%s gave no signature", s.program)
	}
	if err != nil {
		s.failed = fmt.Errorf("signature: %w", err)
		return nil, s.failed
	}
	return signed, nil
}

// Failure is what kept Sign from signing; nil where nothing did.
func (s *Signer) Failure() error { return s.failed }

func (s *Signer) sign(ctx context.Context, payload []byte) ([]byte, error) {
	if s.format == "ssh" {
		return s.signSSH(ctx, payload)
	}
	args := []string{"-bsau", s.key}
	if s.Quiet {
		args = append([]string{"--batch", "--no-tty", "--pinentry-mode=error"}, args...)
	}
	return s.run(ctx, payload, s.program, args...)
}

// signSSH signs with ssh-keygen, whose key is a file, or one that the agent holds.
func (s *Signer) signSSH(ctx context.Context, payload []byte) ([]byte, error) {
	key, err := s.sshKey(ctx)
	if err != nil {
		return nil, err
	}
	args := []string{"-Y", "sign", "-n", "git"}
	if literal, ok := keyInConfig(key); ok {
		dir, err := os.MkdirTemp("", "git-rekal-")
		if err != nil {
			return nil, err
		}
		defer func() { _ = os.RemoveAll(dir) }() // it holds a public key
		if key = filepath.Join(dir, "key.pub"); os.WriteFile(key, []byte(literal+"\n"), 0o600) != nil {
			return nil, fmt.Errorf("no room for a file in %s", dir)
		}
		args = append(args, "-U")
	} else if rest, ok := strings.CutPrefix(key, "~/"); ok {
		key = filepath.Join(s.home, rest)
	}
	return s.run(ctx, payload, s.program, append(args, "-f", key)...)
}

// sshKey is the key to sign with, as git finds it: configured, or the first that a command prints.
func (s *Signer) sshKey(ctx context.Context) (string, error) {
	if s.key != "" || s.keyCommand == "" {
		if s.key == "" {
			return "", ErrNoKey
		}
		return s.key, nil
	}
	out, err := s.run(ctx, nil, "sh", "-c", s.keyCommand)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(out)) {
		if _, ok := keyInConfig(strings.TrimSpace(line)); ok {
			return strings.TrimSpace(line), nil
		}
	}
	return "", ErrNoKey
}

// keyInConfig is a public key that stands in the configuration itself.
func keyInConfig(key string) (string, bool) {
	if rest, ok := strings.CutPrefix(key, "key::"); ok {
		return rest, true
	}
	return key, strings.HasPrefix(key, "ssh-")
}

// run runs a program. A quiet one has no terminal, and no other way to ask.
func (s *Signer) run(ctx context.Context, stdin []byte, program string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env, cmd.WaitDelay = s.env, 100*time.Millisecond
	cmd.Stdin = bytes.NewReader(stdin)
	var said bytes.Buffer
	cmd.Stderr = &said
	if s.Quiet {
		cmd.Env = append(cmd.Env[:len(cmd.Env):len(cmd.Env)], "SSH_ASKPASS=false", "SSH_ASKPASS_REQUIRE=force", "DISPLAY=",
			"WAYLAND_DISPLAY=")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // its helpers, too
	} else if s.Stderr != nil {
		cmd.Stderr = io.MultiWriter(forPerson{s.Stderr}, &said)
	}
	out, err := cmd.Output()
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%s did not answer within %s", filepath.Base(program), patience)
	case err != nil:
		line, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n")
		return nil, fmt.Errorf("%s: %s", filepath.Base(program), cmp.Or(line, err.Error()))
	}
	return out, nil
}

// forPerson passes on what a program says to a person: to touch a security key, for example. What ssh-keygen says
// before each signature is no news.
type forPerson struct{ io.Writer }

func (w forPerson) Write(text []byte) (int, error) {
	if string(text) == "Signing data on standard input\n" {
		return len(text), nil
	}
	return w.Writer.Write(text)
}
