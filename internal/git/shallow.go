package git

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"

	git2 "github.com/libgit2/git2go/v34"
)

// walkShallow is walk in a clone whose history was cut. libgit2 1.5 does not know where,
// and its own walk fails at the first parent that is not here. Such a history is short, so
// it is read whole before the first commit is handed out.
func (r *Repo) walkShallow(tips, hide []OID, order git2.SortType) iter.Seq2[Commit, error] {
	return func(yield func(Commit, error) bool) {
		commits, err := r.between(tips, hide)
		if err != nil {
			yield(Commit{}, fmt.Errorf("git: walk: %w", err))
			return
		}
		if order&git2.SortTopological == 0 {
			slices.SortStableFunc(commits, func(a, b Commit) int {
				return cmp.Or(b.Committer.When.Compare(a.Committer.When), cmp.Compare(a.OID, b.OID))
			})
		}
		for _, c := range commits {
			if !yield(c, nil) {
				return
			}
		}
	}
}

func (r *Repo) between(tips, hide []OID) ([]Commit, error) {
	for _, id := range tips {
		if _, err := r.Commit(id); err != nil {
			return nil, err
		}
	}
	seen := map[OID]bool{}
	if _, err := r.reach(hide, seen); err != nil {
		return nil, err
	}
	return r.reach(tips, seen)
}

// reach lists the commits that are reachable from ids, here, and not seen yet; parents
// before children.
func (r *Repo) reach(ids []OID, seen map[OID]bool) ([]Commit, error) {
	var out []Commit
	var visit func(id OID) error
	visit = func(id OID) error {
		if seen[id] {
			return nil
		}
		seen[id] = true
		c, err := r.Commit(id)
		if errors.Is(err, ErrNotFound) {
			return nil // behind the cut
		}
		if err != nil {
			return err
		}
		for _, p := range c.Parents {
			if err := visit(p); err != nil {
				return err
			}
		}
		out = append(out, c)
		return nil
	}
	for _, id := range ids {
		if err := visit(id); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Cut reports whether objects may be missing here: in a shallow clone, or in one that leaves
// out blobs until they are asked for.
func (r *Repo) Cut() bool {
	if shallow, err := r.r.IsShallow(); err == nil && shallow {
		return true
	}
	conf, err := r.r.Config()
	if err != nil {
		return false
	}
	defer conf.Free()
	it, err := conf.NewIteratorGlob(`^remote\..*\.promisor$`)
	if err != nil {
		return false
	}
	defer it.Free()
	_, err = it.Next()
	return err == nil
}
