package git_test

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
	"github.com/git-rekal/git-rekal/tests/harness"
)

// standing is what stands in a file, for git and for us.
func standing(t *testing.T, p *place, commit git.OID, file string) git.OID {
	t.Helper()
	c := must(p.open("r").Content(commit))(t)
	defer c.Close()
	return c.Blob(file, nil)
}

// large makes a file that is too large to be read for an answer, as git knows it.
func (p *place) large() {
	p.commit("r", "large", "a/f", strings.Repeat("0123456789abcdef", 1<<20)+"more\n")
	then := time.Unix(1e9, 0)
	must(0, os.Chtimes(p.At("r/a/f"), then, then))(p.T)
	p.Git("r", "update-index", "--refresh")
}

// What stands in the working tree is what `git add` would make of it.
func TestLongContentOfWorkingTree(t *testing.T) {
	for _, tt := range []struct {
		name string
		make func(p *place)
		want string // "add": what git would add; "HEAD": what HEAD has; "": nothing; "unread"
	}{
		{"as committed", func(*place) {}, "HEAD"},
		{"modified", func(p *place) { p.Write("r/a/f", "2\n") }, "add"},
		{"modified and staged", func(p *place) { p.Write("r/a/f", "2\n"); p.Git("r", "add", "a/f") }, "add"},
		{"staged, then taken back", func(p *place) { p.Write("r/a/f", "2\n"); p.Git("r", "add", "a/f"); p.Write("r/a/f", "1\n") }, "HEAD"},
		{"same size and time", func(p *place) {
			info := must(os.Stat(p.At("r/a/f")))(p.T)
			p.Write("r/a/f", "2\n")
			must(0, os.Chtimes(p.At("r/a/f"), info.ModTime(), info.ModTime()))(p.T)
		}, "add"},
		{"deleted", func(p *place) { must(0, os.Remove(p.At("r/a/f")))(p.T) }, ""},
		{"its folder, too", func(p *place) { must(0, os.RemoveAll(p.At("r/a")))(p.T) }, ""},
		{"a link", func(p *place) { must(0, errors.Join(os.Remove(p.At("r/a/f")), os.Symlink("away", p.At("r/a/f"))))(p.T) }, "add"},
		{"a link out of the repository", func(p *place) {
			must(0, errors.Join(os.RemoveAll(p.At("r/a")), os.Mkdir(p.At("out"), 0o777), os.Symlink(p.At("out"), p.At("r/a"))))(p.T)
			p.Write("out/f", "outside\n")
		}, ""},
		{"new, never added", func(p *place) { p.Git("r", "rm", "-q", "--cached", "a/f"); p.Git("r", "commit", "-qm", "gone") }, "add"},
		{"ends of lines of another system", func(p *place) {
			p.Git("r", "config", "core.autocrlf", "true")
			p.Write("r/a/f", "1\r\n")
		}, "HEAD"},
		{"by attributes", func(p *place) { p.Write("r/.gitattributes", "* text eol=crlf\n"); p.Write("r/a/f", "1\r\n") }, "HEAD"},
		{"changed, with such ends", func(p *place) { p.Write("r/.gitattributes", "* text eol=crlf\n"); p.Write("r/a/f", "2\r\n") }, "add"},
		{"kept elsewhere by a filter", func(p *place) {
			p.Git("r", "config", "filter.away.clean", "echo pointer; cat >/dev/null")
			p.commit("r", "filtered", ".gitattributes", "a/* filter=away\n", "a/f", "large\n")
		}, "HEAD"},
		{"left out by a sparse checkout", func(p *place) {
			p.commit("r", "more", "b/g", "1\n")
			p.Git("r", "sparse-checkout", "set", "b")
		}, "HEAD"},
		{"a folder in its place", func(p *place) { must(0, errors.Join(os.Remove(p.At("r/a/f")), os.Mkdir(p.At("r/a/f"), 0o777)))(p.T) }, ""},
		{"a pipe in its place", func(p *place) {
			must(0, errors.Join(os.Remove(p.At("r/a/f")), syscall.Mkfifo(p.At("r/a/f"), 0o666)))(p.T)
		}, ""},
		{"by the user's attributes", func(p *place) {
			p.Write("home/.config/git/attributes", "* text eol=crlf\n")
			p.Write("r/a/f", "1\r\n")
		}, "HEAD"},
		{"kept elsewhere by a filter for others, changed", func(p *place) {
			p.Git("r", "config", "filter.away.clean", "echo pointer; cat >/dev/null")
			p.commit("r", "filtered", ".gitattributes", "*.large filter=away\n* text=auto\n")
			p.Write("r/a/f", "2\r\n")
		}, "add"},
		{"with ends of lines that nothing converts", func(p *place) { p.Write("r/.gitattributes", "*.png binary\n"); p.Write("r/a/f", "1\r\n") }, "add"},
		{"and with such that git only would where it has none", func(p *place) {
			p.commit("r", "other ends of lines", "a/f", "2\r\n")
			p.Git("r", "config", "core.autocrlf", "true")
			p.Write("r/a/f", "1\r\n")
		}, "unread"},
		{"in the moment in which git looked", func(p *place) {
			p.commit("r", "other ends of lines", ".gitattributes", "* text\n", "a/f", "1\r\n")
			then := time.Unix(1e9, 0)
			must(0, os.Chtimes(p.At("r/a/f"), then, then))(p.T)
			p.Git("r", "update-index", "--refresh")
			p.Write("r/a/f", "2\r\n")
			must(0, errors.Join(os.Chtimes(p.At("r/a/f"), then, then), os.Chtimes(p.At("r/.git/index"), then, then)))(p.T)
		}, "add"},
		{"in the same size, with such ends", func(p *place) {
			p.commit("r", "other ends of lines", ".gitattributes", "* text\n", "a/f", "1\r\n")
			then := time.Unix(1e9, 0)
			must(0, os.Chtimes(p.At("r/a/f"), then, then))(p.T)
			p.Git("r", "update-index", "--refresh")
			p.Write("r/a/f", "2\r\n")
			must(0, os.Chtimes(p.At("r/a/f"), then.Add(time.Second), then.Add(time.Second)))(p.T)
		}, "add"},
		{"in another encoding", func(p *place) {
			p.Write("r/.gitattributes", "f working-tree-encoding=UTF-16LE\n")
			p.Write("r/a/f", "1\x00\n\x00")
		}, "HEAD"},
		{"with its name filled in", func(p *place) {
			p.commit("r", "ident", ".gitattributes", "f ident\n", "a/f", "$Id$\n")
			p.Write("r/a/f", "$Id: "+string(p.rev("r", "HEAD:a/f"))+" $\n")
		}, "HEAD"},
		{"left out by hand", func(p *place) {
			p.Git("r", "update-index", "--skip-worktree", "a/f")
			must(0, os.Remove(p.At("r/a/f")))(p.T)
		}, "HEAD"},
		{"left out, in a sparse index", func(p *place) {
			p.commit("r", "more", "b/g", "1\n")
			p.Git("r", "sparse-checkout", "set", "--cone", "--sparse-index", "b")
		}, "HEAD"},
		{"left out by a pattern", func(p *place) {
			p.commit("r", "more", "a/g", "1\n")
			p.Git("r", "sparse-checkout", "set", "--no-cone", "/*", "!f")
		}, "HEAD"},
		{"gone, says an index in two files", func(p *place) {
			p.Git("r", "update-index", "--split-index")
			must(0, os.Remove(p.At("r/a/f")))(p.T)
		}, "unread"},
		{"large, and as git last saw it", func(p *place) { p.large() }, "HEAD"},
		{"large, and touched", func(p *place) {
			p.large()
			later := time.Unix(2e9, 0)
			must(0, os.Chtimes(p.At("r/a/f"), later, later))(p.T)
		}, "unread"},
		{"a submodule that has moved on", func(p *place) {
			p.init("sub")
			p.Git("r", "rm", "-rq", "a")
			p.Git("r", "submodule", "-q", "add", p.At("sub"), "a/f")
			p.Git("r", "commit", "-qm", "a submodule")
			p.commit("r/a/f", "within")
		}, "add"},
		{"a submodule that is not checked out", func(p *place) {
			p.init("sub")
			p.Git("r", "rm", "-rq", "a")
			p.Git("r", "submodule", "-q", "add", p.At("sub"), "a/f")
			p.Git("r", "commit", "-qm", "a submodule")
			p.Git("r", "submodule", "-q", "deinit", "-f", "a/f")
		}, "HEAD"},
		{"a submodule", func(p *place) {
			p.init("sub")
			p.Git("r", "rm", "-rq", "a")
			p.Git("r", "submodule", "-q", "add", p.At("sub"), "a/f")
			p.Git("r", "commit", "-qm", "a submodule")
		}, "HEAD"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t)
			p.init("r")
			p.commit("r", "one", "a/f", "1\n")
			first := p.rev("r", "HEAD:a/f")
			tt.make(p)
			var want git.OID
			switch tt.want {
			case "HEAD":
				want = p.rev("r", "HEAD:a/f")
			case "unread":
				want = git.Unread
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
				c := must(p.open("r").Content(""))(t)
				got := c.Blob("a/f", func(id git.OID) bool { return id == asked })
				harness.Equal(t, "is it "+string(asked), asked == want, got == asked)
				c.Close()
			}
		})
	}
}

func TestContentOfCommit(t *testing.T) {
	p := newPlace(t)
	p.init("r")
	first := p.commit("r", "one", "a/f", "1\n")
	second := p.commit("r", "two", "a/f", "2\n")
	p.Write("r/a/f", "3\n")
	for _, id := range []git.OID{first, second} {
		harness.Equal(t, "blob", p.rev("r", string(id)+":a/f"), standing(t, p, id, "a/f"))
	}
	harness.Equal(t, "no such file", git.OID(""), standing(t, p, first, "b"))
	harness.Equal(t, "a path that leads out", git.OID(""), standing(t, p, "", "../r/a/f"))
	if _, err := p.open("r").Content(git.OID(strings.Repeat("1", 40))); !errors.Is(err, git.ErrNotFound) {
		t.Errorf("a commit that is not here: %v", err)
	}
	p.Git(".", "clone", "-q", "--bare", "r", "bare")
	bare := must(p.open("bare").Content(""))(t)
	defer bare.Close()
	harness.Equal(t, "HEAD of a bare repository", p.rev("r", "HEAD:a/f"), bare.Blob("a/f", nil))
	p.Git(".", "init", "-q", "empty")
	p.Write("empty/f", "1\n")
	none := must(p.open("empty").Content(""))(t)
	defer none.Close()
	if none.Blob("f", nil) == "" || none.Blob("g", nil) != "" {
		t.Errorf("before the first commit: %q, %q", none.Blob("f", nil), none.Blob("g", nil))
	}
}

func TestLongMoved(t *testing.T) {
	for _, tt := range []struct {
		name string
		make func(p *place)
		want string
	}{
		{"not yet committed", func(p *place) { p.Git("r", "mv", "f", "g") }, "g"},
		{"not yet committed, with an edit", func(p *place) {
			p.Git("r", "mv", "f", "g")
			p.Write("r/g", long+"more\n")
			p.Git("r", "add", "g")
		}, "g"},
		{"by hand, then added", func(p *place) { must(0, os.Rename(p.At("r/f"), p.At("r/g")))(p.T); p.Git("r", "add", "g") }, "g"},
		{"by hand, then added with an edit", func(p *place) {
			must(0, os.Remove(p.At("r/f")))(p.T)
			p.Write("r/g", long+"more\n")
			p.Git("r", "add", "g")
		}, "g"},
		{"by hand, then named", func(p *place) { must(0, os.Rename(p.At("r/f"), p.At("r/g")))(p.T); p.Git("r", "add", "-N", "g") }, "g"},
		{"by hand", func(p *place) { must(0, os.Rename(p.At("r/f"), p.At("r/g")))(p.T) }, ""},
		{"into a folder of its name", func(p *place) {
			must(0, errors.Join(os.Rename(p.At("r/f"), p.At("r/x")), os.Mkdir(p.At("r/f"), 0o777), os.Rename(p.At("r/x"), p.At("r/f/g"))))(p.T)
			p.Git("r", "add", "-A")
		}, "f/g"},
		{"into a folder of its name, some commits ago", func(p *place) {
			must(0, errors.Join(os.Rename(p.At("r/f"), p.At("r/x")), os.Mkdir(p.At("r/f"), 0o777), os.Rename(p.At("r/x"), p.At("r/f/g"))))(p.T)
			p.commit("r", "mv")
			p.commit("r", "meanwhile")
		}, "f/g"},
		{"as a link", func(p *place) {
			must(0, errors.Join(os.Remove(p.At("r/f")), os.Symlink("away", p.At("r/f"))))(p.T)
			p.commit("r", "a link")
			p.Git("r", "mv", "f", "g")
			p.commit("r", "mv")
		}, "g"},
		{"committed", func(p *place) { p.Git("r", "mv", "f", "g"); p.commit("r", "mv") }, "g"},
		{"with an edit", func(p *place) { p.Git("r", "mv", "f", "g"); p.commit("r", "mv", "g", long+"more\n") }, "g"},
		{"long ago", func(p *place) {
			p.Git("r", "mv", "f", "g")
			for range 20 {
				p.commit("r", "mv")
			}
		}, "g"},
		{"twice", func(p *place) {
			p.Git("r", "mv", "f", "g")
			p.commit("r", "mv")
			p.Git("r", "mv", "g", "h")
			p.commit("r", "mv")
		}, "h"},
		{"twice, the second not yet committed", func(p *place) {
			p.Git("r", "mv", "f", "g")
			p.commit("r", "mv")
			p.Git("r", "mv", "g", "h")
		}, "h"},
		{"deleted", func(p *place) { p.Git("r", "rm", "-q", "f"); p.commit("r", "rm", "g", "something else\n") }, ""},
		{"moved, then deleted", func(p *place) {
			p.Git("r", "mv", "f", "g")
			p.commit("r", "mv")
			p.Git("r", "rm", "-q", "g")
			p.commit("r", "rm")
		}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t)
			p.init("r")
			p.commit("r", "one", "f", long)
			tt.make(p)
			c := must(p.open("r").Content(""))(t)
			defer c.Close()
			harness.Equal(t, "moved", tt.want, c.Moved([]string{"f", "never"})["f"])
		})
	}
}

func TestInside(t *testing.T) {
	p := newPlace(t)
	p.init("r")
	p.commit("r", "one", "a/b/f", "1\n")
	must(0, os.Symlink(p.At("r"), p.At("link")))(t)
	for _, tt := range []struct {
		dir, name, want string
		ok              bool
	}{
		{"r", "a/b/f", "a/b/f", true},
		{"r/a", "b/f", "a/b/f", true},
		{"r/a/b", "../../file", "file", true},
		{"r/a", "./b//f", "a/b/f", true},
		{"link/a", "b/f", "a/b/f", true},
		{"r", "../out", "", false},
		{"r", ".", "", false},
		{"r/a", p.At("r/file"), "file", true},
		{"r/a", "/etc/passwd", "", false},
		{"r", ".git/config", "", false},
		{"r", "..odd", "..odd", true},
	} {
		got, ok := p.open(tt.dir).Inside(tt.name)
		if got != tt.want || ok != tt.ok {
			t.Errorf("%s in %s: %q, %v, want %q", tt.name, tt.dir, got, ok, tt.want)
		}
	}
}

// Files of one folder that went at different times, between commits that have nothing to do with them.
func TestMovedOneByOne(t *testing.T) {
	p := newPlace(t)
	p.init("r")
	p.commit("r", "one", "a/f", long, "a/g", long+"g\n", "a/h", long+"h\n", "c/x", "1\n")
	for i, step := range [][]string{{"mv", "a/f", "c/f"}, {"mv", "a/g", "g"}, {"rm", "-q", "a/h"}} {
		p.Git("r", step...)
		p.commit("r", strings.Join(step, " "))
		p.commit("r", "meanwhile", "c/x", strings.Repeat("x", i))
	}
	c := must(p.open("r").Content(""))(t)
	defer c.Close()
	harness.Equal(t, "moved", map[string]string{"a/f": "c/f", "a/g": "g"}, c.Moved([]string{"a/f", "a/g", "a/h"}))
}

// Former names are found from today's, through several renames, with changes of content and without; what was only added had none.
func TestCame(t *testing.T) {
	p := newPlace(t)
	p.init("r")
	p.commit("r", "one", "a", long, "same", "of another\n")
	p.Git("r", "mv", "a", "b")
	p.commit("r", "two", "added", long+"more\n"+long)
	p.Git("r", "mv", "b", "dir.c")
	p.Git("r", "mv", "same", "other")
	p.commit("r", "three", "dir.c", long+"and more\n")
	c := must(p.open("r").Content(""))(t)
	defer c.Close()
	harness.Equal(t, "called", []string{"added", "dir.c"}, c.Called(func(f string) bool { return strings.Contains(f, "d") }))
	harness.Equal(t, "came", map[string]string{"dir.c": "b", "b": "a", "other": "same"}, c.Came([]string{"added", "dir.c", "other"}))
}

// Whatever the version of the index, a rename in it is seen.
func TestLongMovedInIndex(t *testing.T) {
	for _, version := range []string{"2", "3", "4"} {
		t.Run(version, func(t *testing.T) {
			p := newPlace(t)
			p.init("r")
			p.commit("r", "one", "a/f", long, "a/g", "1\n", "b/c/d/h", "2\n", "long/name/of/a/file/that/goes/on", "3\n",
				"k/1", "4\n", "k/2", "5\n", "l/edited", strings.Repeat(long, 2), "l/stays", "6\n", "m/1", "7\n", "m/2", "8\n")
			p.Git("r", "mv", "a/f", "b/c/d/new")
			must(0, errors.Join(os.Mkdir(p.At("r/n"), 0o777), os.Remove(p.At("r/l/edited"))))(t)
			p.Write("r/n/edited", strings.Repeat(long, 2)+"more\n")
			p.Git("r", "add", "-A", "l", "n")
			p.Git("r", "mv", "long/name/of/a/file/that/goes/on", "z")
			if version == "3" { // what makes git write it
				p.Write("r/later", "4\n")
				p.Git("r", "add", "-N", "later")
			} else {
				p.Git("r", "update-index", "--index-version", version)
			}
			raw := must(os.ReadFile(p.At("r/.git/index")))(t)
			harness.Equal(t, "version", version[0]-'0', raw[7])
			want := map[string]string{"a/f": "b/c/d/new", "long/name/of/a/file/that/goes/on": "z", "l/edited": "n/edited"}
			for range 2 {
				c := must(p.open("r").Content(""))(t)
				harness.Equal(t, "moved", want, c.Moved(slices.Collect(maps.Keys(want))))
				c.Close()
				p.Git("r", "write-tree") // from now on the index knows of each folder what it is, which HEAD has not
				raw = must(os.ReadFile(p.At("r/.git/index")))(t)
			}
			for n := 0; n < len(raw); n += 11 { // cut anywhere, it is no reason to fail
				must(0, os.WriteFile(p.At("r/.git/index"), raw[:n], 0o666))(t)
				again := must(p.open("r").Content(""))(t)
				for from, to := range again.Moved([]string{"a/f"}) {
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
	p := newPlace(t)
	p.init("r")
	p.Git("r", "config", "core.ignoreCase", "true")
	p.Git("r", "config", "filter.x.clean", "touch "+p.At("ran")+"; cat")
	p.Write("r/.gitattributes", "* text\n*.TXT filter=x\n")
	p.commit("r", "one", "a.txt", "1\n")
	must(0, os.RemoveAll(p.At("ran")))(t)
	p.Write("r/a.txt", "1\r\n")
	c := must(p.open("r").Content(""))(t)
	defer c.Close()
	id := c.Blob("a.txt", nil)
	if _, err := os.Stat(p.At("ran")); err == nil {
		t.Errorf("it ran, for %s", id)
	}
	harness.Equal(t, "blob", git.OID(p.Git("r", "rev-parse", "HEAD:a.txt")), id)
}
