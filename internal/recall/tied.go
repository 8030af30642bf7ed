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

// markTies says of hits behind commits how they are tied to those that are asked for, and where the part begins that was captured at them. The
// first turns that tie a session to a commit decide how it is tied: later turns don't change that. Lines that are found later to be the session's do.
// Without a query the strongest come first.
func markTies(ctx context.Context, index *db.DB, hits []Found, asked attribution.Revisions, query string) error {
	ties, err := index.TiesOfSessions(ctx, idsOf(hits))
	asked.Judge(slices.Concat(slices.Collect(maps.Values(ties))...))
	for i, h := range hits {
		first := map[string]session.TieKind{}
		for _, t := range ties[h.ID] { // the latest first
			kind, ok := asked.TieKind(t)
			if !ok {
				continue
			}
			if first[t.SHA] != session.TieWrote {
				first[t.SHA] = kind
			}
			if asked.IsDirect(t) {
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
