package tables_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"
	"time"

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
		{"all", nil, 3, 0, []string{
			first + " shop 2026-03 one", first + " shop 2026-03 two", second + " shop 2026-03 one",
			second + " shop 2026-03 two",
		}},
		{"nothing new", nil, 0, 0, []string{
			first + " shop 2026-03 one", first + " shop 2026-03 two",
			second + " shop 2026-03 one", second + " shop 2026-03 two",
		}},
		{"one purged", []string{first}, 3, 3, []string{second + " shop 2026-03 one", second + " shop 2026-03 two"}},
		{"all purged", []string{first, second}, 0, 3, nil},
	} {
		t.Run(step.name, func(t *testing.T) {
			if step.purged != nil {
				purge(t, from, step.purged)
			}
			written, removed := export(t, dir, from, tables.Head{})
			if written != step.written || removed != step.removed {
				t.Errorf("wrote %d and removed %d, want %d and %d", written, removed, step.written, step.removed)
			}
			if step.turns == nil {
				return // there is no file to read
			}
			harness.Equal(t, "turns", step.turns, readRows(t, dir, "turns", "session_id, repository, month, content"))
		})
	}
	if _, err := tables.OpenExport(t.Context(), dir, false); err == nil {
		t.Error("figures went into a folder with texts")
	}
}

// The lines of HEAD are those of the last run, also where nothing but HEAD is new.
func TestExportHead(t *testing.T) {
	const session = "01KAB3F9AAAAAAAAAAAAAAAAA1"
	dir, from := filepath.Join(t.TempDir(), "lake"), index(t, session)
	head := tables.Head{
		Commit: "c1", TS: time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC),
		Lines: []tables.HeadLines{{"a.go", "session", session, 3}, {"a.go", "unknown", "", 2}},
	}
	columns := "git_sha, month, path, whose, session_id, line_count"
	export(t, dir, from, head)
	harness.Equal(t, "lines", []string{"c1 2026-04 a.go session " + session + " 3", "c1 2026-04 a.go unknown 2"},
		readRows(t, dir, "head_lines", columns))
	if written, removed := export(t, dir, from, head); written+removed != 0 {
		t.Errorf("nothing new: wrote %d, removed %d", written, removed)
	}
	head.Commit, head.Lines = "c2", []tables.HeadLines{{"a.go", "no_session", "", 5}}
	if written, removed := export(t, dir, from, head); written != 1 || removed != 1 {
		t.Errorf("another HEAD: wrote %d, removed %d", written, removed)
	}
	harness.Equal(t, "lines", []string{"c2 2026-04 a.go no_session 5"}, readRows(t, dir, "head_lines", columns))
}

func purge(t *testing.T, d *db.DB, ids []string) {
	t.Helper()
	tx, err := d.Begin(t.Context())
	if err == nil {
		defer tx.Rollback()
		err = tx.SetPurged(t.Context(), ids)
	}
	if err == nil {
		// a purge stands in a ledger
		err = tx.SetCursor(t.Context(), map[string]string{"refs/heads/rekal/a@b.c": ids[len(ids)-1]})
	}
	if err == nil {
		err = tx.Commit(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
}

func export(t *testing.T, dir string, from *db.DB, head tables.Head) (written, removed int) {
	t.Helper()
	e, err := tables.OpenExport(t.Context(), dir, true)
	if err != nil {
		t.Fatal(err)
	}
	if err = e.Add(context.Background(), "shop", "example.com/shop", from, head.Commit,
		func() (tables.Head, error) { return head, nil }); err == nil {
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

// readRows are the rows of a table that has one file.
func readRows(t *testing.T, dir, table, columns string) (out []string) {
	t.Helper()
	d, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	files, _ := filepath.Glob(filepath.Join(filepath.Dir(dir), "*lake*", table, "*", "*", "*.parquet"))
	if len(files) != 1 {
		t.Fatalf("files of %s: %q", table, files)
	}
	rows, err := d.Query("SELECT concat_ws(' ', "+columns+") FROM read_parquet([?]) WHERE ts IS NOT NULL ORDER BY 1",
		files[0])
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
