package history

import (
	"context"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/git"
)

// branchesWithoutCode are how branches begin that hold no code: ledgers, and what Entire keeps.
var branchesWithoutCode = [...]string{"rekal/", "entire/"} //nolint:gochecknoglobals // a table

// Tips are the commits of HEAD, here and in other worktrees, of branches, here and as remotes were last seen, and of
// tags: the code.
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

// BranchWith is the name of a branch that leads to a commit: one of this clone, else one of a remote; "" for none.
func BranchWith(ctx context.Context, r *git.Repo, id git.OID) string {
	refs, _ := r.Run(ctx, "for-each-ref", "--contains="+string(id), "--format=%(refname) %(symref)",
		"refs/heads", "refs/remotes") // without them there is none
	for line := range strings.Lines(refs) {
		if ref := strings.Fields(line); len(ref) == 1 && !isWithoutCode(ref[0]) {
			return strings.SplitN(ref[0], "/", 3)[2]
		}
	}
	return ""
}

// isWithoutCode reports whether a ref is a branch that holds no code.
func isWithoutCode(ref string) bool {
	branch, is := strings.CutPrefix(ref, "refs/heads/")
	if rest, remote := strings.CutPrefix(ref, "refs/remotes/"); remote {
		_, branch, is = strings.Cut(rest, "/")
	}
	return is && slices.ContainsFunc(branchesWithoutCode[:],
		func(begin string) bool { return strings.HasPrefix(branch, begin) })
}
