package git_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/tests/harness"
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

// place is where real repositories are made by real git.
type place struct{ *harness.Place }

func newPlace(t testing.TB) *place {
	t.Helper()
	return &place{harness.New(t)}
}

// init makes a repository with one commit of one file in it.
func (p *place) init(dir string, args ...string) {
	p.T.Helper()
	p.Init(dir, args...)
	p.commit(dir, "one", "file", "1\n")
}

// commit writes files (path, text, path, text…) and commits everything.
func (p *place) commit(dir, message string, files ...string) git.OID {
	p.T.Helper()
	return git.OID(p.Commit(dir, message, files...))
}

func (p *place) rev(dir, rev string) git.OID {
	p.T.Helper()
	return git.OID(p.Git(dir, "rev-parse", rev))
}

func (p *place) open(dir string) *git.Repo {
	p.T.Helper()
	r, err := git.Open(p.At(dir), p.Environ())
	if err != nil {
		p.T.Fatal(err)
	}
	p.T.Cleanup(r.Close)
	return r
}

// fsck checks every object, strictly, and fails on anything that git has to say.
func (p *place) fsck(dir string) {
	p.T.Helper()
	if out := p.Git(dir, "fsck", "--strict", "--full", "--no-progress", "--no-dangling"); out != "" {
		p.T.Errorf("git fsck: %s", out)
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
