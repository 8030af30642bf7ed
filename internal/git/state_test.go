package git_test

import (
	"os"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/git"
)

func TestHead(t *testing.T) {
	for _, tt := range []struct {
		name   string
		make   func(p *place)
		branch string
		none   bool
	}{
		{"on a branch", func(*place) {}, "main", false},
		{"on a branch with slashes", func(p *place) { p.git("r", "checkout", "-q", "-b", "a/b/c") }, "a/b/c", false},
		{"detached", func(p *place) { p.git("r", "checkout", "-q", "--detach") }, "HEAD", false},
		{"on an orphan branch", func(p *place) { p.git("r", "checkout", "-q", "--orphan", "new") }, "new", true},
		{"packed", func(p *place) { p.git("r", "pack-refs", "--all") }, "main", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t)
			p.init("r")
			tt.make(p)
			want := git.Head{Branch: tt.branch}
			if !tt.none {
				want.OID = p.rev("r", "HEAD")
			}
			equal(t, "HEAD", want, must(p.open("r").Head())(t))
		})
	}
	t.Run("of a linked worktree", func(t *testing.T) {
		p := newPlace(t)
		p.init("r")
		p.git("r", "worktree", "add", "-q", "-b", "side", "../w")
		id := p.commit("w", "two", "file", "2\n")
		equal(t, "HEAD there", git.Head{OID: id, Branch: "side"}, must(p.open("w").Head())(t))
		equal(t, "HEAD here", git.Head{OID: p.rev("r", "main"), Branch: "main"}, must(p.open("r").Head())(t))
	})
}

// fork makes two branches that conflict in one file: main with commits A and B, side with C.
func fork(t *testing.T) *place {
	p := newPlace(t)
	p.init("r")
	p.git("r", "branch", "side")
	p.commit("r", "A", "file", "A\n")
	p.commit("r", "B", "file", "B\n", "other", "B\n")
	p.git("r", "checkout", "-q", "side")
	p.commit("r", "C", "file", "C\n")
	return p
}

// TestSequencing stops real git in the middle of what it does.
func TestSequencing(t *testing.T) {
	for _, tt := range []struct {
		name string
		run  [][]string // the last one stops at a conflict
		want bool
	}{
		{"a rebase", [][]string{{"rebase", "main"}}, true},
		{"a rebase with the apply backend", [][]string{{"rebase", "--apply", "main"}}, true},
		{"an interactive rebase", [][]string{{"-c", "sequence.editor=true", "rebase", "-i", "main"}}, true},
		{"a cherry-pick of several", [][]string{{"cherry-pick", "main~1", "main"}}, true},
		{"a cherry-pick of one", [][]string{{"cherry-pick", "main"}}, false},
		{"a revert of several", [][]string{{"checkout", "-q", "main"}, {"revert", "--no-edit", "HEAD~1", "HEAD~2"}}, true},
		{"am", [][]string{{"format-patch", "-q", "-o", "../patches", "side..main"}, {"am", "-q", "../patches/0001-A.patch", "../patches/0002-B.patch"}}, true},
		{"a merge", [][]string{{"merge", "main"}}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := fork(t)
			r := p.open("r")
			if r.Sequencing() {
				t.Fatal("before it began")
			}
			for i, args := range tt.run {
				if out, err := p.try("r", args...); (err != nil) != (i == len(tt.run)-1) {
					t.Fatalf("git %q: %v\n%s", args, err, out)
				}
			}
			if got := r.Sequencing(); got != tt.want {
				t.Errorf("Sequencing() = %v, want %v", got, tt.want)
			}
		})
	}
}

// TestSequencingInHooks asks from within a real post-commit hook, where git has no conflict
// to stop at.
func TestSequencingInHooks(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		run  []string
		want string
	}{
		{"a commit", []string{"commit", "-q", "--allow-empty", "-m", "x"}, "false"},
		{"an amend", []string{"commit", "-q", "--amend", "--allow-empty", "-m", "x"}, "false"},
		{"a rebase", []string{"rebase", "-q", "main"}, "true"},
		{"an interactive rebase", []string{"-c", "sequence.editor=true", "rebase", "-q", "-i", "--no-ff", "main~2"}, "true"},
		{"a cherry-pick of several", []string{"cherry-pick", "main~1", "main"}, "true"},
		{"a cherry-pick of one", []string{"cherry-pick", "main~1"}, "false"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t)
			p.init("r")
			p.git("r", "branch", "side")
			p.commit("r", "A", "a", "A\n")
			p.commit("r", "B", "b", "B\n")
			p.git("r", "checkout", "-q", "side")
			p.commit("r", "C", "c", "C\n")
			p.commit("r", "D", "d", "D\n")
			p.write("r/.git/hooks/post-commit", "#!/bin/sh\nexec '"+exe+"'\n")
			if err := os.Chmod(p.at("r/.git/hooks/post-commit"), 0o755); err != nil {
				t.Fatal(err)
			}
			p.env = append(p.env, roleVar+"=hook", "LOG="+p.at("log"))
			p.git("r", tt.run...)
			log, err := os.ReadFile(p.at("log"))
			if err != nil {
				t.Skip("this git runs no post-commit hook here") // rebase: by version and backend
			}
			for _, line := range strings.Split(strings.TrimSpace(string(log)), "\n") {
				if _, got, _ := strings.Cut(line, " "); got != tt.want {
					t.Errorf("Sequencing() = %v in the hook, want %v; all:\n%s", got, tt.want, log)
				}
			}
		})
	}
}
