package tables_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/materialize"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/tables"
	"github.com/git-rekal/git-rekal/tests/harness"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// index is one with these sessions, three turns and two tool calls each.
func index(tb testing.TB, ids ...string) *db.DB {
	tb.Helper()
	ctx := context.Background()
	d, err := db.Open(ctx, filepath.Join(tb.TempDir(), "recall.db"), db.ReadWrite)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = d.Close() })
	tx, err := d.Begin(ctx)
	if err != nil {
		tb.Fatal(err)
	}
	defer tx.Rollback()
	var rows []db.SessionRow
	var parts []session.Session
	for _, id := range ids {
		s := session.Session{
			ID: id, Source: "claude-code", NativeID: "n-" + id, ActorType: session.ActorHuman, StartedAt: noon,
			Turns: []session.Turn{
				{Index: 0, Role: session.RoleHuman, TS: noon, Content: "one"},
				{Index: 1, Role: session.RoleAssistant, TS: noon, Content: "two"},
				{Index: 2, Role: session.RoleHuman, Content: "three"},
			},
			ToolCalls: []session.ToolCall{
				{Index: 0, Turn: -1, Tool: "Read", Path: "a.go"},
				{Index: 1, Turn: 1, Tool: "Bash", Cmd: "ls"},
			},
		}
		parts = append(parts, s)
		rows = append(rows, db.SessionRow{Session: s, CapturedAt: noon, NextTurn: 3, NextTool: 2})
	}
	err = errors.Join(tx.ReplaceSessions(ctx, rows), tx.AppendTurns(ctx, parts),
		tx.AppendTools(ctx, parts), tx.Commit(ctx))
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

// openIn opens data.db with these sessions in a folder.
func openIn(tb testing.TB, dir string, ids ...string) *tables.DB {
	tb.Helper()
	d, err := tables.Open(context.Background(), dir, materialize.DataDB, "", index(tb, ids...), func() {})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = d.Close() })
	return d
}

// selected are the rows of a user's statement, a line each.
func selected(ctx context.Context, d *tables.DB, statement string) ([]string, error) {
	var out []string
	err := d.Select(ctx, statement, tables.Limits{Time: 30 * time.Second, Memory: tables.QueryMemory},
		func(r tables.Row) error {
			out = append(out, fmt.Sprint(r.Columns, r.Values))
			return nil
		})
	return out, err
}

// Columns may have the names of keywords without AS, whatever stands in the statement; what is wrong stays wrong.
func TestSelectNamesColumns(t *testing.T) {
	const id = "01KAB3F9AAAAAAAAAAAAAAAAA1"
	for _, tt := range []struct{ statement, want string }{
		{
			"SELECT count(*) cost, 'é, count(*) day' content, max(turn_index) last FROM turns",
			"[[cost content last] [3 é, count(*) day 2]]",
		},
		{"SELECT role, count(*) day FROM turns GROUP BY role ORDER BY day DESC LIMIT 1", "[[role day] [human 2]]"},
		{"WITH x AS (SELECT count(*) hour FROM turns) SELECT hour role FROM x", "[[role] [3]]"},
		{"SELECT count(*) cost FROM nowhere", "Table with name nowhere does not exist!"},
		{"SELECT count(*) cost FORM turns", `syntax error at or near "cost"`},
		{"SELECT 1 cost; SELECT 2 cost", ""},
		{"DELETE FROM turns", ""},
		{"SELECT count(*) cost FROM (DELETE FROM turns)", ""},
	} {
		got, err := selected(t.Context(), openIn(t, t.TempDir(), id), tt.statement)
		if tt.want == "" && err != nil {
			continue
		}
		if text := fmt.Sprint(got, err); !strings.Contains(text, tt.want) || tt.want == "" {
			t.Errorf("%s: %s", tt.statement, text)
		}
	}
}

func TestSelect(t *testing.T) {
	d := openIn(t, t.TempDir(), "01KAB3F9AAAAAAAAAAAAAAAAA1")
	for _, c := range []struct {
		name, statement string
		want            []string
	}{
		{"a select", `SELECT turn_index, role FROM turns ORDER BY turn_index DESC`, []string{
			"[turn_index role] [2 human]", "[turn_index role] [1 assistant]", "[turn_index role] [0 human]",
		}},
		{"a semicolon behind it", `SELECT 1 AS n;`, []string{"[n] [1]"}},
		{"comments", "-- what\nSELECT 1 AS n /* how */ -- why", []string{"[n] [1]"}},
		{"with", `WITH x AS (SELECT 2 AS n) SELECT * FROM x`, []string{"[n] [2]"}},
		{"from first", `FROM turns SELECT count(*) AS n`, []string{"[n] [3]"}},
		{"quotes", `SELECT 'it''s; DROP TABLE turns' AS "a b"`, []string{"[a b] [it's; DROP TABLE turns]"}},
		{"no rows", `SELECT * FROM turns WHERE false`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := selected(t.Context(), d, c.statement)
			if err != nil {
				t.Fatal(err)
			}
			harness.Equal(t, "rows", c.want, got)
		})
	}
}

// The order of a user's ORDER BY survives what Select puts around it, also where the engine
// works on many rows at once.
func TestSelectKeepsOrder(t *testing.T) {
	d := openIn(t, t.TempDir())
	want := 299_999
	err := d.Select(t.Context(), `SELECT i FROM range(300000) AS r(i) ORDER BY hash(i) % 7, i DESC`,
		tables.Limits{Time: 30 * time.Second, Memory: tables.QueryMemory}, func(tables.Row) error { want--; return nil })
	if err != nil || want != -1 {
		t.Fatalf("%d rows left, %v", want+1, err)
	}
	last := int64(300_000)
	err = d.Select(t.Context(), `SELECT i FROM range(300000) AS r(i) ORDER BY i DESC`,
		tables.Limits{Time: 30 * time.Second, Memory: tables.QueryMemory}, func(r tables.Row) error {
			if i, ok := r.Values[0].(int64); !ok || i != last-1 {
				return fmt.Errorf("%v behind %d", r.Values, last)
			}
			last--
			return nil
		})
	if err != nil {
		t.Error(err)
	}
}

// Nothing but one SELECT runs, nothing reaches another file, and no file changes by a byte.
func TestSelectRefuses(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret.csv")
	if err := os.WriteFile(secret, []byte("a,b\n1,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := openIn(t, dir, "01KAB3F9AAAAAAAAAAAAAAAAA1")
	before := snapshot(t, dir)
	for _, statement := range []string{
		`INSERT INTO turns SELECT * FROM turns`, `UPDATE turns SET content = ''`, `DELETE FROM turns`, `TRUNCATE turns`,
		`MERGE INTO turns USING turns AS t ON false WHEN NOT MATCHED THEN INSERT`,
		`CREATE TABLE x (n INTEGER)`, `CREATE TEMP TABLE x AS SELECT 1`, `CREATE VIEW v AS SELECT 1`, `CREATE MACRO m() AS 1`,
		`DROP TABLE turns`, `ALTER TABLE turns ADD COLUMN x INTEGER`, `CREATE INDEX i ON turns (id)`,
		`ATTACH '` + dir + `/other.db'`, `DETACH rekal`, `USE memory`, `COPY turns TO '` + dir + `/out.csv'`,
		`COPY turns FROM '` + secret + `'`,
		`EXPORT DATABASE '` + dir + `/out'`, `INSTALL httpfs`, `LOAD httpfs`, `SET threads = 1`, `RESET threads`,
		`PRAGMA database_list`,
		`SET enable_external_access = true`, `CALL pragma_version()`, `BEGIN`, `COMMIT`, `VACUUM`, `CHECKPOINT`,
		`FORCE CHECKPOINT`,
		`PREPARE p AS SELECT 1`, `EXECUTE p`, `SELECT 1; SELECT 2`, `SELECT 1; DROP TABLE turns`,
		`DROP TABLE turns; SELECT 1`,
		`WITH x AS (DELETE FROM turns RETURNING *) SELECT * FROM x`, `SELECT * FROM (DELETE FROM turns RETURNING *)`,
		`SELECT 1) ; DROP TABLE turns; --`, `'); DROP TABLE turns; --`,
		`SELECT * FROM read_csv('` + secret + `')`, `SELECT * FROM '` + secret + `'`,
		`SELECT * FROM read_text('` + secret + `')`,
		`SELECT * FROM read_blob('/etc/passwd')`, `SELECT * FROM glob('` + dir + `/*')`,
		`SELECT * FROM read_parquet('` + secret + `')`,
		`SELECT * FROM read_json('` + secret + `')`, `SELECT * FROM parquet_scan('` + secret + `')`,
		`SELECT * FROM sniff_csv('` + secret + `')`,
		`SELECT * FROM duckdb_extensions()`, `SELECT * FROM read_text('https://example.com/x')`,
		`SELECT * FROM read_csv('s3://b/x')`,
		`SELECT * FROM arrow_scan(1, 2, 3)`, `SELECT set_config('threads', '9')`, `SELECT * FROM force_checkpoint()`,
		`SELECT nextval('s')`,
		`SELECT * FROM query('DROP TABLE turns')`, `SELECT * FROM query('SELECT 1; DROP TABLE turns')`,
		`SELECT getenv('HOME')`,
		``, `;`, `-- nothing`, `SELECT`, `what`,
	} {
		rows, err := selected(t.Context(), d, statement)
		if err == nil {
			t.Errorf("%q is not refused: %q", statement, rows)
			continue
		}
		if text := err.Error(); strings.Contains(text, "query(?)") || strings.Contains(text, "query($1)") ||
			strings.Contains(text, "LINE 1") || !strings.HasPrefix(text, "query: ") {
			t.Errorf("%q: the error shows what the user did not type: %q", statement, text)
		}
	}
	got, err := selected(t.Context(), d, `SELECT count(*) FROM turns`)
	if err != nil {
		t.Fatal(err)
	}
	harness.Equal(t, "turns afterwards", []string{"[count_star()] [3]"}, got)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	harness.Equal(t, "files", before, snapshot(t, dir))
}

func TestSelectNamesTheProblem(t *testing.T) {
	d := openIn(t, t.TempDir(), "01KAB3F9AAAAAAAAAAAAAAAAA1")
	for statement, want := range map[string]string{
		`SELECT nonsense FROM turns`:         "nonsense",
		`SELECT * FROM nowhere`:              "nowhere",
		`SELEC 1`:                            "SELEC",
		`SELECT error('as ' || 'I said')`:    "as I said",
		`SELECT content::INTEGER FROM turns`: "Could not convert string",
		`DROP TABLE turns`:                   "SELECT",
	} {
		_, err := selected(t.Context(), d, statement)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "query: ") ||
			strings.Contains(err.Error(), "LINE 1") {
			t.Errorf("%q: %v, want %q in it, and nothing of ours", statement, err, want)
		}
	}
	stop := errors.New("stop")
	if err := d.Select(t.Context(), `SELECT 1`, tables.Limits{Time: 30 * time.Second, Memory: tables.QueryMemory},
		func(tables.Row) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("emit's error is lost: %v", err)
	}
}

// snapshot is the content of every file in a folder.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(filepath.Join(dir, path))
		out[path] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A statement that never ends, or would take all of the memory, is stopped, and the
// database serves the next one.
func TestSelectLimits(t *testing.T) {
	d := openIn(t, t.TempDir(), "01KAB3F9AAAAAAAAAAAAAAAAA1")
	for _, c := range []struct {
		name, statement string
		limit           tables.Limits
		want            error
	}{
		{
			"a recursion without end", `WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t`,
			tables.Limits{Time: 50 * time.Millisecond, Memory: 1 << 40},
			tables.ErrTime,
		},
		{
			"a huge cross join", `SELECT count(*) FROM range(1000000) a, range(1000000) b, range(1000000) c`,
			tables.Limits{Time: 50 * time.Millisecond, Memory: 1 << 40},
			tables.ErrTime,
		},
		{
			"the engine's memory", `SELECT list(i) FROM range(1000000000) t(i)`,
			tables.Limits{Time: time.Hour, Memory: 1 << 40},
			tables.ErrMemory,
		},
		{
			"an answer of any number of rows", `SELECT i, repeat('x', 1000) FROM range(1000000000) t(i)`,
			tables.Limits{Time: time.Hour, Memory: 64 << 20},
			tables.ErrMemory,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "an answer of any number of rows" {
				if _, err := os.Stat("/proc/self/statm"); err != nil {
					t.Skip("this system does not tell how large a process is")
				}
			}
			rows := 0
			err := d.Select(t.Context(), c.statement, c.limit, func(tables.Row) error { rows++; return nil })
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
	dir := t.TempDir()
	d := openIn(t, dir, "01KAB3F9AAAAAAAAAAAAAAAAA1")
	before := snapshot(t, dir)
	for _, statement := range []string{
		`SELECT write_log('x' || i) FROM range(100000) t(i)`,
		`SELECT setseed(0.5)`,
		`SELECT * FROM checkpoint()`,
	} {
		if _, err := selected(t.Context(), d, statement); err != nil {
			t.Logf("%s: %v", statement, err) // refused is as good
		}
	}
	got, err := selected(t.Context(), d,
		`SELECT current_setting('lock_configuration') AS locked, current_setting('enable_external_access') AS external, current_setting('threads') AS threads`)
	if err != nil {
		t.Fatal(err)
	}
	harness.Equal(t, "settings", []string{"[locked external threads] [true false 1]"}, got)
	// A log in a file is not written. The engine believes that there is one and then fails at what
	// comes after, and at worst dies of it, so a process takes one statement a database.
	if _, err := selected(t.Context(), d,
		`SELECT * FROM enable_logging('QueryLog', storage = 'file', storage_path = '`+dir+`/log')`); err != nil {
		t.Log(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	harness.Equal(t, "files", before, snapshot(t, dir))
}

// Keys and references are no constraints of the engine: each is asked for. Here tool calls are of a session that is not
// there.
func TestBrokenKeys(t *testing.T) {
	broken := func(from *db.DB) []string {
		t.Helper()
		d, err := tables.Open(t.Context(), t.TempDir(), materialize.DataDB, "", from, func() {})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		lines, checked, err := d.Broken(t.Context(), materialize.DataDB)
		if err != nil || checked != 17 {
			t.Errorf("checked %d, error %v", checked, err)
		}
		return lines
	}
	from := index(t, "01A", "01B")
	harness.Equal(t, "broken", []string(nil), broken(from))
	tx, err := from.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	lost := session.Session{ID: "01C", ToolCalls: []session.ToolCall{{Index: 0, Turn: -1, Tool: "Read", Path: "a.go"}}}
	if err := errors.Join(tx.AppendTools(t.Context(), []session.Session{lost}), tx.Commit(t.Context())); err != nil {
		t.Fatal(err)
	}
	harness.Equal(t, "broken", []string{
		"tool_calls.session_id is not in sessions: 1 row",
	}, broken(from))
}
