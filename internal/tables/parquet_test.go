package tables_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/tables"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// What another engine reads is what the index held at the last run, without what is purged.
func TestExport(t *testing.T) {
	const first, second = "01KAB3F9AAAAAAAAAAAAAAAAA1", "01KAB3F9AAAAAAAAAAAAAAAAA2"
	dir, from := filepath.Join(t.TempDir(), "it's a [lake]"), index(t, first, second)
	for _, step := range []struct {
		name             string
		purged           []string
		written, removed int
		turns            []string
	}{
		{"all", nil, 3, 0, []string{first + " shop 2026-03 one", first + " shop 2026-03 two", second + " shop 2026-03 one", second + " shop 2026-03 two"}},
		{"nothing new", nil, 0, 0, []string{first + " shop 2026-03 one", first + " shop 2026-03 two", second + " shop 2026-03 one", second + " shop 2026-03 two"}},
		{"one purged", []string{first}, 3, 3, []string{second + " shop 2026-03 one", second + " shop 2026-03 two"}},
		{"all purged", []string{first, second}, 0, 3, nil},
	} {
		t.Run(step.name, func(t *testing.T) {
			if step.purged != nil {
				purge(t, from, step.purged)
			}
			written, removed := export(t, dir, from)
			if written != step.written || removed != step.removed {
				t.Errorf("wrote %d and removed %d, want %d and %d", written, removed, step.written, step.removed)
			}
			if step.turns == nil {
				return // there is no file to read
			}
			harness.Equal(t, "turns", step.turns, readTurns(t, dir))
		})
	}
	if _, err := tables.OpenExport(t.Context(), dir, false); err == nil {
		t.Error("figures went into a folder with texts")
	}
}

func purge(t *testing.T, d *db.DB, ids []string) {
	t.Helper()
	tx, err := d.Begin(t.Context())
	if err == nil {
		defer tx.Rollback()
		err = tx.SetPurged(t.Context(), ids)
	}
	if err == nil {
		err = tx.SetCursor(t.Context(), map[string]string{"refs/heads/rekal/a@b.c": ids[len(ids)-1]}) // a purge stands in a ledger
	}
	if err == nil {
		err = tx.Commit(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
}

func export(t *testing.T, dir string, from *db.DB) (written, removed int) {
	t.Helper()
	e, err := tables.OpenExport(t.Context(), dir, true)
	if err != nil {
		t.Fatal(err)
	}
	if err = e.Add(context.Background(), "shop", "example.com/shop", from); err == nil {
		written, removed, err = e.Finish(t.Context())
	}
	if err != nil {
		t.Error(err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	return written, removed
}

func readTurns(t *testing.T, dir string) (out []string) {
	t.Helper()
	d, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	files, _ := filepath.Glob(filepath.Join(filepath.Dir(dir), "*lake*", "turns", "*", "*", "*.parquet"))
	if len(files) != 1 {
		t.Fatalf("files of turns: %q", files)
	}
	rows, err := d.Query(`SELECT concat_ws(' ', session_id, repository, month, content) FROM read_parquet([?]) WHERE ts IS NOT NULL ORDER BY 1`, files[0])
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		out = append(out, line)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}
