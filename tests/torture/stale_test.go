package torture

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/tests/harness"
)

// TestNightStaleLeftovers plants what dead processes leave: half-written files, locks that are not of refs. Each is no
// obstacle, and is gone or harmless afterwards.
func TestNightStaleLeftovers(t *testing.T) {
	w := newWorld(t, seed(t))
	c := w.shared("home")
	git := filepath.Join(c.dir, ".git")
	c.must("git", "rekal", "sync", "--yes")
	for i, s := range []leftover{
		{"a lock of the packed refs", filepath.Join(git, "packed-refs.lock"), "", true},
		{"a recall.db.new", ".git/rekal/recall.db.new", "half", true},
		{"an empty one", ".git/rekal/recall.db.new", "", true},
		{"a write-ahead log", ".git/rekal/recall.db-wal", "nonsense", true},
		{"a log of a rebuild", ".git/rekal/recall.db.new-wal", "nonsense", true},
		{"a damaged capture cache", ".git/rekal/state.db", "nonsense", true},
		{"an empty capture cache", ".git/rekal/state.db", "", true},
		{"a damaged index", ".git/rekal/recall.db", "nonsense", true},
		{"an empty index", ".git/rekal/recall.db", "", true},
		{"a lock with something in it", ".git/rekal/lock", "123", true},
	} {
		if i%2 != 0 && !atFull() {
			continue
		}
		if !filepath.IsAbs(s.path) {
			s.path = filepath.Join(c.dir, s.path)
		}
		if err := w.stumble(c, s); err != nil {
			t.Errorf("%s: %v", s.name, err)
		}
	}
	w.fatal(c.check())
}

// leftover is a file that a dead process left.
type leftover struct {
	name, path, text string
	old              bool // it died an hour ago, not just now
}

// stumble plants a leftover and does a day's work.
func (w *world) stumble(c *clone, s leftover) error {
	if err := errors.Join(os.MkdirAll(filepath.Dir(s.path), 0o700),
		os.WriteFile(s.path, []byte(s.text), 0o600)); err != nil {
		return err
	}
	if hour := time.Now().Add(-time.Hour); s.old {
		if err := os.Chtimes(s.path, hour, hour); err != nil {
			return err
		}
	}
	if err := c.grow(w, 2, 5); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"git", "commit", "-q", "--allow-empty", "-m", "work"},
		{"git", "rekal", "parser cache"},
		{"git", "rekal", "index"},
		{"git", "rekal", "sync", "--yes"},
	} {
		res, err := c.run(args...)
		if err == nil && res.code != 0 {
			err = fmt.Errorf("%v", res)
		}
		if err != nil {
			return err
		}
	}
	if err := c.dropGitsLocks(); err != nil {
		return err
	}
	return errors.Join(c.checkLeftovers(), c.checkLedger(c.held()))
}

// TestNightClockGoesBack runs commands at times that jump: the ledger's order stays that of its
// commits, and nothing is lost. The binary is the real one but for its clock, which an
// overlay at build time moves (libfaketime can't: Go asks the kernel itself).
func TestNightClockGoesBack(t *testing.T) {
	w := newWorld(t, seed(t))
	w.bin = filepath.Join(w.dir, "moved-clock")
	overlay := "-overlay=" + clockOverlay(t)
	harness.Build(t, "git-rekal", filepath.Join(w.bin, "git-rekal"), overlay)
	harness.Build(t, "git-rekal/full", filepath.Join(w.bin, "git-rekal-full"), overlay)
	c := w.machine("home", "alice@example.com").repo()
	c.jumps = true
	for n := range pick(5, 80) {
		w.fatal(c.grow(w, 2, 10))
		by := time.Duration(w.rng.IntN(100*24)-50*24) * time.Hour
		clock := []string{"REKAL_CLOCK=" + by.String()}
		args := [][]string{
			{"git", "commit", "-q", "--allow-empty", "-m", "jump"},
			{"git", "rekal", "checkpoint"},
		}[w.rng.IntN(2)]
		res, err := c.runWith(clock, args...)
		if err == nil {
			err = res.blame()
		}
		if err == nil {
			_, err = c.runWith(clock, "git", "rekal", "parser cache")
		}
		if err != nil {
			t.Fatalf("jump %d, by %v: %v", n, by, err)
		}
	}
	w.fatal(c.check())
	w.fatal(c.checkOrder())
}

// checkOrder sees to it that a ledger which one machine wrote has its segments in the order
// of its commits.
func (c *clone) checkOrder() error {
	out, err := c.feed(nil, "log", "--reverse", "--format=", "--name-only", "refs/heads/rekal/"+c.email, "--", "segments/")
	if err != nil {
		return err
	}
	last := ""
	for _, path := range strings.Fields(string(out)) {
		name := filepath.Base(path)
		if name <= last && !strings.HasPrefix(last, name[:26]) {
			return fmt.Errorf("segment %s was added behind %s", name, last)
		}
		last = name
	}
	return nil
}

// clockOverlay is process.go with a clock that $REKAL_CLOCK moves.
func clockOverlay(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("../../internal/cli/process.go")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	moved := strings.Replace(string(text), "Now: time.Now", "Now: movedClock", 1) + `
func movedClock() time.Time {
	by, _ := time.ParseDuration(os.Getenv("REKAL_CLOCK"))
	return time.Now().Add(by)
}
`
	if !strings.Contains(moved, "Now: movedClock") {
		t.Fatal("process.go hands out its clock in another way")
	}
	dir := t.TempDir()
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{path: filepath.Join(dir, "process.go")}})
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"process.go": []byte(moved), "overlay.json": overlay} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "overlay.json")
}
