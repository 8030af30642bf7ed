package history_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/tests/harness"
	"github.com/git-rekal/git-rekal/tests/harness/repos"
)

// TestLines: what Changes says of a commit is enough to tell which lines it brought; white space is no change.
func TestLines(t *testing.T) {
	p := repos.New(t)
	p.Git(".", "init", "-q", "r")
	p.Add("r", "one", "a", "one\ntwo\nthree\nfour\n", "gone", "x\n")
	p.Git("r", "rm", "-q", "gone")
	p.Add("r", "two", "a", "one\n  two\nnew\nfour\nlast", "made", "y\n\nz\n")
	r := p.Open("r")
	got := map[string]history.Lines{}
	for _, c := range repos.Must(r.Changes(p.Rev("r", "HEAD")))(t) {
		got[c.Path] = repos.Must(history.CompareBlobs(r, c.Before, c.OID))(t)
	}
	harness.Equal(t, "lines", map[string]history.Lines{
		"a":    {Text: []string{"one", "  two", "new", "four", "last"}, Added: []int{2, 4}, Gone: []string{"three"}},
		"gone": {Gone: []string{"x"}},
		"made": {Text: []string{"y", "", "z"}, Added: []int{0, 1, 2}},
	}, got)
}

func TestLinesThatAreNotTold(t *testing.T) {
	p := repos.New(t)
	p.Git(".", "init", "-q", "r")
	p.Add("r", "one", "binary", "a\x00b", "large", strings.Repeat("line\n", 1<<18))
	r := p.Open("r")
	for file, want := range map[string]error{"binary": history.ErrBinary, "large": history.ErrTooLarge} {
		if _, err := history.CompareBlobs(r, "", p.Rev("r", "HEAD:"+file)); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", file, err, want)
		}
	}
	if _, err := history.CompareBlobs(r, "", git.OID(strings.Repeat("1", 40))); !errors.Is(err, git.ErrNotFound) {
		t.Errorf("a blob that is not here: %v, want %v", err, git.ErrNotFound)
	}
}
