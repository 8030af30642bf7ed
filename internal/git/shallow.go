package git

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// shallowFile lists the commits at which a shallow clone was cut. All worktrees share it;
// libgit2 1.5 looks for it in each one's own directory.
func (r *Repo) shallowFile() string { return filepath.Join(r.layout.CommonDir, "shallow") }

func (r *Repo) shallow() bool {
	info, err := os.Stat(r.shallowFile())
	return err == nil && info.Size() > 0
}

// cuts are the commits whose parents a shallow clone left out.
type cuts map[OID]bool

// explain reports whether an error means that a commit's parent was left out.
func (c cuts) explain(id OID, err error) bool { return c[id] && errors.Is(err, ErrNotFound) }

func (r *Repo) cuts() (cuts, error) {
	b, err := os.ReadFile(r.shallowFile())
	if err != nil {
		return nil, fmt.Errorf("git: where the history is cut: %w", err)
	}
	out := cuts{}
	for id := range strings.FieldsSeq(string(b)) {
		out[OID(id)] = true
	}
	return out, nil
}

// walkShallow is Walk in a clone whose history was cut. libgit2 1.5 does not know where,
// and its own walk fails at the first parent that is not here. Such a history is short, so
// it is read whole before the first commit is handed out.
func (r *Repo) walkShallow(ctx context.Context, tips, hide []OID) iter.Seq2[Commit, error] {
	return func(yield func(Commit, error) bool) {
		commits, err := r.between(ctx, tips, hide)
		if err != nil {
			yield(Commit{}, fmt.Errorf("git: walk: %w", err))
			return
		}
		for _, c := range commits {
			if !yield(c, nil) {
				return
			}
		}
	}
}

func (r *Repo) between(ctx context.Context, tips, hide []OID) ([]Commit, error) {
	cuts, err := r.cuts()
	if err != nil {
		return nil, err
	}
	// A commit that is not here hides nothing.
	here := slices.DeleteFunc(slices.Clone(hide), func(id OID) bool {
		_, err := r.Commit(id)
		return errors.Is(err, ErrNotFound)
	})
	walk := reach{repo: r, cuts: cuts, seen: map[OID]bool{}}
	if err := walk.from(ctx, here); err != nil {
		return nil, err
	}
	walk.out = nil
	err = walk.from(ctx, tips)
	return walk.out, err
}

// reach lists commits that are reachable and here, each once, parents before children.
type reach struct {
	repo *Repo
	cuts cuts
	seen map[OID]bool
	out  []Commit
}

// from walks with a stack of its own: a history may be longer than calls can nest.
func (w *reach) from(ctx context.Context, ids []OID) error {
	type step struct {
		Commit
		next int // the parent to look at
	}
	var stack []step
	visit := func(id OID) error {
		if w.seen[id] {
			return nil
		}
		c, err := w.repo.Commit(id)
		if err != nil {
			return err
		}
		w.seen[id] = true
		stack = append(stack, step{Commit: c})
		return ctx.Err()
	}
	for _, id := range ids {
		if err := visit(id); err != nil {
			return err
		}
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if top.next == len(top.Parents) {
				w.out = append(w.out, top.Commit)
				stack = stack[:len(stack)-1]
				continue
			}
			top.next++
			err := visit(top.Parents[top.next-1])
			if err != nil && !w.cuts.explain(top.OID, err) {
				return err
			}
		}
	}
	return nil
}

// isBehind is IsAncestor in a clone whose history was cut. It looks at the nearest commits
// first.
func (r *Repo) isBehind(old, new OID) (bool, error) {
	cuts, err := r.cuts()
	if err != nil {
		return false, err
	}
	seen := map[OID]bool{new: true}
	for queue := []OID{new}; len(queue) > 0; queue = queue[1:] {
		c, err := r.Commit(queue[0])
		if err != nil {
			return false, err
		}
		for _, p := range c.Parents {
			switch _, err := r.Commit(p); {
			case p == old:
				return true, nil
			case err == nil && !seen[p]:
				seen[p] = true
				queue = append(queue, p)
			case err != nil && !cuts.explain(c.OID, err):
				return false, err
			}
		}
	}
	return false, nil
}

// Cut reports whether objects may be missing here: in a shallow clone, or in one that leaves
// out blobs until they are asked for.
func (r *Repo) Cut() bool {
	if r.shallow() {
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
