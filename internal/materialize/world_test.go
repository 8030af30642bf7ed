package materialize_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/materialize"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/search"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/tables"
	"github.com/git-rekal/git-rekal/tests/harness"
)

const (
	alice = "alice@example.com"
	bob   = "bob@example.com"
)

// dawn is when everything begins; later counts minutes from there.
var dawn = time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC)

func later(minutes int) time.Time { return dawn.Add(time.Duration(minutes) * time.Minute) }

// world is a real repository with ledgers in it, and what Warn was told.
type world struct {
	t        *testing.T
	dir      string
	repo     *git.Repo
	rand     io.Reader
	now      time.Time // what clocks say; the zero value: some hours after dawn
	warnings []string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	p := harness.New(t)
	p.Init(p.Root)
	return openWorld(t, p.Root)
}

func openWorld(t *testing.T, dir string) *world {
	t.Helper()
	repo, err := git.Open(t.Context(), dir, environ(dir))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(repo.Close)
	return &world{t: t, dir: dir, repo: repo, rand: rand.NewChaCha8([32]byte{1})}
}

func environ(home string) []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1"}
}

func runGit(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir, cmd.Env = dir, environ(dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// materializer works in .git/rekal below the repository, or in a folder of its own.
func (w *world) materializer(dir ...string) *materialize.Materializer {
	m := &materialize.Materializer{
		Repo: w.repo, Dir: filepath.Join(append([]string{w.dir}, append(dir, ".git/rekal")...)...),
		Now: func() time.Time {
			if w.now.IsZero() {
				return later(1000)
			}
			return w.now
		},
		Warn: func(err error) { w.warnings = append(w.warnings, err.Error()) },
	}
	if err := os.MkdirAll(m.Dir, 0o700); err != nil {
		w.t.Fatal(err)
	}
	return m
}

func (w *world) own(email string) *ledger.Ledger {
	w.t.Helper()
	l, err := ledger.OpenOwn(w.repo, git.Signature{Name: "Somebody", Email: email, When: dawn}, w.rand)
	if err != nil {
		w.t.Fatal(err)
	}
	return l
}

// append writes entries to an author's ledger, at as many minutes past dawn, and returns its tip.
func (w *world) append(email string, minutes int, entries ...session.Entry) git.OID {
	w.t.Helper()
	l := w.own(email)
	tip, err := l.Tip()
	if err != nil {
		w.t.Fatal(err)
	}
	tip, err = appendTo(w.t.Context(), l, tip, minutes, entries...)
	if err != nil {
		w.t.Fatal(err)
	}
	return tip
}

func appendTo(ctx context.Context, l *ledger.Ledger, tip git.OID, minutes int,
	entries ...session.Entry,
) (git.OID, error) {
	var records []ledger.Record
	for _, e := range entries {
		if e.Checkpoint != nil {
			e.Checkpoint.TS = later(minutes)
		}
		clean, _, err := harness.Redactor().Apply(ctx, e)
		if err != nil {
			return "", err
		}
		records = append(records, ledger.Record{Entry: clean, TS: later(minutes)})
	}
	return l.Append(ctx, tip, records)
}

// raw writes segments as they are, without the codec's help.
func (w *world) raw(ref string, files map[string]string) git.OID {
	w.t.Helper()
	tip, err := w.repo.Ref(ref)
	if err != nil {
		w.t.Fatal(err)
	}
	c, err := w.repo.Commit(tip)
	if err != nil {
		w.t.Fatal(err)
	}
	d := git.Draft{
		Base: c.Tree, Parents: []git.OID{tip}, Message: "raw\n", Files: map[string][]byte{},
		Author: git.Signature{Name: "Somebody", Email: alice, When: dawn},
	}
	for path, text := range files {
		d.Files[path] = []byte(text)
	}
	next, err := w.repo.WriteCommit(d)
	if err == nil {
		err = w.repo.CompareAndSwap(w.t.Context(), ref, tip, next, "raw")
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return next
}

// point moves a ref wherever it stands.
func (w *world) point(ref string, oid git.OID) { runGit(w.t, w.dir, "update-ref", ref, string(oid)) }

// chat makes a session from lines that each begin with who or what: human, assistant, or a
// tool and its path (a command, for Bash). A minute passes with each.
func chat(native string, minutes int, lines ...string) session.Session {
	s := session.Session{
		Source: "claude-code", NativeID: native, ActorType: session.ActorHuman, Branch: "main", Title: "about " + native,
		StartedAt: later(minutes), Hash: strings.Repeat("ab", 32), Bytes: int64(len(lines)),
	}
	s.ID = session.NewID(s.StartedAt, s.Source, s.NativeID)
	for i, line := range lines {
		who, text, _ := strings.Cut(line, " ")
		switch who {
		case session.RoleHuman, session.RoleAssistant:
			s.Turns = append(s.Turns, session.Turn{Index: len(s.Turns), Role: who, TS: later(minutes + i), Content: text})
		default:
			c := session.ToolCall{Index: len(s.ToolCalls), Turn: len(s.Turns) - 1, Tool: who, Path: text}
			if who == "Bash" {
				c.Path, c.Cmd = "", text
			}
			s.ToolCalls = append(s.ToolCalls, c)
		}
	}
	return s
}

// from is what a session adds behind its first turns and tool calls.
func from(s session.Session, turns, tools int) session.Session {
	s.Turns, s.ToolCalls = s.Turns[turns:], s.ToolCalls[tools:]
	s.FirstTurn, s.FirstTool = turns, tools
	return s
}

// until is a session's beginning.
func until(s session.Session, turns, tools int) session.Session {
	s.Turns, s.ToolCalls = s.Turns[:turns], s.ToolCalls[:tools]
	return s
}

// commit is a checkpoint of a code commit (a digit names it) that changed files, each
// "M path" or "R old new".
func commit(digit string, email string, files ...string) *session.Checkpoint {
	cp := &session.Checkpoint{
		GitSHA: strings.Repeat(digit, 40), GitBranch: "main", UserEmail: email, ActorType: session.ActorHuman,
		Via: session.ViaCommit,
	}
	for _, f := range files {
		words := strings.Fields(f)
		file := session.File{Change: words[0], Path: words[len(words)-1], Blob: strings.Repeat("f", 40)}
		if len(words) == 3 {
			file.OldPath = words[1]
		}
		cp.Files = append(cp.Files, file)
	}
	return cp
}

func entryOf(cp *session.Checkpoint, sessions ...session.Session) session.Entry {
	return session.Entry{Checkpoint: cp, Sessions: sessions}
}

// dumped is every row of the index, as text, by table.
type dumped map[string][]string

// catchUp brings the tables up to the ledgers and reads them.
func (w *world) catchUp(m *materialize.Materializer) dumped {
	w.t.Helper()
	if err := m.CatchUp(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	return w.dump(m)
}

// rebuilt is what the tables are when they are made anew.
func (w *world) rebuilt() dumped {
	w.t.Helper()
	m := w.materializer("anew", w.t.Name())
	if err := os.RemoveAll(m.Dir); err != nil {
		w.t.Fatal(err)
	}
	return w.catchUp(w.materializer("anew", w.t.Name()))
}

// dump reads all tables but for the runs of package search, whose packing depends on how
// they grew, the clock's columns, and numbers that say in which order paths came.
func (w *world) dump(m *materialize.Materializer) dumped {
	w.t.Helper()
	d, err := db.Open(w.t.Context(), filepath.Join(m.Dir, "recall.db"), db.ReadOnly)
	if err != nil {
		w.t.Fatal(err)
	}
	out := dumped{}
	for _, table := range w.lines(d,
		`SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT IN ('runs', 'search_state')`) {
		query := "SELECT * FROM " + table
		switch table {
		case "embeddings":
			query = "SELECT session, model, hex(embedding) FROM embeddings"
		case "index_state":
			query = "SELECT turns, sessions FROM index_state"
		case "entries":
			query = "SELECT id, oid, email, key FROM entries"
		case "parts":
			query = "SELECT item, key, turn, next_turn, tool, next_tool, next_unit - unit, title, branch, model FROM parts JOIN entries ON n = entry"
		case "wrote":
			query = "SELECT sha, blob, session, path, lines, gone, ts, w.email, key FROM wrote w JOIN entries ON n = entry"
		case "paths":
			query = "SELECT path FROM paths"
		case "touches":
			query = "SELECT p.path, session FROM touches t JOIN paths p ON p.id = t.path"
		}
		out[table] = w.lines(d, query)
		slices.Sort(out[table])
	}
	if err := d.Close(); err != nil {
		w.t.Fatal(err)
	}
	return out
}

// lines are the rows of a query of the index, as text.
func (w *world) lines(d *db.DB, query string) (out []string) {
	w.t.Helper()
	rows, err := d.Query(w.t.Context(), query)
	if err != nil {
		w.t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		w.t.Fatal(err)
	}
	for rows.Next() {
		values, cells := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			cells[i] = &values[i]
		}
		if err := rows.Scan(cells...); err != nil {
			w.t.Fatal(err)
		}
		out = append(out, fmt.Sprint(values...))
	}
	if err := rows.Err(); err != nil {
		w.t.Fatal(err)
	}
	return out
}

// rows are the rows of a statement as JSON objects.
func (w *world) rows(d *tables.DB, statement string) []string {
	w.t.Helper()
	out := []string{}
	err := d.Select(w.t.Context(), statement, tables.Limits{Time: 30 * time.Second, Memory: tables.QueryMemory},
		func(r tables.Row) error {
			var b strings.Builder
			err := result.WriteRow(&b, r.Columns, r.Values)
			out = append(out, strings.TrimSpace(b.String()))
			return err
		})
	if err != nil {
		w.t.Fatalf("%s: %v", statement, err)
	}
	return out
}

// data and index answer a statement on one of the databases for SQL, brought up to the ledgers.
func (w *world) data(m *materialize.Materializer, statement string) []string {
	w.t.Helper()
	return w.ask(m, materialize.DataDB, statement)
}

func (w *world) index(m *materialize.Materializer, statement string) []string {
	w.t.Helper()
	return w.ask(m, materialize.IndexDB, statement)
}

func (w *world) ask(m *materialize.Materializer, kind materialize.SQLFile, statement string) []string {
	w.t.Helper()
	index, err := m.Open(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return w.askIndex(index, m.Dir, kind, statement)
}

// dataAt is data as of a moment.
func (w *world) dataAt(m *materialize.Materializer, moment ledger.Moment, statement string) []string {
	w.t.Helper()
	index, err := m.OpenAt(w.t.Context(), moment)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.askIndex(index, w.t.TempDir(), materialize.DataDB, statement)
}

func (w *world) askIndex(index *materialize.Reader, dir string, kind materialize.SQLFile, statement string) []string {
	w.t.Helper()
	d, err := tables.Open(w.t.Context(), dir, kind, statement, index.DB, func() {})
	if err := errors.Join(err, index.Close()); err != nil {
		w.t.Fatal(err)
	}
	out := w.rows(d, statement)
	if err := d.Close(); err != nil {
		w.t.Fatal(err)
	}
	return out
}

// count is how many sessions the index has.
func (w *world) count(m *materialize.Materializer) int {
	w.t.Helper()
	index, err := m.Open(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	n := len(w.lines(index.DB, `SELECT id FROM sessions`))
	if err := index.Close(); err != nil {
		w.t.Fatal(err)
	}
	return n
}

// found is what search finds, with its scores.
func (w *world) found(m *materialize.Materializer, queries ...string) map[string][]search.Hit {
	w.t.Helper()
	d, err := m.Open(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	defer d.Close()
	s, err := search.Open(w.t.Context(), d.DB)
	if err != nil {
		w.t.Fatal(err)
	}
	out := map[string][]search.Hit{}
	for _, q := range queries {
		answer, err := s.Search(w.t.Context(), q, search.Options{})
		if err != nil {
			w.t.Fatal(err)
		}
		out[q] = answer.Hits
	}
	return out
}

// noWarnings fails when Warn was told something.
func (w *world) noWarnings() {
	w.t.Helper()
	if len(w.warnings) > 0 {
		w.t.Errorf("warned: %q", w.warnings)
	}
}

// warnedOnce fails unless Warn was told exactly one thing, which holds text.
func (w *world) warnedOnce(text string) {
	w.t.Helper()
	if len(w.warnings) != 1 || !strings.Contains(w.warnings[0], text) {
		w.t.Errorf("warned %q, want one that holds %q", w.warnings, text)
	}
}

// same compares tables one by one, so that a difference names its table.
func same(t *testing.T, what string, want, got dumped) {
	t.Helper()
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for n := range want {
			if !yield(n) {
				return
			}
		}
	}) {
		harness.Equal(t, what+": "+name, want[name], got[name])
	}
	if len(want) != len(got) {
		t.Errorf("%s: %d tables, want %d", what, len(got), len(want))
	}
}
