package ledger

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/git-rekal/git-rekal/internal/git"
)

// ErrCut is history that would have to be written anew and is not all here.
var ErrCut = errors.New("a part of its history is not in this clone")

// rewriter writes the history of a ledger anew, without some segments or with others in their
// place. A commit that holds none of them, and whose parents don't, stays what it is. What it
// makes depends on nothing else: two who take the same out write the same commits.
type rewriter struct {
	repo     *git.Repo
	trees    *git.Trees
	instead  map[string][]Segment // what stands in the place of a path; nothing where it is dropped
	subjects map[git.OID]string   // commits that get another one

	now  map[git.OID]git.OID         // what became of the commits that were rewritten
	held map[git.OID]map[string]bool // which of the paths each commit holds
}

// history rewrites what leads to a tip, and returns what the tip has become.
func (w *rewriter) history(ctx context.Context, tip git.OID) (git.OID, error) {
	w.now, w.held = map[git.OID]git.OID{}, map[git.OID]map[string]bool{}
	for c, err := range w.repo.Walk(ctx, []git.OID{tip}, nil) {
		if err == nil {
			err = w.commit(c)
		}
		if err != nil {
			return "", fmt.Errorf("ledger: rewrite commit %.12s: %w", c.OID, err)
		}
	}
	return w.became(tip), nil
}

func (w *rewriter) became(id git.OID) git.OID {
	if now, ok := w.now[id]; ok {
		return now
	}
	return id
}

func (w *rewriter) commit(c git.Commit) error {
	held, whole, err := w.holds(c)
	if err != nil {
		return err
	}
	w.held[c.OID] = held
	d := git.Draft{Base: c.Tree, Blobs: map[string]git.OID{}, Message: c.Message, Author: c.Committer}
	for path := range held {
		d.Remove = append(d.Remove, path)
		for _, s := range w.instead[path] {
			d.Blobs[s.Path] = s.Blob
		}
	}
	changed := len(held) > 0
	for _, p := range c.Parents {
		d.Parents = append(d.Parents, w.became(p))
		changed = changed || w.became(p) != p
	}
	if subject, ok := w.subjects[c.OID]; ok {
		d.Message, changed = subject+"\n", true
	}
	if !changed {
		return nil
	}
	if !whole {
		return ErrCut
	}
	w.now[c.OID], err = w.repo.WriteCommit(d)
	return err
}

// holds is which of the paths a commit holds: those of its parents, and those that it adds. It
// also says whether its parents are here.
func (w *rewriter) holds(c git.Commit) (held map[string]bool, whole bool, err error) {
	before, cut, err := before(w.repo, c)
	if err != nil {
		return nil, false, err
	}
	for _, id := range c.Parents {
		held = both(held, w.held[id])
	}
	w.trees.Allow(commitBytes)
	added, err := beyond(w.trees, before, c.Tree)
	if err != nil {
		return nil, false, err
	}
	own := map[string]bool{}
	for _, f := range added {
		if _, named := w.instead[f.Path]; named {
			own[f.Path] = true
		}
	}
	return both(held, own), !cut, nil
}

// both is the union of two sets; neither is changed.
func both(a, b map[string]bool) map[string]bool {
	if len(a) == 0 || len(b) == 0 {
		if len(a) == 0 {
			return b
		}
		return a
	}
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

// retell is the tip of a history that holds what two tips hold, less what one of them has
// scrubbed: the history of the one, and behind it, commit by commit, what only the other has.
// That is told behind the one that holds nothing of what is to go; the later one, where both do.
func retell(ctx context.Context, repo *git.Repo, trees *git.Trees, later, earlier git.Commit, gone map[string]bool) (git.OID, error) {
	base, other := later, earlier
	holds := func(c git.Commit) bool {
		for path := range gone {
			if held, err := trees.At(c.Tree, path, git.TreeEntry.IsFile); err != nil || held != "" {
				return true
			}
			trees.Allow(commitBytes)
		}
		return false
	}
	if holds(later) && !holds(earlier) {
		base, other = earlier, later
	}
	w := rewriter{repo: repo, trees: trees, instead: map[string][]Segment{}}
	for path := range gone {
		w.instead[path] = nil
	}
	tip, err := w.history(ctx, base.OID)
	if err != nil {
		return "", err
	}
	missing, err := Since(ctx, repo, other.OID)
	if err != nil {
		return "", err
	}
	missing = slices.DeleteFunc(missing, func(c Commit) bool { return len(c.Segments) == 0 })
	slices.SortFunc(missing, func(a, b Commit) int { return a.Segments[0].Compare(b.Segments[0]) })
	for _, c := range missing {
		if tip, err = again(repo, trees, tip, c, other.Committer, gone); err != nil {
			return "", fmt.Errorf("ledger: merge %s and %s: %w", later.OID, earlier.OID, err)
		}
	}
	return tip, nil
}

// again adds to a tip what a commit of another history says and it does not hold.
func again(repo *git.Repo, trees *git.Trees, tip git.OID, c Commit, by git.Signature, gone map[string]bool) (git.OID, error) {
	on, err := repo.Commit(tip)
	if err != nil {
		return "", err
	}
	d := git.Draft{Base: on.Tree, Blobs: map[string]git.OID{}, Parents: []git.OID{tip}, Message: mergeMessage, Author: by}
	d.Author.When = c.When
	if was, err := repo.Commit(c.OID); err == nil { // where it is no commit, it stands for one of several entries
		d.Message, d.Author = was.Message, was.Committer
	}
	trees.Allow(commitBytes)
	for _, s := range c.Segments {
		held, err := trees.At(on.Tree, s.Path, git.TreeEntry.IsFile)
		if err != nil {
			return "", err
		}
		if held == "" && !gone[s.Path] {
			d.Blobs[s.Path] = s.Blob
		}
	}
	if len(d.Blobs) == 0 {
		return tip, nil
	}
	return repo.WriteCommit(d)
}
