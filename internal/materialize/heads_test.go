package materialize_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/materialize"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

const bobs = "refs/rekal/origin/" + bob

// arrives appends to bob's ledger, as it was fetched.
func (w *world) arrives(minutes int, e session.Entry) git.OID {
	w.t.Helper()
	own := "refs/heads/rekal/" + bob
	if tip, err := w.repo.Ref(bobs); err == nil {
		runGit(w.t, w.dir, "update-ref", own, string(tip))
	}
	tip := w.append(bob, minutes, e)
	w.point(bobs, tip)
	runGit(w.t, w.dir, "update-ref", "-d", own)
	return tip
}

// A ledger that can't be read keeps what was read of it, is named once, and is tried again when
// it moves or somebody asks: nothing in between is lost.
func TestLongSkippedLedgersAreTriedAgain(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(w *world) (mend func())
	}{
		{"a commit is missing", func(w *world) func() { return w.hide(string(w.tipOf(bobs)) + "^") }},
		{"the newest commit is missing", func(w *world) func() { return w.hide(string(w.tipOf(bobs))) }},
		{"a segment is missing", func(w *world) func() {
			path := runGit(w.t, w.dir, "diff", "--name-only", string(w.tipOf(bobs))+"^", string(w.tipOf(bobs)))
			return w.hide(string(w.tipOf(bobs)) + ":" + path)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.append(alice, 10, entryOf(nil, chat("hers", 0, "human hello")))
			w.arrives(20, entryOf(nil, chat("one", 11, "human hello")))
			m := w.materializer()
			w.catchUp(m)
			w.arrives(30, entryOf(nil, chat("two", 21, "human hello")))
			w.arrives(40, entryOf(nil, chat("three", 31, "human hello")))
			mend := c.spoil(w)
			reopened := openWorld(t, w.dir) // an object that was read once is remembered
			w.repo, m.Repo = reopened.repo, reopened.repo
			sessions := func() []string { return w.data(m, `SELECT native_id AS s FROM sessions ORDER BY captured_at`) }
			want := []string{`{"s":"hers"}`, `{"s":"one"}`}
			harness.Equal(t, "while it is broken", want, sessions())
			w.warnedOnce("skipped " + bobs)
			harness.Equal(t, "once more", want, sessions())
			w.warnedOnce("skipped " + bobs)
			w.append(alice, 50, entryOf(nil, chat("more", 41, "human hello")))
			harness.Equal(t, "another one goes on", append(want, `{"s":"more"}`), sessions())
			w.warnedOnce("skipped " + bobs)
			before := w.files(m)
			w.catchUp(m)
			harness.Equal(t, "files after it was tried in vain", before, w.files(m))
			mend()
			w.warnings = nil
			lived := w.catchUp(m)
			harness.Equal(t, "mended", []string{`{"s":"hers"}`, `{"s":"one"}`, `{"s":"two"}`, `{"s":"three"}`, `{"s":"more"}`},
				sessions())
			same(t, "rebuilt", w.rebuilt(), lived)
			w.noWarnings()
		})
	}
}

// A reader tries again when the ledger moves.
func TestSkippedLedgerMovesOn(t *testing.T) {
	w := newWorld(t)
	w.append(alice, 10, entryOf(nil, chat("hers", 0, "human hello")))
	w.arrives(20, entryOf(nil, chat("one", 11, "human hello")))
	m := w.materializer()
	w.catchUp(m)
	good := w.arrives(30, entryOf(nil, chat("two", 21, "human hello")))
	w.raw(bobs, map[string]string{"format": "2\n"})
	w.index(m, "SELECT 1")
	w.warnedOnce("unknown ledger format")
	w.raw(bobs, map[string]string{"format": "1\n"})
	harness.Equal(t, "sessions", 3, w.count(m))
	if ok, err := w.repo.IsAncestor(good, w.tipOf(bobs)); err != nil || !ok {
		t.Fatal(ok, err)
	}
	w.warnedOnce("unknown ledger format")
}

// An author's ledger that two remotes serve is rewritten at one of them: what both still hold counts once.
func TestOneOfTwoRefsIsRewritten(t *testing.T) {
	w := newWorld(t)
	serve := func(tip git.OID, remotes ...string) {
		for _, remote := range remotes {
			w.point("refs/rekal/"+remote+"/"+bob, tip)
		}
		runGit(t, w.dir, "update-ref", "-d", "refs/heads/rekal/"+bob)
	}
	w.append(alice, 10, entryOf(nil, chat("hers", 0, "human hello")))
	both := w.append(bob, 20, entryOf(commit("1", bob), chat("one", 11, "human hello")))
	serve(w.append(bob, 30, entryOf(commit("2", bob), chat("two", 21, "human hello"))), "origin", "upstream")
	m := w.materializer()
	w.catchUp(m)
	w.point("refs/heads/rekal/"+bob, both)
	serve(w.append(bob, 40, entryOf(commit("3", bob), chat("three", 31, "human hello"))), "upstream")
	lived := w.catchUp(m)
	same(t, "rebuilt", w.rebuilt(), lived)
	harness.Equal(t, "sessions", 4, w.count(m))
	w.noWarnings()
}

// A rewritten ledger that can't be read destroys nothing; one that can replaces the old.
func TestRewrittenLedgerThatIsBroken(t *testing.T) {
	w := newWorld(t)
	w.append(alice, 10, entryOf(nil, chat("hers", 0, "human hello")))
	w.arrives(20, entryOf(nil, chat("one", 11, "human hello")))
	m := w.materializer()
	w.catchUp(m)
	w.point(bobs, w.root(map[string]string{"format": "9\n"}))
	harness.Equal(t, "sessions", 2, w.count(m))
	w.warnedOnce("unknown ledger format")
	w.point(bobs, w.root(map[string]string{"format": "1\n"}))
	harness.Equal(t, "sessions", 1, w.count(m))
	w.warnedOnce("unknown ledger format")
}

// What is in somebody's ledger, but not by them, is skipped, with one line.
func TestLongSegmentsByOthersAreSkipped(t *testing.T) {
	w := newWorld(t)
	hers := w.append(alice, 10, entryOf(commit("1", alice), chat("hers", 0, "human hello")))
	w.arrives(20, entryOf(commit("2", "BOB@example.com"), chat("his", 11, "human hello")))
	for i := range 12 {
		w.arrives(30+i, entryOf(commit("3", alice), chat(fmt.Sprintf("forged-%d", i), 21+i, "human hello")))
	}
	// aaron comes first in the order of refs, and points at alice's ledger.
	w.point("refs/rekal/origin/aaron@example.com", hers)
	m := w.materializer()
	lived := w.catchUp(m)
	harness.Equal(t, "sessions", []string{
		`{"s":"hers","user_email":"alice@example.com"}`,
		`{"s":"his","user_email":"bob@example.com"}`,
	},
		w.data(m, `SELECT native_id AS s, user_email FROM sessions ORDER BY s`))
	if len(w.warnings) != 2 {
		t.Fatalf("warned %q, want two", w.warnings)
	}
	for i, want := range []string{
		`skipped a segment in the ledger of "aaron@example.com": `,
		`skipped 12 segments in the ledger of "bob@example.com": the first: `,
	} {
		if !strings.HasPrefix(w.warnings[i], want) || !strings.Contains(w.warnings[i], alice) {
			t.Errorf("warned %q, want %q", w.warnings[i], want)
		}
	}
	same(t, "rebuilt", w.rebuilt(), lived)
}

// An address whose branch has escapes is itself.
func TestEscapedAddress(t *testing.T) {
	const odd = "o'brien/x%y@example.com"
	w := newWorld(t)
	w.append(odd, 10, entryOf(commit("1", "O'Brien/X%y@Example.com"), chat("his", 0, "human hello")))
	harness.Equal(t, "sessions", []string{`{"n":1}`}, w.data(w.materializer(), `SELECT count(*) AS n FROM sessions`))
	w.noWarnings()
}

// A link that comes before its session ties it when it comes.
func TestLongLinkBeforeItsSession(t *testing.T) {
	w := newWorld(t)
	s := talk()
	w.append(alice, 10, entryOf(nil, chat("hers", 0, "human hello")))
	w.otherMachine(20, entryOf(nil, slice(s, 0, 3)))
	late := w.tipOf(there)
	runGit(t, w.dir, "update-ref", "-d", there)
	cp := commit("2", alice, "M f1.go")
	cp.Links = []session.Link{{Session: s.ID, Tie: session.TieMade, Evidence: "shell"}}
	w.append(alice, 30, entryOf(cp))
	m := w.materializer()
	w.catchUp(m)
	w.point(there, late)
	lived := w.catchUp(m)
	harness.Equal(t, "links", []string{`{"session_id":"` + s.ID + `"}`},
		w.data(m, `SELECT session_id FROM checkpoint_sessions`))
	harness.Equal(t, "files", []string{`{"session_id":"` + s.ID + `"}`}, w.index(m, `SELECT session_id FROM files_index`))
	same(t, "rebuilt", w.rebuilt(), lived)
	w.noWarnings()
}

// A teammate's newer sessions are written into the files that are there, not by a rebuild.
func TestLongNewerSessionsAreNoRebuild(t *testing.T) {
	w := newWorld(t)
	w.append(alice, 10, entryOf(nil, chat("hers", 0, "human hello")))
	w.arrives(20, entryOf(nil, chat("one", 11, "human hello")))
	m := w.materializer()
	w.catchUp(m)
	before := w.stat(m)
	w.arrives(30, entryOf(nil, chat("two", 21, "human hello")))
	w.append(alice, 25, entryOf(commit("1", alice), chat("older", 22, "human hello")))
	w.catchUp(m)
	if !os.SameFile(before, w.stat(m)) {
		t.Error("it was made anew")
	}
}

// A reader goes on in the state that it found, however much is written meanwhile.
func TestReaderKeepsItsState(t *testing.T) {
	w := newWorld(t)
	w.append(alice, 10, entryOf(nil, chat("hers", 0, "human hello")))
	m := w.materializer()
	w.catchUp(m)
	reader, err := m.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.arrives(20, entryOf(nil, chat("large", 11, "human hello "+strings.Repeat("and more ", 100_000))))
	lived := w.catchUp(m)
	harness.Equal(t, "the old state", 1, len(w.lines(reader.DB, `SELECT id FROM sessions`)))
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	same(t, "rebuilt", w.rebuilt(), lived)
	w.noWarnings()
}

// A reader that stays does not keep others from bringing the tables up.
func TestLongReaderIsInNobodysWay(t *testing.T) {
	w := newWorld(t)
	w.append(alice, 10, entryOf(nil, chat("hers", 0, "human hello")))
	m := w.materializer()
	reader, err := m.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.append(alice, 20, entryOf(nil, chat("two", 11, "human hello")))
	harness.Equal(t, "others", 2, w.count(m))
	harness.Equal(t, "the old state", 1, len(w.lines(reader.DB, `SELECT id FROM sessions`)))
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	w.noWarnings()
}

func (w *world) stat(m *materialize.Materializer) os.FileInfo {
	w.t.Helper()
	info, err := os.Stat(filepath.Join(m.Dir, "recall.db"))
	if err != nil {
		w.t.Fatal(err)
	}
	return info
}

func (w *world) tipOf(ref string) git.OID {
	w.t.Helper()
	tip, err := w.repo.Ref(ref)
	if err != nil {
		w.t.Fatal(err)
	}
	return tip
}

// hide puts an object out of the way until it is mended.
func (w *world) hide(rev string) (mend func()) {
	w.t.Helper()
	id := runGit(w.t, w.dir, "rev-parse", rev)
	file := filepath.Join(w.dir, ".git", "objects", id[:2], id[2:])
	if err := os.Rename(file, file+".hidden"); err != nil {
		w.t.Fatal(err)
	}
	return func() {
		if err := os.Rename(file+".hidden", file); err != nil {
			w.t.Fatal(err)
		}
	}
}

// root is a ledger of one commit with these files.
func (w *world) root(files map[string]string) git.OID {
	w.t.Helper()
	d := git.Draft{
		Message: "root\n", Files: map[string][]byte{},
		Author: git.Signature{Name: "Somebody", Email: bob, When: dawn},
	}
	for path, text := range files {
		d.Files[path] = []byte(text)
	}
	id, err := w.repo.WriteCommit(d)
	if err != nil {
		w.t.Fatal(err)
	}
	return id
}
