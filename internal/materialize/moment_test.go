package materialize_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/materialize"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// years appends n commits of a session each to alice's ledger.
func (w *world) years(n int) {
	w.t.Helper()
	for i := range n {
		w.append(alice, 10*i+9, entryOf(nil, chat(fmt.Sprintf("year-%d", i), 10*i, "human about "+topics[i%len(topics)], "assistant well")))
	}
}

// before is alice's ledger n commits ago.
func before(repo *git.Repo, n int) (ledger.Moment, error) {
	id, err := repo.Resolve(fmt.Sprintf("%s~%d", here, n))
	return ledger.Moment{Ref: here, OID: id, Until: dawn}, err
}

// sessionsThen counts the sessions of n commits ago.
func sessionsThen(ctx context.Context, m *materialize.Materializer, n int) (int, error) {
	moment, err := before(m.Repo, n)
	if err != nil {
		return 0, err
	}
	past, err := m.At(moment)
	if err != nil {
		return 0, err
	}
	index, err := past.Open(ctx)
	if err != nil {
		return 0, err
	}
	had, err := count(ctx, index.DB, "SELECT count(*) FROM facets")
	turns, err2 := count(ctx, index.DB, "SELECT count(*) FROM turns")
	if turns != 2*had {
		err2 = errors.Join(err2, fmt.Errorf("%d turns of %d sessions", turns, had))
	}
	return had, errors.Join(err, err2, index.Close())
}

func (w *world) then(m *materialize.Materializer, n int) int {
	w.t.Helper()
	had, err := sessionsThen(w.t.Context(), m, n)
	if err != nil {
		w.t.Fatal(err)
	}
	return had
}

func moments(t *testing.T, m *materialize.Materializer) []string {
	t.Helper()
	return glob(t, filepath.Join(m.Dir, "at", "*"))
}

// The moments that were asked last are kept; today's tables serve for what is now.
func TestLongFewMomentsAreKept(t *testing.T) {
	w := newWorld(t)
	w.years(7)
	m := w.materializer()
	minute := 0
	m.Now = func() time.Time { minute++; return later(minute) }
	harness.Equal(t, "now", 7, w.then(m, 0))
	if _, err := os.Stat(filepath.Join(m.Dir, "at")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there are tables of a moment that is now: %v", err)
	}
	stamp := func(n int) os.FileInfo {
		moment, err := before(w.repo, n)
		if err != nil {
			t.Fatal(err)
		}
		past, err := m.At(moment)
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(filepath.Join(past.Dir, "recall.db"))
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	for n := 1; n <= 4; n++ {
		harness.Equal(t, "sessions", 7-n, w.then(m, n))
	}
	first, second := stamp(1), stamp(2)
	harness.Equal(t, "sessions", 6, w.then(m, 1)) // the second is now the oldest
	harness.Equal(t, "sessions", 2, w.then(m, 5))
	harness.Equal(t, "kept", 4, len(moments(t, m)))
	if !os.SameFile(first, stamp(1)) {
		t.Error("what was asked lately was made anew")
	}
	harness.Equal(t, "sessions", 5, w.then(m, 2))
	if os.SameFile(second, stamp(2)) {
		t.Error("what was not asked for longest was kept")
	}
	stray := filepath.Join(m.Dir, "at", ".DS_Store")
	if err := os.WriteFile(stray, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := m.Forget(t.Context()); err != nil {
		t.Fatal(err)
	}
	harness.Equal(t, "kept", []string{stray}, moments(t, m))
	w.noWarnings()
}

// Whoever reads the tables of a moment is not disturbed by others that take their place.
func TestLongMomentsInUse(t *testing.T) {
	w := newWorld(t)
	w.years(8)
	m := w.materializer()
	minute := 0
	m.Now = func() time.Time { minute++; return later(minute) }
	moment, err := before(w.repo, 7)
	if err != nil {
		t.Fatal(err)
	}
	past, err := m.At(moment)
	if err != nil {
		t.Fatal(err)
	}
	reader, err := past.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= 6; n++ {
		w.then(m, n)
	}
	harness.Equal(t, "sessions", 1, len(w.lines(reader.DB, `SELECT session FROM facets`)))
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	w.then(m, 0)
	w.then(m, 6)
	if n := len(moments(t, m)); n > 5 {
		t.Errorf("%d are kept", n)
	}
	w.noWarnings()
}

// Tables of a moment that a process left unfinished, or that are damaged, are made anew.
func TestLongMomentsAfterACrash(t *testing.T) {
	for name, harm := range map[string]func(dir string) error{
		"an empty folder":   os.RemoveAll,
		"a damaged file":    func(dir string) error { return os.WriteFile(filepath.Join(dir, "recall.db"), []byte("no"), 0o600) },
		"a removal to end":  func(dir string) error { return os.Rename(dir, dir+".gone") },
		"half a new file":   func(dir string) error { return os.WriteFile(filepath.Join(dir, "recall.db.new"), []byte("no"), 0o600) },
		"nothing was noted": func(dir string) error { return os.Remove(filepath.Join(dir, "used")) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.years(3)
			m := w.materializer()
			harness.Equal(t, "sessions", 2, w.then(m, 1))
			dir := moments(t, m)[0]
			if err := harm(dir); err != nil {
				t.Fatal(err)
			}
			harness.Equal(t, "sessions", 2, w.then(m, 1))
			harness.Equal(t, "other sessions", 1, w.then(m, 2))
			for _, path := range moments(t, m) {
				if strings.Contains(path, ".") && filepath.Ext(path) == ".gone" {
					t.Errorf("%s is left", path)
				}
			}
			if name != "a damaged file" {
				w.noWarnings()
			}
		})
	}
}

// code makes a commit of code, as many minutes past dawn.
func (w *world) code(minutes int) string {
	w.t.Helper()
	at := git.Signature{Name: "S", Email: alice, When: later(minutes)}
	id, err := w.repo.WriteCommit(git.Draft{Message: "code\n", Author: at, Files: map[string][]byte{"a.go": nil}})
	if err != nil {
		w.t.Fatal(err)
	}
	return string(id)
}

// A date, or a commit of code, also has what was imported later, turn by turn up to then; what was captured later, it has not.
// Tables that grew are tables that were made anew.
func TestMomentHasWhatWasImportedLater(t *testing.T) {
	w := newWorld(t)
	first, second := w.code(4), w.code(40)
	ended := chat("ended", 0, "human about parsers", "Edit a.go", "assistant well")
	goesOn := chat("goes on", 3, "human about lexers", "Edit a.go", "assistant well", "human and trees", "Edit late.go", "assistant well")
	began := chat("began", 30, "human about printers", "assistant well")
	captured := chat("captured", 1, "human about hooks", "assistant well")
	behind := func(sha string) *session.Checkpoint {
		cp := commit("0", alice, "M a.go")
		cp.GitSHA = sha
		return cp
	}
	w.append(alice, 60, entryOf(behind(second), captured))
	w.dated(bob, later(70), later(70), entryOf(nil, ended, goesOn, began))
	tie := func(sha string, s session.Session) session.Entry {
		cp := behind(sha)
		cp.UserEmail, cp.Via, cp.Links = bob, session.ViaImport, []session.Link{{Session: s.ID}}
		return entryOf(cp)
	}
	w.dated(bob, later(71), later(71), tie(first, goesOn))
	at := func(dir string) *materialize.Materializer {
		past, err := w.materializer(dir).At(ledger.Moment{Ref: here, Until: later(5), Imports: true})
		if err != nil {
			t.Fatal(err)
		}
		return past
	}
	grown := at("grown")
	want := []string{`{"native_id":"ended","turns":2,"calls":1,"ties":0}`, `{"native_id":"goes on","turns":2,"calls":1,"ties":1}`}
	ask := func(m *materialize.Materializer) []string {
		return w.data(m, `SELECT native_id, (SELECT count(*) FROM turns WHERE session_id = s.id) AS turns,
			(SELECT count(*) FROM tool_calls WHERE session_id = s.id) AS calls,
			(SELECT count(*) FROM checkpoint_sessions WHERE session_id = s.id) AS ties FROM sessions s ORDER BY native_id`)
	}
	harness.Equal(t, "then", want, ask(grown))
	w.dated(bob, later(80), later(80), tie(second, ended))
	w.dated(bob, later(81), later(81), entryOf(nil, chat("again", 2, "human more", "assistant well")))
	want = append([]string{`{"native_id":"again","turns":2,"calls":0,"ties":0}`}, want...)
	harness.Equal(t, "grown", want, ask(grown))
	harness.Equal(t, "anew", want, ask(at("anew")))
	w.noWarnings()
}

// What one batch was read for is looked up while the next one is read. Where git itself answers, both ask one process.
func TestLongMomentOfManyBatchesWithSHA256(t *testing.T) {
	p := harness.New(t)
	p.Init(p.Root, "--object-format=sha256")
	w := openWorld(t, p.Root)
	early := w.code(4)
	w.append(alice, 60, entryOf(nil, chat("began later", 30, "human about hooks", "assistant well")))
	long := "human " + strings.Repeat("a word of many that were said ", session.MaxTurn/32)
	const commits, looks = 5, 500
	for i := range commits {
		s := chat(fmt.Sprint("imported ", i), 1, long, long, long, long)
		e := entryOf(nil, s)
		for n := range looks {
			e.Wrote = append(e.Wrote, session.Wrote{
				GitSHA: early, Blob: strings.Repeat("ab", 32), Session: s.ID, Path: fmt.Sprint(n, ".go"), Lines: session.Ranges{{1, 2}}, TS: later(2),
			})
		}
		w.dated(bob, later(70+i), later(70+i), e)
	}
	past, err := w.materializer().At(ledger.Moment{Ref: here, Until: later(5), Imports: true})
	if err != nil {
		t.Fatal(err)
	}
	harness.Equal(t, "then", []string{fmt.Sprintf(`{"sessions":%d,"wrote":%d}`, commits, commits*looks)},
		w.data(past, `SELECT (SELECT count(*) FROM sessions) AS sessions, (SELECT count(*) FROM wrote) AS wrote`))
	w.noWarnings()
}

// then asks for moments, more than are kept.
func then(ctx context.Context, dir string, seed int) error {
	return inRounds(ctx, dir, 3*rounds, func(_ *git.Repo, m *materialize.Materializer, round int) error {
		n := 1 + (seed*5+round*(1+seed%3))%8
		had, err := sessionsThen(ctx, m, n)
		if err == nil && had != 9-n {
			err = fmt.Errorf("%d commits ago there were %d sessions, want %d", n, had, 9-n)
		}
		return err
	})
}

func TestLongManyMomentsAtOnce(t *testing.T) {
	w := newWorld(t)
	w.years(9)
	m := w.materializer()
	var wg sync.WaitGroup
	for i := range 5 {
		wg.Go(func() {
			if out, err := play(t, "then", nil, w.dir, strconv.Itoa(i)); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	wg.Wait()
	harness.Equal(t, "sessions", 3, w.then(m, 6))
	if n := len(moments(t, m)); n > 4+5 {
		t.Errorf("%d moments are kept", n)
	}
}
