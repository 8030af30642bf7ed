package recall

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/commits"
	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
)

// tellOfCommit says of a --commit how hits are tied to it, what it merged, and how many sessions only talked.
func tellOfCommit(ctx context.Context, index *db.DB, repo *git.Repo, hits []Found, asked attribution.Revisions,
	req Request, out *result.Recall,
) error {
	if !strings.Contains(req.Commit, "..") {
		out.Merged = len(asked) - 1
	}
	err := markTies(ctx, index, repo, hits, asked, req.Query)
	if err == nil {
		out.Talked, err = commits.CountTalked(ctx, index, asked, idsOf(hits))
	}
	return err
}

// markTies says of hits behind commits how they are tied to those that are asked for, and where the part begins that
// was captured at them. Without a query the strongest come first.
func markTies(ctx context.Context, index *db.DB, repo *git.Repo, hits []Found, asked attribution.Revisions,
	query string,
) error {
	ties, err := commits.JudgedTies(ctx, index, repo, asked, idsOf(hits))
	for i, h := range hits {
		hits[i].Tie = session.TieTalked
		for _, t := range ties[h.ID] { // the latest first
			kind, ok := asked.TieKind(t)
			if !ok {
				continue
			}
			if kind < hits[i].Tie {
				hits[i].Tie, hits[i].Evidence = kind, t.Evidence
			}
			if asked.IsDirect(t) {
				hits[i].lines = max(hits[i].lines, t.Lines)
			}
			if h.Turn == db.First && t.Turn >= 0 {
				hits[i].Turn = t.Turn
			}
		}
	}
	if query == "" {
		slices.SortStableFunc(hits, func(a, b Found) int { return cmp.Compare(a.Tie, b.Tie) })
	}
	return err
}
