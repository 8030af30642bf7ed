package git

import (
	"fmt"

	git2 "github.com/libgit2/git2go/v34"
)

// Union writes the tree that holds every file of two trees. Where both have something else
// under a name, and not two folders, the first one's counts. Folders deeper than depth are
// taken whole from the first that has them.
func (r *Repo) Union(first, second OID, depth int) (OID, error) {
	if first == second {
		return first, nil
	}
	a, err := r.lookupTree(first)
	if err != nil {
		return "", err
	}
	defer a.Free()
	b, err := r.lookupTree(second)
	if err != nil {
		return "", err
	}
	defer b.Free()
	builder, err := r.r.TreeBuilderFromTree(a)
	if err != nil {
		return "", fmt.Errorf("git: unite trees %s and %s: %w", first, second, err)
	}
	defer builder.Free()
	for i := range b.EntryCount() {
		if err := r.unite(builder, a, b.EntryByIndex(i), depth); err != nil {
			return "", fmt.Errorf("git: unite trees %s and %s: %w", first, second, err)
		}
	}
	id, err := builder.Write()
	if err != nil {
		return "", fmt.Errorf("git: unite trees %s and %s: %w", first, second, err)
	}
	return fromOid(id), nil
}

// unite adds one entry of the second tree.
func (r *Repo) unite(builder *git2.TreeBuilder, first *git2.Tree, e *git2.TreeEntry, depth int) error {
	old := first.EntryByName(e.Name)
	switch {
	case old == nil:
		return builder.Insert(e.Name, e.Id, e.Filemode)
	case old.Type != git2.ObjectTree || e.Type != git2.ObjectTree || depth == 0:
		return nil
	}
	sub, err := r.Union(fromOid(old.Id), fromOid(e.Id), depth-1)
	if err != nil {
		return err
	}
	id, err := toOid(sub)
	if err != nil {
		return err
	}
	return builder.Insert(e.Name, id, git2.FilemodeTree)
}
