package tables_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/tables"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// Nothing is left of an index that was made anew meanwhile: what it held may have had to go.
func TestIndexThatMoved(t *testing.T) {
	from := filepath.Join(t.TempDir(), "recall.db")
	create := func() {
		d, err := db.Open(t.Context(), from, db.Fresh)
		if err == nil {
			err = d.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	create()
	old, err := db.Open(t.Context(), from, db.ReadOnly)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	dir := t.TempDir()
	if err := os.Rename(from, from+".old"); err != nil {
		t.Fatal(err)
	}
	create()
	if _, err := tables.Open(t.Context(), dir, tables.Data, old, func() {}); !errors.Is(err, tables.ErrMoved) {
		t.Errorf("error %v, want ErrMoved", err)
	}
	harness.Equal(t, "left", []string{"lock.tables"}, names(t, dir))
}

// Forget removes what is ours, and leaves what is not.
func TestForget(t *testing.T) {
	dir := t.TempDir()
	if err := openIn(t, dir).Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"data.db.new", "data.db.new.wal", "index.db.wal", "tmp.99999999.data.db", "mine.wal", "recall.db"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := tables.Forget(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	harness.Equal(t, "left", []string{"lock.tables", "mine.wal", "recall.db"}, names(t, dir))
}

func names(t *testing.T, dir string) (out []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		out = append(out, e.Name())
	}
	slices.Sort(out)
	return out
}
