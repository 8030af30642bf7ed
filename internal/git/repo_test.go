package git_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/git"
)

// The test binary stands in for other processes: a hook that asks for the repository's
// state, a rival that moves a ref. The first argument says which.
const roleVar = "REKAL_GIT_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleVar) {
	case "":
		os.Exit(m.Run())
	case "hook":
		os.Exit(reportState())
	case "rival":
		os.Exit(rival())
	}
}

// place is a folder with nothing of the machine's git configuration, for real
// repositories made by real git.
type place struct {
	t    testing.TB
	root string
	env  []string // added to the environment
}

func newPlace(t testing.TB) *place {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t: t, root: root}
	p.write("home/.gitconfig", "[init]\n\tdefaultBranch = main\n[user]\n\tname = A U Thor\n\temail = a@example.com\n"+
		"[protocol \"file\"]\n\tallow = always\n[advice]\n\tdetachedHead = false\n")
	return p
}

func (p *place) at(path string) string { return filepath.Join(p.root, filepath.FromSlash(path)) }

func (p *place) environ() []string {
	return append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + p.at("home"), "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
	}, p.env...)
}

func (p *place) write(path, text string) {
	p.t.Helper()
	full := p.at(path)
	if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o777), os.WriteFile(full, []byte(text), 0o666)); err != nil {
		p.t.Fatal(err)
	}
}

// try runs git in a folder below the root, and returns its output with its error.
func (p *place) try(dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(p.t.Context(), "git", args...)
	cmd.Dir, cmd.Env = p.at(dir), p.environ()
	out, err := cmd.CombinedOutput()
	return strings.TrimRight(string(out), "\n"), err
}

func (p *place) git(dir string, args ...string) string {
	p.t.Helper()
	out, err := p.try(dir, args...)
	if err != nil {
		p.t.Fatalf("git %q in %s: %v\n%s", args, dir, err, out)
	}
	return out
}

// init makes a repository with one commit of one file in it.
func (p *place) init(dir string, args ...string) {
	p.t.Helper()
	p.git(".", append(append([]string{"init", "-q"}, args...), dir)...)
	p.commit(dir, "one", "file", "1\n")
}

// commit writes files (path, text, path, text…) and commits everything.
func (p *place) commit(dir, message string, files ...string) git.OID {
	p.t.Helper()
	for i := 0; i < len(files); i += 2 {
		p.write(dir+"/"+files[i], files[i+1])
	}
	p.git(dir, "add", "-A")
	p.git(dir, "commit", "-q", "--allow-empty", "-m", message)
	return p.rev(dir, "HEAD")
}

func (p *place) rev(dir, rev string) git.OID {
	p.t.Helper()
	return git.OID(p.git(dir, "rev-parse", rev))
}

func (p *place) open(dir string) *git.Repo {
	p.t.Helper()
	r, err := git.Open(p.at(dir), p.environ())
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(r.Close)
	return r
}

// fsck checks every object, strictly, and fails on anything that git has to say.
func (p *place) fsck(dir string) {
	p.t.Helper()
	if out := p.git(dir, "fsck", "--strict", "--full", "--no-progress", "--no-dangling"); out != "" {
		p.t.Errorf("git fsck: %s", out)
	}
}

func equal(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

var someone = git.Signature{Name: "A U Thor", Email: "a@example.com", When: time.Unix(1_800_000_000, 0).UTC()}

// draft writes a commit of one file and returns it.
func draft(t *testing.T, r *git.Repo, text string, parents ...git.OID) git.OID {
	t.Helper()
	id, err := r.WriteCommit(git.Draft{Files: map[string][]byte{"f": []byte(text)}, Parents: parents, Message: text + "\n", Author: someone})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// reportState is the "hook": it appends its name to $LOG, and whether it has to do with an act
// of the user or with a step of a sequence.
func reportState() int {
	r, err := git.Open(".", os.Environ())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer r.Close()
	f, err := os.OpenFile(os.Getenv("LOG"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return 1
	}
	what := "act"
	if r.Sequencing() {
		what = "step"
	}
	fmt.Fprintln(f, os.Getenv("HOOK"), what)
	if f.Close() != nil {
		return 1
	}
	return 0
}

// rival is another process that adds commits to a ref, as many as $COUNT says, each on top
// of the tip that it sees, again when another was faster.
func rival() int {
	r, err := git.Open(".", os.Environ())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer r.Close()
	var count int
	if _, err := fmt.Sscan(os.Getenv("COUNT"), &count); err != nil {
		return 1
	}
	for i := range count {
		if err := grow(r, fmt.Sprintf("%s %d", os.Getenv("NAME"), i)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return 0
}

const contested = "refs/heads/contested"

// grow puts one commit on top of the contested ref.
func grow(r *git.Repo, text string) error {
	for {
		tip, err := r.Ref(contested)
		if err != nil {
			return err
		}
		id, err := r.WriteCommit(git.Draft{Files: map[string][]byte{"f": []byte(text)}, Parents: []git.OID{tip}, Message: text + "\n", Author: someone})
		if err != nil {
			return err
		}
		if err := r.CompareAndSwap(context.Background(), contested, tip, id, "grow"); !errors.Is(err, git.ErrMoved) {
			return err
		}
	}
}

var background = context.Background()
