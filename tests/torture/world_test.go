// Package torture tries to make git-rekal lose a turn, store one twice, or show an error
// that nobody explains: kill -9, full disks, read-only folders, clocks that go back, many
// processes at once, machines of one person side by side, large teams.
//
// Everything is real (the built binary, git, its hooks, transcripts that grow under its feet)
// and lies below one temporary folder. What happens is drawn from one seed, which a test
// prints: `make torture SEED=…` draws the same again, though the scheduler's part stays its
// own. `make test-long` runs a short form; TORTURE=full (`make torture`) runs large numbers.
//
// world_test.go has the machines and clones, talk_test.go the transcripts that they grow,
// check_test.go what must hold after every blow, ledger_test.go a reader of the ledger that
// shares no code with git-rekal. The other files deal the blows.
package torture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/tests/harness"
)

// atFull reports whether the large numbers were asked for; pick is the number, which TORTURE_N overrides.
func atFull() bool { return os.Getenv("TORTURE") == "full" }

func pick(short, large int) int {
	if n, err := strconv.Atoi(os.Getenv("TORTURE_N")); err == nil && n > 0 {
		return n
	}
	if atFull() {
		return large
	}
	return short
}

// seed is what SEED says; otherwise fixed in the short form, new each time in the long one.
func seed(t *testing.T) uint64 {
	t.Helper()
	s := uint64(1)
	if atFull() {
		s = uint64(time.Now().UnixNano())
	}
	if text := os.Getenv("SEED"); text != "" {
		var err error
		if s, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("SEED: %v", err)
		}
	}
	t.Logf("SEED=%d", s)
	return s
}

// world is one temporary folder with machines in it.
type world struct {
	t    *testing.T
	dir  string
	bin  string
	born time.Time // sessions begin about then
	ctx  context.Context
	rng  *rand.Rand // of the test's own goroutine
	word atomic.Int64

	patience time.Duration
}

func newWorld(t *testing.T, seed uint64) *world {
	t.Helper()
	if !atFull() {
		t.Parallel()
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &world{
		t: t, dir: dir, bin: harness.Binary(t), ctx: t.Context(),
		born: time.Now().Add(-3 * time.Hour).UTC().Truncate(time.Second),
		rng:  rand.New(rand.NewPCG(seed, 0)), patience: patience,
	}
}

// fatal stops the test where err is one.
func (w *world) fatal(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// machine is one computer of one person: a home folder with transcripts and settings.
type machine struct {
	*world
	home  string
	email string
	env   []string
	mu    sync.Mutex
	talks []*talk
	// Another machine captures the same sessions: then both ledgers may store a turn before
	// they meet, and a reader takes it once.
	overlaps bool
	jumps    bool // its clock does: the tables hold no time later than the commit that brought it
}

func (w *world) machine(name, email string) *machine {
	w.t.Helper()
	m := &machine{world: w, home: filepath.Join(w.dir, name), email: email}
	w.fatal(os.MkdirAll(m.home, 0o700))
	conf := "[user]\n\tname = " + name + "\n\temail = " + email + "\n" + gitSettings
	w.fatal(os.WriteFile(filepath.Join(m.home, ".gitconfig"), []byte(conf), 0o600))
	m.env = []string{
		"HOME=" + m.home, "PATH=" + w.bin + string(os.PathListSeparator) + os.Getenv("PATH"),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "REKAL_EMBED=off", "TZ=UTC", "LC_ALL=C.UTF-8",
	}
	return m
}

// gitSettings keep git from collecting garbage at a moment of its own choosing, and put the
// far end of a push or fetch into a process group of its own: a server does not die with its
// client.
const gitSettings = `[init]
	defaultBranch = main
[gc]
	auto = 0
[push]
	autoSetupRemote = true
[pull]
	rebase = false
[protocol "file"]
	allow = always
[remote "origin"]
	receivepack = setsid git-receive-pack
	uploadpack = setsid git-upload-pack
`

// clone is a worktree of a machine: of a repository of its own, or linked to another.
type clone struct {
	*machine
	dir string
}

// repo makes a repository with one commit and git-rekal set up in it.
func (m *machine) repo() *clone {
	m.t.Helper()
	c := &clone{m, filepath.Join(m.home, "repo")}
	m.fatal(os.MkdirAll(c.dir, 0o700))
	c.must("git", "init", "-q")
	c.must("git", "commit", "-q", "--allow-empty", "-m", "first")
	c.must("git", "rekal", "init")
	return c
}

// worktree adds a linked worktree on a branch of its own.
func (c *clone) worktree(name string) *clone {
	c.t.Helper()
	dir := filepath.Join(c.home, name)
	c.must("git", "worktree", "add", "-q", "-b", name, dir)
	return &clone{c.machine, dir}
}

// write puts text into a file of the worktree and stages it.
func (c *clone) write(name, text string) {
	c.t.Helper()
	c.fatal(os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o600))
	c.must("git", "add", name)
}

// ran is one command that has ended.
type ran struct {
	args   []string
	out    string
	stderr string
	code   int // -1 when it was killed
	took   time.Duration
	cpu    time.Duration // of it and its children: on a busy machine more telling than took
	memory int64         // at its peak, bytes, of the largest process
}

func (r ran) String() string {
	return fmt.Sprintf("%s: exit status %d after %v\nstdout: %.400s\nstderr: %.2000s",
		strings.Join(r.args, " "), r.code, r.took.Round(time.Millisecond), r.out, r.stderr)
}

// patience bounds every command, so that nothing hangs the machine; TestLongTeam has more.
const patience = 2 * time.Minute

// running is a command that has been started, as the leader of a process group.
type running struct {
	cmd         *exec.Cmd
	out, stderr bytes.Buffer
	began       time.Time
	expired     *time.Timer
	late        atomic.Bool
}

func (c *clone) start(env []string, args ...string) (*running, error) {
	r := &running{cmd: exec.Command(args[0], args[1:]...), began: time.Now()}
	r.cmd.Dir, r.cmd.Env = c.dir, slices.Concat(c.env, env)
	r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.stderr
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	r.cmd.WaitDelay = 10 * time.Second // for what left the group and holds the pipes
	if err := r.cmd.Start(); err != nil {
		return nil, err
	}
	r.expired = time.AfterFunc(c.patience, func() {
		r.late.Store(true)
		_ = r.kill()
	})
	return r, nil
}

// kill ends the command at once, with its process group and with what it started in groups of
// their own (git-rekal's calls of git over a network), but not with the far end of a push.
func (r *running) kill() error {
	pid := r.cmd.Process.Pid
	all := descendants(pid)
	err := syscall.Kill(-pid, syscall.SIGKILL)
	for _, p := range all {
		_ = syscall.Kill(p, syscall.SIGKILL) // most died with the group
	}
	return err
}

// descendants are the processes below one, without those that serve a push or fetch.
func descendants(pid int) []int {
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", pid))
	if err != nil {
		return nil // it is done
	}
	var out []int
	for _, text := range strings.Fields(string(children)) {
		child, err := strconv.Atoi(text)
		if err != nil {
			continue
		}
		name, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", child))
		if err == nil && !server.Match(name) {
			out = append(append(out, child), descendants(child)...)
		}
	}
	return out
}

var server = regexp.MustCompile(`(receive|upload)-pack\x00`)

func (r *running) wait() (ran, error) {
	err := r.cmd.Wait()
	r.expired.Stop()
	res := ran{
		args: r.cmd.Args, out: r.out.String(), stderr: r.stderr.String(),
		code: r.cmd.ProcessState.ExitCode(), took: time.Since(r.began),
	}
	res.cpu = r.cmd.ProcessState.UserTime() + r.cmd.ProcessState.SystemTime()
	if usage, ok := r.cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		res.memory = usage.Maxrss << 10
	}
	if r.late.Load() {
		return res, fmt.Errorf("hung: %v", res)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		return res, fmt.Errorf("%w: %v", err, res)
	}
	return res, nil
}

// run runs a command to its end, whatever that is. It may be called by any goroutine.
func (c *clone) run(args ...string) (ran, error) { return c.runWith(nil, args...) }

func (c *clone) runWith(env []string, args ...string) (ran, error) {
	r, err := c.start(env, args...)
	if err != nil {
		return ran{}, err
	}
	return r.wait()
}

// clean runs a command that must succeed and have nothing to complain about.
func (c *clone) clean(args ...string) (ran, error) {
	res, err := c.run(args...)
	if err == nil {
		err = res.blame()
	}
	return res, err
}

// must is clean for the test's own goroutine; it returns standard output.
func (c *clone) must(args ...string) string {
	c.t.Helper()
	res, err := c.clean(args...)
	c.fatal(err)
	return res.out
}

// internals is what a user must never read about.
var internals = regexp.MustCompile(`(?i)duckdb|\block(ed)?\b|\.lock\b|IO Error|panic|internal error`)

// blame is an error unless the command succeeded without a word of databases or locks.
func (r ran) blame() error {
	if r.code != 0 || internals.MatchString(r.stderr) {
		return fmt.Errorf("%v", r)
	}
	return nil
}

// together runs all of them at the same time, and returns what went wrong.
func together(do ...func() error) error {
	errs := make([]error, len(do))
	gate := make(chan struct{})
	var all sync.WaitGroup
	for i, f := range do {
		all.Go(func() {
			<-gate
			errs[i] = f()
		})
	}
	close(gate)
	all.Wait()
	return errors.Join(errs...)
}

// feed runs git with an input, for the tests' own questions.
func (c *clone) feed(in io.Reader, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(c.ctx, c.patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Env, cmd.Stdin = c.dir, c.env, in
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w: %s", err, exit.Stderr)
		}
		return nil, fmt.Errorf("git %s: %w", strings.Join(args, " "), err)
	}
	return out, nil
}
