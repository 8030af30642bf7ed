package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/git-rekal/git-rekal/internal/git"
)

// Newest yields the commits that are reachable from tips and not from hide, the newest first. It reads no more of the history
// than is asked for: libgit2 reads all of it before it hands out the first commit. Where a clock was wrong, a child may come
// behind its parent, and a commit that hide reaches may be among them. What a shallow clone cut off is not an error; other
// commits that are not here are ErrNotFound.
func Newest(ctx context.Context, r *git.Repo, tips, hide []git.OID) iter.Seq2[git.Commit, error] {
	return func(yield func(git.Commit, error) bool) {
		w := newest{repo: r, seen: map[git.OID]*dated{}}
		err := w.begin(tips, hide)
		for err == nil && w.wanted > 0 {
			c := w.pop()
			if !c.hidden {
				w.wanted--
				if !yield(c.Commit, nil) {
					return
				}
			}
			if err = ctx.Err(); err == nil {
				err = w.parents(c)
			}
		}
		if err != nil {
			yield(git.Commit{}, fmt.Errorf("git: walk: %w", err))
		}
	}
}

// newest is a queue of commits by their time, the newest last.
type newest struct {
	repo   *git.Repo
	cuts   cuts
	seen   map[git.OID]*dated
	queue  []*dated
	wanted int // in the queue, and not hidden
}

type dated struct {
	git.Commit
	n              int // how many were there before it
	hidden, popped bool
}

func (w *newest) begin(tips, hide []git.OID) (err error) {
	if w.cuts, err = cutsOf(w.repo); err != nil {
		return err
	}
	for _, id := range hide { // one that is not here hides nothing
		if err := w.add(id, true); err != nil && !errors.Is(err, git.ErrNotFound) {
			return err
		}
	}
	for _, id := range tips {
		if err := w.add(id, false); err != nil {
			return err
		}
	}
	return nil
}

func (w *newest) parents(c *dated) error {
	for _, p := range c.Parents {
		err := w.add(p, c.hidden)
		if err != nil && !w.cuts.explain(c.OID, err) && (!c.hidden || !errors.Is(err, git.ErrNotFound)) {
			return err
		}
	}
	return nil
}

// add puts a commit into the queue, or hides one that is there, and what was found behind it.
func (w *newest) add(id git.OID, hidden bool) error {
	if had := w.seen[id]; had == nil {
		c, err := w.repo.Commit(id)
		if err != nil {
			return err
		}
		w.seen[id] = &dated{Commit: c, n: len(w.seen), hidden: hidden}
		at, _ := slices.BinarySearchFunc(w.queue, w.seen[id], sooner)
		w.queue = slices.Insert(w.queue, at, w.seen[id])
		if !hidden {
			w.wanted++
		}
		return nil
	}
	for again := []git.OID{id}; hidden && len(again) > 0; again = again[1:] {
		switch c := w.seen[again[0]]; {
		case c == nil || c.hidden:
		case c.popped:
			c.hidden = true
			again = append(again, c.Parents...)
		default:
			c.hidden = true
			w.wanted--
			slices.SortFunc(w.queue, sooner) // its place is another
		}
	}
	return nil
}

func (w *newest) pop() *dated {
	last := w.queue[len(w.queue)-1]
	w.queue = w.queue[:len(w.queue)-1]
	last.popped = true
	return last
}

// sooner is the order of the queue: of equal times a hidden commit, which may hide the other, comes last, else the first that was found.
func sooner(a, b *dated) int {
	switch order := a.Committer.When.Compare(b.Committer.When); {
	case order != 0 || a.hidden == b.hidden:
		return cmp.Or(order, cmp.Compare(b.n, a.n))
	case a.hidden:
		return 1
	}
	return -1
}

// Range lists the OIDs of the commits that "A..B" or "A...B" names, the newest first, at most so many.
func Range(ctx context.Context, r *git.Repo, text string, most int) ([]string, error) {
	out, err := r.Run(ctx, "rev-list", "--max-count="+strconv.Itoa(most), "--end-of-options", text, "--")
	if err != nil {
		return nil, fmt.Errorf("git: list %q: %w", text, err)
	}
	return strings.Fields(out), nil
}
