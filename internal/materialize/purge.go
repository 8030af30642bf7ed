package materialize

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/search"
	"github.com/git-rekal/git-rekal/internal/session"
)

// What is purged stays in the index, because a restore brings it back as it was. It is listed in
// the table purged, which everything that shows sessions or memories goes by, and
// search leaves it out. The list is a
// function of all marks that are there, so it does not matter in which order they came.
//
// A purged item is no hit, and no statistic of words counts it. So a restore changes nothing but a list, and scores are
// what they were, to the bit. The marks that count are those in the ledger of the item's author, and those in one's own
// (a branch of this clone), unless they are known to be signed by somebody else. Of these the highest `n` wins, except
// for jumps; at a tie the purge wins (session.Tally). The list is worked out behind each catch-up that finds marks,
// with the pairs of files that the items are counted in. So the order in which marks and items arrive does not matter.

// countingMarks are the marks that count, by the session or memory that they mark: one counts when its ledger is that
// of the item's author, or one's own.
func countingMarks(ctx context.Context, q db.Querier, c *claims, own cursor) (map[string]session.Marks, error) {
	marks, err := db.Marks(ctx, q)
	if err != nil || len(marks) == 0 {
		return nil, err
	}
	items := make([]string, len(marks))
	for i, m := range marks {
		items[i] = c.marked(m.ID, authorOf(m.Email, ""))
	}
	authors, err := db.AuthorsOf(ctx, q, items)
	out := map[string]session.Marks{}
	for i, m := range marks {
		author, here := authors[items[i]]
		marker := authorOf(m.Email, "")
		mine := isOwn(own, marker)
		if here && (mine || marker == authorOf(author, "?")) {
			t := out[items[i]]
			t.Add(m.N, m.Purge, mine)
			out[items[i]] = t
		}
	}
	return out, err
}

func (s *store) loadPurged(ctx context.Context, tx *db.Tx) error {
	ids, err := db.PurgedIDs(ctx, tx)
	s.purged = map[string]bool{}
	for _, id := range ids {
		s.purged[id] = true
	}
	return err
}

// updatePurged brings what is purged up to the marks.
func (s *store) updatePurged(ctx context.Context, tx *db.Tx, at cursor) error {
	all, err := countingMarks(ctx, tx, s.claims, at)
	if err != nil {
		return err
	}
	now, changed := purgedBy(all), s.grew
	for id := range s.purged {
		_, marked := all[id]
		changed = changed || !marked
	}
	for id, marks := range all {
		changed = changed || marks.Purged() != s.purged[id]
	}
	if !changed {
		return nil
	}
	return errors.Join(tx.SetPurged(ctx, now), search.Hide(ctx, tx, now))
}

// purgedBy are the sessions and memories that marks purge, in order.
func purgedBy(all map[string]session.Marks) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(all)), func(id string) bool { return !all[id].Purged() })
}

// setPurged purges what the marks say that are there.
func setPurged(ctx context.Context, tx *db.Tx, c *claims, own cursor) error {
	all, err := countingMarks(ctx, tx, c, own)
	if err != nil {
		return err
	}
	return tx.SetPurged(ctx, purgedBy(all))
}

// Purged reads the IDs of the sessions and memories that are purged, in order.
func (m *Materializer) Purged(ctx context.Context) ([]string, error) {
	r, err := m.Open(ctx)
	if err != nil {
		return nil, err
	}
	ids, err := db.PurgedIDs(ctx, r.DB)
	return ids, errors.Join(err, r.Close())
}

// Marks are the marks that count here, by the session or memory that they mark.
func (r *Reader) Marks(ctx context.Context) (map[string]session.Marks, error) {
	said, err := readClaims(ctx, r.DB, nil)
	if err != nil {
		return nil, err
	}
	return countingMarks(ctx, r.DB, newClaims(said, r.cursor), r.cursor)
}
