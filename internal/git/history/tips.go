package history

import (
	"maps"
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
func BranchWith(r *git.Repo, id git.OID) string {
	for _, kind := range []string{"refs/heads/", "refs/remotes/"} {
		refs, _ := r.Refs(kind + "*") // without them there is none
		for _, ref := range slices.Sorted(maps.Keys(refs)) {
			if leads, err := r.IsAncestor(id, refs[ref]); (leads && err == nil || id == refs[ref]) && !isWithoutCode(ref) {
				return strings.TrimPrefix(ref, kind)
			}
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
