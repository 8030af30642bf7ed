package tables_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/materialize"
	"github.com/git-rekal/git-rekal/internal/tables"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// Nothing is left of an index that was made anew meanwhile: what it held may have had to go.
func TestIndexThatMoved(t *testing.T) {
	from := filepath.Join(t.TempDir(), "recall.db")
	create := func() {
		d, err := db.Open(t.Context(), from, db.Fresh)
		if err == nil {
			err = d.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	create()
	old, err := db.Open(t.Context(), from, db.ReadOnly)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	dir := t.TempDir()
	if err := os.Rename(from, from+".old"); err != nil {
		t.Fatal(err)
	}
	create()
	if _, err := tables.Open(t.Context(), dir, materialize.DataDB, "", old, func() {}); !errors.Is(err, tables.ErrMoved) {
		t.Errorf("error %v, want ErrMoved", err)
	}
	harness.Equal(t, "left", []string{"lock.tables"}, names(t, dir))
}

// A program that writes to the file holds nobody up: duckdb's own shell, or a version of git-rekal that kept its index
// there.
func TestHeldByAnotherProgram(t *testing.T) {
	if path := os.Getenv("HOLD"); path != "" {
		hold(t, path)
		return
	}
	dir := t.TempDir()
	if err := openIn(t, dir).Close(); err != nil {
		t.Fatal(err)
	}
	holder := exec.Command(os.Args[0], "-test.run=^TestHeldByAnotherProgram$")
	holder.Env = append(os.Environ(), "HOLD="+filepath.Join(dir, "data.db"))
	stdin, err := holder.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := holder.StdoutPipe()
	if err == nil {
		err = holder.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = holder.Wait() }()
	defer stdin.Close()
	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "held\n" {
		t.Fatalf("%q, %v", line, err)
	}
	rows, err := selected(t.Context(), openIn(t, dir, "01KAB3F9AAAAAAAAAAAAAAAAA1"), "SELECT id FROM sessions")
	if err != nil || len(rows) != 1 {
		t.Errorf("%q, %v", rows, err)
	}
}

// hold locks a file as DuckDB does, until the input ends.
func hold(t *testing.T, path string) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err == nil {
		err = unix.FcntlFlock(f.Fd(), unix.F_SETLK, &unix.Flock_t{Type: unix.F_WRLCK})
	}
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("held")
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// Forget removes what is ours, and leaves what is not.
func TestForget(t *testing.T) {
	dir := t.TempDir()
	if err := openIn(t, dir).Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"data.db.new", "data.db.new.wal", "index.db.wal", "tmp.99999999.data.db", "mine.wal",
		"recall.db",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := materialize.ForgetSQL(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	harness.Equal(t, "left", []string{"lock.tables", "mine.wal", "recall.db"}, names(t, dir))
}

func names(t *testing.T, dir string) (out []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		out = append(out, e.Name())
	}
	slices.Sort(out)
	return out
}
