package db_test

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
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// sessions creates a data.db with these sessions, three turns and two tool calls each.
func sessions(t *testing.T, ids ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data.db")
	ctx := t.Context()
	d, err := db.Open(ctx, path, db.ReadWrite, db.DataSchema())
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	tx, err := d.Begin(ctx)
	if err != nil {
		t.Fatal(err)
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
			ToolCalls: []session.ToolCall{{Index: 0, Turn: -1, Tool: "Read", Path: "a.go"}, {Index: 1, Turn: 1, Tool: "Bash", Cmd: "ls"}},
		}
		parts = append(parts, s)
		rows = append(rows, db.SessionRow{Session: s, CapturedAt: noon, NextTurn: 3, NextTool: 2})
	}
	err = errors.Join(tx.ReplaceSessions(ctx, rows), tx.AppendTurns(parts),
		tx.AppendTools(parts, func(session.Session, session.ToolCall) time.Time { return noon }), tx.Commit(ctx))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func openData(t *testing.T, path string) *db.DB {
	t.Helper()
	d, err := db.Open(t.Context(), path, db.ReadOnly, db.DataSchema())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func TestReadOneSession(t *testing.T) {
	ctx := t.Context()
	d := openData(t, sessions(t, "01KAB3F9AAAAAAAAAAAAAAAAA1"))
	row, err := d.Session(ctx, "01KAB3F9AAAAAAAAAAAAAAAAA1")
	if err != nil || row.NativeID != "n-01KAB3F9AAAAAAAAAAAAAAAAA1" || row.NextTurn != 3 || !row.StartedAt.Equal(noon) {
		t.Errorf("row %+v, %v", row, err)
	}
	if _, err := d.Session(ctx, "01KAB3F9"); !errors.Is(err, session.ErrNoID) {
		t.Errorf("a prefix is not enough: %v", err)
	}
	for _, c := range []struct {
		name        string
		from, limit int
		role        string
		want        []int
	}{
		{"all", 0, 9, "", []int{0, 1, 2}},
		{"a page", 1, 1, "", []int{1}},
		{"one role", 0, 9, session.RoleHuman, []int{0, 2}},
		{"behind the end", 3, 9, "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			turns, err := d.Turns(ctx, row.ID, c.from, c.limit, c.role)
			if err != nil {
				t.Fatal(err)
			}
			var got []int
			for _, u := range turns {
				got = append(got, u.Index)
			}
			harness.Equal(t, "turns", c.want, got)
		})
	}
	tools, err := d.Tools(ctx, row.ID, -1, 0)
	if err != nil {
		t.Fatal(err)
	}
	harness.Equal(t, "tools before the second turn", []session.ToolCall{{Index: 0, Turn: -1, Tool: "Read", Path: "a.go"}}, tools)
}

// selected are the rows of a user's statement, a line each.
func selected(ctx context.Context, d *db.DB, statement string) ([]string, error) {
	var out []string
	err := d.Select(ctx, statement, db.QueryLimits(), func(r db.Row) error {
		out = append(out, fmt.Sprint(r.Columns, r.Values))
		return nil
	})
	return out, err
}

func TestSelect(t *testing.T) {
	d := openData(t, sessions(t, "01KAB3F9AAAAAAAAAAAAAAAAA1"))
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
	d := openData(t, sessions(t))
	want := 299_999
	err := d.Select(t.Context(), `SELECT i FROM range(300000) AS r(i) ORDER BY hash(i) % 7, i DESC`, db.QueryLimits(), func(db.Row) error { want--; return nil })
	if err != nil || want != -1 {
		t.Fatalf("%d rows left, %v", want+1, err)
	}
	last := int64(300_000)
	err = d.Select(t.Context(), `SELECT i FROM range(300000) AS r(i) ORDER BY i DESC`, db.QueryLimits(), func(r db.Row) error {
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

// Nothing but one SELECT runs, nothing reaches another file, and no file changes by a byte;
// also where the database happens to be open for writing.
func TestSelectRefuses(t *testing.T) {
	for _, mode := range []db.Mode{db.ReadOnly, db.ReadWrite} {
		path := sessions(t, "01KAB3F9AAAAAAAAAAAAAAAAA1")
		dir := filepath.Dir(path)
		secret := filepath.Join(dir, "secret.csv")
		if err := os.WriteFile(secret, []byte("a,b\n1,2\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		before := snapshot(t, dir)
		d, err := db.Open(t.Context(), path, mode, db.DataSchema())
		if err != nil {
			t.Fatal(err)
		}
		for _, statement := range []string{
			`INSERT INTO turns SELECT * FROM turns`, `UPDATE turns SET content = ''`, `DELETE FROM turns`, `TRUNCATE turns`,
			`MERGE INTO turns USING turns AS t ON false WHEN NOT MATCHED THEN INSERT`,
			`CREATE TABLE x (n INTEGER)`, `CREATE TEMP TABLE x AS SELECT 1`, `CREATE VIEW v AS SELECT 1`, `CREATE MACRO m() AS 1`,
			`DROP TABLE turns`, `ALTER TABLE turns ADD COLUMN x INTEGER`, `CREATE INDEX i ON turns (id)`,
			`ATTACH '` + dir + `/other.db'`, `DETACH rekal`, `USE memory`, `COPY turns TO '` + dir + `/out.csv'`, `COPY turns FROM '` + secret + `'`,
			`EXPORT DATABASE '` + dir + `/out'`, `INSTALL httpfs`, `LOAD httpfs`, `SET threads = 1`, `RESET threads`, `PRAGMA database_list`,
			`SET enable_external_access = true`, `CALL pragma_version()`, `BEGIN`, `COMMIT`, `VACUUM`, `CHECKPOINT`, `FORCE CHECKPOINT`,
			`PREPARE p AS SELECT 1`, `EXECUTE p`, `SELECT 1; SELECT 2`, `SELECT 1; DROP TABLE turns`, `DROP TABLE turns; SELECT 1`,
			`WITH x AS (DELETE FROM turns RETURNING *) SELECT * FROM x`, `SELECT * FROM (DELETE FROM turns RETURNING *)`,
			`SELECT 1) ; DROP TABLE turns; --`, `'); DROP TABLE turns; --`,
			`SELECT * FROM read_csv('` + secret + `')`, `SELECT * FROM '` + secret + `'`, `SELECT * FROM read_text('` + secret + `')`,
			`SELECT * FROM read_blob('/etc/passwd')`, `SELECT * FROM glob('` + dir + `/*')`, `SELECT * FROM read_parquet('` + secret + `')`,
			`SELECT * FROM read_json('` + secret + `')`, `SELECT * FROM parquet_scan('` + secret + `')`, `SELECT * FROM sniff_csv('` + secret + `')`,
			`SELECT * FROM duckdb_extensions()`, `SELECT * FROM read_text('https://example.com/x')`, `SELECT * FROM read_csv('s3://b/x')`,
			`SELECT * FROM arrow_scan(1, 2, 3)`, `SELECT set_config('threads', '9')`, `SELECT * FROM force_checkpoint()`, `SELECT nextval('s')`,
			`SELECT * FROM query('DROP TABLE turns')`, `SELECT * FROM query('SELECT 1; DROP TABLE turns')`, `SELECT getenv('HOME')`,
			``, `;`, `-- nothing`, `SELECT`, `what`,
		} {
			rows, err := selected(t.Context(), d, statement)
			if err == nil {
				t.Errorf("%q is not refused: %q", statement, rows)
				continue
			}
			if text := err.Error(); strings.Contains(text, "query(?)") || strings.Contains(text, "query($1)") || strings.Contains(text, "LINE 1") || !strings.HasPrefix(text, "query: ") {
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
}

func TestSelectNamesTheProblem(t *testing.T) {
	d := openData(t, sessions(t, "01KAB3F9AAAAAAAAAAAAAAAAA1"))
	for statement, want := range map[string]string{
		`SELECT nonsense FROM turns`:         "nonsense",
		`SELECT * FROM nowhere`:              "nowhere",
		`SELEC 1`:                            "SELEC",
		`SELECT error('as ' || 'I said')`:    "as I said",
		`SELECT content::INTEGER FROM turns`: "Could not convert string",
		`DROP TABLE turns`:                   "SELECT",
	} {
		_, err := selected(t.Context(), d, statement)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "query: ") || strings.Contains(err.Error(), "LINE 1") {
			t.Errorf("%q: %v, want %q in it, and nothing of ours", statement, err, want)
		}
	}
	stop := errors.New("stop")
	if err := d.Select(t.Context(), `SELECT 1`, db.QueryLimits(), func(db.Row) error { return stop }); !errors.Is(err, stop) {
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
