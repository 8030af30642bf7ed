package search_test

import (
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/search"
	"github.com/git-rekal/git-rekal/internal/session"
)

// TestAddBesideFails holds that the reading of texts ends with the call when the rows can't be stored, and before all
// is read.
func TestAddBesideFails(t *testing.T) {
	d := newIndex(t)
	long := session.Session{ID: "long", Turns: make([]session.Turn, 400_000)}
	text := strings.Repeat("again ", 10_000) // of all turns: 24 GB to read
	for i := range long.Turns {
		long.Turns[i] = session.Turn{Index: i, Content: text}
	}
	tx, err := d.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	_, err = search.AddWhile(ctx, tx, []session.Session{long}, func() error { return io.ErrShortWrite })
	if !errors.Is(err, io.ErrShortWrite) || ctx.Err() != nil {
		t.Errorf("%v, %v", err, ctx.Err())
	}
	stacks := make([]byte, 1<<20)
	if stacks = stacks[:runtime.Stack(stacks, true)]; strings.Contains(string(stacks), "search.(*adder)") {
		t.Error("texts are still being read")
	}
	stop()
	if _, err := search.AddWhile(ctx, tx, []session.Session{long}, func() error { return nil }); !errors.Is(err,
		context.Canceled) {
		t.Errorf("without time: %v", err)
	}
}
