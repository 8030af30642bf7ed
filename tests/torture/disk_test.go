package torture

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// tmpfs mounts a small file system on a folder until the test's end; only root can.
func tmpfs(t *testing.T, dir string, size int) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can mount a small disk")
	}
	if err := errors.Join(os.MkdirAll(dir, 0o700), syscall.Mount("tmpfs", dir, "tmpfs", 0,
		fmt.Sprintf("size=%d,mode=700", size))); err != nil {
		t.Skipf("can't mount a small disk: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmount %s: %v", dir, err)
		}
	})
}

// fill takes all of a disk but some bytes, and returns what gives it back.
func fill(dir string, leave int) (free func() error, err error) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "filler")
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if n := int64(fs.Bavail)*fs.Bsize - int64(leave); n > 0 {
		err = syscall.Fallocate(int(f.Fd()), 0, 0, n)
	}
	return func() error { return os.Remove(path) }, err
}

// full reports whether a command says that it found no room, in whichever words.
func full(res ran) bool {
	return strings.Contains(res.stderr, "o space left") && !strings.Contains(res.stderr, "DuckDB")
}

// TestLongDiskFullOfCaches fills the disk that .git/rekal/ lies on: commits and recalls go on as if
// nothing were, and afterwards everything is there.
func TestLongDiskFullOfCaches(t *testing.T) {
	w := newWorld(t, seed(t))
	c := w.machine("home", "alice@example.com").repo()
	w.fatal(os.RemoveAll(c.rekal()))
	// Above the folder, so that .git/rekal itself can be removed.
	disk := filepath.Join(w.dir, "disk")
	tmpfs(t, disk, 24<<20)
	w.fatal(errors.Join(os.Mkdir(filepath.Join(disk, "rekal"), 0o700), os.Mkdir(c.rekal(), 0o700)))
	if out, err := exec.Command("mount", "--bind", filepath.Join(disk, "rekal"), c.rekal()).CombinedOutput(); err != nil {
		t.Skipf("can't bind: %v: %s", err, out)
	}
	t.Cleanup(func() { _ = syscall.Unmount(c.rekal(), syscall.MNT_DETACH) })
	w.fatal(c.grow(w, 8, 100))
	c.must("git", "rekal", "checkpoint")
	for n := range pick(2, 40) {
		w.fatal(c.grow(w, 3, 100))
		leave := []int{0, 4 << 10, 100 << 10, 700 << 10, 2 << 20}[w.rng.IntN(5)]
		free, err := fill(disk, leave)
		w.fatal(err)
		for _, v := range [][]string{
			{"git", "commit", "-q", "--allow-empty", "-m", "full"},
			{"git", "rekal", "parser cache"},
			{"git", "rekal", "checkpoint"},
			{"git", "rekal", "index"},
			{"git", "rekal", "-n", "3", "schema"},
		} {
			res, err := c.run(v...)
			w.fatal(err)
			mayFail := v[len(v)-1] == "checkpoint" || v[len(v)-1] == "index"
			if res.code != 0 && (!mayFail || !full(res)) || strings.Contains(res.stderr, "DuckDB") {
				t.Fatalf("round %d, %d bytes left: %v", n, leave, res)
			}
		}
		w.fatal(free())
		if err := c.checkButCaches(); err != nil {
			t.Fatalf("round %d, %d bytes had been left: %v", n, leave, err)
		}
	}
}

// checkButCaches is check where .git/rekal/ itself can't be removed, but what is in it can.
func (c *clone) checkButCaches() error {
	if err := c.quietly("git", "rekal", "checkpoint"); err != nil {
		return err
	}
	rows, err := c.tabled()
	if err != nil {
		return err
	}
	want := c.held()
	return errors.Join(c.fsck(), c.checkLedger(want), checkTables(want, rows), c.checkLeftovers())
}

// TestLongDiskFull fills the disk that the whole repository lies on. Commands may fail then, and
// say why; what they had captured stays, and nothing is half there.
func TestLongDiskFull(t *testing.T) {
	w := newWorld(t, seed(t))
	m := w.machine("home", "alice@example.com")
	dir := filepath.Join(m.home, "repo")
	tmpfs(t, dir, 32<<20)
	c := m.repo()
	w.fatal(c.grow(w, 8, 100))
	c.must("git", "rekal", "checkpoint")
	for n := range pick(2, 40) {
		w.fatal(c.grow(w, 3, 100))
		leave := []int{0, 4 << 10, 12 << 10, 40 << 10, 400 << 10}[w.rng.IntN(5)]
		free, err := fill(dir, leave)
		w.fatal(err)
		for _, v := range [][]string{
			{"git", "rekal", "checkpoint"},
			{"git", "commit", "-q", "--allow-empty", "-m", "full"},
			{"git", "rekal", "parser cache"},
			{"git", "rekal", "index"},
			{"git", "rekal", "export", "--parquet", ".rekal-lake"},
		} {
			res, err := c.run(v...)
			w.fatal(err)
			recall := v[len(v)-1] == "parser cache"
			if res.code != 0 && (recall || v[1] == "rekal" && !full(res)) {
				t.Fatalf("round %d, %d bytes left: %v", n, leave, res)
			}
		}
		w.fatal(free())
		w.fatal(c.dropGitsLocks())
		if err := c.check(); err != nil {
			t.Fatalf("round %d, %d bytes had been left: %v", n, leave, err)
		}
		c.must("git", "rekal", "export", "--parquet", ".rekal-lake")
		if _, err := exported(filepath.Join(dir, ".rekal-lake")); err != nil {
			t.Fatal(err)
		}
		c.must("git", "gc", "--quiet", "--prune=now") // the disk is small
	}
}

// TestLongReadOnlyCaches takes the right to write .git/rekal/ away: recall answers from what is there,
// commits are captured, and afterwards everything is there.
func TestLongReadOnlyCaches(t *testing.T) {
	w := newWorld(t, seed(t))
	c := w.machine("home", "alice@example.com").repo()
	w.fatal(c.grow(w, 8, 30))
	c.must("git", "rekal", "checkpoint")
	for n := range pick(1, 20) {
		if err := freeze(c.rekal(), true); err != nil {
			t.Skipf("nothing can be made read-only here: %v", err)
		}
		t.Cleanup(func() { _ = freeze(c.rekal(), false) })
		w.fatal(c.grow(w, 3, 30))
		c.must("git", "commit", "-q", "--allow-empty", "-m", "frozen")
		res, err := c.run("git", "rekal", "parser cache") // may say that it can't be brought up to date
		w.fatal(err)
		if res.code != 0 || strings.Contains(res.stderr, "DuckDB") {
			t.Fatalf("round %d: %v", n, res)
		}
		res, err = c.run("git", "rekal", "checkpoint") // whose index can't be brought up to date
		w.fatal(err)
		if res.code != 0 && !strings.Contains(res.stderr, "not permitted") &&
			!strings.Contains(res.stderr, "permission denied") {
			t.Fatalf("round %d: %v", n, res)
		}
		w.fatal(c.checkLedger(c.held()))
		w.fatal(freeze(c.rekal(), false))
		if err := c.check(); err != nil {
			t.Fatalf("round %d: %v", n, err)
		}
	}
}

// freeze takes the right to write away by mode; for root, who ignores modes, by the file
// system's immutable flag, which not every machine has.
func freeze(path string, on bool) error {
	program, flag := "chmod", map[bool]string{true: "a-w", false: "u+w"}[on]
	if os.Getuid() == 0 {
		program, flag = "chattr", map[bool]string{true: "+i", false: "-i"}[on]
	}
	return exec.Command(program, "-R", flag, path).Run()
}
