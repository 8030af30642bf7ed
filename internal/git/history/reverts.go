package history

import (
	"context"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/lazy"
)

// RevertOf matches what `git revert` writes into a message.
var RevertOf = lazy.Expr(`(?m)^This reverts commit ([0-9a-f]{40,64})`)

// maxForReverts is how many commits are read for reverts.
const maxForReverts = 3000

// Reverted are the commits that a later one on the current branch took back, and that nothing brought back since: what took them back, by their OIDs.
func Reverted(ctx context.Context, r *git.Repo) (map[git.OID]git.Commit, error) {
	head, err := r.Resolve("HEAD")
	if err != nil { // there is no commit
		return nil, ctx.Err()
	}
	by, n := map[git.OID]git.Commit{}, 0
	for c, err := range r.Newest(ctx, []git.OID{head}, nil) {
		if err != nil || n == maxForReverts {
			break
		}
		n++
		if m := RevertOf.FindStringSubmatch(c.Message); m != nil {
			if _, undone := by[c.OID]; !undone { // the newest comes first
				by[git.OID(m[1])] = c
			}
		}
	}
	return by, ctx.Err()
}
