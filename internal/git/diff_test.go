package git_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/tests/harness"
	"github.com/git-rekal/git-rekal/tests/harness/repos"
)

func TestLongChanges(t *testing.T) {
	blob := func(p *repos.Place, path string) git.OID { return p.Rev("r", "HEAD:"+path) }
	for _, tt := range []struct {
		name string
		make func(p *repos.Place)
		want func(p *repos.Place) []git.Change
	}{
		{
			name: "a root commit",
			make: func(p *repos.Place) { p.Add("r", "one", "a/b", "1\n", "c", "2\n") },
			want: func(p *repos.Place) []git.Change {
				return []git.Change{{Path: "a/b", Kind: "A", OID: blob(p, "a/b")}, {Path: "c", Kind: "A", OID: blob(p, "c")}}
			},
		},
		{
			name: "added, modified, deleted",
			make: func(p *repos.Place) {
				p.Add("r", "one", "gone", "1\n", "kept", "2\n", "more", "3\n")
				p.Git("r", "rm", "-q", "gone")
				p.Add("r", "two", "more", "4\n", "new", "5\n")
			},
			want: func(p *repos.Place) []git.Change {
				return []git.Change{
					{Path: "gone", Kind: "D"},
					{Path: "more", Kind: "M", OID: blob(p, "more")},
					{Path: "new", Kind: "A", OID: blob(p, "new")},
				}
			},
		},
		{
			name: "a rename with an edit",
			make: func(p *repos.Place) {
				p.Add("r", "one", "old/name", repos.Long())
				p.Git("r", "rm", "-q", "old/name")
				p.Add("r", "two", "new/name", repos.Long()+"and one more\n")
			},
			want: func(p *repos.Place) []git.Change {
				return []git.Change{{Path: "new/name", OldPath: "old/name", Kind: "R", OID: blob(p, "new/name")}}
			},
		},
		{
			name: "a rename of a file that grew to twice its size",
			make: func(p *repos.Place) {
				p.Add("r", "one", "old", repos.Long())
				p.Git("r", "rm", "-q", "old")
				p.Add("r", "two", "new", repos.Long()+"more\n"+strings.ToUpper(repos.Long()))
			},
			want: func(p *repos.Place) []git.Change {
				return []git.Change{{Path: "new", OldPath: "old", Kind: "R", OID: blob(p, "new")}}
			},
		},
		{
			name: "a copy is added",
			make: func(p *repos.Place) {
				p.Add("r", "one", "from", repos.Long())
				p.Add("r", "two", "to", repos.Long())
			},
			want: func(p *repos.Place) []git.Change { return []git.Change{{Path: "to", Kind: "A", OID: blob(p, "to")}} },
		},
		{
			name: "a mode",
			make: func(p *repos.Place) {
				p.Add("r", "one", "tool.sh", "#!/bin/sh\n")
				p.Git("r", "update-index", "--chmod=+x", "tool.sh")
				p.Git("r", "commit", "-q", "-m", "two")
			},
			want: func(p *repos.Place) []git.Change {
				return []git.Change{{Path: "tool.sh", Kind: "M", OID: blob(p, "tool.sh")}}
			},
		},
		{
			name: "a file that became a link",
			make: func(p *repos.Place) {
				p.Add("r", "one", "x", "1\n")
				_ = os.Remove(p.At("r/x"))
				_ = os.Symlink("y", p.At("r/x"))
				p.Add("r", "two")
			},
			want: func(p *repos.Place) []git.Change { return []git.Change{{Path: "x", Kind: "M", OID: blob(p, "x")}} },
		},
		{
			name: "a submodule",
			make: func(p *repos.Place) {
				p.Start("lib")
				p.Git("r", "submodule", "--quiet", "add", p.At("lib"), "sub")
				p.Add("r", "one")
			},
			want: func(p *repos.Place) []git.Change {
				return []git.Change{
					{Path: ".gitmodules", Kind: "A", OID: blob(p, ".gitmodules")},
					{Path: "sub", Kind: "A", OID: blob(p, "sub")},
				}
			},
		},
		{
			name: "a merge, against its first parent",
			make: func(p *repos.Place) {
				p.Add("r", "base", "base", "1\n")
				p.Git("r", "checkout", "-q", "-b", "side")
				p.Add("r", "theirs", "theirs", "2\n")
				p.Git("r", "checkout", "-q", "main")
				p.Add("r", "ours", "ours", "3\n")
				p.Git("r", "merge", "-q", "--no-edit", "side")
			},
			want: func(p *repos.Place) []git.Change {
				return []git.Change{{Path: "theirs", Kind: "A", OID: blob(p, "theirs")}}
			},
		},
		{
			name: "nothing",
			make: func(p *repos.Place) { p.Add("r", "one", "a", "1\n"); p.Add("r", "two") },
			want: func(*repos.Place) []git.Change { return []git.Change{} },
		},
		{
			name: "names that need quoting",
			make: func(p *repos.Place) {
				p.Add("r", "one", "ümläut \"x\"", "1\n", "tab\there", "2\n")
			},
			want: func(p *repos.Place) []git.Change {
				return []git.Change{
					{Path: "tab\there", Kind: "A", OID: blob(p, "tab\there")},
					{Path: "ümläut \"x\"", Kind: "A", OID: blob(p, "ümläut \"x\"")},
				}
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := repos.New(t)
			p.Git(".", "init", "-q", "r")
			tt.make(p)
			harness.Equal(t, "changes", tt.want(p), after(repos.Must(p.Open("r").Changes(p.Rev("r", "HEAD")))(t)))
		})
	}
}

// after leaves out what stood there before; TestLines tells that.
func after(changes []git.Change) []git.Change {
	for i := range changes {
		changes[i].Before, changes[i].Modes = "", [2]string{}
	}
	return changes
}

func TestChangesWithoutTheParent(t *testing.T) {
	p := repos.New(t)
	p.Start("origin")
	p.Add("origin", "two", "new", "2\n")
	p.Git(".", "clone", "-q", "--depth=1", "file://"+p.At("origin"), "r")
	if got := repos.Must(p.Open("r").Changes(p.Rev("r", "HEAD")))(t); len(got) != 0 {
		t.Errorf("at the cut of a shallow clone: %v, want nothing", got)
	}
}

// TestChangesInAPartialClone: rename detection can't read blobs that were not fetched; the
// list is there without it.
func TestChangesInAPartialClone(t *testing.T) {
	p := repos.New(t)
	p.Start("origin")
	p.Git("origin", "config", "uploadpack.allowFilter", "true")
	p.Add("origin", "two", "old", repos.Long())
	p.Git("origin", "mv", "old", "new")
	p.Add("origin", "three", "new", repos.Long()+"edited\n")
	p.Git(".", "clone", "-q", "--no-checkout", "--filter=blob:none", "file://"+p.At("origin"), "r")
	want := []git.Change{{Path: "new", Kind: "A", OID: p.Rev("origin", "HEAD:new")}, {Path: "old", Kind: "D"}}
	harness.Equal(t, "changes", want, after(repos.Must(p.Open("r").Changes(p.Rev("r", "HEAD")))(t)))
}

// TestRenamesBesideALostFile: where git can't read one file, what became of others is told all the same.
func TestRenamesBesideALostFile(t *testing.T) {
	p := repos.New(t)
	p.Start("r")
	p.Add("r", "two", "lost", repos.Long())
	p.Add("r", "three", "kept", repos.Long()+"kept\n")
	p.Git("r", "mv", "lost", "lost2")
	p.Add("r", "four", "lost2", repos.Long()+"edited\n")
	p.Git("r", "mv", "kept", "kept2")
	p.Add("r", "five", "kept2", repos.Long()+"kept\nedited\n")
	lost := string(p.Rev("r", "HEAD:lost2"))
	for _, file := range []string{"r/lost2", "r/.git/objects/" + lost[:2] + "/" + lost[2:]} { // git reads either
		if err := os.Remove(p.At(file)); err != nil {
			t.Fatal(err)
		}
	}
	var pairs []git.TreePair
	for _, to := range []string{"HEAD~1", "HEAD"} {
		pairs = append(pairs, git.TreePair{p.Rev("r", to+"~1^{tree}"), p.Rev("r", to+"^{tree}")})
	}
	want := map[git.TreePair]map[string]string{pairs[1]: {"kept": "kept2"}}
	harness.Equal(t, "renames", want, p.Open("r").Renames(pairs...))
}

// TestLongChangesOfVeryManyFiles: above the limit some renames are left undetected, and no file
// is left out or named twice.
func TestLongChangesOfVeryManyFiles(t *testing.T) {
	p := repos.New(t)
	p.Git(".", "init", "-q", "r")
	r := p.Open("r")
	files := func(dir string, n int) map[string][]byte {
		out := map[string][]byte{}
		for i := range n {
			out[fmt.Sprintf("%s/%04d", dir, i)] = fmt.Appendf(nil, "%sfile %s %d\n", repos.Long(), dir, i)
		}
		return out
	}
	const n = 1100
	before := repos.Must(r.WriteCommit(git.Draft{Files: files("a", n), Message: "a\n", Author: repos.Someone()}))(t)
	after := repos.Must(r.WriteCommit(git.Draft{
		Files: files("b", n), Parents: []git.OID{before}, Message: "b\n",
		Author: repos.Someone(),
	}))(t)
	var gone, came []string
	for _, c := range repos.Must(r.Changes(after))(t) {
		switch c.Kind {
		case "A":
			came = append(came, c.Path)
		case "D":
			gone = append(gone, c.Path)
		case "R":
			came, gone = append(came, c.Path), append(gone, c.OldPath)
		}
	}
	slices.Sort(gone)
	slices.Sort(came)
	harness.Equal(t, "old names", slices.Sorted(maps.Keys(files("a", n))), gone)
	harness.Equal(t, "new names", slices.Sorted(maps.Keys(files("b", n))), came)
}
