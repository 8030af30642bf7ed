package workspace_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/setup"
	"github.com/git-rekal/git-rekal/internal/workspace"
	"github.com/git-rekal/git-rekal/tests/harness"
)

const alice = "alice@example.com"

var now = time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC)

// place is a home with repositories in it.
type place struct {
	*harness.Place
	home string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{Place: harness.New(t)}
	p.home = p.Home()
	p.Write("home/.gitconfig", "[user]\n\tname = Alice\n\temail = "+alice+"\n[init]\n\tdefaultBranch = main\n")
	p.Init("home/repo")
	p.git("repo", "commit", "-q", "--allow-empty", "-m", "first")
	return p
}

func (p *place) git(dir string, args ...string) {
	p.T.Helper()
	p.Git(filepath.Join("home", dir), args...)
}

func (p *place) open(dir string, env ...string) *workspace.Workspace {
	p.T.Helper()
	w, err := workspace.Open(p.T.Context(), workspace.Process{
		Dir: filepath.Join(p.home, dir), Env: append(p.Environ(), env...), Home: p.home, Exe: "/bin/git-rekal",
		Now: func() time.Time { return now }, Rand: rand.NewChaCha8([32]byte{1}),
		Warn: func(err error) { p.T.Errorf("warned: %v", err) },
	})
	if err != nil {
		p.T.Fatal(err)
	}
	p.T.Cleanup(w.Close)
	return w
}

// author is who git says runs the process.
func (p *place) author(w *workspace.Workspace) workspace.Author {
	p.T.Helper()
	a, err := w.Author(p.T.Context())
	if err != nil {
		p.T.Fatal(err)
	}
	return a
}

func TestGetenvTakesTheLast(t *testing.T) {
	p := workspace.Process{Env: []string{"A=1", "AB=2", "A=3", "B", "C="}}
	for key, want := range map[string]string{"A": "3", "AB": "2", "B": "", "C": "", "D": ""} {
		if got := p.Getenv(key); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
}

// All worktrees of a repository share one folder.
func TestRekalDir(t *testing.T) {
	p := newPlace(t)
	p.git("repo", "worktree", "add", "-q", "../linked")
	p.git(".", "clone", "-q", "--bare", "repo", "bare.git")
	p.git("bare.git", "worktree", "add", "-q", "../of-bare", "main")
	if err := os.Mkdir(filepath.Join(p.home, "repo", "sub"), 0o777); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{
		"repo": "repo/.git/rekal", "repo/sub": "repo/.git/rekal", "linked": "repo/.git/rekal",
		"bare.git": "bare.git/rekal", "of-bare": "bare.git/rekal",
	} {
		if got := p.open(dir).RekalDir(); got != filepath.Join(p.home, want) {
			t.Errorf("%s: %s, want %s", dir, got, want)
		}
	}
	if _, err := workspace.Open(p.T.Context(), workspace.Process{Dir: p.home, Env: p.Environ()}); !errors.Is(err,
		git.ErrNotRepository) {
		t.Errorf("outside of a repository: %v", err)
	}
}

// A repository is ready when it has either its caches or what init installed; also when somebody
// has deleted the ledger branch, which the next capture makes again.
func TestReady(t *testing.T) {
	p := newPlace(t)
	w := p.open("repo")
	ready := func(want bool, when string) {
		t.Helper()
		_, err := w.ReadMaterializer()
		if errors.Is(err, workspace.ErrNotInitialised) == want || want && err != nil {
			t.Errorf("%s: %v, want ready %v", when, err, want)
		}
	}
	ready(false, "at first")
	layout, err := w.Layout(t.Context())
	if err == nil {
		_, err = setup.Install(layout)
	}
	if err != nil {
		t.Fatal(err)
	}
	ready(true, "without a ledger")
	if _, err := p.author(w).Ledger.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	ready(true, "after init")
	if err := os.RemoveAll(w.RekalDir()); err != nil {
		t.Fatal(err)
	}
	ready(true, "after somebody removed the caches")
	if _, err := setup.Remove(layout); err != nil {
		t.Fatal(err)
	}
	ready(false, "after clean")
	if _, err := os.Stat(w.RekalDir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("asking made %s: %v", w.RekalDir(), err)
	}
}

func TestAuthor(t *testing.T) {
	p := newPlace(t)
	w := p.open("repo", "GIT_COMMITTER_DATE=2001-01-01T00:00:00+0200", "GIT_COMMITTER_EMAIL=Ci@Example.com",
		"REKAL_ACTOR=agent", "CI=1")
	a := p.author(w)
	if a.Email != "ci@example.com" || a.Ledger.Ref() != "refs/heads/rekal/ci@example.com" || a.Config.Actor != "agent" ||
		!a.Config.CI {
		t.Errorf("author %+v of %s", a, a.Ledger.Ref())
	}
	if _, err := a.Ledger.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	tip, err := a.Ledger.Tip()
	if err != nil {
		t.Fatal(err)
	}
	c, err := w.Repo.Commit(tip)
	if err != nil || !c.Committer.When.Equal(now) {
		t.Errorf("the ledger's commit has the date %v (%v), want now", c.Committer.When, err)
	}
	if _, err := p.open("repo", "REKAL_ACTOR=robot").Author(t.Context()); err == nil ||
		!strings.Contains(err.Error(), "rekal.actor") {
		t.Errorf("a setting that is none: %v", err)
	}
	p.git("repo", "config", "user.useConfigOnly", "true")
	if err := os.Remove(filepath.Join(p.home, ".gitconfig")); err != nil {
		t.Fatal(err)
	}
	if _, err := p.open("repo").Author(t.Context()); !errors.Is(err, git.ErrNoIdentity) {
		t.Errorf("without an identity: %v", err)
	}
}

func TestCapturerNeedsInit(t *testing.T) {
	p := newPlace(t)
	w := p.open("repo")
	a := p.author(w)
	if _, err := w.Capturer(t.Context(), a); !errors.Is(err, workspace.ErrNotInitialised) {
		t.Errorf("before init: %v", err)
	}
	if tip, err := a.Ledger.Tip(); err != nil || tip != "" {
		t.Errorf("made a ledger: %q, %v", tip, err)
	}
}

// Only a merge commit that the user makes just now is an own merge. The post-merge hook keeps
// a copy of the repository as it finds it.
func TestOwnMerge(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		want bool
	}{
		{"a merge commit", []string{"merge", "-q", "--no-ff", "-m", "merge", "side"}, true},
		{"of several", []string{"merge", "-q", "-m", "merge", "side", "other"}, true}, // git drops HEAD from the parents
		{"a fast-forward", []string{"merge", "-q", "--ff-only", "side"}, false},
		{"somebody else's merge", []string{
			"-c", "user.email=bob@example.com", "merge", "-q", "--no-ff", "-m", "merge",
			"side",
		}, false},
		{"a pull of an own merge from elsewhere", []string{"merge", "-q", "--ff-only", "elsewhere"}, false},
		{"a squash on top of an own merge", []string{"merge", "-q", "--squash", "later"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t)
			for _, branch := range []string{"side", "other"} {
				p.git("repo", "switch", "-q", "-c", branch, "main")
				p.git("repo", "commit", "-q", "--allow-empty", "-m", branch)
			}
			p.git("repo", "switch", "-q", "-c", "elsewhere", "side")
			p.git("repo", "merge", "-q", "--no-ff", "-m", "merge", "other")
			p.git("repo", "switch", "-q", "-c", "later")
			p.git("repo", "commit", "-q", "--allow-empty", "-m", "later")
			if c.args[2] == "--squash" {
				p.git("repo", "switch", "-q", "elsewhere")
			} else {
				p.git("repo", "switch", "-q", "main")
			}
			hook := filepath.Join(p.home, "repo", ".git", "hooks", "post-merge")
			if err := os.WriteFile(hook, []byte("#!/bin/sh\ncp -R . ../then\n"), 0o755); err != nil { //nolint:gosec // a hook
				t.Fatal(err)
			}
			p.git("repo", c.args...)
			w := p.open("then")
			got, err := w.IsOwnMerge(p.author(w))
			if err != nil || got != c.want {
				t.Errorf("own merge %v, %v, want %v", got, err, c.want)
			}
		})
	}
}

func TestSubject(t *testing.T) {
	p := newPlace(t)
	w := p.open("repo")
	head, err := w.Repo.Head()
	if err != nil {
		t.Fatal(err)
	}
	for sha, want := range map[string]string{
		string(head.OID): "first", strings.Repeat("9", 40): "", "": "",
		"nonsense": "",
	} {
		if got := w.Subject(sha); got != want {
			t.Errorf("subject of %q is %q, want %q", sha, got, want)
		}
	}
}
