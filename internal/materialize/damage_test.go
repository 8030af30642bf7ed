package materialize_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/lock"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// Whatever happened to the file, the next command has the right index again.
func TestDamagedFileIsMadeAnew(t *testing.T) {
	w := newWorld(t)
	w.story()
	m := w.materializer()
	want := w.catchUp(m)
	file := filepath.Join(m.Dir, "recall.db")
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		damage func() error
		warns  bool
	}{
		{"missing", func() error { return os.Remove(file) }, false},
		{"zero length", func() error { return os.Truncate(file, 0) }, false},
		{
			"no database", func() error { return os.WriteFile(file, bytes.Repeat([]byte("not a database\n"), 5000), 0o600) },
			true,
		},
		{"cut in the header", func() error { return os.Truncate(file, 50) }, true},
		{"cut in the middle", func() error { return os.Truncate(file, int64(len(whole)/2)) }, true},
		{"header overwritten", func() error {
			return os.WriteFile(file, append(bytes.Repeat([]byte{0xff}, 4096), whole[4096:]...), 0o600)
		}, true},
		{"another program's", func() error { // application_id
			return os.WriteFile(file, slices.Concat(whole[:68], []byte("zzzz"), whole[72:]), 0o600)
		}, false},
		{"another version's", func() error { // user_version
			return os.WriteFile(file, slices.Concat(whole[:60], []byte{0, 0, 0, 99}, whole[64:]), 0o600)
		}, false},
		{"a log of another file", func() error { return os.WriteFile(file+"-wal", []byte("no log"), 0o600) }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.warnings = nil
			if err := c.damage(); err != nil {
				t.Fatal(err)
			}
			r, err := m.Open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			same(t, "index", want, w.catchUp(m))
			if c.warns != (len(w.warnings) == 1) || len(w.warnings) > 1 {
				t.Errorf("warned %q, want one: %v", w.warnings, c.warns)
			}
		})
	}
}

func TestLongLedgersThatChange(t *testing.T) {
	bobs := "refs/rekal/origin/" + bob
	for _, c := range []struct {
		name   string
		change func(w *world, first git.OID)
		left   string // whose sessions are left
	}{
		{"deleted", func(w *world, _ git.OID) { runGit(w.t, w.dir, "update-ref", "-d", bobs) }, `[` + alice + `]`},
		{"cut back", func(w *world, first git.OID) { w.point(bobs, first) }, `[` + alice + `, ` + bob + `]`},
		{"rewritten", func(w *world, _ git.OID) {
			runGit(w.t, w.dir, "update-ref", "-d", "refs/heads/rekal/"+bob)
			w.point(bobs, w.append(bob, 50, entryOf(commit("9", bob), chat("new", 49, "human something else"))))
			runGit(w.t, w.dir, "update-ref", "-d", "refs/heads/rekal/"+bob)
		}, `[` + alice + `, ` + bob + `]`},
		{"renamed", func(w *world, _ git.OID) {
			runGit(w.t, w.dir, "update-ref", "refs/rekal/upstream/"+bob, bobs)
			runGit(w.t, w.dir, "update-ref", "-d", bobs)
		}, `[` + alice + `, ` + bob + `]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.append(alice, 10, entryOf(commit("1", alice), chat("hers", 0, "human hello")))
			first := w.append(bob, 20, entryOf(commit("2", bob), chat("his", 11, "human hello")))
			w.point(bobs, w.append(bob, 30, entryOf(commit("3", bob), chat("his too", 21, "human hello again"))))
			runGit(t, w.dir, "update-ref", "-d", "refs/heads/rekal/"+bob)
			m := w.materializer()
			w.catchUp(m)
			c.change(w, first)
			lived := w.catchUp(m)
			same(t, "rebuilt", w.rebuilt(), lived)
			harness.Equal(t, "authors", []string{fmt.Sprintf(`{"who":"%s"}`, c.left)},
				w.data(m, `SELECT list(DISTINCT user_email ORDER BY user_email)::VARCHAR AS who FROM sessions`))
			w.noWarnings()
		})
	}
}

func TestUnknownFormatIsSkipped(t *testing.T) {
	w := newWorld(t)
	w.append(alice, 10, entryOf(commit("1", alice), chat("hers", 0, "human hello")))
	w.append(bob, 20, entryOf(commit("2", bob), chat("his", 11, "human hello")))
	w.raw("refs/heads/rekal/"+bob, map[string]string{"format": "2\n"})
	m := w.materializer()
	w.catchUp(m)
	w.warnedOnce("unknown ledger format")
	harness.Equal(t, "authors", []string{`{"user_email":"` + alice + `"}`}, w.data(m, `SELECT user_email FROM sessions`))
	w.warnedOnce("refs/heads/rekal/" + bob) // a reader says it no second time
}

func TestLongUnreadableSegmentIsSkipped(t *testing.T) {
	w := newWorld(t)
	hers, more := chat("hers", 0, "human hello"), chat("more", 12, "human goodbye")
	w.append(alice, 10, entryOf(commit("1", alice), hers))
	m := w.materializer()
	w.catchUp(m)
	w.raw("refs/heads/rekal/"+alice, map[string]string{
		"segments/2026/03/04/01KJWGYKR00000000000000000.ndjson": sessionLine(hers) +
			`{"t":"turn","i":7,"role":"human","content":"surprise"}` + "\n",
		"segments/2026/03/04/01KJWGYKR00000000000000000.1.ndjson": sessionLine(more) +
			`{"t":"turn","i":0,"role":"human","ts":"2026-03-04T10:12:00.000Z","content":"goodbye"}` + "\n",
	})
	w.append(alice, 30, entryOf(commit("2", alice), chat("last", 25, "human and the rest")))
	lived := w.catchUp(m)
	w.warnedOnce(`skipped a segment in the ledger of "` + alice +
		`": segments/2026/03/04/01KJWGYKR00000000000000000.ndjson: `)
	harness.Equal(t, "turns", []string{`{"content":"and the rest"}`, `{"content":"goodbye"}`, `{"content":"hello"}`},
		w.data(m, `SELECT content FROM turns ORDER BY ALL`))
	w.warnings = nil
	same(t, "rebuilt", w.rebuilt(), lived)
	w.warnedOnce("turn 7 where 0 follows")
}

// What is applied in several batches is there whole or not at all.
func TestLongBatchesAreOneStep(t *testing.T) {
	w := newWorld(t)
	w.append(alice, 10, entryOf(commit("1", alice), chat("small", 0, "human hello")))
	m := w.materializer()
	before := w.catchUp(m)
	// Three commits of 9 MB each: two batches. White space costs nothing to index.
	for i := range 3 {
		s := chat(fmt.Sprintf("big-%d", i), 20+i, "human x")
		var b strings.Builder
		b.WriteString(sessionLine(s))
		for j := range 9 {
			fmt.Fprintf(&b, `{"t":"turn","i":%d,"role":"human","ts":%q,"content":"page %d%s"}`+"\n",
				j, later(20+i).Add(time.Duration(j)*time.Second).Format("2006-01-02T15:04:05.000Z"), j, strings.Repeat(" ", 1<<20))
		}
		w.raw("refs/heads/rekal/"+alice, map[string]string{fmt.Sprintf("segments/2026/03/04/01KJWGYKR%017d.ndjson",
			i): b.String()})
	}
	ctx, cancel := context.WithCancel(t.Context()) // ends behind the first batch
	defer cancel()
	batches := 0
	m.Progress = func(done, all int) {
		if done > 0 && done < all {
			batches++
			cancel()
		}
	}
	if err := m.CatchUp(ctx); err == nil {
		t.Fatal("a catch-up that was cancelled reports nothing")
	}
	if batches != 1 {
		t.Fatalf("%d batches before the last one, want one", batches)
	}
	same(t, "tables after half of it", before, w.dump(m))
	w.catchUp(m)
	harness.Equal(t, "turns", []string{`{"n":28,"sessions":4}`},
		w.data(m, `SELECT count(*) AS n, count(DISTINCT session_id) AS sessions FROM turns`))
	harness.Equal(t, "turns", []string{`{"n":28,"sessions":4}`},
		w.index(m, `SELECT count(*) AS n, count(DISTINCT session_id) AS sessions FROM turns_ft`))
	w.noWarnings()
}

// An error leaves no lock behind: the next command does not wait.
func TestLongErrorsReleaseTheLock(t *testing.T) {
	w := newWorld(t)
	w.append(alice, 10, entryOf(commit("1", alice), chat("small", 0, "human hello")))
	m := w.materializer()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, try := range map[string]func() error{
		"catch up": func() error { return m.CatchUp(cancelled) },
		"rebuild":  func() error { return m.Rebuild(cancelled) },
		"open":     func() error { _, err := m.Open(cancelled); return err },
		"no folder": func() error {
			gone := w.materializer()
			gone.Dir = filepath.Join(gone.Dir, "none")
			return gone.CatchUp(t.Context())
		},
	} {
		t.Run(name, func(t *testing.T) {
			if err := try(); err == nil {
				t.Error("no error")
			}
			held, err := lock.Acquire(t.Context(), filepath.Join(m.Dir, "lock.writer"), lock.ToWrite, 0)
			if err != nil {
				t.Fatal(err)
			}
			if err := held.Release(); err != nil {
				t.Fatal(err)
			}
			w.catchUp(m)
		})
	}
}
