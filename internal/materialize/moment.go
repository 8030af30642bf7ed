package materialize

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
)

// A past moment is a condition on the index: the entries of ledgers that came later do not count (db.SetMoment). What
// is purged today is left out of the answers of any moment, and so is what was purged then, even if it was restored
// since.
//
// init stores today what was said long ago. So a moment with imports also has what an import brought later: sessions
// without a checkpoint, checkpoints with `via` `import`, and `wrote` records. A session ends at its last turn before
// the moment. One that began later is left out. A tie counts where its code commit is here and was made by then. What a
// hook captured later stays out as a whole, and so do memories, marks and rewrites.

// OpenAt is Open for what the ledgers held at a moment.
func (m *Materializer) OpenAt(ctx context.Context, moment ledger.Moment) (*Reader, error) {
	r, err := m.Open(ctx)
	if err != nil {
		return nil, err
	}
	if err := m.setMoment(ctx, r, moment); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

func (m *Materializer) setMoment(ctx context.Context, r *Reader, moment ledger.Moment) error {
	later, err := m.entriesLater(ctx, r, moment)
	if err != nil || len(later) == 0 {
		return err
	}
	purged, err := db.PurgedIDs(ctx, r.DB)
	if err != nil {
		return err
	}
	said, err := readClaims(ctx, r.DB, nil)
	if err != nil {
		return err
	}
	asOf := db.AsOf{Later: later}
	if moment.Imports {
		asOf.Imported = moment.Until.Add(time.Second) // git leaves out milliseconds
		asOf.Made = func(sha string) bool {
			c, err := m.Repo.Commit(git.OID(sha))
			return err == nil && c.Committer.When.Before(asOf.Imported)
		}
	}
	err = r.SetMoment(ctx, asOf, func(tx *db.Tx) error {
		emails, err := tx.LaterRewriters(ctx)
		if err != nil {
			return err
		}
		if err := resolveRewritesOf(ctx, tx, m.Repo, emails); err != nil {
			return err
		}
		return setPurged(ctx, tx, newClaims(said, r.cursor), r.cursor)
	})
	if err != nil {
		return err
	}
	return r.Bar(ctx, purged)
}

// entriesLater are the numbers of the entries that no commit brought which counts at a moment. Only what an author's
// own ledgers hold counts as that author's.
func (m *Materializer) entriesLater(ctx context.Context, r *Reader, moment ledger.Moment) ([]int, error) {
	heads, err := m.ledgersRead()
	if err != nil {
		return nil, err
	}
	tips, counting := map[string][]git.OID{}, map[string][]git.OID{} // by author
	for _, h := range heads {
		author := authorOf(h.Email, h.Ref)
		at := []git.OID{moment.OID}
		if h.Ref != moment.Ref {
			if at, err = ledger.AsOf(ctx, m.Repo, h.OID, moment.Until); err != nil {
				return nil, err
			}
		}
		at = slices.DeleteFunc(at, func(id git.OID) bool { return id == "" })
		tips[author], counting[author] = append(tips[author], h.OID), append(counting[author], at...)
	}
	type brought struct {
		author string
		by     git.OID
	}
	after := map[brought]bool{}
	for author := range tips {
		for c, err := range m.Repo.Walk(ctx, tips[author], counting[author]) {
			if err != nil {
				return nil, fmt.Errorf("materialize: %w", err)
			}
			after[brought{author, c.OID}] = true
		}
	}
	var later []int
	entries, err := db.Entries(ctx, r.DB)
	for _, e := range entries {
		if after[brought{authorOf(e.Email, "?"), git.OID(e.Commit)}] {
			later = append(later, e.N)
		}
	}
	return later, err
}

// publicDir has the index of a repository that is read without its private sessions.
const publicDir = "public"

// WithoutPrivate is a Materializer of an index in a place of its own, for a repository that is read without its private
// sessions.
func (m *Materializer) WithoutPrivate() *Materializer {
	public := *m
	public.Dir, public.public = m.filePath(publicDir), true
	return &public
}

// ForgetPublic removes the index that was made without private sessions.
func (m *Materializer) ForgetPublic() error { return remove(m.filePath(publicDir)) }
