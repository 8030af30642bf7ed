package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// Newest yields the commits that are reachable from tips and not from hide, the newest first. It reads no more of the
// history than is asked for: libgit2 reads all of it before it hands out the first commit. Where a clock was wrong, a
// child may come behind its parent, and a commit that hide reaches may be among them. What a shallow clone cut off is
// not an error; other commits that are not here are ErrNotFound, but in hide, and what is behind it: such a commit
// hides nothing.
func (r *Repo) Newest(ctx context.Context, tips, hide []OID) iter.Seq2[Commit, error] {
	return r.newest(ctx, r.Commit, tips, hide)
}

func (r *Repo) newest(ctx context.Context, read func(OID) (Commit, error), tips, hide []OID) iter.Seq2[Commit, error] {
	return func(yield func(Commit, error) bool) {
		w, err := r.walk(read, tips, hide)
		for err == nil && w.visible > 0 {
			c := w.pop()
			if !c.hidden && !yield(c.Commit, nil) {
				return
			}
			if err = ctx.Err(); err == nil {
				err = w.parents(c)
			}
		}
		if err != nil {
			yield(Commit{}, fmt.Errorf("git: walk: %w", err))
		}
	}
}

// Walk is Newest with parents before children, and with nothing that hide reaches, unless clocks were wrong in many
// commits one behind the other.
func (r *Repo) Walk(ctx context.Context, tips, hide []OID) iter.Seq2[Commit, error] {
	return func(yield func(Commit, error) bool) {
		w, err := r.walk(r.Commit, tips, hide)
		if err == nil {
			err = w.popUntilAllHidden(ctx)
		}
		if err != nil {
			yield(Commit{}, fmt.Errorf("git: walk: %w", err))
			return
		}
		for _, c := range w.parentsFirst() {
			if err := ctx.Err(); err != nil {
				yield(Commit{}, fmt.Errorf("git: walk: %w", err))
				return
			}
			if !yield(c.Commit, nil) {
				return
			}
		}
	}
}

// FirstParents yields a commit and those before it along first parents, the newest first, as far as they are here. An
// error is the last that it yields, also where the commit itself is not here.
func (r *Repo) FirstParents(id OID) iter.Seq2[Commit, error] {
	return func(yield func(Commit, error) bool) {
		for first := true; ; first = false {
			c, err := r.Commit(id)
			if !first && errors.Is(err, ErrNotFound) { // it is cut off
				return
			}
			if !yield(c, err) || err != nil || len(c.Parents) == 0 {
				return
			}
			id = c.Parents[0]
		}
	}
}

// IsAncestor reports whether old is new, or reachable from new. It is false if one of them is not in this clone, or
// if new is "". If commits between the two are not in this clone, it returns ErrNotFound.
func (r *Repo) IsAncestor(old, new OID) (bool, error) {
	if old == new || new == "" {
		return old == new, nil
	}
	for _, id := range []OID{old, new} {
		if _, err := r.Commit(id); errors.Is(err, ErrNotFound) {
			return false, nil
		}
	}
	w, err := r.walk(r.Commit, []OID{old}, []OID{new})
	if err == nil {
		w.target = old
		err = w.popUntilAllHidden(r.ctx)
	}
	if err != nil {
		return false, fmt.Errorf("git: is %s behind %s: %w", old, new, err)
	}
	return w.seen[old].hidden, nil
}

// maxCommit is the size in bytes of the largest commit of somebody else that is read.
const maxCommit = 1 << 20

// CheckCommitSizes looks at the commits that are reachable from a tip and not from have, and returns ErrMalformed where
// one is too large to be read. A walk has no bound. It ends where a commit is missing; a walk says whether it may be.
func (r *Repo) CheckCommitSizes(ctx context.Context, tip OID, have ...OID) error {
	small := func(id OID) (Commit, error) {
		if _, size, err := r.store.header(id); err == nil && size > maxCommit {
			return Commit{}, fmt.Errorf("git: commit %s has %d bytes: %w", id, size, ErrMalformed)
		}
		return r.Commit(id)
	}
	for _, err := range r.newest(ctx, small, []OID{tip}, have) {
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
	}
	return nil
}

// walk is a queue of commits by their time, the newest last.
type walk struct {
	read    func(OID) (Commit, error)
	cuts    map[OID]bool
	seen    map[OID]*walkedCommit
	queue   []*walkedCommit
	visible int // in the queue, and not hidden
	// exhaust ends where this commit gets hidden, and what is behind hidden commits must be here, too; "" for none
	target OID
}

type walkedCommit struct {
	Commit
	n              int // how many were there before it
	hidden, popped bool
	children       int // that are not hidden; see parentsFirst
}

func (r *Repo) walk(read func(OID) (Commit, error), tips, hide []OID) (*walk, error) {
	w := &walk{read: read, seen: map[OID]*walkedCommit{}}
	var err error
	if w.cuts, err = r.ShallowCuts(); err != nil {
		return nil, err
	}
	for _, id := range hide {
		if id == "" {
			continue
		}
		if err := w.add(id, true); err != nil && !errors.Is(err, ErrNotFound) {
			return nil, err
		}
	}
	for _, id := range tips {
		if err := w.add(id, false); err != nil {
			return nil, err
		}
	}
	return w, nil
}

func (w *walk) parents(c *walkedCommit) error {
	if w.cuts[c.OID] {
		return nil
	}
	for _, p := range c.Parents {
		err := w.add(p, c.hidden)
		if err != nil && (!c.hidden || w.target != "" || !errors.Is(err, ErrNotFound)) {
			return err
		}
	}
	return nil
}

// add puts a commit into the queue, or hides one that is there, and what was found behind it.
func (w *walk) add(id OID, hidden bool) error {
	if had := w.seen[id]; had == nil {
		c, err := w.read(id)
		if err != nil {
			return err
		}
		w.seen[id] = &walkedCommit{Commit: c, n: len(w.seen), hidden: hidden}
		at, _ := slices.BinarySearchFunc(w.queue, w.seen[id], compareDates)
		w.queue = slices.Insert(w.queue, at, w.seen[id])
		if !hidden {
			w.visible++
		}
		return nil
	}
	for again := []OID{id}; hidden && len(again) > 0; again = again[1:] {
		switch c := w.seen[again[0]]; {
		case c == nil || c.hidden:
		case c.popped:
			c.hidden = true
			again = append(again, c.Parents...)
		default:
			c.hidden = true
			w.visible--
			slices.SortFunc(w.queue, compareDates) // its place is another
		}
	}
	return nil
}

func (w *walk) pop() *walkedCommit {
	last := w.queue[len(w.queue)-1]
	w.queue = w.queue[:len(w.queue)-1]
	last.popped = true
	if !last.hidden {
		w.visible--
	}
	return last
}

// extraHidden is how many hidden commits are looked at that are older than all others: behind one with a wrong clock
// may be one that is wanted (git's revision.c: SLOP).
const extraHidden = 5

// popUntilAllHidden takes commits from the queue until none can be visible any more.
func (w *walk) popUntilAllHidden(ctx context.Context) error {
	var oldest *walkedCommit
	for left := extraHidden; len(w.queue) > 0 && (w.visible > 0 || left > 0); left-- {
		if w.target != "" && w.seen[w.target].hidden {
			return nil
		}
		c := w.pop()
		if !c.hidden || oldest != nil && compareDates(oldest, c) <= 0 {
			left = extraHidden
		}
		if !c.hidden && (oldest == nil || compareDates(c, oldest) < 0) {
			oldest = c
		}
		if err := cmp.Or(ctx.Err(), w.parents(c)); err != nil {
			return err
		}
	}
	return nil
}

// parentsFirst are the commits that are not hidden, each behind all of its parents, the oldest first.
func (w *walk) parentsFirst() (out []*walkedCommit) {
	for _, c := range w.seen {
		for _, p := range c.Parents {
			if parent := w.seen[p]; parent != nil && !c.hidden {
				parent.children++
			}
		}
	}
	var ready []*walkedCommit // whose children are in out, the newest last
	for _, c := range w.seen {
		if !c.hidden && c.children == 0 {
			ready = append(ready, c)
		}
	}
	slices.SortFunc(ready, compareDates)
	for len(ready) > 0 {
		c := ready[len(ready)-1]
		ready, out = ready[:len(ready)-1], append(out, c)
		for _, p := range c.Parents {
			parent := w.seen[p]
			if parent == nil || parent.hidden {
				continue
			}
			if parent.children--; parent.children == 0 {
				at, _ := slices.BinarySearchFunc(ready, parent, compareDates)
				ready = slices.Insert(ready, at, parent)
			}
		}
	}
	slices.Reverse(out)
	return out
}

// compareDates is the order of the queue: of equal times a hidden commit, which may hide the other, comes last, else
// the first that was found.
func compareDates(a, b *walkedCommit) int {
	switch order := a.Committer.When.Compare(b.Committer.When); {
	case order != 0 || a.hidden == b.hidden:
		return cmp.Or(order, cmp.Compare(b.n, a.n))
	case a.hidden:
		return 1
	}
	return -1
}

// RevList lists the OIDs of the commits that a range ("A..B", "A...B") names, or that a revision leads to, the newest
// first, at most so many.
func (r *Repo) RevList(ctx context.Context, text string, most int) ([]string, error) {
	out, err := r.Run(ctx, "rev-list", "--max-count="+strconv.Itoa(most), "--end-of-options", text, "--")
	if err != nil {
		return nil, fmt.Errorf("git: list %q: %w", text, err)
	}
	return strings.Fields(out), nil
}
