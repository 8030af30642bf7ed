package lock_test

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

	"github.com/git-rekal/git-rekal/internal/lock"
)

// holdVar names a lock file: the test binary is then another process that takes it, says
// so, and keeps it until it is killed.
const holdVar = "REKAL_LOCK_TEST_HOLD"

func TestMain(m *testing.M) {
	path := os.Getenv(holdVar)
	if path == "" {
		os.Exit(m.Run())
	}
	held, err := lock.Acquire(context.Background(), path, lock.ToWrite, 0)
	fmt.Println("held:", err)
	time.Sleep(time.Minute)
	fmt.Println(held.Release())
}

const patience = 30 * time.Millisecond

func TestLocksExclude(t *testing.T) {
	for _, c := range []struct {
		name          string
		first, second lock.Exclusive
		busy          bool
	}{
		{"two readers", lock.ToRead, lock.ToRead, false},
		{"a reader and a writer", lock.ToRead, lock.ToWrite, true},
		{"a writer and a reader", lock.ToWrite, lock.ToRead, true},
		{"two writers", lock.ToWrite, lock.ToWrite, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "lock")
			first, err := lock.Acquire(t.Context(), path, c.first, 0)
			if err != nil {
				t.Fatal(err)
			}
			second, err := lock.Acquire(t.Context(), path, c.second, patience)
			if errors.Is(err, lock.ErrBusy) != c.busy || !c.busy && err != nil {
				t.Errorf("second: %v, want busy %v", err, c.busy)
			}
			if err := errors.Join(second.Release(), first.Release()); err != nil {
				t.Fatal(err)
			}
			third, err := lock.Acquire(t.Context(), path, lock.ToWrite, 0)
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
	first, err := lock.Acquire(t.Context(), path, lock.ToWrite, 0)
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan error)
	go func() {
		second, err := lock.Acquire(t.Context(), path, lock.ToWrite, time.Minute)
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
	first, err := lock.Acquire(t.Context(), path, lock.ToWrite, 0)
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
	if _, err := lock.Acquire(ctx, path, lock.ToRead, time.Hour); !errors.Is(err, context.DeadlineExceeded) {
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
	if _, err := lock.Acquire(t.Context(), path, lock.ToRead, patience); !errors.Is(err, lock.ErrBusy) {
		t.Errorf("while it lives: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed, and says so
	held, err := lock.Acquire(t.Context(), path, lock.ToWrite, 0)
	if err != nil {
		t.Fatalf("after its death: %v", err)
	}
	if err := held.Release(); err != nil {
		t.Error(err)
	}
}

func TestLockWithoutFolder(t *testing.T) {
	for _, kind := range []lock.Exclusive{lock.ToRead, lock.ToWrite} {
		if _, err := lock.Acquire(t.Context(), filepath.Join(t.TempDir(), "none", "lock"), kind, 0); !errors.Is(err,
			fs.ErrNotExist) {
			t.Errorf("error %v, want fs.ErrNotExist", err)
		}
	}
}

// Who waits for a lock whose file its holder removes gets the file that is made anew, and
// nobody beside it.
func TestLockRemoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := lock.Acquire(t.Context(), path, lock.ToWrite, 0)
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan *lock.Lock)
	for range 4 {
		go func() {
			l, err := lock.Acquire(context.Background(), path, lock.ToWrite, time.Minute)
			if err != nil {
				t.Error(err)
			}
			got <- l
		}()
	}
	time.Sleep(patience)
	if err := first.Remove(); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		l := <-got
		select {
		case <-got:
			t.Fatal("two hold it at once")
		case <-time.After(patience):
		}
		if err := l.Remove(); err != nil {
			t.Fatal(err)
		}
	}
}
