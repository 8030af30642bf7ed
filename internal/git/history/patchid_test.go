package history_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/tests/harness/repos"
)

// patchID asks git itself.
func patchID(p *repos.Place, dir, rev string) string {
	p.T.Helper()
	// with SHA-1
	cmd := exec.CommandContext(p.T.Context(), "sh", "-c",
		"git diff-tree -p --root "+rev+" | (cd / && git patch-id --stable)")
	cmd.Dir, cmd.Env = p.At(dir), p.Environ()
	out, err := cmd.Output()
	if err != nil {
		p.T.Fatal(err)
	}
	id, _, _ := strings.Cut(string(out), " ")
	return id
}

func ourPatchID(p *repos.Place, dir, rev string) string {
	p.T.Helper()
	repo := p.Open(dir)
	c, err := repo.Commit(p.Rev(dir, rev))
	if err != nil {
		p.T.Fatal(err)
	}
	return history.PatchID(repo, c)
}

func TestLongPatchID(t *testing.T) {
	lines := func(n int) string { return strings.Repeat("a line of a file\n", n) }
	for _, tt := range []struct {
		name string
		make func(p *repos.Place)
	}{
		{name: "an edit", make: func(p *repos.Place) {
			p.Add("r", "one", "dir/a.go", lines(20)+"x\n"+lines(20))
			p.Add("r", "two", "dir/a.go", lines(20)+"y\n"+lines(20))
		}},
		{name: "a root commit", make: func(p *repos.Place) { p.Add("r", "one", "b", "1\n", "a", "2\n") }},
		{name: "several files and hunks", make: func(p *repos.Place) {
			p.Add("r", "one", "a", lines(20)+"x\n"+lines(20), "b", "1\n")
			p.Git("r", "rm", "-q", "b")
			p.Add("r", "two", "a", "first\n"+lines(20)+"y\n"+lines(20)+"last\n", "c/d", "1\n2\n")
		}},
		{name: "a rename", make: func(p *repos.Place) {
			p.Add("r", "one", "old", repos.Long())
			p.Git("r", "mv", "old", "new")
			p.Add("r", "two", "new", repos.Long()+"more\n")
		}},
		{name: "a pure rename", make: func(p *repos.Place) {
			p.Add("r", "one", "old", repos.Long())
			p.Git("r", "mv", "old", "new")
			p.Add("r", "two")
		}},
		{name: "a deletion", make: func(p *repos.Place) {
			p.Add("r", "one", "a", repos.Long(), "b", "1\n")
			p.Git("r", "rm", "-q", "a")
			p.Add("r", "two")
		}},
		{name: "an empty file", make: func(p *repos.Place) { p.Add("r", "one", "a", "1\n"); p.Add("r", "two", "empty", "") }},
		{name: "no newline at the end", make: func(p *repos.Place) {
			p.Add("r", "one", "a", "1\n2")
			p.Add("r", "two", "a",
				"1\n3")
		}},
		{name: "a newline at the end", make: func(p *repos.Place) {
			p.Add("r", "one", "a", "1\n2")
			p.Add("r", "two", "a",
				"1\n2\n")
		}},
		{name: "CRLF", make: func(p *repos.Place) {
			p.Git("r", "config", "core.autocrlf", "false")
			p.Add("r", "one", "a", "1\r\n2\r\n")
			p.Add("r", "two", "a", "1\r\n3\r\n")
		}},
		{name: "white space", make: func(p *repos.Place) {
			p.Add("r", "one", "a", "if x {\ny\n}\n")
			p.Add("r", "two", "a", "if x {\n\ty \n}\n")
		}},
		{name: "a mode", make: func(p *repos.Place) {
			p.Add("r", "one", "tool.sh", "#!/bin/sh\n")
			p.Git("r", "update-index", "--chmod=+x", "tool.sh")
			p.Git("r", "commit", "-q", "-m", "two")
		}},
		{name: "a mode and an edit", make: func(p *repos.Place) {
			p.Add("r", "one", "tool.sh", "#!/bin/sh\n")
			p.Write("r/tool.sh", "#!/bin/bash\n")
			p.Git("r", "add", "-A")
			p.Git("r", "update-index", "--chmod=+x", "tool.sh")
			p.Git("r", "commit", "-q", "-m", "two")
		}},
		{name: "a file that became a link", make: func(p *repos.Place) {
			p.Add("r", "one", "x", "1\n")
			_ = os.Remove(p.At("r/x"))
			_ = os.Symlink("y", p.At("r/x"))
			p.Add("r", "two")
		}},
		{name: "a submodule", make: func(p *repos.Place) {
			p.Start("lib")
			p.Git("r", "submodule", "--quiet", "add", p.At("lib"), "sub")
			p.Add("r", "one")
		}},
		{name: "names that need quoting", make: func(p *repos.Place) {
			p.Add("r", "one", "ümläut \"x\"", "1\n", "tab\there",
				"2\n")
		}},
		{name: "a name with spaces", make: func(p *repos.Place) { p.Add("r", "one", "a file", "1\n") }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := repos.New(t)
			p.Git(".", "init", "-q", "r")
			tt.make(p)
			got, want := ourPatchID(p, "r", "HEAD"), patchID(p, "r", "HEAD")
			if got != want || len(got) != 40 {
				t.Errorf("patch-id %q, git says %q", got, want)
			}
		})
	}
}

func TestLongNoPatchID(t *testing.T) {
	for _, tt := range []struct {
		name string
		make func(p *repos.Place)
	}{
		{"nothing changed", func(p *repos.Place) { p.Add("r", "one", "a", "1\n"); p.Add("r", "two") }},
		{"a merge", func(p *repos.Place) {
			p.Add("r", "one", "a", "1\n")
			p.Git("r", "checkout", "-q", "-b", "side")
			p.Add("r", "two", "b", "1\n")
			p.Git("r", "checkout", "-q", "main")
			p.Git("r", "merge", "-q", "--no-ff", "--no-edit", "side")
		}},
		{"a binary that changed", func(p *repos.Place) {
			p.Add("r", "one", "a", "1\x00\n")
			p.Add("r", "two", "a", "2\x00\n", "b", "text\n")
		}},
		{"a new binary", func(p *repos.Place) { p.Add("r", "one", "a", "1\n"); p.Add("r", "two", "b", "2\x00\n") }},
		{"too many files", func(p *repos.Place) {
			for i := range 301 {
				p.Write(fmt.Sprintf("r/%d", i), "1\n")
			}
			p.Add("r", "one")
		}},
		{"too much text", func(p *repos.Place) { p.Add("r", "one", "a", strings.Repeat("0123456789abcde\n", 70_000)) }},
		{"a blob that is not here", func(p *repos.Place) {
			p.Add("r", "one", "a", "1\n")
			blob := string(p.Rev("r", "HEAD:a"))
			if err := os.Remove(p.At("r/.git/objects/" + blob[:2] + "/" + blob[2:])); err != nil {
				p.T.Fatal(err)
			}
		}},
		{"a parent that is not here", func(p *repos.Place) {
			p.Add("r", "one", "a", "1\n")
			p.Add("r", "two", "a", "2\n")
			p.Git(".", "clone", "-q", "--depth=1", "file://"+p.At("r"), "cut")
			if err := errors.Join(os.RemoveAll(p.At("r")), os.Rename(p.At("cut"), p.At("r"))); err != nil {
				p.T.Fatal(err)
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := repos.New(t)
			p.Git(".", "init", "-q", "r")
			tt.make(p)
			if got := ourPatchID(p, "r", "HEAD"); got != "" {
				t.Errorf("patch-id %q, want none", got)
			}
		})
	}
}

// What matters is the patch: not where it applies, who reads it, or how that one's git is set up.
func TestPatchIDIsStable(t *testing.T) {
	p := repos.New(t)
	p.Git(".", "init", "-q", "r")
	body := strings.Repeat("a line that stays\n", 30)
	p.Add("r", "one", "a.txt", body+"old\n"+body)
	p.Add("r", "two", "a.txt", body+"new\n"+body)
	want := ourPatchID(p, "r", "HEAD")

	p.Git("r", "checkout", "-q", "-b", "other", "HEAD~1")
	p.Add("r", "meanwhile", "a.txt", "first\n"+body+"old\n"+body, "b", "1\n")
	p.Git("r", "cherry-pick", "main")
	p.Git(".", "clone", "-q", "--mirror", "r", "bare.git")
	p.Git(".", "clone", "-q", "--shared", "r", "shared")
	p.Git("r", "worktree", "add", "-q", "../linked", "main")
	p.Git(".", "clone", "-q", "r", "set-up")
	for _, kv := range [][2]string{
		{"diff.noprefix", "true"},
		{"diff.context", "0"},
		{"core.abbrev", "20"},
		{"diff.renames", "copies"},
		{"diff.algorithm", "patience"},
	} {
		p.Git("set-up", "config", kv[0], kv[1])
	}
	p.Write("set-up/.gitattributes", "*.txt binary\n")
	p.Write("set-up/.git/info/attributes", "*.txt -diff\n")
	for dir, rev := range map[string]string{
		"r": "other", "bare.git": "main", "shared": "origin/main", "linked": "HEAD",
		"set-up": "origin/main",
	} {
		if got := ourPatchID(p, dir, rev); got != want {
			t.Errorf("in %s: patch-id of %s is %q, want %q", dir, rev, got, want)
		}
	}
	p.Add("r", "three", "a.txt", "first\n"+body+"newer\n"+body)
	if got := ourPatchID(p, "r", "HEAD"); got == want {
		t.Errorf("another patch has the same patch-id %s", got)
	}
}

func BenchmarkPatchID(b *testing.B) {
	repo, err := git.Open(b.Context(), ".", os.Environ())
	if err != nil {
		b.Fatal(err)
	}
	defer repo.Close()
	head, err := repo.Head()
	if err != nil {
		b.Fatal(err)
	}
	c, err := repo.Commit(head.OID)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		history.PatchID(repo, c)
	}
}
