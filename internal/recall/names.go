package recall

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/db"
)

// Names tells sessions and memories apart by the beginnings of their IDs.
type Names struct{ ids, short []string }

// ReadNames reads all IDs from index.db, also of what is purged.
func ReadNames(ctx context.Context, index *db.DB) (Names, error) {
	ids, err := index.Matching(ctx, db.Filter{Purged: db.With})
	slices.Sort(ids)
	return Names{ids, db.Shortest(ids)}, err
}

// Find completes the beginning of an ID. It returns a UsageError, db.ErrNoRow or a db.AmbiguousError
// where it does not mean exactly one.
func (n Names) Find(prefix string) (string, error) {
	if len(prefix) < db.MinPrefix {
		return "", &UsageError{Err: fmt.Errorf("%q: give at least %d characters", prefix, db.MinPrefix)}
	}
	from, _ := slices.BinarySearch(n.ids, strings.ToUpper(prefix))
	to := from
	for to < len(n.ids) && strings.HasPrefix(n.ids[to], strings.ToUpper(prefix)) {
		to++
	}
	switch to - from {
	case 0:
		return "", fmt.Errorf("%q: %w", prefix, db.ErrNoRow)
	case 1:
		return n.ids[from], nil
	}
	return "", &db.AmbiguousError{Prefix: prefix, IDs: n.short[from:min(to, from+db.ToldIDs+1)]}
}

// Short is the shortest beginning of an ID that means it alone.
func (n Names) Short(id string) string {
	if i, found := slices.BinarySearch(n.ids, id); found {
		return n.short[i]
	}
	return id
}
