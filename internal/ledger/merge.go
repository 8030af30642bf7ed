package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/session"
)

// mergeMessage is constant, so that every machine writes the same merge commit.
const mergeMessage = "rekal merge\n"

// owner is whose ledger is merged.
type owner struct {
	email string
	own   bool // one's own: what is rewritten is signed again
}

// merge is the commit that holds what two tips hold: the one of them that has the other behind it, or else a new commit
// with both as parents. What either side says was taken out is taken out of both first: the other's history must not
// bring it back. As both had the commits before that, what these become is the same on both sides. It returns a
// ForeignError where b is without what somebody else took out.
func merge(ctx context.Context, repo *git.Repo, of owner, a, b git.OID) (git.OID, error) {
	if tip, err := descendantOf(repo, a, b); err != nil || tip != "" {
		return tip, err
	}
	gone := newRemovals()
	for _, side := range [][2]git.OID{{a, b}, {b, a}} {
		err := gone.collectFrom(ctx, repo, of, side[0], side[1])
		if foreign := (*ForeignError)(nil); errors.As(err, &foreign) {
			if side[1] == a { // it was taken in before its signer was known
				continue
			}
			return "", foreign
		}
		if err != nil {
			return "", fmt.Errorf("ledger: merge %s and %s: %w", a, b, err)
		}
	}
	w := rewriter{repo: repo}
	if of.own {
		w.author = of.email
	}
	var err error
	for _, side := range [][2]*git.OID{{&a, &b}, {&b, &a}} {
		w.beside = *side[1]
		if *side[0], err = gone.applyTo(ctx, w, *side[0]); err != nil {
			return "", err
		}
	}
	if tip, err := descendantOf(repo, a, b); err != nil || tip != "" {
		return tip, err
	}
	return writeJoin(repo, a, b)
}

// descendantOf is the one of two commits that has the other behind it; "" where none does.
func descendantOf(repo *git.Repo, a, b git.OID) (git.OID, error) {
	for _, pair := range [][2]git.OID{{a, b}, {b, a}} {
		if behind, err := repo.IsAncestor(pair[0], pair[1]); err != nil || behind {
			return pair[1], err
		}
	}
	return "", nil
}

// writeJoin is a commit with two parents. Whoever joins these two writes the same one: parents in the order of their
// OIDs, the tree of the later one with the segments of the other, person and time those of the later one.
func writeJoin(repo *git.Repo, a, b git.OID) (git.OID, error) {
	later, err := repo.Commit(a)
	earlier, err2 := repo.Commit(b)
	if err := cmp.Or(err, err2); err != nil {
		return "", fmt.Errorf("ledger: merge: %w", err)
	}
	// of equal times, the lower OID counts as later
	if order := cmp.Or(later.Committer.When.Compare(earlier.Committer.When),
		cmp.Compare(earlier.OID, later.OID)); order < 0 {
		later, earlier = earlier, later
	}
	others, err := segmentsBeyond(repo.Trees(treeBytes), later.Tree, earlier.Tree)
	if err != nil {
		return "", fmt.Errorf("ledger: merge %s and %s: %w", a, b, err)
	}
	d := git.Draft{
		Base: later.Tree, Blobs: map[string]git.OID{}, Parents: slices.Sorted(slices.Values([]git.OID{a, b})),
		Message: mergeMessage, Author: later.Committer,
	}
	for _, f := range others {
		d.Blobs[f.Path] = f.OID
	}
	id, err := repo.WriteCommit(d)
	if err != nil {
		return "", fmt.Errorf("ledger: merge %s and %s: %w", a, b, err)
	}
	return id, nil
}

// segmentsBeyond lists the files of segments that a tree holds and an older one does not.
func segmentsBeyond(trees *git.Trees, older, newer git.OID) ([]git.Entry, error) {
	return trees.Added(older, newer, strings.TrimSuffix(segmentDir, "/"), dayDepth, maxSegments)
}

// collectFrom adds what the records that one tip holds beyond another one say was taken out. Only these are of
// interest: once both hold a record, both have obeyed it. One that somebody else is known to have signed does not
// count; a tip that has obeyed it is a ForeignError.
func (r removals) collectFrom(ctx context.Context, repo *git.Repo, of owner, beyond, tip git.OID) error {
	var trees [2]git.OID
	for i, id := range []git.OID{beyond, tip} {
		c, err := repo.Commit(id)
		if err != nil {
			return err
		}
		trees[i] = c.Tree
	}
	files, err := segmentsBeyond(repo.Trees(treeBytes), trees[0], trees[1])
	if err != nil {
		return err
	}
	var segments []Commit
	for _, f := range files {
		if isSegment(f.Path) {
			segments = append(segments, Commit{Segments: []Segment{{Path: f.Path, Blob: f.OID}}})
		}
	}
	records := map[string]session.Entry{} // by the paths of their segments
	err = eachEntry(ctx, repo, segments, func(c Commit, e session.Entry) error {
		if len(e.Scrubs)+len(e.Removals) > 0 {
			records[c.Segments[0].Path] = e
		}
		return nil
	})
	if err == nil && len(records) > 0 {
		err = dropForeign(ctx, repo, of, beyond, tip, records)
	}
	for _, e := range records {
		r.addAll(e)
	}
	return err
}

// ForeignError is a ledger out of which somebody else took something.
type ForeignError struct {
	By    string // as git knows the key; "" for a bad signature
	Email string // whose ledger it is
	Own   bool
}

func (e *ForeignError) Error() string {
	return fmt.Sprintf("somebody else took something out of it: %s signed that, not %s", cmp.Or(e.By, "nobody"), e.Email)
}

// Hint says what to do.
func (e *ForeignError) Hint() string {
	if !e.Own {
		return "tell its author"
	}
	return fmt.Sprintf(`"git push --force REMOTE rekal/%s" puts back what you have`, e.Email)
}

// dropForeign leaves out the records that somebody else is known to have signed. It returns a ForeignError where the
// tip holds anew what is behind the other.
func dropForeign(ctx context.Context, repo *git.Repo, of owner, beyond, tip git.OID,
	records map[string]session.Entry,
) error {
	here, err := Since(ctx, repo, tip, beyond)
	if err != nil {
		return err
	}
	adds := map[string]git.OID{}
	for _, c := range here {
		for _, s := range c.Segments {
			adds[s.Path] = c.In
		}
	}
	var ids []git.OID
	for path := range records {
		if adds[path] != "" {
			ids = append(ids, adds[path])
		}
	}
	said, err := repo.Verdicts(ctx, ids, false)
	if err != nil {
		return err
	}
	var by Judgement
	for path := range records {
		if j := judge(said[adds[path]], of.email); j.isSomebodyElses() {
			by = j
			delete(records, path)
		}
	}
	if by.Trust == 0 {
		return nil
	}
	there, err := Since(ctx, repo, beyond, tip)
	for _, c := range there {
		for _, s := range c.Segments {
			if adds[s.Path] != "" {
				return &ForeignError{by.Signer, of.email, of.own}
			}
		}
	}
	return err
}
