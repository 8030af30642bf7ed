package git

import (
	"context"
	"fmt"
	"strings"
)

// Verdict is what git says of a commit's signature by the keys that it knows: gpg.ssh.allowedSignersFile, or a keyring.
type Verdict struct {
	Letter string // as of "%G?" in "git log": G good, U good of an unknown key, B bad, R of a revoked key, X and Y expired, E of a key that is not here, N none
	Signer string // as of "%GS": principals, or a user ID; "" where none is known
}

// Verdicts asks git about signed commits, some 10 ms each.
func (r *Repo) Verdicts(ctx context.Context, ids []OID) (map[OID]Verdict, error) {
	out := map[OID]Verdict{}
	if len(ids) == 0 {
		return out, nil
	}
	cmd := r.Command(ctx, "-c", "log.showSignature=false", "log", "--no-walk=unsorted", "--stdin", "--format=%H%x00%G?%x00%GS")
	var asked strings.Builder
	for _, id := range ids {
		fmt.Fprintln(&asked, id)
	}
	cmd.Stdin = strings.NewReader(asked.String())
	said, err := runGit(ctx, cmd, lastLine)
	if err != nil {
		return nil, fmt.Errorf("git: read signatures: %w", err)
	}
	for line := range strings.Lines(said) {
		if f := strings.SplitN(strings.TrimSuffix(line, "\n"), "\x00", 3); len(f) == 3 {
			out[OID(f[0])] = Verdict{Letter: f[1], Signer: f[2]}
		}
	}
	return out, nil
}
