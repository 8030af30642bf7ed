package materialize_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// A scrub is about to take away the commits up to which the tables were built: they are made anew.
func TestScrubbedMeanwhile(t *testing.T) {
	w := newWorld(t)
	first := w.append(alice, 1, entryOf(nil, chat("one", 0, "human hello", "assistant a secret")))
	w.append(alice, 2, entryOf(nil, chat("two", 10, "human hi")))
	m := w.materializer()
	if err := m.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	id, turn := chat("one", 0).ID, 1
	if _, err := w.own(alice).Scrub(t.Context(), ledger.Scrub{
		Targets:  []ledger.Target{{Session: id, Turn: &turn}},
		Redactor: harness.Redactor(),
	}); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(w.dir, ".git", "objects", string(first[:2]), string(first[2:]))); err != nil {
		t.Fatal(err)
	}
	after := openWorld(t, w.dir) // another process, which has nothing in memory
	m = after.materializer()
	harness.Equal(t, "turns", counted(2), after.data(m,
		`SELECT count(*) AS n FROM turns WHERE content NOT LIKE '%scrubbed%'`))
	after.noWarnings()
}

// Scrubs remove what others are about to read, or read just now: these look again.
func TestLongScrubsBesideCatchUps(t *testing.T) {
	w := newWorld(t)
	var said []string
	for n := range 8 {
		said = append(said, fmt.Sprintf("human secret %d", n))
	}
	w.append(alice, 1, entryOf(nil, chat("one", 0, said...)))
	for n := range 20 {
		w.append(alice, 2+n, entryOf(nil, chat(fmt.Sprint("more", n), 20+n, "human hello")))
	}
	m := w.materializer()
	done := make(chan error)
	go func() {
		var errs []error
		for n := range said {
			errs = append(errs, w.scrub("one", n))
		}
		done <- errors.Join(errs...)
	}()
	for running := true; running; {
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
			running = false
		default:
		}
		repo, err := git.Open(t.Context(), w.dir, environ(w.dir))
		if err != nil {
			t.Fatal(err)
		}
		again := *m
		again.Repo = repo
		if err := again.CatchUp(t.Context()); err != nil {
			t.Error(err)
		}
		repo.Close()
	}
	w.noWarnings()
	after := openWorld(t, w.dir)
	harness.Equal(t, "turns", counted(20), after.data(after.materializer(),
		`SELECT count(*) AS n FROM turns WHERE content = 'hello'`))
}

// scrub takes one turn of one of alice's sessions out of her ledger, as a process of its own would.
func (w *world) scrub(native string, turn int) error {
	repo, err := git.Open(w.t.Context(), w.dir, environ(w.dir))
	if err != nil {
		return err
	}
	defer repo.Close()
	l, err := ledger.OpenOwn(repo, git.Signature{Name: "Somebody", Email: alice, When: dawn}, w.rand)
	if err != nil {
		return err
	}
	out, err := l.Scrub(w.t.Context(), ledger.Scrub{
		Targets:  []ledger.Target{{Session: chat(native, 0).ID, Turn: &turn}},
		Redactor: harness.Redactor(),
	})
	if err != nil {
		return err
	}
	_, err = l.Discard(w.t.Context(), out.Former...)
	return err
}

// What a clean that was killed had put aside holds what a scrub took out: whoever writes removes it.
func TestCleanedHalfway(t *testing.T) {
	w := newWorld(t)
	w.append(alice, 1, entryOf(nil, chat("one", 0, "human a secret")))
	m := w.materializer()
	w.catchUp(m)
	aside := filepath.Join(m.Dir, "recall.db.gone")
	if err := os.WriteFile(aside, []byte("a secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.append(alice, 2, entryOf(nil, chat("two", 1, "human hi")))
	w.catchUp(m)
	if _, err := os.Stat(aside); err == nil {
		t.Error("it is still there")
	}
}
