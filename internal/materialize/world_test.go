package materialize_test

import (
	"context"
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
	repo, err := git.Open(dir, environ(dir))
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

// materializer works in .rekal below the repository, or in a folder of its own.
func (w *world) materializer(dir ...string) *materialize.Materializer {
	m := &materialize.Materializer{
		Repo: w.repo, Dir: filepath.Join(append([]string{w.dir}, append(dir, ".rekal")...)...),
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
	l, err := ledger.Own(w.repo, git.Signature{Name: "Somebody", Email: email, When: dawn}, w.rand)
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

func appendTo(ctx context.Context, l *ledger.Ledger, tip git.OID, minutes int, entries ...session.Entry) (git.OID, error) {
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
		GitSHA: strings.Repeat(digit, 40), GitBranch: "main", UserEmail: email, ActorType: session.ActorHuman, Via: session.ViaCommit,
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

// tables is every row of both databases, as JSON, by "file.table".
type tables map[string][]string

// catchUp brings the tables up to the ledgers and reads them.
func (w *world) catchUp(m *materialize.Materializer) tables {
	w.t.Helper()
	if err := m.CatchUp(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	return w.dump(m)
}

// rebuilt is what the tables are when they are made anew.
func (w *world) rebuilt() tables {
	w.t.Helper()
	m := w.materializer("anew", w.t.Name())
	if err := os.RemoveAll(m.Dir); err != nil {
		w.t.Fatal(err)
	}
	return w.catchUp(w.materializer("anew", w.t.Name()))
}

// dump reads all tables but for the blocks of package search, whose packing depends on how
// they grew, and the clock's columns.
func (w *world) dump(m *materialize.Materializer) tables {
	w.t.Helper()
	out := tables{}
	for file, schema := range map[string]db.Schema{"data": db.DataSchema(), "index": db.IndexSchema()} {
		d, err := db.Open(w.t.Context(), filepath.Join(m.Dir, file+".db"), db.ReadOnly, schema)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, table := range w.column(d, `SELECT table_name FROM duckdb_tables() WHERE NOT starts_with(table_name, 'search_')`) {
			columns := "*"
			switch table {
			case "session_embeddings":
				columns = "* EXCLUDE (generated_at)"
			case "index_state":
				columns = "* EXCLUDE (last_indexed_at)"
			}
			out[file+"."+table] = w.rows(d, "SELECT "+columns+" FROM "+table+" ORDER BY ALL")
		}
		if err := d.Close(); err != nil {
			w.t.Fatal(err)
		}
	}
	return out
}

// rows are the rows of a statement as JSON objects.
func (w *world) rows(d *db.DB, statement string) []string {
	w.t.Helper()
	out := []string{}
	err := d.Select(w.t.Context(), statement, db.QueryLimits(), func(r db.Row) error {
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

// column is the one column of a statement's rows, as text.
func (w *world) column(d *db.DB, statement string) []string {
	w.t.Helper()
	out := []string{}
	err := d.Select(w.t.Context(), statement, db.QueryLimits(), func(r db.Row) error {
		out = append(out, fmt.Sprint(r.Values[0]))
		return nil
	})
	if err != nil {
		w.t.Fatalf("%s: %v", statement, err)
	}
	return out
}

// data and index answer a statement on one database, brought up to the ledgers.
func (w *world) data(m *materialize.Materializer, statement string) []string {
	return w.ask(m.Data, statement)
}

func (w *world) index(m *materialize.Materializer, statement string) []string {
	return w.ask(m.Index, statement)
}

func (w *world) ask(open func(context.Context) (*materialize.Reader, error), statement string) []string {
	w.t.Helper()
	d, err := open(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	out := w.rows(d.DB, statement)
	if err := d.Close(); err != nil {
		w.t.Fatal(err)
	}
	return out
}

// found is what search finds, with its scores.
func (w *world) found(m *materialize.Materializer, queries ...string) map[string][]search.Hit {
	w.t.Helper()
	d, err := m.Index(w.t.Context())
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
		if out[q], err = s.Search(w.t.Context(), q, search.Options{}); err != nil {
			w.t.Fatal(err)
		}
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
func same(t *testing.T, what string, want, got tables) {
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
