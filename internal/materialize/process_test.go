package materialize_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/lock"
	"github.com/git-rekal/git-rekal/internal/materialize"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// The test binary stands in for other processes: roleVar says which, with the repository
// and a number as arguments.
const roleVar = "REKAL_MATERIALIZE_TEST_ROLE"

func TestMain(m *testing.M) {
	role := os.Getenv(roleVar)
	if role == "" {
		os.Exit(m.Run())
	}
	n, err := strconv.Atoi(os.Args[2])
	if err == nil {
		err = roles[role](context.Background(), os.Args[1], n)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s %d: %v\n", role, n, err)
		os.Exit(1)
	}
}

var roles = map[string]func(ctx context.Context, dir string, n int) error{
	"write": write, "read": read, "rebuild": rebuild, "look": look, "hold": hold, "tell": tell,
}

// rounds is how often each does what it does.
const rounds = 4

// inRounds opens the repository as a process of its own would.
func inRounds(ctx context.Context, dir string, n int,
	step func(repo *git.Repo, m *materialize.Materializer, round int) error,
) error {
	repo, err := git.Open(ctx, dir, environ(dir))
	if err != nil {
		return err
	}
	defer repo.Close()
	m := &materialize.Materializer{
		Repo: repo, Dir: filepath.Join(dir, ".git/rekal"), Now: func() time.Time { return later(1000) },
	}
	var warned error
	m.Warn = func(err error) {
		if !errors.Is(err, lock.ErrBusy) { // it answered from the state before, as it should
			warned = errors.Join(warned, err)
		}
	}
	for round := range n {
		if err := errors.Join(step(repo, m, round), warned); err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
	}
	return nil
}

func writer(n int) string { return fmt.Sprintf("writer%d@example.com", n) }

// write appends a session at a time to a ledger of its own, and catches up.
func write(ctx context.Context, dir string, n int) error {
	return inRounds(ctx, dir, rounds, func(repo *git.Repo, m *materialize.Materializer, round int) error {
		l, err := ledger.OpenOwn(repo, git.Signature{Name: "W", Email: writer(n), When: dawn},
			rand.NewChaCha8([32]byte{byte(n), byte(round)}))
		if err != nil {
			return err
		}
		tip, err := l.Tip()
		if err != nil {
			return err
		}
		s := chat(fmt.Sprintf("w%d-%d", n, round), 10*round, "human what about the "+topics[(n+round)%len(topics)],
			"Edit a.go", "assistant fixed")
		if _, err := appendTo(ctx, l, tip, 10*round+9,
			entryOf(commit(fmt.Sprint(round), writer(n), "M a.go"), s)); err != nil {
			return err
		}
		return m.CatchUp(ctx)
	})
}

// read opens the index and finds it to agree with itself.
func read(ctx context.Context, dir string, _ int) error {
	return inRounds(ctx, dir, 2*rounds, func(_ *git.Repo, m *materialize.Materializer, _ int) error {
		r, err := m.Open(ctx)
		if err != nil {
			return err
		}
		a, err := count(ctx, r.DB, "SELECT count(*) FROM turns")
		b, err2 := count(ctx, r.DB, "SELECT coalesce(sum(turns), 0) FROM facets")
		if err := errors.Join(err, err2, r.Close()); err != nil {
			return err
		}
		if a != b {
			return fmt.Errorf("%d turns, %d by the facets", a, b)
		}
		return nil
	})
}

func rebuild(ctx context.Context, dir string, _ int) error {
	return inRounds(ctx, dir, 2, func(_ *git.Repo, m *materialize.Materializer, _ int) error { return m.Rebuild(ctx) })
}

func count(ctx context.Context, d *db.DB, query string) (n int, err error) {
	rows, err := d.Query(ctx, query)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(&n); err != nil {
			return 0, err
		}
	}
	return n, rows.Err()
}

func TestLongManyAtOnce(t *testing.T) {
	w := newWorld(t)
	w.append(alice, 1, entryOf(nil, chat("first", 0, "human hello")))
	w.materializer()
	var wg sync.WaitGroup
	for i, who := range []struct {
		role    string
		process bool
	}{
		{"write", true},
		{"write", false},
		{"read", true},
		{"read", false},
		{"write", true},
		{"write", false},
		{"read", true},
		{"rebuild", true},
	} {
		wg.Go(func() {
			if !who.process {
				if err := roles[who.role](t.Context(), w.dir, i); err != nil {
					t.Errorf("%s %d: %v", who.role, i, err)
				}
				return
			}
			if out, err := play(t, who.role, nil, w.dir, strconv.Itoa(i)); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	wg.Wait()
	m := w.materializer()
	harness.Equal(t, "sessions", []string{fmt.Sprintf(`{"n":%d}`, 1+4*rounds)},
		w.data(m, `SELECT count(*) AS n FROM sessions`))
	same(t, "rebuilt", w.rebuilt(), w.dump(m))
	w.noWarnings()
}

// play runs the test binary in a role.
func play(t *testing.T, role string, as *syscall.SysProcAttr, args ...string) (string, error) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if as != nil { // go test builds in a folder that is closed to others
		link := filepath.Join(args[0], "test.exe")
		if err := os.Link(exe, link); err != nil && !errors.Is(err, os.ErrExist) {
			t.Fatal(err)
		}
		exe = link
	}
	cmd := exec.CommandContext(t.Context(), exe, args...)
	cmd.Env = append(environ(args[0]), roleVar+"="+role)
	cmd.SysProcAttr = as
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// look reads the number of sessions with whatever may be written, and prints it with the
// warnings.
func look(ctx context.Context, dir string, _ int) error {
	repo, err := git.Open(ctx, dir, environ(dir))
	if err != nil {
		return err
	}
	defer repo.Close()
	m := &materialize.Materializer{
		Repo: repo, Dir: filepath.Join(dir, ".git/rekal"), Now: func() time.Time { return later(1000) },
		Warn: func(err error) { fmt.Println("warning:", err) },
	}
	r, err := m.Open(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	n, err := count(ctx, r.DB, "SELECT count(*) FROM facets")
	fmt.Println("sessions:", n)
	return err
}

// Where .git/rekal/ can't be written, readers answer from what is there, and say so.
func TestLongReadOnlyFolder(t *testing.T) {
	w := newWorld(t)
	w.append(alice, 10, entryOf(commit("1", alice), chat("one", 0, "human hello")))
	m := w.materializer()
	w.catchUp(m)
	as := w.nobody(m.Dir)
	for _, c := range []struct {
		name   string
		files  os.FileMode
		unlock func() error
		change func()
		warns  int
		want   string
	}{
		{"nothing new", 0o400, nil, func() {}, 0, "sessions: 1\n"},
		{
			"nothing new and no lock file", 0o400, func() error { return os.Remove(filepath.Join(m.Dir, "lock.writer")) },
			func() {}, 0, "sessions: 1\n",
		},
		{"something new", 0o400, nil, func() { w.fetched(bob) }, 0, "sessions: 2\n"},
		{"a ledger gone", 0o600, nil, func() { runGit(t, w.dir, "update-ref", "-d", here) }, 1, "sessions: 1\n"},
		{"files that may be written", 0o600, nil, func() { w.fetched(bob) }, 0, "sessions: 2\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.unlock != nil {
				if err := c.unlock(); err != nil {
					t.Fatal(err)
				}
				defer w.nobody(m.Dir)
				defer w.catchUp(m)
			}
			w.setModes(m.Dir, 0o500, c.files)
			defer w.setModes(m.Dir, 0o700, 0o600)
			tip := runGit(t, w.dir, "rev-parse", here)
			defer runGit(t, w.dir, "update-ref", here, tip)
			c.change()
			out, err := play(t, "look", as, w.dir, "0")
			if err != nil || strings.Count(out, "warning: ") != c.warns || !strings.HasSuffix(out, c.want) {
				t.Errorf("%v, want %d warnings and %q:\n%s", err, c.warns, c.want, out)
			}
			runGit(t, w.dir, "update-ref", "-d", "refs/rekal/origin/"+bob)
		})
	}
}

// fetched is a ledger that just came from elsewhere.
func (w *world) fetched(email string) {
	w.t.Helper()
	w.point("refs/rekal/origin/"+email, w.append(email, 20, entryOf(nil, chat("fetched", 11, "human hello"))))
	runGit(w.t, w.dir, "update-ref", "-d", "refs/heads/rekal/"+email)
}

// nobody is whom modes of files mean something to, when root runs the tests: then .git/rekal/
// is given to nobody, who may read the rest.
func (w *world) nobody(dir string) *syscall.SysProcAttr {
	w.t.Helper()
	if os.Getuid() != 0 {
		return nil
	}
	const id = 65534
	for _, dir := range []string{w.dir, w.dir + "/"} { // libgit2 1.5 wants the slash
		runGit(w.t, w.dir, "config", "--global", "--add", "safe.directory", dir)
	}
	for d := w.dir; d != filepath.Clean(os.TempDir()); d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			w.t.Fatal(err)
		}
	}
	for _, path := range append(glob(w.t, dir+"/*"), dir) {
		if err := os.Chown(path, id, id); err != nil {
			w.t.Fatal(err)
		}
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: id, Gid: id}}
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func (w *world) setModes(dir string, folder, files os.FileMode) {
	w.t.Helper()
	w.t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
	for _, path := range glob(w.t, dir+"/*") {
		if err := os.Chmod(path, files); err != nil {
			w.t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, folder); err != nil {
		w.t.Fatal(err)
	}
}

// TestProgress: all is done only once others see it, so a bar stands while the end of a long catch-up is at work.
func TestProgress(t *testing.T) {
	w := newWorld(t)
	m := w.materializer()
	w.append(alice, 0, entryOf(nil, chat("first", 0, "human hello")))
	w.catchUp(m)
	w.append(alice, 2, entryOf(nil, chat("second", 1, "human hello again")))
	var told []string
	m.Progress = func(done, total int) {
		told = append(told, fmt.Sprintf("%d of %d: %d sessions", done, total, len(w.dump(m)["sessions"])))
	}
	w.catchUp(m)
	harness.Equal(t, "progress", []string{"0 of 1: 1 sessions", "1 of 1: 2 sessions"}, told)
}
