package materialize_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/lock"
	"github.com/git-rekal/git-rekal/internal/materialize"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// start starts the test binary in a role.
func start(t *testing.T, role string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, args...)
	cmd.Env = append(environ(args[0]), roleVar+"="+role)
	return cmd
}

// Processes die at any moment, in a catch-up in place, in a large one and in a rebuild. The next
// one makes the tables right, without a word, and sweeps what they left. REKAL_KILLS says
// how many die.
func TestLongKilledAtAnyMoment(t *testing.T) {
	kills := 9
	if n, err := strconv.Atoi(os.Getenv("REKAL_KILLS")); err == nil {
		kills = n
	}
	w := newWorld(t)
	r := rand.New(rand.NewPCG(1, 2))
	w.append(alice, 1, entryOf(nil, chat("first", 0, "human hello")))
	m := w.materializer()
	w.catchUp(m)
	for i := range kills {
		role := []string{"look", "look", "rebuild"}[i%3]
		text := "human what about the " + topics[i%len(topics)]
		if i%3 == 1 {
			text += strings.Repeat(" and more of it", 50_000)
		}
		w.append(alice, 10*i+9, entryOf(commit(fmt.Sprintf("%x", 1+i%15), alice, "M a.go"),
			chat(fmt.Sprint(i), 10*i+2, text, "Edit a.go")))
		cmd := start(t, role, w.dir, "0")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(r.IntN(400)) * time.Millisecond)
		if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed, and says so
		lived := w.catchUp(m)
		harness.Equal(t, "sessions", i+2, w.count(m))
		if i%3 == 2 || i == kills-1 {
			same(t, fmt.Sprintf("after %d: rebuilt", i), w.rebuilt(), lived)
		}
		for _, file := range glob(t, m.Dir+"/*") {
			if strings.Contains(file, ".new") || strings.HasPrefix(filepath.Base(file), "tmp") {
				t.Errorf("%s is left", file)
			}
		}
	}
	w.noWarnings()
}

// counted is the one row of a count.
func counted(n int) []string { return []string{fmt.Sprintf(`{"n":%d}`, n)} }

// A full disk: what writes says so, readers answer from before with one line, and when there
// is room again all is as if nothing had been.
func TestLongFullDisk(t *testing.T) {
	w := newWorld(t)
	w.append(alice, 1, entryOf(nil, chat("first", 0, "human hello")))
	m := w.materializer()
	if out, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "size=8m", "none",
		m.Dir).CombinedOutput(); err != nil {
		t.Skipf("no small disk can be made here: %s", out)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(m.Dir, 0); err != nil {
			t.Error(err)
		}
	})
	before := w.catchUp(m)
	for _, c := range []struct {
		name string
		size int // of the new session's text
		room int64
	}{
		{"in place", 100_000, 0},
		{"in place, nearly", 100_000, 40 << 10},
		{"aside", 1_000_000, 0},
		{"aside, nearly", 1_000_000, 1500 << 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.warnings = nil
			tip := w.tipOf(here)
			defer runGit(t, w.dir, "update-ref", here, string(tip))
			w.append(alice, 20, entryOf(nil, chat("large", 11, "human hello", "assistant "+noise(c.size))))
			filler := w.fill(m.Dir, c.room)
			harness.Equal(t, "sessions", 1, w.count(m))
			if len(w.warnings) != 1 || !strings.Contains(w.warnings[0], "the index is behind the ledger") ||
				strings.Contains(w.warnings[0], "\n") {
				t.Errorf("warned %q, want one line", w.warnings)
			}
			if err := m.CatchUp(t.Context()); err == nil {
				t.Error("a catch-up that found no room says nothing")
			}
			if err := m.Rebuild(t.Context()); err == nil {
				t.Error("a rebuild that found no room says nothing")
			}
			same(t, "as it was", before, w.dump(m))
			if err := os.Remove(filler); err != nil {
				t.Fatal(err)
			}
			w.warnings = nil
			harness.Equal(t, "sessions", 2, w.count(m))
			w.noWarnings()
			runGit(t, w.dir, "update-ref", here, string(tip))
			same(t, "without it", before, w.catchUp(m))
		})
	}
	t.Run("no state", func(t *testing.T) {
		for _, file := range glob(t, m.Dir+"/*.db") {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}
		w.fill(m.Dir, 0)
		if _, err := m.Open(t.Context()); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("error %v, want what the system says", err)
		}
	})
}

// noise is text that does not compress.
func noise(n int) string {
	r := rand.New(rand.NewPCG(3, 4))
	var b strings.Builder
	for b.Len() < n {
		fmt.Fprintf(&b, "%x ", r.Uint64())
	}
	return b.String()
}

// fill leaves so much room on a disk.
func (w *world) fill(dir string, room int64) (filler string) {
	w.t.Helper()
	filler = filepath.Join(dir, "filler")
	f, err := os.Create(filler)
	if err != nil {
		w.t.Fatal(err)
	}
	block := make([]byte, 4096)
	for err == nil {
		_, err = f.Write(block)
	}
	info, err := f.Stat()
	if err == nil {
		err = f.Truncate(max(0, info.Size()-room))
	}
	if err := errors.Join(err, f.Close()); err != nil {
		w.t.Fatal(err)
	}
	return filler
}

// hold is a process that works on the databases, and does not end.
func hold(ctx context.Context, dir string, _ int) error {
	held, err := lock.Acquire(ctx, filepath.Join(dir, ".git/rekal", "lock.writer"), lock.ToWrite, 0)
	fmt.Println("held:", err)
	<-ctx.Done()
	return held.Release()
}

// While another process writes, readers add what is missing for themselves; where that is much, they answer from the
// state before, with one line. Who has nothing to answer from waits.
func TestLongReadersDuringARebuild(t *testing.T) {
	w := newWorld(t)
	w.append(alice, 1, entryOf(nil, chat("first", 0, "human hello")))
	m := w.materializer()
	w.catchUp(m)
	cmd := start(t, "hold", w.dir, "0")
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
	harness.Equal(t, "current", 1, w.count(m))
	w.noWarnings()
	w.append(alice, 20, entryOf(nil, chat("two", 11, "human hello")))
	harness.Equal(t, "behind by little", 2, w.count(m))
	w.noWarnings()
	w.append(alice, 30, entryOf(nil, chat("three", 21, "human hello "+noise(600_000))))
	harness.Equal(t, "behind by much", 1, w.count(m))
	w.warnedOnce("the index is behind the ledger and can't be updated: other git-rekal processes are busy here; try again in a moment")
	w.warnings = nil
	for _, file := range glob(t, m.Dir+"/*.db") {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	answer := make(chan error)
	go func() {
		r, err := m.Open(context.Background())
		if err == nil {
			err = r.Close()
		}
		answer <- err
	}()
	select {
	case err := <-answer:
		t.Fatalf("answered from nothing: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed, and says so
	if err := <-answer; err != nil {
		t.Error(err)
	}
	w.noWarnings()
}

// Readers that are behind, checkpoints and a rebuild at once, all of them processes.
// REKAL_ROUNDS says how often.
func TestLongCrowd(t *testing.T) {
	turns := 1
	if n, err := strconv.Atoi(os.Getenv("REKAL_ROUNDS")); err == nil {
		turns = n
	}
	w := newWorld(t)
	w.append(alice, 1, entryOf(nil, chat("first", 0, "human hello")))
	w.materializer()
	for turn := range turns {
		roles := []string{"rebuild"}
		for range 20 {
			roles = append(roles, "look")
		}
		for range 5 {
			roles = append(roles, "tell")
		}
		done := make(chan error)
		for i, role := range roles {
			cmd := start(t, role, w.dir, fmt.Sprint(100*turn+i))
			go func() {
				out, err := cmd.CombinedOutput()
				if warned := strings.Count(string(out), "warning: "); err == nil &&
					warned > strings.Count(string(out), lock.ErrBusy.Error()) {
					err = errors.New("it warned")
				}
				if err != nil {
					err = fmt.Errorf("%s: %w: %s", role, err, out)
				}
				done <- err
			}()
		}
		for range roles {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	}
	m := w.materializer()
	lived := w.catchUp(m)
	harness.Equal(t, "sessions", 1+5*turns, w.count(m))
	same(t, "rebuilt", w.rebuilt(), lived)
	w.noWarnings()
}

// tell is a checkpoint: it appends a session and brings the tables up.
func tell(ctx context.Context, dir string, n int) error {
	repo, err := git.Open(ctx, dir, environ(dir))
	if err != nil {
		return err
	}
	defer repo.Close()
	l, err := ledger.OpenOwn(repo, git.Signature{Name: "W", Email: writer(n % 2), When: dawn},
		rand.NewChaCha8([32]byte{byte(n), byte(n >> 8)}))
	if err != nil {
		return err
	}
	for {
		tip, err := l.Tip()
		if err != nil {
			return err
		}
		s := chat(fmt.Sprint("told ", n), n, "human what about the "+topics[n%len(topics)], "Edit a.go")
		_, err = appendTo(ctx, l, tip, 1000+n, session.Entry{
			Checkpoint: commit("3", writer(n%2), "M a.go"),
			Sessions:   []session.Session{s},
		})
		if err == nil {
			break
		}
		if !errors.Is(err, git.ErrMoved) {
			return err
		}
	}
	m := &materialize.Materializer{
		Repo: repo, Dir: filepath.Join(dir, ".git/rekal"), Now: func() time.Time { return later(1000) },
		Warn: func(err error) { fmt.Println("warning:", err) },
	}
	r, err := m.Open(ctx)
	if err != nil {
		return err
	}
	return r.Close()
}
