package recall

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/session"
)

// tied says of hits behind commits where the part begins that was captured at them, and how they are tied to
// those that are asked for. What first ties them to one decides: what is said later says nothing of it, but lines that are found later are
// known to be theirs. Without a query the strongest come first.
func tied(ctx context.Context, index *db.DB, hits []Found, asked attribution.Revisions, query string) error {
	ties, err := index.Commits(ctx, idsOf(hits))
	asked.Judge(slices.Concat(slices.Collect(maps.Values(ties))...))
	for i, h := range hits {
		first := map[string]session.TieKind{}
		for _, t := range ties[h.ID] { // the latest first
			kind, ok := asked.Kind(t)
			if !ok {
				continue
			}
			if first[t.SHA] != session.TieWrote {
				first[t.SHA] = kind
			}
			if asked.Is(t) {
				hits[i].lines = max(hits[i].lines, t.Lines)
			}
			if h.Turn == db.First && t.Turn >= 0 {
				hits[i].Turn = t.Turn
			}
		}
		hits[i].Tie = attribution.Alleged
		for _, kind := range first {
			hits[i].Tie = min(hits[i].Tie, kind)
		}
	}
	if query == "" {
		slices.SortStableFunc(hits, func(a, b Found) int { return cmp.Compare(a.Tie, b.Tie) })
	}
	return err
}
