package materialize

import (
	"context"
	"fmt"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/db"
)

// follow brings what became of code commits up to the tables: for the ledgers that said something of it, and
// those that named something.
func (s *store) follow(ctx context.Context, data, index *db.Tx) error {
	emails, err := data.Rewriters(ctx, s.code, s.fresh)
	if err != nil {
		return err
	}
	for _, email := range emails {
		s.rewrote[email] = true
	}
	for email := range s.rewrote {
		all, err := data.Rewrites(ctx, email)
		if err != nil {
			return err
		}
		if err := index.ReplaceRewrites(ctx, email, attribution.Resolve(all)); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("materialize: %w", err)
	}
	return nil
}
