package search_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/search"
	"github.com/git-rekal/git-rekal/internal/session"
)

var noon = time.Date(2026, 2, 1, 12, 0, 0, 0, time.UTC)

// newIndex creates an empty index.
func newIndex(tb testing.TB) *db.DB {
	tb.Helper()
	d, err := db.Open(context.Background(), filepath.Join(tb.TempDir(), "index.db"), db.ReadWrite)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := d.Close(); err != nil {
			tb.Error(err)
		}
	})
	return d
}

// change runs f in a transaction of its own.
func change(tb testing.TB, d *db.DB, f func(ctx context.Context, tx *db.Tx) error) {
	tb.Helper()
	ctx := context.Background()
	tx, err := d.Begin(ctx)
	if err != nil {
		tb.Fatal(err)
	}
	defer tx.Rollback()
	if err := f(ctx, tx); err != nil {
		tb.Fatal(err)
	}
	if err := tx.Commit(ctx); err != nil {
		tb.Fatal(err)
	}
}

func add(tb testing.TB, d *db.DB, parts ...session.Session) {
	tb.Helper()
	change(tb, d, func(ctx context.Context, tx *db.Tx) error {
		return errors.Join(tx.AppendTurns(ctx, parts), search.Add(ctx, tx, parts))
	})
}

func hide(tb testing.TB, d *db.DB, ids ...string) {
	tb.Helper()
	change(tb, d, func(ctx context.Context, tx *db.Tx) error { return search.Hide(ctx, tx, ids) })
}

func find(tb testing.TB, d *db.DB, text string, opt search.Options) []search.Hit {
	tb.Helper()
	s, err := search.Open(context.Background(), d)
	if err != nil {
		tb.Fatal(err)
	}
	answer, err := s.Search(context.Background(), text, opt)
	if err != nil {
		tb.Fatal(err)
	}
	return answer.Hits
}

// alike fails the test where answers differ, and where there is none.
func alike(tb testing.TB, what string, want, got []search.Hit) {
	tb.Helper()
	if diff := cmp.Diff(want, got); diff != "" || len(want) == 0 {
		tb.Errorf("%s: %d hits wanted (-want +got):\n%s", what, len(want), diff)
	}
}

// talk is a session with the given turns.
func talk(id string, turns ...string) session.Session {
	s := session.Session{ID: id}
	for i, text := range turns {
		s.Turns = append(s.Turns, session.Turn{Index: i, Role: session.RoleHuman, TS: noon, Content: text})
	}
	return s
}

// filler is n sessions that speak of three things.
func filler(n int) []session.Session {
	topics := [][]string{
		{"login", "token", "expiry", "session", "cookie", "password", "user", "auth"},
		{"render", "canvas", "pixel", "shader", "colour", "frame", "texture", "mesh"},
		{"index", "postings", "ranking", "query", "term", "score", "document", "merge"},
	}
	r := rand.New(rand.NewPCG(7, 7))
	var out []session.Session
	for i := range n {
		words := topics[i%len(topics)]
		var turns []string
		for range 4 {
			text := fmt.Sprintf("filler%d", i)
			for range 12 {
				text += " " + words[r.IntN(len(words))]
			}
			turns = append(turns, text)
		}
		out = append(out, talk(fmt.Sprintf("F%04d", i), turns...))
	}
	return out
}
