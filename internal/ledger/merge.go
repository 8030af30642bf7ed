package ledger

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/session"
)

// mergeMessage is the same on every machine, as all of a merge is.
const mergeMessage = "rekal merge\n"

// merge is the commit that holds what two tips hold: the one of them that has the other behind it, or else a new commit with both as
// parents. What either side says was taken out is taken out of both first: the other's history must not bring it back. As both had the
// commits before that, what these become is the same on both sides.
func merge(ctx context.Context, repo *git.Repo, a, b git.OID) (git.OID, error) {
	if tip, err := holder(repo, a, b); err != nil || tip != "" {
		return tip, err
	}
	trees := repo.Trees(treeBytes)
	later, earlier, err := sorted(repo, a, b)
	if err != nil {
		return "", err
	}
	gone := newRemovals()
	for _, pair := range [][2]git.Commit{{earlier, later}, {later, earlier}} {
		news, err := segmentsBeyond(trees, pair[0].Tree, pair[1].Tree)
		if err == nil {
			err = gone.collect(ctx, repo, news)
		}
		if err != nil {
			return "", fmt.Errorf("ledger: merge %s and %s: %w", a, b, err)
		}
	}
	for _, tip := range []*git.OID{&a, &b} {
		if *tip, err = gone.applyTo(ctx, repo, *tip); err != nil {
			return "", err
		}
	}
	if tip, err := holder(repo, a, b); err != nil || tip != "" {
		return tip, err
	}
	return join(repo, a, b)
}

// holder is the one of two commits that has the other behind it; "" where none does.
func holder(repo *git.Repo, a, b git.OID) (git.OID, error) {
	for _, pair := range [][2]git.OID{{a, b}, {b, a}} {
		if behind, err := repo.IsAncestor(pair[0], pair[1]); err != nil || behind {
			return pair[1], err
		}
	}
	return "", nil
}

// sorted are two commits, the later one first; of the same time, that with the lower OID.
func sorted(repo *git.Repo, a, b git.OID) (later, earlier git.Commit, err error) {
	tips := make([]git.Commit, 2)
	for i, id := range []git.OID{a, b} {
		if tips[i], err = repo.Commit(id); err != nil {
			return later, earlier, fmt.Errorf("ledger: merge: %w", err)
		}
	}
	slices.SortFunc(tips, func(x, y git.Commit) int {
		return cmp.Or(y.Committer.When.Compare(x.Committer.When), cmp.Compare(x.OID, y.OID))
	})
	return tips[0], tips[1], nil
}

// join is a commit with two parents. Whoever joins these two writes the same one: parents in the order of their OIDs, the tree of the later
// one with the segments of the other, person and time those of the later one.
func join(repo *git.Repo, a, b git.OID) (git.OID, error) {
	later, earlier, err := sorted(repo, a, b)
	if err != nil {
		return "", err
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

// collect adds what the records in some files say was taken out. Only files that one of two sides holds are of interest: once both hold
// a record, both have obeyed it.
func (r removals) collect(ctx context.Context, repo *git.Repo, files []git.Entry) error {
	var segments []Commit
	for _, f := range files {
		if isSegment(f.Path) {
			segments = append(segments, Commit{Segments: []Segment{{f.Path, f.OID}}})
		}
	}
	return eachEntry(ctx, repo, segments, func(_ Commit, e session.Entry) error {
		r.addAll(e)
		return nil
	})
}
