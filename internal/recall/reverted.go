package recall

import (
	"context"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/internal/result"
)

// markReverted says of results which of their commits a later one took back.
func markReverted(ctx context.Context, repo *git.Repo, req Request, facets map[string]db.Facet,
	became map[attribution.Commit]string, out []result.Hit,
) error {
	if len(commitsOf(facets)) == 0 {
		return nil
	}
	reverted, err := history.Reverted(ctx, repo, req.History)
	if len(reverted) == 0 {
		return err
	}
	for i, h := range out {
		for _, sha := range facets[h.ID].Commits {
			sha := latestForm(became, facets[h.ID], sha)
			if r, ok := reverted[git.OID(sha)]; ok {
				out[i].Reverted = append(out[i].Reverted, RevertedOf(git.OID(sha), r))
			}
		}
	}
	return nil
}

// RevertedOf is a commit that a later one took back, as it is shown.
func RevertedOf(sha git.OID, r history.Revert) result.Reverted {
	return result.Reverted{Commit: result.ShortOID(string(sha)), By: result.ShortOID(string(r.By)), Reason: r.Reason}
}
