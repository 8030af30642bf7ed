package git_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// TestLines: what Changes says of a commit is enough to tell which lines it brought; white space is no change.
func TestLines(t *testing.T) {
	p := newPlace(t)
	p.Git(".", "init", "-q", "r")
	p.commit("r", "one", "a", "one\ntwo\nthree\nfour\n", "gone", "x\n")
	p.Git("r", "rm", "-q", "gone")
	p.commit("r", "two", "a", "one\n  two\nnew\nfour\nlast", "made", "y\n\nz\n")
	r := p.open("r")
	got := map[string]git.Lines{}
	for _, c := range must(r.Changes(p.rev("r", "HEAD")))(t) {
		got[c.Path] = must(r.Lines(c.Before, c.OID))(t)
	}
	harness.Equal(t, "lines", map[string]git.Lines{
		"a":    {Text: []string{"one", "  two", "new", "four", "last"}, Added: []int{2, 4}, Gone: []string{"three"}},
		"gone": {Gone: []string{"x"}},
		"made": {Text: []string{"y", "", "z"}, Added: []int{0, 1, 2}},
	}, got)
}

func TestLinesThatAreNotTold(t *testing.T) {
	p := newPlace(t)
	p.Git(".", "init", "-q", "r")
	p.commit("r", "one", "binary", "a\x00b", "large", strings.Repeat("line\n", 1<<18))
	r := p.open("r")
	for file, want := range map[string]error{"binary": git.ErrBinary, "large": git.ErrTooLarge} {
		if _, err := r.Lines("", p.rev("r", "HEAD:"+file)); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", file, err, want)
		}
	}
	if _, err := r.Lines("", git.OID(strings.Repeat("1", 40))); !errors.Is(err, git.ErrNotFound) {
		t.Errorf("a blob that is not here: %v, want %v", err, git.ErrNotFound)
	}
}
