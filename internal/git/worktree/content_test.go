package worktree_test

import (
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/worktree"
	"github.com/git-rekal/git-rekal/tests/harness"
	"github.com/git-rekal/git-rekal/tests/harness/repos"
)

// standing is what stands in a file, for git and for us.
func standing(t *testing.T, p *repos.Place, commit git.OID, file string) git.OID {
	t.Helper()
	c := repos.Must(worktree.Open(p.Open("r"), commit))(t)
	defer c.Close()
	return c.Blob(file, nil)
}

// large makes a file that is too large to be read for an answer, as git knows it.
func large(p *repos.Place) {
	p.Add("r", "large", "a/f", strings.Repeat("0123456789abcdef", 1<<20)+"more\n")
	then := time.Unix(1e9, 0)
	repos.Must(0, os.Chtimes(p.At("r/a/f"), then, then))(p.T)
	p.Git("r", "update-index", "--refresh")
}

// What stands in the working tree is what `git add` would make of it.
func TestLongContentOfWorkingTree(t *testing.T) {
	for _, tt := range []struct {
		name string
		make func(p *repos.Place)
		want string // "add": what git would add; "HEAD": what HEAD has; "": nothing; "unread"
	}{
		{"as committed", func(*repos.Place) {}, "HEAD"},
		{"modified", func(p *repos.Place) { p.Write("r/a/f", "2\n") }, "add"},
		{"modified and staged", func(p *repos.Place) { p.Write("r/a/f", "2\n"); p.Git("r", "add", "a/f") }, "add"},
		{"staged, then taken back", func(p *repos.Place) {
			p.Write("r/a/f", "2\n")
			p.Git("r", "add", "a/f")
			p.Write("r/a/f",
				"1\n")
		}, "HEAD"},
		{"same size and time", func(p *repos.Place) {
			info := repos.Must(os.Stat(p.At("r/a/f")))(p.T)
			p.Write("r/a/f", "2\n")
			repos.Must(0, os.Chtimes(p.At("r/a/f"), info.ModTime(), info.ModTime()))(p.T)
		}, "add"},
		{"deleted", func(p *repos.Place) { repos.Must(0, os.Remove(p.At("r/a/f")))(p.T) }, ""},
		{"its folder, too", func(p *repos.Place) { repos.Must(0, os.RemoveAll(p.At("r/a")))(p.T) }, ""},
		{"a link", func(p *repos.Place) {
			repos.Must(0, errors.Join(os.Remove(p.At("r/a/f")), os.Symlink("away", p.At("r/a/f"))))(p.T)
		}, "add"},
		{"a link out of the repository", func(p *repos.Place) {
			repos.Must(0, errors.Join(os.RemoveAll(p.At("r/a")), os.Mkdir(p.At("out"), 0o777),
				os.Symlink(p.At("out"), p.At("r/a"))))(p.T)
			p.Write("out/f", "outside\n")
		}, ""},
		{"new, never added", func(p *repos.Place) {
			p.Git("r", "rm", "-q", "--cached", "a/f")
			p.Git("r", "commit", "-qm",
				"gone")
		}, "add"},
		{"ends of lines of another system", func(p *repos.Place) {
			p.Git("r", "config", "core.autocrlf", "true")
			p.Write("r/a/f", "1\r\n")
		}, "HEAD"},
		{"by attributes", func(p *repos.Place) {
			p.Write("r/.gitattributes", "* text eol=crlf\n")
			p.Write("r/a/f",
				"1\r\n")
		}, "HEAD"},
		{"changed, with such ends", func(p *repos.Place) {
			p.Write("r/.gitattributes", "* text eol=crlf\n")
			p.Write("r/a/f",
				"2\r\n")
		}, "add"},
		{"kept elsewhere by a filter", func(p *repos.Place) {
			p.Git("r", "config", "filter.away.clean", "echo pointer; cat >/dev/null")
			p.Add("r", "filtered", ".gitattributes", "a/* filter=away\n", "a/f", "large\n")
			then := time.Unix(1e9, 0) // what is as young as its index is looked at again, and here no filter runs
			repos.Must(0, os.Chtimes(p.At("r/a/f"), then, then))(p.T)
			p.Git("r", "update-index", "--refresh")
		}, "HEAD"},
		{"left out by a sparse checkout", func(p *repos.Place) {
			p.Add("r", "more", "b/g", "1\n")
			p.Git("r", "sparse-checkout", "set", "b")
		}, "HEAD"},
		{"a folder in its place", func(p *repos.Place) {
			repos.Must(0, errors.Join(os.Remove(p.At("r/a/f")), os.Mkdir(p.At("r/a/f"), 0o777)))(p.T)
		}, ""},
		{"a pipe in its place", func(p *repos.Place) {
			repos.Must(0, errors.Join(os.Remove(p.At("r/a/f")), syscall.Mkfifo(p.At("r/a/f"), 0o666)))(p.T)
		}, ""},
		{"by the user's attributes", func(p *repos.Place) {
			p.Write("home/.config/git/attributes", "* text eol=crlf\n")
			p.Write("r/a/f", "1\r\n")
		}, "HEAD"},
		{"kept elsewhere by a filter for others, changed", func(p *repos.Place) {
			p.Git("r", "config", "filter.away.clean", "echo pointer; cat >/dev/null")
			p.Add("r", "filtered", ".gitattributes", "*.large filter=away\n* text=auto\n")
			p.Write("r/a/f", "2\r\n")
		}, "add"},
		{"with ends of lines that nothing converts", func(p *repos.Place) {
			p.Write("r/.gitattributes",
				"*.png binary\n")
			p.Write("r/a/f", "1\r\n")
		}, "add"},
		{"and with such that git only would where it has none", func(p *repos.Place) {
			p.Add("r", "other ends of lines", "a/f", "2\r\n")
			p.Git("r", "config", "core.autocrlf", "true")
			p.Write("r/a/f", "1\r\n")
		}, "unread"},
		{"in the moment in which git looked", func(p *repos.Place) {
			p.Add("r", "other ends of lines", ".gitattributes", "* text\n", "a/f", "1\r\n")
			then := time.Unix(1e9, 0)
			repos.Must(0, os.Chtimes(p.At("r/a/f"), then, then))(p.T)
			p.Git("r", "update-index", "--refresh")
			p.Write("r/a/f", "2\r\n")
			repos.Must(0, errors.Join(os.Chtimes(p.At("r/a/f"), then, then), os.Chtimes(p.At("r/.git/index"), then, then)))(p.T)
		}, "add"},
		{"in the same size, with such ends", func(p *repos.Place) {
			p.Add("r", "other ends of lines", ".gitattributes", "* text\n", "a/f", "1\r\n")
			then := time.Unix(1e9, 0)
			repos.Must(0, os.Chtimes(p.At("r/a/f"), then, then))(p.T)
			p.Git("r", "update-index", "--refresh")
			p.Write("r/a/f", "2\r\n")
			repos.Must(0, os.Chtimes(p.At("r/a/f"), then.Add(time.Second), then.Add(time.Second)))(p.T)
		}, "add"},
		{"in another encoding", func(p *repos.Place) {
			p.Write("r/.gitattributes", "f working-tree-encoding=UTF-16LE\n")
			p.Write("r/a/f", "1\x00\n\x00")
		}, "HEAD"},
		{"with its name filled in", func(p *repos.Place) {
			p.Add("r", "ident", ".gitattributes", "f ident\n", "a/f", "$Id$\n")
			p.Write("r/a/f", "$Id: "+string(p.Rev("r", "HEAD:a/f"))+" $\n")
		}, "HEAD"},
		{"left out by hand", func(p *repos.Place) {
			p.Git("r", "update-index", "--skip-worktree", "a/f")
			repos.Must(0, os.Remove(p.At("r/a/f")))(p.T)
		}, "HEAD"},
		{"left out, in a sparse index", func(p *repos.Place) {
			p.Add("r", "more", "b/g", "1\n")
			p.Git("r", "sparse-checkout", "set", "--cone", "--sparse-index", "b")
		}, "HEAD"},
		{"left out by a pattern", func(p *repos.Place) {
			p.Add("r", "more", "a/g", "1\n")
			p.Git("r", "sparse-checkout", "set", "--no-cone", "/*", "!f")
		}, "HEAD"},
		{"gone, says an index in two files", func(p *repos.Place) {
			p.Git("r", "update-index", "--split-index")
			repos.Must(0, os.Remove(p.At("r/a/f")))(p.T)
		}, ""},
		{"left out, says an index in two files", func(p *repos.Place) {
			p.Git("r", "update-index", "--split-index")
			p.Git("r", "update-index", "--skip-worktree", "a/f")
			repos.Must(0, os.Remove(p.At("r/a/f")))(p.T)
		}, "HEAD"},
		{"large, and as git last saw it", func(p *repos.Place) { large(p) }, "HEAD"},
		{"large, and touched", func(p *repos.Place) {
			large(p)
			later := time.Unix(2e9, 0)
			repos.Must(0, os.Chtimes(p.At("r/a/f"), later, later))(p.T)
		}, "unread"},
		{"a submodule that has moved on", func(p *repos.Place) {
			p.Start("sub")
			p.Git("r", "rm", "-rq", "a")
			p.Git("r", "submodule", "-q", "add", p.At("sub"), "a/f")
			p.Git("r", "commit", "-qm", "a submodule")
			p.Add("r/a/f", "within")
		}, "add"},
		{"a submodule that is not checked out", func(p *repos.Place) {
			p.Start("sub")
			p.Git("r", "rm", "-rq", "a")
			p.Git("r", "submodule", "-q", "add", p.At("sub"), "a/f")
			p.Git("r", "commit", "-qm", "a submodule")
			p.Git("r", "submodule", "-q", "deinit", "-f", "a/f")
		}, "HEAD"},
		{"a submodule", func(p *repos.Place) {
			p.Start("sub")
			p.Git("r", "rm", "-rq", "a")
			p.Git("r", "submodule", "-q", "add", p.At("sub"), "a/f")
			p.Git("r", "commit", "-qm", "a submodule")
		}, "HEAD"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := repos.New(t)
			p.Start("r")
			p.Add("r", "one", "a/f", "1\n")
			first := p.Rev("r", "HEAD:a/f")
			tt.make(p)
			var want git.OID
			switch tt.want {
			case "HEAD":
				want = p.Rev("r", "HEAD:a/f")
			case "unread":
				want = worktree.Unread
			case "add":
				p.T = t
				before := standing(t, p, "", "a/f")
				p.Git("r", "add", "-A")
				want = git.OID(strings.Fields(p.Git("r", "ls-files", "-s", "a/f"))[1])
				harness.Equal(t, "before it was added", want, before)
			}
			harness.Equal(t, "blob", want, standing(t, p, "", "a/f"))
			if tt.want == "unread" {
				return
			}
			for _, asked := range []git.OID{first, want} {
				c := repos.Must(worktree.Open(p.Open("r"), ""))(t)
				got := c.Blob("a/f", func(id git.OID) bool { return id == asked })
				harness.Equal(t, "is it "+string(asked), asked == want, got == asked)
				c.Close()
			}
		})
	}
}

func TestContentOfCommit(t *testing.T) {
	p := repos.New(t)
	p.Start("r")
	first := p.Add("r", "one", "a/f", "1\n")
	second := p.Add("r", "two", "a/f", "2\n")
	p.Write("r/a/f", "3\n")
	for _, id := range []git.OID{first, second} {
		harness.Equal(t, "blob", p.Rev("r", string(id)+":a/f"), standing(t, p, id, "a/f"))
	}
	harness.Equal(t, "no such file", git.OID(""), standing(t, p, first, "b"))
	harness.Equal(t, "a path that leads out", git.OID(""), standing(t, p, "", "../r/a/f"))
	if _, err := worktree.Open(p.Open("r"), git.OID(strings.Repeat("1", 40))); !errors.Is(err, git.ErrNotFound) {
		t.Errorf("a commit that is not here: %v", err)
	}
	p.Git(".", "clone", "-q", "--bare", "r", "bare")
	bare := repos.Must(worktree.Open(p.Open("bare"), ""))(t)
	defer bare.Close()
	harness.Equal(t, "HEAD of a bare repository", p.Rev("r", "HEAD:a/f"), bare.Blob("a/f", nil))
	p.Git(".", "init", "-q", "empty")
	p.Write("empty/f", "1\n")
	none := repos.Must(worktree.Open(p.Open("empty"), ""))(t)
	defer none.Close()
	if none.Blob("f", nil) == "" || none.Blob("g", nil) != "" {
		t.Errorf("before the first commit: %q, %q", none.Blob("f", nil), none.Blob("g", nil))
	}
}

func TestLongMoved(t *testing.T) {
	for _, tt := range []struct {
		name string
		make func(p *repos.Place)
		want string
	}{
		{"not yet committed", func(p *repos.Place) { p.Git("r", "mv", "f", "g") }, "g"},
		{"not yet committed, with an edit", func(p *repos.Place) {
			p.Git("r", "mv", "f", "g")
			p.Write("r/g", repos.Long()+"more\n")
			p.Git("r", "add", "g")
		}, "g"},
		{"by hand, then added", func(p *repos.Place) {
			repos.Must(0, os.Rename(p.At("r/f"), p.At("r/g")))(p.T)
			p.Git("r",
				"add", "g")
		}, "g"},
		{"by hand, then added with an edit", func(p *repos.Place) {
			repos.Must(0, os.Remove(p.At("r/f")))(p.T)
			p.Write("r/g", repos.Long()+"more\n")
			p.Git("r", "add", "g")
		}, "g"},
		{"by hand, then named", func(p *repos.Place) {
			repos.Must(0, os.Rename(p.At("r/f"), p.At("r/g")))(p.T)
			p.Git("r", "add", "-N", "g")
		}, "g"},
		{"added, then by hand", func(p *repos.Place) {
			p.Git("r", "mv", "f", "g")
			repos.Must(0, os.Rename(p.At("r/g"), p.At("r/h")))(p.T)
			p.Git("r", "add", "h")
		}, "h"},
		{"by hand", func(p *repos.Place) { repos.Must(0, os.Rename(p.At("r/f"), p.At("r/g")))(p.T) }, ""},
		{"into a folder of its name", func(p *repos.Place) {
			repos.Must(0, errors.Join(os.Rename(p.At("r/f"), p.At("r/x")), os.Mkdir(p.At("r/f"), 0o777),
				os.Rename(p.At("r/x"), p.At("r/f/g"))))(p.T)
			p.Git("r", "add", "-A")
		}, "f/g"},
		{"into a folder of its name, some commits ago", func(p *repos.Place) {
			repos.Must(0, errors.Join(os.Rename(p.At("r/f"), p.At("r/x")), os.Mkdir(p.At("r/f"), 0o777),
				os.Rename(p.At("r/x"), p.At("r/f/g"))))(p.T)
			p.Add("r", "mv")
			p.Add("r", "meanwhile")
		}, "f/g"},
		{"as a link", func(p *repos.Place) {
			repos.Must(0, errors.Join(os.Remove(p.At("r/f")), os.Symlink("away", p.At("r/f"))))(p.T)
			p.Add("r", "a link")
			p.Git("r", "mv", "f", "g")
			p.Add("r", "mv")
		}, "g"},
		{"committed", func(p *repos.Place) { p.Git("r", "mv", "f", "g"); p.Add("r", "mv") }, "g"},
		{
			"with an edit", func(p *repos.Place) { p.Git("r", "mv", "f", "g"); p.Add("r", "mv", "g", repos.Long()+"more\n") },
			"g",
		},
		{"long ago", func(p *repos.Place) {
			p.Git("r", "mv", "f", "g")
			for range 20 {
				p.Add("r", "mv")
			}
		}, "g"},
		{"twice", func(p *repos.Place) {
			p.Git("r", "mv", "f", "g")
			p.Add("r", "mv")
			p.Git("r", "mv", "g", "h")
			p.Add("r", "mv")
		}, "h"},
		{"twice, the second not yet committed", func(p *repos.Place) {
			p.Git("r", "mv", "f", "g")
			p.Add("r", "mv")
			p.Git("r", "mv", "g", "h")
		}, "h"},
		{"deleted", func(p *repos.Place) { p.Git("r", "rm", "-q", "f"); p.Add("r", "rm", "g", "something else\n") }, ""},
		{"moved, then deleted", func(p *repos.Place) {
			p.Git("r", "mv", "f", "g")
			p.Add("r", "mv")
			p.Git("r", "rm", "-q", "g")
			p.Add("r", "rm")
		}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := repos.New(t)
			p.Start("r")
			p.Add("r", "one", "f", repos.Long())
			tt.make(p)
			c := repos.Must(worktree.Open(p.Open("r"), ""))(t)
			defer c.Close()
			harness.Equal(t, "moved", tt.want, c.NewNames([]string{"f", "never"})["f"])
		})
	}
}

// Files of one folder that went at different times, between commits that have nothing to do with them.
func TestMovedOneByOne(t *testing.T) {
	p := repos.New(t)
	p.Start("r")
	p.Add("r", "one", "a/f", repos.Long(), "a/g", repos.Long()+"g\n", "a/h", repos.Long()+"h\n", "c/x", "1\n")
	for i, step := range [][]string{{"mv", "a/f", "c/f"}, {"mv", "a/g", "g"}, {"rm", "-q", "a/h"}} {
		p.Git("r", step...)
		p.Add("r", strings.Join(step, " "))
		p.Add("r", "meanwhile", "c/x", strings.Repeat("x", i))
	}
	c := repos.Must(worktree.Open(p.Open("r"), ""))(t)
	defer c.Close()
	harness.Equal(t, "moved", map[string]string{"a/f": "c/f", "a/g": "g"}, c.NewNames([]string{"a/f", "a/g", "a/h"}))
}

// Former names are found from today's, through several renames, with changes of content and without; what was only
// added had none.
func TestCame(t *testing.T) {
	p := repos.New(t)
	p.Start("r")
	p.Add("r", "one", "a", repos.Long(), "same", "of another\n")
	p.Git("r", "mv", "a", "b")
	p.Add("r", "two", "added", repos.Long()+"more\n"+repos.Long())
	p.Git("r", "mv", "b", "dir.c")
	p.Git("r", "mv", "same", "other")
	p.Add("r", "three", "dir.c", repos.Long()+"and more\n")
	c := repos.Must(worktree.Open(p.Open("r"), ""))(t)
	defer c.Close()
	harness.Equal(t, "called", []string{"added", "dir.c"},
		c.FilesMatching(func(f string) bool { return strings.Contains(f, "d") }))
	harness.Equal(t, "came", map[string]string{"dir.c": "b", "b": "a", "other": "same"},
		c.FormerNames([]string{"added", "dir.c", "other"}))
}

// Whatever the version of the index, a rename in it is seen.
func TestLongMovedInIndex(t *testing.T) {
	for _, version := range []string{"2", "3", "4"} {
		t.Run(version, func(t *testing.T) {
			p := repos.New(t)
			p.Start("r")
			p.Add("r", "one", "a/f", repos.Long(), "a/g", "1\n", "b/c/d/h", "2\n", "long/name/of/a/file/that/goes/on", "3\n",
				"k/1", "4\n", "k/2", "5\n", "l/edited", strings.Repeat(repos.Long(), 2), "l/stays", "6\n", "m/1", "7\n", "m/2",
				"8\n")
			p.Git("r", "mv", "a/f", "b/c/d/new")
			repos.Must(0, errors.Join(os.Mkdir(p.At("r/n"), 0o777), os.Remove(p.At("r/l/edited"))))(t)
			p.Write("r/n/edited", strings.Repeat(repos.Long(), 2)+"more\n")
			p.Git("r", "add", "-A", "l", "n")
			p.Git("r", "mv", "long/name/of/a/file/that/goes/on", "z")
			if version == "3" { // what makes git write it
				p.Write("r/later", "4\n")
				p.Git("r", "add", "-N", "later")
			} else {
				p.Git("r", "update-index", "--index-version", version)
			}
			raw := repos.Must(os.ReadFile(p.At("r/.git/index")))(t)
			harness.Equal(t, "version", version[0]-'0', raw[7])
			want := map[string]string{"a/f": "b/c/d/new", "long/name/of/a/file/that/goes/on": "z", "l/edited": "n/edited"}
			for range 2 {
				c := repos.Must(worktree.Open(p.Open("r"), ""))(t)
				harness.Equal(t, "moved", want, c.NewNames(slices.Collect(maps.Keys(want))))
				c.Close()
				p.Git("r", "write-tree") // from now on the index knows of each folder what it is, which HEAD has not
				raw = repos.Must(os.ReadFile(p.At("r/.git/index")))(t)
			}
			for n := 0; n < len(raw); n += 11 { // cut anywhere, it is no reason to fail
				repos.Must(0, os.WriteFile(p.At("r/.git/index"), raw[:n], 0o666))(t)
				again := repos.Must(worktree.Open(p.Open("r"), ""))(t)
				for from, to := range again.NewNames([]string{"a/f"}) {
					harness.Equal(t, from, "b/c/d/new", to)
				}
				again.Close()
			}
		})
	}
}

// No program of the user's is run to find out what git would store, whichever attributes a file has: here
// git takes a pattern's letters in any case.
func TestContentRunsNothing(t *testing.T) {
	p := repos.New(t)
	p.Start("r")
	p.Git("r", "config", "core.ignoreCase", "true")
	p.Git("r", "config", "filter.x.clean", "touch "+p.At("ran")+"; cat")
	p.Write("r/.gitattributes", "* text\n*.TXT filter=x\n")
	p.Add("r", "one", "a.txt", "1\n")
	repos.Must(0, os.RemoveAll(p.At("ran")))(t)
	p.Write("r/a.txt", "1\r\n")
	c := repos.Must(worktree.Open(p.Open("r"), ""))(t)
	defer c.Close()
	id := c.Blob("a.txt", nil)
	if _, err := os.Stat(p.At("ran")); err == nil {
		t.Errorf("it ran, for %s", id)
	}
	harness.Equal(t, "blob", git.OID(p.Git("r", "rev-parse", "HEAD:a.txt")), id)
}
