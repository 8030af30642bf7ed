package materialize_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/materialize"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

var topics = []string{
	"token expiry and the clock skew of the auth server", "pagination of the search endpoint with cursors",
	"flaky integration test that waits for postgres", "memory leak in the image resizer cache",
	"dark mode colours of the settings page", "retry with backoff on webhook delivery",
	"migration that renames the invoices column", "docker build that ignores the lock file",
}

// crowd appends n commits of two people, each with a session that is new or goes on, and
// calls after behind each.
func (w *world) crowd(n int, after ...func()) {
	w.t.Helper()
	goesOn := strings.Repeat(" and so on", 20) // no two turns fit into one passage
	open := map[string]session.Session{}
	for i := range n {
		email := []string{alice, bob}[i%2]
		at := 100 + 10*i
		digit := fmt.Sprintf("%x", 1+i%15)
		cp := commit(digit, email, fmt.Sprintf("M src/f%d.go", i%7), "A gen.go")
		s, goes := open[email]
		if goes {
			delete(open, email)
			w.append(email, at, entryOf(cp, from(s, 2, 1)))
		} else {
			topic := topics[i/2%len(topics)]
			s = chat(fmt.Sprintf("crowd-%d", i), at-8, fmt.Sprintf("human question %d on the %s", i, topic)+goesOn,
				fmt.Sprintf("Edit src/f%d.go", i%7), fmt.Sprintf("assistant it is because of %s, says %d",
					topics[(i/2+3)%len(topics)], i)+goesOn,
				fmt.Sprintf("human then fix the %s of %d", topic, i)+goesOn, fmt.Sprintf("Read src/f%d.go", (i+1)%7),
				"Bash make test", fmt.Sprintf("assistant done, ErrBadToken is gone from %d", i)+goesOn)
			w.append(email, at, entryOf(cp, until(s, 2, 1)))
			open[email] = s
		}
		for _, f := range after {
			f()
		}
	}
}

var questions = []string{
	"token expiry", "postgres flaky", "ErrBadToken", "why is the column renamed", "src/f3.go",
	"colours",
}

func TestLivedIsRebuilt(t *testing.T)     { livedIsRebuilt(t, 14) }
func TestLongLivedIsRebuilt(t *testing.T) { livedIsRebuilt(t, 24) }

func livedIsRebuilt(t *testing.T, crowd int) {
	t.Helper()
	w := newWorld(t)
	m := w.materializer()
	catchUp := func() {
		if err := m.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	w.story()
	w.crowd(crowd, catchUp)
	lived, found := w.dump(m), w.found(m, questions...)
	for _, q := range questions {
		if len(found[q]) == 0 {
			t.Errorf("nothing found for %q", q)
		}
	}
	same(t, "rebuilt", w.rebuilt(), lived)
	if err := m.Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	same(t, "rebuilt in place", lived, w.dump(m))
	harness.Equal(t, "found after a rebuild", found, w.found(m, questions...))
	w.noWarnings()
}

func TestNothingNewWritesNothing(t *testing.T) {
	w := newWorld(t)
	w.story()
	m := w.materializer()
	w.catchUp(m)
	before := w.files(m)
	w.catchUp(m)
	w.count(m)
	harness.Equal(t, "files", before, w.files(m))
}

// files are the bytes of the index.
func (w *world) files(m *materialize.Materializer) map[string]string {
	w.t.Helper()
	out := map[string]string{}
	for _, file := range []string{"recall.db"} {
		b, err := os.ReadFile(filepath.Join(m.Dir, file))
		if err != nil {
			w.t.Fatal(err)
		}
		out[file] = fmt.Sprintf("%x", sha256.Sum256(b))
	}
	return out
}

func TestLongTwoClones(t *testing.T) {
	w := newWorld(t)
	w.story()
	w.crowd(12)
	var dumps []dumped
	for range 2 {
		dir := t.TempDir()
		runGit(t, dir, "clone", "-q", "--bare", w.dir, ".")
		c := openWorld(t, dir)
		dumps = append(dumps, c.catchUp(c.materializer()))
	}
	same(t, "clones", dumps[0], dumps[1])
	same(t, "origin", w.catchUp(w.materializer()), dumps[0])
}
