package materialize

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/search"
)

// What is purged stays in the tables, because a restore brings it back as it was. It is listed in
// the table purged of both databases, which everything that shows sessions or memories goes by;
// search leaves it out, and its files count for none that appear together. The list is a
// function of all marks that are there, so it does not matter in which order they came.

// Standing is what the marks that count say of a session or memory.
type Standing struct {
	Purged bool
	N      int // the highest number of a mark; 0 where there is none
}

// standing weighs marks: one counts when its ledger is that of the item's author, or one's own.
// The highest number wins, at a tie the purge.
func standing(marks []db.MarkRow, authors map[string]string, own cursor) map[string]Standing {
	out := map[string]Standing{}
	for _, m := range marks {
		author, here := authors[m.ID]
		marker := authorOf(m.Email, "")
		if _, isOwn := own[marker]; !here || !isOwn && marker != authorOf(author, "?") {
			continue
		}
		if s, ok := out[m.ID]; !ok || m.N > s.N || m.N == s.N && m.Purge {
			out[m.ID] = Standing{Purged: m.Purge, N: m.N}
		}
	}
	return out
}

// standings reads what the marks say of items, or of all that have one. Cursor tells by its refs
// which ledgers are one's own: a branch of one's own is named like its author.
func standings(ctx context.Context, q db.Querier, at cursor, ids ...string) (map[string]Standing, error) {
	marks, err := db.Marks(ctx, q, ids...)
	if err != nil || len(marks) == 0 {
		return nil, err
	}
	marked := make([]string, len(marks))
	for i, m := range marks {
		marked[i] = m.ID
	}
	authors, err := db.Authors(ctx, q, marked)
	return standing(marks, authors, at), err
}

func (s *store) loadPurged(ctx context.Context, data *db.Tx) error {
	ids, err := db.PurgedIDs(ctx, data)
	s.purged = map[string]bool{}
	for _, id := range ids {
		s.purged[id] = true
	}
	return err
}

// settle brings what is purged up to the marks.
func (s *store) settle(ctx context.Context, data, index *db.Tx, at cursor) error {
	all, err := standings(ctx, data, at)
	if err != nil {
		return err
	}
	var now, hidden, shown []string
	for _, id := range slices.Sorted(maps.Keys(all)) {
		switch purged := all[id].Purged; {
		case purged && !s.purged[id]:
			now, hidden = append(now, id), append(hidden, id)
		case purged:
			now = append(now, id)
		case s.purged[id]:
			shown = append(shown, id)
		}
	}
	if len(hidden)+len(shown) == 0 && !s.grew {
		return nil
	}
	for n, ids := range map[int][]string{-1: hidden, 1: shown} {
		if err := count(ctx, data, index, ids, n); err != nil {
			return err
		}
	}
	return errors.Join(data.SetPurged(ctx, now), index.SetPurged(ctx, now), search.Hide(ctx, index, now))
}

// count adds n to the pairs of files of each session.
func count(ctx context.Context, data, index *db.Tx, sessions []string, n int) error {
	paths, err := data.Paths(ctx, sessions)
	if err != nil {
		return err
	}
	counts := map[db.Together]int{}
	for _, p := range paths {
		addPairs(counts, p, n)
	}
	return index.AddTogether(ctx, counts)
}

// Purged reads the IDs of the sessions and memories that are purged, in order.
func (m *Materializer) Purged(ctx context.Context) ([]string, error) {
	index, err := m.Index(ctx)
	if err != nil {
		return nil, err
	}
	ids, err := db.PurgedIDs(ctx, index.DB)
	return ids, errors.Join(err, index.Close())
}

// Standing reads what is said of a session or memory by the marks that count here.
func (r *Reader) Standing(ctx context.Context, id string) (Standing, error) {
	all, err := standings(ctx, r.DB, r.opened.cursor, id)
	return all[id], err
}
