package git

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// Verdict is what git says of a commit's signature by the keys that it knows: gpg.ssh.allowedSignersFile, or a keyring.
type Verdict struct {
	Letter string // as of "%G?" in "git log": G good, U good of an unknown key, B bad, R of a revoked key, X and Y expired, E of a key that is not here, or not looked at, N none
	Signer string // as of "%GS": principals, or a user ID; "" where none is known
}

// perGit is how many signatures are worth another process: each takes git some 10 ms.
const perGit = 20

// Verdicts asks git about signed commits, as many gits at a time as there are cores.
func (r *Repo) Verdicts(ctx context.Context, ids []OID) (map[OID]Verdict, error) {
	gits := min(runtime.GOMAXPROCS(0), 1+len(ids)/perGit)
	said, failed := make([]string, gits), make([]error, gits)
	var beside sync.WaitGroup
	for i, some := range slices.Collect(slices.Chunk(ids, max(1, (len(ids)+gits-1)/gits))) {
		var asked strings.Builder
		for _, id := range some {
			fmt.Fprintln(&asked, id)
		}
		cmd := r.Command(ctx, "--no-replace-objects", "-c", "log.showSignature=false", "log", "--no-walk=unsorted", "--stdin", "--format=%H%x00%G?%x00%GS%x00%GG%x00")
		cmd.Stdin = strings.NewReader(asked.String())
		beside.Go(func() { said[i], failed[i] = runGit(ctx, cmd, lastLine) })
	}
	beside.Wait()
	if err := cmp.Or(failed...); err != nil {
		return nil, fmt.Errorf("git: read signatures: %w", err)
	}
	out := make(map[OID]Verdict, len(ids))
	for f := range slices.Chunk(strings.Split(strings.Join(said, ""), "\x00"), 4) {
		if len(f) < 4 {
			break // the end of the last line
		}
		v := Verdict{Letter: f[1], Signer: f[2]}
		if v.Letter == "B" && f[3] == "" { // nothing was said of the signature: the program that looks at it did not run
			v.Letter = "E"
		}
		out[OID(strings.TrimSpace(f[0]))] = v
	}
	return out, nil
}
