// Package repos makes real git repositories for tests, and opens them.
package repos

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// Place is where real repositories are made by real git.
type Place struct{ *harness.Place }

// New makes a place.
func New(t testing.TB) *Place {
	t.Helper()
	return &Place{harness.New(t)}
}

// Start makes a repository with one commit of one file in it.
func (p *Place) Start(dir string, args ...string) {
	p.T.Helper()
	p.Init(dir, args...)
	p.Add(dir, "one", "file", "1\n")
}

// Add writes files (path, text, path, text…) and commits everything.
func (p *Place) Add(dir, message string, files ...string) git.OID {
	p.T.Helper()
	return git.OID(p.Commit(dir, message, files...))
}

// Rev is what a revision names.
func (p *Place) Rev(dir, rev string) git.OID {
	p.T.Helper()
	return git.OID(p.Git(dir, "rev-parse", rev))
}

// Open opens a repository until the test ends.
func (p *Place) Open(dir string) *git.Repo {
	p.T.Helper()
	r, err := git.Open(p.T.Context(), p.At(dir), p.Environ())
	if err != nil {
		p.T.Fatal(err)
	}
	p.T.Cleanup(r.Close)
	return r
}

// Fsck checks every object, strictly, and fails on anything that git has to say.
func (p *Place) Fsck(dir string) {
	p.T.Helper()
	if out := p.Git(dir, "fsck", "--strict", "--full", "--no-progress", "--no-dangling"); out != "" {
		p.T.Errorf("git fsck: %s", out)
	}
}

// Object writes a git object as it is, whatever git thinks of it.
func (p *Place) Object(dir, kind, content string) git.OID {
	p.T.Helper()
	cmd := exec.CommandContext(p.T.Context(), "git", "hash-object", "-t", kind, "-w", "--literally", "--stdin")
	cmd.Dir, cmd.Env, cmd.Stdin = p.At(dir), p.Environ(), strings.NewReader(content)
	out, err := cmd.Output()
	if err != nil {
		p.T.Fatal(err)
	}
	return git.OID(strings.TrimSpace(string(out)))
}

// Must is a value that came without an error.
func Must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// Someone is who makes commits.
func Someone() git.Signature {
	return git.Signature{Name: "A U Thor", Email: "a@example.com", When: time.Unix(1_800_000_000, 0).UTC()}
}

// OIDs runs a walk to its end.
func OIDs(t testing.TB, walk func(func(git.Commit, error) bool)) []git.OID {
	t.Helper()
	var out []git.OID
	for c, err := range walk {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, c.OID)
	}
	return out
}

// Long is a text that two versions of a file may have in common.
func Long() string { return strings.Repeat("a line that both versions have\n", 20) }
