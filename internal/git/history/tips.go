package history

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/git"
)

// branchesWithoutCode are how branches begin that hold no code: ledgers, and what Entire keeps.
var branchesWithoutCode = [...]string{"rekal/", "entire/"} //nolint:gochecknoglobals // a table

// Tips are the commits of HEAD, here and in other worktrees, of branches, here and as remotes were last seen, and of tags: the code.
func Tips(r *git.Repo) ([]git.OID, error) {
	tips := r.Heads()
	refs, err := r.Refs("refs/heads/*", "refs/remotes/*", "refs/tags/*")
	if err != nil {
		return nil, err
	}
	for name, id := range refs {
		if isWithoutCode(name) {
			continue
		}
		if _, err := r.Commit(id); err != nil {
			if id, err = r.Resolve(name + "^{commit}"); err != nil {
				continue // of a tree, or of what is not here
			}
		}
		tips = append(tips, id)
	}
	slices.Sort(tips)
	return slices.Compact(tips), nil
}

// isWithoutCode reports whether a ref is a branch that holds no code.
func isWithoutCode(ref string) bool {
	branch, is := strings.CutPrefix(ref, "refs/heads/")
	if rest, remote := strings.CutPrefix(ref, "refs/remotes/"); remote {
		_, branch, is = strings.Cut(rest, "/")
	}
	return is && slices.ContainsFunc(branchesWithoutCode[:], func(begin string) bool { return strings.HasPrefix(branch, begin) })
}

// maxSearched is how many commits are looked through for some; beyond it they count as found.
const maxSearched = 2000

// Unreached are those of some commits to which no tip leads: what was thrown away, or belongs to no code. They must be here. Only the newest
// commits of the history are looked through.
func Unreached(ctx context.Context, r *git.Repo, ids []git.OID) (map[git.OID]bool, error) {
	out := map[git.OID]bool{}
	var oldest time.Time
	for _, id := range ids {
		if c, err := r.Commit(id); err == nil {
			if out[id] = true; oldest.IsZero() || c.Committer.When.Before(oldest) {
				oldest = c.Committer.When
			}
		}
	}
	if len(out) == 0 {
		return out, nil
	}
	for _, all := range []bool{false, true} { // there may be thousands of branches
		from, err, n := r.Heads(), error(nil), 0
		if all {
			from, err = Tips(r)
		}
		if err != nil {
			return nil, err
		}
		for c, err := range r.Newest(ctx, from, nil) {
			if err != nil || n == maxSearched { // a gap in the history, or a long one
				return nil, ctx.Err()
			}
			n++
			if delete(out, c.OID); len(out) == 0 {
				return nil, nil
			}
			if c.Committer.When.Before(oldest.Add(-clockSkew)) {
				break
			}
		}
	}
	return out, ctx.Err()
}

// clockSkew is by how much the clocks of two machines may differ.
const clockSkew = 24 * time.Hour
