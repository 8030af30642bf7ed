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

// merge is the commit that holds what two tips hold: the one of them that has the other
// behind it, or else a new commit with both as parents. Where one side scrubbed what the other
// one holds, the other's history must not come along: what else it has is told again behind the
// first (retell.go). Whoever merges the two writes the same commit: parents in the order of
// their OIDs, the tree of the later one with the segments of the other, person and time those of the later tip.
func merge(ctx context.Context, repo *git.Repo, a, b git.OID) (git.OID, error) {
	for _, pair := range [][2]git.OID{{a, b}, {b, a}} {
		if behind, err := repo.IsAncestor(pair[0], pair[1]); err != nil || behind {
			return pair[1], err
		}
	}
	tips := make([]git.Commit, 2)
	for i, id := range []git.OID{a, b} {
		var err error
		if tips[i], err = repo.Commit(id); err != nil {
			return "", fmt.Errorf("ledger: merge: %w", err)
		}
	}
	slices.SortFunc(tips, func(x, y git.Commit) int {
		return cmp.Or(y.Committer.When.Compare(x.Committer.When), cmp.Compare(x.OID, y.OID))
	})
	later, earlier := tips[0], tips[1]
	trees := repo.Trees(treeBytes)
	news, err := beyond(trees, earlier.Tree, later.Tree)
	if err != nil {
		return "", fmt.Errorf("ledger: merge %s and %s: %w", a, b, err)
	}
	others, err := beyond(trees, later.Tree, earlier.Tree)
	if err != nil {
		return "", fmt.Errorf("ledger: merge %s and %s: %w", a, b, err)
	}
	if gone, err := scrubbed(ctx, repo, news, others); err != nil || len(gone) > 0 {
		if err != nil {
			return "", err
		}
		return retell(ctx, repo, trees, later, earlier, gone)
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

// scrubbed is the set of segments that one side removed on purpose and the other still has, of what only one of them holds. What
// says so stands in a segment that only one side holds, too: once both hold it, both have obeyed.
func scrubbed(ctx context.Context, repo *git.Repo, a, b []git.Entry) (map[string]bool, error) {
	gone := map[string]bool{}
	for _, side := range [][2][]git.Entry{{a, b}, {b, a}} {
		named, err := scrubs(ctx, repo, side[0])
		if err != nil {
			return nil, err
		}
		for _, f := range side[1] {
			if named[f.Path] {
				gone[f.Path] = true
			}
		}
	}
	return gone, nil
}

// beyond lists the files of segments that a tree holds and an older one does not.
func beyond(trees *git.Trees, older, newer git.OID) ([]git.Entry, error) {
	return trees.Added(older, newer, strings.TrimSuffix(segmentDir, "/"), dayDepth, maxSegments)
}

// scrubs is the set of paths that the scrub records in some segments name.
func scrubs(ctx context.Context, repo *git.Repo, files []git.Entry) (map[string]bool, error) {
	var segments []Commit
	for _, f := range files {
		if isSegment(f.Path) {
			segments = append(segments, Commit{Segments: []Segment{{f.Path, f.OID}}})
		}
	}
	named := map[string]bool{}
	err := said(ctx, repo, segments, func(_ Commit, e session.Entry) error {
		for _, s := range e.Scrubs {
			named[s.Segment] = true
		}
		return nil
	})
	return named, err
}
