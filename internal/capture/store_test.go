package capture

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/statedb"
)

// Of a file that was edited very much the latest edits count; a former name, however long ago, and commits take no room
// from them.
func TestEditsOfOnePath(t *testing.T) {
	e := newEdits(t.TempDir())
	lines := []editLine{{FormerPath: "old.go"}}
	for at := range int64(200) {
		const n = 5000
		lines = append(lines, editLine{Session: "S", At: at, Kinds: strings.Repeat("+", n), Prints: make([]byte, 8*n)},
			editLine{Session: "S", At: at, Commit: "c"})
	}
	former := []editLine{{Session: "S", At: 1000, Kinds: "+", Prints: make([]byte, 8)}}
	if err := errors.Join(e.add(t.Context(), map[string][]editLine{"a.go": lines, "old.go": former}),
		e.load(t.Context(), []string{"a.go"})); err != nil {
		t.Fatal(err)
	}
	all := e.cache["a.go"]
	n := len(all) - 1
	if n < 50 || n > 100 || all[n].At.UnixMilli() != 1000 {
		t.Fatalf("%d edits, and last %v", n, all[n].At)
	}
	for i, edit := range all[:n] {
		if want := int64(200 - n + i); edit.At.UnixMilli() != want || len(edit.Commits) != 1 {
			t.Fatalf("edit %d is of %d, want %d, and taken by %v", i, edit.At.UnixMilli(), want, edit.Commits)
		}
	}
}

// A database that is in use is waited for once.
func TestEditsInUse(t *testing.T) {
	dir := t.TempDir()
	err := statedb.Change(t.Context(), dir, func(ctx context.Context, tx *db.Tx) error {
		e := newEdits(dir)
		first := e.add(ctx, map[string][]editLine{"a.go": {{FormerPath: "b.go"}}})
		if !errors.Is(first, db.ErrLocked) {
			t.Errorf("add: %v", first)
		}
		if err := e.load(ctx, []string{"a.go"}); err != first { //nolint:errorlint // the very same
			t.Errorf("load: %v", err)
		}
		if err := e.flush(ctx); err != first { //nolint:errorlint // the very same
			t.Errorf("flush: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
