package db_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/db"
)

// holdVar names a lock file: the test binary is then another process that takes it, says
// so, and keeps it until it is killed.
const holdVar = "REKAL_DB_TEST_HOLD"

func TestMain(m *testing.M) {
	path := os.Getenv(holdVar)
	if path == "" {
		os.Exit(m.Run())
	}
	lock, err := db.Acquire(context.Background(), path, db.ToWrite, 0)
	fmt.Println("held:", err)
	time.Sleep(time.Minute)
	fmt.Println(lock.Release())
}

const patience = 30 * time.Millisecond

func TestLocksExclude(t *testing.T) {
	for _, c := range []struct {
		name          string
		first, second db.Exclusive
		busy          bool
	}{
		{"two readers", db.ToRead, db.ToRead, false},
		{"a reader and a writer", db.ToRead, db.ToWrite, true},
		{"a writer and a reader", db.ToWrite, db.ToRead, true},
		{"two writers", db.ToWrite, db.ToWrite, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "lock")
			first, err := db.Acquire(t.Context(), path, c.first, 0)
			if err != nil {
				t.Fatal(err)
			}
			second, err := db.Acquire(t.Context(), path, c.second, patience)
			if errors.Is(err, db.ErrBusy) != c.busy || !c.busy && err != nil {
				t.Errorf("second: %v, want busy %v", err, c.busy)
			}
			if err := errors.Join(second.Release(), first.Release()); err != nil {
				t.Fatal(err)
			}
			third, err := db.Acquire(t.Context(), path, db.ToWrite, 0)
			if err != nil {
				t.Fatalf("after both are released: %v", err)
			}
			if err := third.Release(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// A lock that is released while somebody waits is handed on.
func TestLockIsHandedOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := db.Acquire(t.Context(), path, db.ToWrite, 0)
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan error)
	go func() {
		second, err := db.Acquire(t.Context(), path, db.ToWrite, time.Minute)
		got <- errors.Join(err, second.Release())
	}()
	select {
	case err := <-got:
		t.Fatalf("got it while it was held: %v", err)
	case <-time.After(patience):
	}
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Error(err)
	}
}

func TestLockStopsWaiting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := db.Acquire(t.Context(), path, db.ToWrite, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := first.Release(); err != nil {
			t.Error(err)
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := db.Acquire(ctx, path, db.ToRead, time.Hour); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want the context's", err)
	}
}

// The system drops the lock of a process that was killed.
func TestLockOfTheDead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), holdVar+"="+path)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "held: <nil>\n" {
		t.Fatalf("%q, %v", line, err)
	}
	if _, err := db.Acquire(t.Context(), path, db.ToRead, patience); !errors.Is(err, db.ErrBusy) {
		t.Errorf("while it lives: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed, and says so
	lock, err := db.Acquire(t.Context(), path, db.ToWrite, 0)
	if err != nil {
		t.Fatalf("after its death: %v", err)
	}
	if err := lock.Release(); err != nil {
		t.Error(err)
	}
}

func TestLockWithoutFolder(t *testing.T) {
	for _, kind := range []db.Exclusive{db.ToRead, db.ToWrite} {
		if _, err := db.Acquire(t.Context(), filepath.Join(t.TempDir(), "none", "lock"), kind, 0); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("error %v, want fs.ErrNotExist", err)
		}
	}
}
