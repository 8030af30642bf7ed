package db_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// A statement that never ends, or would take all of the memory, is stopped, and the
// database serves the next one.
func TestSelectLimits(t *testing.T) {
	d := openData(t, sessions(t, "01KAB3F9AAAAAAAAAAAAAAAAA1"))
	for _, c := range []struct {
		name, statement string
		limit           db.Limits
		want            error
	}{
		{"a recursion without end", `WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t`, db.Limits{Time: 50 * time.Millisecond, Memory: 1 << 40}, db.ErrTime},
		{"a huge cross join", `SELECT count(*) FROM range(1000000) a, range(1000000) b, range(1000000) c`, db.Limits{Time: 50 * time.Millisecond, Memory: 1 << 40}, db.ErrTime},
		{"the engine's memory", `SELECT list(i) FROM range(1000000000) t(i)`, db.Limits{Time: time.Hour, Memory: 1 << 40}, db.ErrMemory},
		{"an answer of any number of rows", `SELECT i, repeat('x', 1000) FROM range(1000000000) t(i)`, db.Limits{Time: time.Hour, Memory: 64 << 20}, db.ErrMemory},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "an answer of any number of rows" {
				if _, err := os.Stat("/proc/self/statm"); err != nil {
					t.Skip("this system does not tell how large a process is")
				}
			}
			rows := 0
			err := d.Select(t.Context(), c.statement, c.limit, func(db.Row) error { rows++; return nil })
			if !errors.Is(err, c.want) || rows > 0 {
				t.Errorf("%v and %d rows, want %v", err, rows, c.want)
			}
			got, err := selected(t.Context(), d, `SELECT count(*) AS n FROM turns`)
			if err != nil {
				t.Fatal(err)
			}
			harness.Equal(t, "rows afterwards", []string{"[n] [3]"}, got)
		})
	}
}

// What the engine can't refuse, because it is a SELECT, has no effect: nothing is logged to a
// file, and no setting changes.
func TestSelectLeavesNothing(t *testing.T) {
	path := sessions(t, "01KAB3F9AAAAAAAAAAAAAAAAA1")
	dir := filepath.Dir(path)
	before := snapshot(t, dir)
	d, err := db.Open(t.Context(), path, db.ReadOnly, db.DataSchema())
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		`SELECT write_log('x' || i) FROM range(100000) t(i)`,
		`SELECT setseed(0.5)`,
		`SELECT * FROM checkpoint()`,
	} {
		if _, err := selected(t.Context(), d, statement); err != nil {
			t.Logf("%s: %v", statement, err) // refused is as good
		}
	}
	got, err := selected(t.Context(), d, `SELECT current_setting('lock_configuration') AS locked, current_setting('enable_external_access') AS external, current_setting('threads') AS threads`)
	if err != nil {
		t.Fatal(err)
	}
	harness.Equal(t, "settings", []string{"[locked external threads] [true false 1]"}, got)
	// A log in a file is not written. The engine believes that there is one and then fails at what
	// comes after, and at worst dies of it, so a process takes one statement a database.
	if _, err := selected(t.Context(), d, `SELECT * FROM enable_logging('QueryLog', storage = 'file', storage_path = '`+dir+`/log')`); err != nil {
		t.Log(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	harness.Equal(t, "files", before, snapshot(t, dir))
}
