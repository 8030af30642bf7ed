package history_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/tests/harness"
	"github.com/git-rekal/git-rekal/tests/harness/repos"
)

// moved is what the file of lineage is called in the end.
const moved = "dir/h i"

// gitBlame is what git says of it, as it lies in the working tree or in a commit.
func gitBlame(p *repos.Place, dir, commit string) []history.Origin {
	p.T.Helper()
	args := []string{"blame", "-w", "--line-porcelain"}
	if commit != "" {
		args = append(args, commit)
	}
	var out []history.Origin
	for l := range strings.Lines(p.Git(dir, append(args, "--", moved)...)) {
		f := strings.Fields(l)
		switch {
		case len(f) >= 3 && git.IsOID(f[0]) && l[0] != '\t':
			out = append(out, history.Origin{Commit: git.OID(f[0]), Line: repos.Must(strconv.Atoi(f[1]))(p.T)})
		case strings.HasPrefix(l, "filename "):
			out[len(out)-1].Path = strings.TrimSpace(strings.TrimPrefix(l, "filename "))
		}
		if n := len(out); n > 0 && strings.Trim(string(out[n-1].Commit), "0") == "" {
			out[n-1] = history.Origin{}
		}
	}
	return out
}

// lineage makes a file of long lines that changes in several commits, with a branch, a merge and
// two renames, and then some more in the working tree.
func lineage(p *repos.Place) {
	r := rand.New(rand.NewPCG(4, 4))
	var text []string
	line := func() string { return fmt.Sprintf("%x %x", r.Uint64(), r.Uint64()) }
	for range 120 {
		text = append(text, line())
	}
	name := "f"
	write := func() { p.Write("r/"+name, strings.Join(text, "\n")+"\n") }
	edit := func(from, to int) {
		at := from + r.IntN(to-from)
		switch r.IntN(3) {
		case 0:
			text[at] = line()
		case 1:
			text = append(text[:at], append([]string{line(), line()}, text[at:]...)...)
		case 2:
			text = append(text[:at], text[at+1:]...)
		}
		write()
	}
	write()
	p.Add("r", "first")
	for i := range 12 {
		edit(0, len(text))
		p.Add("r", fmt.Sprint("main ", i))
	}
	p.Git("r", "checkout", "-qb", "side")
	before := append([]string(nil), text...)
	text[5] = line()
	write()
	p.Add("r", "side")
	p.Git("r", "checkout", "-q", "main")
	text = before
	text[100] = line()
	write()
	p.Add("r", "meanwhile")
	p.Git("r", "merge", "-q", "-m", "merge", "side")
	text = strings.Split(strings.TrimSpace(string(repos.Must(os.ReadFile(p.At("r/f")))(p.T))), "\n")
	for _, next := range []string{"dir/g", moved} {
		repos.Must(0, os.MkdirAll(p.At("r/dir"), 0o777))(p.T)
		p.Git("r", "mv", name, next)
		name = next
		edit(0, len(text))
		p.Add("r", "rename")
		edit(0, len(text))
		p.Add("r", "after it")
	}
	for range 3 {
		edit(0, 40)
		edit(60, len(text))
	}
}

func TestBlameIsGits(t *testing.T) {
	p := repos.New(t)
	p.Start("r")
	lineage(p)
	head := string(p.Rev("r", "HEAD"))
	for _, commit := range []string{"", head} {
		want := gitBlame(p, "r", commit)
		r := p.Open("r/dir")
		all := repos.Must(history.BlameFile(t.Context(), r, git.OID(commit), "dir/h i", 0, 0))(t)
		harness.Equal(t, "all lines as of "+commit, want, all.Origins)
		harness.Equal(t, "how many", len(want), all.To)
		for from := 1; from <= len(want); from += 9 {
			to := min(from+4, len(want))
			b := repos.Must(history.BlameFile(t.Context(), r, git.OID(commit), "dir/h i", from, to))(t)
			harness.Equal(t, fmt.Sprintf("lines %d to %d as of %q", from, to, commit), want[from-1:to], b.Origins)
			harness.Equal(t, "their text", all.Text[from-1:to], b.Text)
		}
	}
}

// So many files are asked of side by side, by an index of their history that leaves nothing behind: each answer is that
// of the file alone.
func TestBlameFiles(t *testing.T) {
	p := repos.New(t)
	p.Start("r")
	lineage(p)
	for i := range 4 {
		var files []string
		for n := i; n < 120; n += 1 + i {
			files = append(files, fmt.Sprint("many/", n), fmt.Sprintf("first of %d\nchanged in %d\nlast\n", n, i))
		}
		p.Add("r", "many", append(files, "binary", fmt.Sprint("\x00", i), "empty", "")...)
	}
	before := p.Git("r", "count-objects", "-v")
	r, head := p.Open("r/dir"), p.Rev("r", "HEAD")
	files := strings.Split(p.Git("r", "ls-tree", "-rz", "--name-only", "HEAD"), "\x00")
	files = append(files[:len(files)-1], "no such file")
	got := map[string][]history.Origin{}
	if err := history.BlameFiles(t.Context(), r, head, files, func(file string, origins []history.Origin) error {
		got[file] = origins
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	harness.Equal(t, "files", len(files), len(got))
	for _, file := range files {
		alone, _ := history.BlameFile(t.Context(), r, head, file, 0, 0) // nothing where it is refused
		harness.Equal(t, file, alone.Origins, got[file])
	}
	harness.Equal(t, "the repository's objects", before, p.Git("r", "count-objects", "-v"))
	if _, err := os.Stat(p.At("r/.git/objects/info/commit-graph")); err == nil {
		t.Error("the repository has a commit-graph that it had not")
	}
	stopped, stop := context.WithCancel(t.Context())
	err := history.BlameFiles(stopped, r, head, files, func(string, []history.Origin) error {
		stop()
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("after it was stopped: %v", err)
	}
}

// Lines that stand there many times can be told apart in several ways: ours is git's without
// diff.indentHeuristic, of which libgit2 knows nothing.
func TestBlameOfLikeLines(t *testing.T) {
	p := repos.New(t)
	p.Start("r")
	p.Git("r", "config", "diff.indentHeuristic", "false")
	r := rand.New(rand.NewPCG(6, 6))
	like := []string{"}", "{", "", "\treturn nil", "\tif err != nil {", "\t}", "call()"}
	var text []string
	for i := range 24 {
		for range 6 {
			at, n := r.IntN(len(text)+1), r.IntN(6)
			switch end := min(at+n, len(text)); r.IntN(4) {
			case 3:
				for i := at; i < end; i++ {
					text[i] = "\t" + text[i]
				}
			case 0:
				text = slices.Insert(text, at, like[r.IntN(len(like))], fmt.Sprint("line ", r.IntN(40)), like[r.IntN(len(like))])
			case 1:
				text = slices.Insert(text, at, slices.Clone(text[at:end])...)
			case 2:
				text = slices.Delete(text, at, at+(end-at)/2)
			}
		}
		p.Add("r", fmt.Sprint(i), moved, strings.Join(text, "\n")+"\n")
	}
	b := repos.Must(history.BlameFile(t.Context(), p.Open("r"), "", moved, 0, 0))(t)
	harness.Equal(t, "origins", gitBlame(p, "r", ""), b.Origins)
}

// What only reformatted is looked through where git blame was configured so; a list that is not there is none.
func TestBlameLooksThrough(t *testing.T) {
	p := repos.New(t)
	p.Start("r")
	one := p.Add("r", "one", moved, "if ok { call() }\n")
	two := p.Add("r", "two", moved, "if (ok) { call(); }\n")
	p.Git("r", "config", "blame.ignoreRevsFile", ".reformatted")
	who := func() git.OID {
		return repos.Must(history.BlameFile(t.Context(), p.Open("r"), "", moved, 1, 1))(t).Origins[0].Commit
	}
	harness.Equal(t, "without the list", two, who())
	p.Write("r/.reformatted", "# by a formatter\n"+string(two)+"\n")
	harness.Equal(t, "with it", one, who())
}

func TestBlameInCutHistory(t *testing.T) {
	p := repos.New(t)
	p.Start("r")
	lineage(p)
	p.Git(".", "clone", "-q", "--depth", "5", "file://"+p.At("r"), "cut")
	want := gitBlame(p, "cut", "")
	ends := string(repos.Must(os.ReadFile(p.At("cut/.git/shallow")))(t))
	known := 0
	for i, o := range want {
		if want[i].Cut = o.Commit != "" && strings.Contains(ends, string(o.Commit)); o.Commit != "" && !want[i].Cut {
			known++
		}
	}
	if known == 0 || known > 20 {
		t.Errorf("%d of %d lines are of commits that are whole here", known, len(want))
	}
	b := repos.Must(history.BlameFile(t.Context(), p.Open("cut"), "", "dir/h i", 0, 0))(t)
	harness.Equal(t, "origins", want, b.Origins)
	b = repos.Must(history.BlameFile(t.Context(), p.Open("cut/dir"), "", "dir/h i", 7, 9))(t)
	harness.Equal(t, "three lines", want[6:9], b.Origins)
}

func TestLongBlameInPartialClone(t *testing.T) {
	p := repos.New(t)
	p.Start("r")
	lineage(p)
	p.Git("r", "config", "uploadpack.allowFilter", "true")
	p.Git(".", "clone", "-q", "--filter=blob:none", "file://"+p.At("r"), "part")
	b := repos.Must(history.BlameFile(t.Context(), p.Open("part"), "", "dir/h i", 0, 0))(t)
	harness.Equal(t, "origins", gitBlame(p, "part", ""), b.Origins)
}

func TestBlameInLinkedWorktree(t *testing.T) {
	p := repos.New(t)
	p.Start("r")
	lineage(p)
	p.Git("r", "worktree", "add", "-q", p.At("linked"), "HEAD~1")
	p.Write("linked/dir/h i", "new\n"+string(repos.Must(os.ReadFile(p.At("linked/dir/h i")))(t)))
	b := repos.Must(history.BlameFile(t.Context(), p.Open("linked/dir"), "", "dir/h i", 0, 0))(t)
	harness.Equal(t, "origins", gitBlame(p, "linked", ""), b.Origins)
}

func TestBlameOfWorkingTree(t *testing.T) {
	for _, tt := range []struct {
		name, file string
		make       func(p *repos.Place)
		want       string // one letter a line: c is committed
	}{
		{"as committed", "f", func(*repos.Place) {}, "cccc"},
		{"a line before, one behind", "f", func(p *repos.Place) { p.Write("r/f", "new\n1\n2\n3\n4\nnew\n") }, "-cccc-"},
		{"one in place of another", "f", func(p *repos.Place) { p.Write("r/f", "1\nnew\n3\n4\n") }, "c-cc"},
		{"two gone", "f", func(p *repos.Place) { p.Write("r/f", "1\n4\n") }, "cc"},
		{"without an end", "f", func(p *repos.Place) { p.Write("r/f", "1\n2\n3\n4") }, "cccc"}, // as git blame -w
		{"staged", "f", func(p *repos.Place) { p.Write("r/f", "1\n2\n3\n4\n5\n"); p.Git("r", "add", "f") }, "cccc-"},
		{"other white space", "f", func(p *repos.Place) { p.Write("r/f", "1\n  2\nnew\n4\n") }, "cc-c"},
		{"nothing left", "f", func(p *repos.Place) { p.Write("r/f", "new\n") }, "-"},
		{"other ends of lines", "f", func(p *repos.Place) { p.Write("r/f", "1\r\nnew\r\n3\r\n") }, "c-c"},
		{"not in git", "g", func(p *repos.Place) { p.Write("r/g", "1\n2\n") }, "--"},
		{"a rename that is not committed", "g", func(p *repos.Place) { p.Git("r", "mv", "f", "g") }, "cccc"},
		{"before the first commit", "f", func(p *repos.Place) {
			p.Git("r", "checkout", "-q", "--orphan", "other")
		}, "----"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := repos.New(t)
			p.Start("r")
			p.Add("r", "one", "f", "1\n2\n3\n4\n")
			tt.make(p)
			b := repos.Must(history.BlameFile(t.Context(), p.Open("r"), "", tt.file, 0, 0))(t)
			got := ""
			for _, o := range b.Origins {
				if o.Commit == "" {
					got += "-"
				} else {
					got += "c"
				}
			}
			harness.Equal(t, "lines", tt.want, got)
		})
	}
}

func TestBlameRefuses(t *testing.T) {
	p := repos.New(t)
	p.Start("r")
	p.Add("r", "one", "f", "1\n2\n", "image", "a\x00b\n", "empty", "", "dir/g", "1\n")
	r := p.Open("r")
	for _, tt := range []struct {
		file     string
		from, to int
		want     error
	}{
		{"never", 0, 0, git.ErrNotFound},
		{"dir", 0, 0, git.ErrNotFound},
		{"image", 0, 0, history.ErrBinary},
	} {
		if _, err := history.BlameFile(t.Context(), r, "", tt.file, tt.from, tt.to); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.file, err, tt.want)
		}
	}
	for file, lines := range map[string]int{"f": 2, "empty": 0} {
		_, err := history.BlameFile(t.Context(), r, "", file, 3, 3)
		var short *history.RangeError
		if !errors.As(err, &short) || short.Lines != lines {
			t.Errorf("%s: %v, want a RangeError of %d lines", file, err, lines)
		}
	}
}

// What is kept of a file says what git says, whatever changes between two questions; and it is kept: git is not asked
// for a text that was asked about twice.
func TestBlamesAreKept(t *testing.T) {
	p := repos.New(t)
	p.Start("r")
	lines := make([]string, 2500)
	write := func() { p.Write("r/f", strings.Join(lines, "\n")+"\n") }
	for i := range lines {
		lines[i] = fmt.Sprint("line ", i)
	}
	write()
	p.Add("r", "first")
	repo := p.Open("r")
	var keep history.Blames
	ask := func(n int) history.Origin {
		t.Helper()
		text := strings.Join(lines, "\n") + "\n"
		kept, err := history.BlameUnsaved(t.Context(), repo, "f", text, n, n, &keep)
		plain, err2 := history.BlameUnsaved(t.Context(), repo, "f", text, n, n, nil)
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		harness.Equal(t, fmt.Sprint("line ", n), plain, kept)
		return kept.Origins[0]
	}
	for _, step := range []func(){
		func() {},
		func() { lines[9] = "typed" },
		func() { write(); p.Add("r", "second") },
		func() { lines[9] = "  typed"; write(); p.Add("r", "third") },
		func() { p.Git("r", "commit", "--amend", "-qm", "fourth") },
		func() {
			p.Write("r/.git/ignored", string(repos.Must(repo.Head())(t).OID)+"\n")
			p.Git("r", "config", "blame.ignoreRevsFile", ".git/ignored")
			repo = p.Open("r")
		},
	} {
		step()
		for _, n := range []int{1, 10, 11, 2000, 2001, 2500} {
			ask(n)
			ask(n)
		}
	}
	text := strings.Join(lines, "\n") + "\n"
	before := ask(10)
	p.Write("bin/git", fmt.Sprintf("#!/bin/sh\ncase \" $* \" in *' blame '*) exit 1 ;; esac\nexec %s \"$@\"\n",
		repos.Must(exec.LookPath("git"))(t)))
	if err := os.Chmod(p.At("bin/git"), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	t.Setenv("PATH", p.At("bin"))
	if _, err := history.BlameUnsaved(t.Context(), repo, "f", text, 10, 10, nil); err == nil {
		t.Error("this git blames")
	}
	got, err := history.BlameUnsaved(t.Context(), repo, "f", text, 10, 10, &keep)
	if err != nil || got.Origins[0] != before {
		t.Errorf("without git: %+v, %v, want %+v", got.Origins, err, before)
	}
}
