package materialize

import (
	"context"
	"fmt"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/db"
)

// follow brings what became of code commits up to the index: for the ledgers that said something of it, and
// those that named something.
func (s *store) follow(ctx context.Context, tx *db.Tx) error {
	emails, err := tx.Rewriters(ctx, s.code, s.fresh)
	if err != nil {
		return err
	}
	for _, email := range emails {
		s.rewrote[email] = true
	}
	for email := range s.rewrote {
		all, err := tx.Rewrites(ctx, email)
		if err != nil {
			return err
		}
		if err := tx.ReplaceRewrites(ctx, email, attribution.Resolve(all)); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("materialize: %w", err)
	}
	return nil
}
