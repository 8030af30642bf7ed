package history_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/tests/harness"
	"github.com/git-rekal/git-rekal/tests/harness/repos"
)

func TestPatch(t *testing.T) {
	p := repos.New(t)
	p.Init("r")
	p.Add("r", "one", "text", repos.Long()+"the end", "gone", "1\n", "bin", "\x00", "old", repos.Long())
	p.Git("r", "rm", "-q", "gone")
	p.Git("r", "mv", "old", "new")
	p.Add("r", "two", "text", repos.Long()+"the end\n", "bin", "\x00\x01", "large", strings.Repeat("x", 1<<20+1))
	got, err := history.Patch(t.Context(), p.Open("r"), p.Rev("r", "HEAD"))
	if err != nil {
		t.Fatal(err)
	}
	type file struct {
		Path, Kind, Text string
		Binary, Left     bool
	}
	var files []file
	for _, f := range got {
		files = append(files, file{f.Path, f.Kind, f.Text, f.Binary, f.Left})
	}
	line := " a line that both versions have\n"
	harness.Equal(t, "files", []file{
		{Path: "bin", Kind: "M", Binary: true},
		{Path: "gone", Kind: "D", Text: "@@ -1 +0,0 @@\n-1\n"},
		{Path: "large", Kind: "A", Left: true},
		{Path: "new", Kind: "R"},
		{Path: "text", Kind: "M", Text: "@@ -18,4 +18,4 @@ a line that both versions have\n" + strings.Repeat(line, 3) +
			"-the end\n\\ No newline at end of file\n+the end\n"},
	}, files)
	if _, err := history.Patch(t.Context(), p.Open("r"), "1111111111111111111111111111111111111111"); !errors.Is(err,
		git.ErrNotFound) {
		t.Errorf("a commit that is not here: %v", err)
	}
}

// TestText: only what is committed is shown to others, and no link leads out.
func TestText(t *testing.T) {
	p := repos.New(t)
	p.Init("r")
	p.Add("r", "one", "dir/held", "1\n2", "ignored/x", "1\n")
	p.Write("r/.env", "PASSWORD=1\n")
	p.Write("secret/held", "elsewhere\n")
	got, err := history.FileLines(p.Open("r"), "", "dir/held")
	harness.Equal(t, "text", []string{"1", "2"}, got)
	if err != nil {
		t.Error(err)
	}
	if err := errors.Join(os.RemoveAll(p.At("r/dir")), os.Symlink(p.At("secret"), p.At("r/dir"))); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".env", ".git/config", "../secret/held", "dir/held", "dir", "nothing", ""} {
		if got, err := history.FileLines(p.Open("r"), "", name); !errors.Is(err, git.ErrNotFound) {
			t.Errorf("%q: %q, %v", name, got, err)
		}
	}
}
