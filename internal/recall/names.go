package recall

import (
	"context"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/session"
)

// ReadNames reads all IDs from the index, also of what is purged.
func ReadNames(ctx context.Context, index *db.DB) (session.Names, error) {
	ids, err := index.Matching(ctx, db.Filter{Purged: db.With})
	return session.NewNames(ids), err
}
