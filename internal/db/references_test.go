package db_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Rows that refer to none are counted.
func TestBroken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "recall.db")
	d, err := db.Open(t.Context(), path, db.ReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	now := time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC)
	s := session.Session{ID: "S", Turns: []session.Turn{{Index: 0, Role: "human", TS: now, Content: "x"}}}
	write := func(do func(tx *db.Tx) error) {
		t.Helper()
		tx, err := d.Begin(t.Context())
		if err == nil {
			err = do(tx)
		}
		if err == nil {
			err = tx.Commit(context.Background())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	broken := func(want map[string]int) {
		t.Helper()
		got, err := d.CheckReferences(t.Context())
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
	write(func(tx *db.Tx) error {
		return tx.ReplaceSessions(t.Context(), []db.SessionRow{{Session: s, CapturedAt: now}})
	})
	write(func(tx *db.Tx) error {
		return errors.Join(tx.AppendTurns(t.Context(), []session.Session{s}),
			tx.ReplaceFacets(t.Context(), []db.SessionRow{{Session: s, CapturedAt: now}}))
	})
	broken(map[string]int{})
	other := s
	other.ID = "T"
	write(func(tx *db.Tx) error { return tx.AppendTurns(t.Context(), []session.Session{other}) })
	write(func(tx *db.Tx) error {
		return tx.AppendCheckpoints(t.Context(), []session.Checkpoint{{
			ID: "C", TS: now,
			Links: []session.Link{{Session: "S"}, {Session: "U"}},
		}})
	})
	broken(map[string]int{"turns without a session": 1, "checkpoint_sessions without a session": 1})
}
