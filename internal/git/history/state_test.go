package history_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/tests/harness"
	"github.com/git-rekal/git-rekal/tests/harness/repos"
)

// fork makes two branches: side with A, B and C, and main, which conflicts with C in one file.
// HEAD is main.
func fork(t *testing.T) *repos.Place {
	p := repos.New(t)
	p.Start("r")
	p.Git("r", "checkout", "-q", "-b", "side")
	p.Add("r", "A", "a", "A\n")
	p.Add("r", "B", "b", "B\n")
	p.Add("r", "C", "file", "C\n")
	p.Git("r", "format-patch", "-q", "-o", "../patches", "main..side")
	p.Git("r", "checkout", "-q", "main")
	p.Add("r", "M", "file", "M\n")
	p.Git("r", "worktree", "add", "-q", "../linked", "side")
	return p
}

// TestLongSequencingInHooks asks from within real hooks. A step is "git ARG…"; "! git ARG…" must
// fail (it stops at a conflict); "> TEXT" writes the file that conflicts; "todo SCRIPT" has
// sed edit the list of a rebase. The post-rewrite of a rebase's end, which nobody could take
// for a step, is left out.
func TestLongSequencingInHooks(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name  string
		dir   string // "r" unless said otherwise
		steps []string
		want  string // what was an act of the user: a Commit, a Patch, a Rewrite; "-" for any number of steps between
	}{
		{"a commit", "", []string{"git commit --allow-empty -m x"}, "C"},
		{"an amend", "", []string{"git commit --amend -m x"}, "C R"},
		{"a cherry-pick of one", "", []string{"git cherry-pick side~1"}, "C"},
		{"a cherry-pick of several", "", []string{"git cherry-pick side~2 side~1"}, "- C"},
		{"a revert of several", "linked", []string{"git revert --no-edit HEAD HEAD~1 HEAD~2"}, "- C"},
		{
			"a conflict in the last pick, continued", "",
			[]string{"! git cherry-pick side~2 side~1 side", "> x", "git cherry-pick --continue"},
			"- C",
		},
		{
			"a conflict in the last pick, committed", "",
			[]string{"! git cherry-pick side~2 side~1 side", "> x", "git commit -m x"},
			"- C",
		},
		{
			"a conflict in the first pick, continued", "",
			[]string{"! git cherry-pick side side~1 side~2", "> x", "git cherry-pick --continue"},
			"- C",
		},
		{
			"a conflict in the first pick, committed", "",
			[]string{"! git cherry-pick side side~1 side~2", "> x", "git commit -m x", "git cherry-pick --continue"},
			"- C",
		},
		{"a conflict in the first pick, skipped", "", []string{
			"! git cherry-pick side side~1 side~2",
			"git cherry-pick --skip",
		}, "- C"},
		{
			"a sequence that was left, then a commit", "",
			[]string{"! git cherry-pick side side~1", "git reset -q --hard", "git commit --allow-empty -m x"},
			"C",
		},
		{
			"a sequence that was aborted, then a commit", "",
			[]string{"! git cherry-pick side~1 side side~2", "git cherry-pick --abort", "git commit --allow-empty -m x"},
			"- C",
		},
		{"am of one", "", []string{"git am -q ../patches/0001-A.patch"}, "P"},
		{"am of several", "", []string{"git am -q ../patches/0001-A.patch ../patches/0002-B.patch"}, "- P"},
		{"am with a conflict at its end", "", []string{
			"! git am -q ../patches/0001-A.patch ../patches/0003-C.patch", "> x",
			"git am -q --continue",
		}, "- P"},
		{"a rebase", "linked", []string{"git reset -q --hard side~1", "git rebase -q main"}, "-"},
		{"a rebase with a conflict", "linked", []string{"! git rebase -q main", "> x", "git rebase --continue"}, "-"},
		{
			"a rebase with a conflict, committed", "linked",
			[]string{"! git rebase -q main", "> x", "git commit -m x", "git rebase --continue"},
			"-",
		},
		{
			"a rebase with the apply backend", "linked",
			[]string{"git reset -q --hard side~1", "git rebase -q --apply main"},
			"-",
		},
		{"an edit stop, amended and committed in", "linked", []string{
			"todo 1s/^pick/edit/", "git rebase -i side~2", "git commit --amend -m x", "git commit --allow-empty -m y",
			"git rebase --continue",
		}, "C R C -"},
		{"a break, committed in", "linked", []string{
			"todo 1ibreak", "git rebase -i --no-ff side~1", "git commit --allow-empty -m y", "git rebase --continue",
		}, "C -"},
		{
			"a commit by exec", "linked",
			[]string{"todo 1iexec git commit --allow-empty -mx", "git rebase -i --no-ff side~1"},
			"C -",
		},
		{"a reword", "linked", []string{"todo 1s/^pick/reword/", "git rebase -i --no-ff side~2"}, "-"},
		{"an autosquash", "linked", []string{
			"> y", "git commit --fixup HEAD", "todo", "git rebase -i --autosquash --no-ff side~2",
		}, "C -"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, dir := fork(t), cmp.Or(tt.dir, "r")
			for _, hook := range []string{"post-commit", "post-applypatch", "post-rewrite"} {
				p.Write("r/.git/hooks/"+hook, "#!/bin/sh\n[ \"$1\" = rebase ] || HOOK="+hook+" exec '"+exe+"'\n")
				if err := os.Chmod(p.At("r/.git/hooks/"+hook), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			p.Env = append(p.Env, roleVar+"=hook", "LOG="+p.At("log"), "GIT_EDITOR=true")
			for _, step := range tt.steps {
				take(p, dir, step)
			}
			log, err := os.ReadFile(p.At("log"))
			if err != nil {
				t.Fatal(err)
			}
			harness.Equal(t, "hooks", tt.want, acts(string(log)))
		})
	}
}

// acts shortens the log to one letter an act, with "-" for the steps between.
func acts(log string) string {
	var out []string
	for line := range strings.Lines(log) {
		hook, what, _ := strings.Cut(strings.TrimSpace(line), " ")
		letter := map[string]string{"post-commit": "C", "post-applypatch": "P", "post-rewrite": "R"}[hook]
		if what == "step" {
			letter = "-"
		}
		if letter != "-" || len(out) == 0 || out[len(out)-1] != "-" {
			out = append(out, letter)
		}
	}
	return strings.Join(out, " ")
}

// take does one step of a case.
func take(p *repos.Place, dir, step string) {
	p.T.Helper()
	if text, ok := strings.CutPrefix(step, "> "); ok {
		p.Write(dir+"/file", text+"\n")
		p.Git(dir, "add", "file")
		return
	}
	if sed, ok := strings.CutPrefix(step, "todo"); ok {
		p.Env = append(p.Env, "GIT_SEQUENCE_EDITOR=sed -i -e '"+strings.TrimSpace(sed)+"'")
		return
	}
	line, fails := strings.CutPrefix(step, "! ")
	args := strings.Fields(line)[1:]
	if out, err := p.Try(dir, args...); (err != nil) != fails {
		p.T.Fatalf("%s: %v\n%s", step, err, out)
	}
}

// TestLongMerging asks for what git leaves while its post-merge hook runs.
func TestLongMerging(t *testing.T) {
	for _, tt := range []struct {
		name string
		args []string
		want bool
	}{
		{"a merge", []string{"--no-ff", "-m", "x", "side"}, true},
		{"an octopus", []string{"-m", "x", "side", "other"}, true},
		{"a fast-forward", []string{"--ff-only", "side"}, false},
		{"a squash", []string{"--squash", "side"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := repos.New(t)
			p.Start("r")
			for _, branch := range []string{"other", "side"} {
				p.Git("r", "checkout", "-q", "-b", branch, "main")
				p.Add("r", branch, branch, "1\n")
			}
			p.Git("r", "checkout", "-q", "main")
			p.Write("r/.git/hooks/post-merge", "#!/bin/sh\ncp -R . ../then\n")
			if err := os.Chmod(p.At("r/.git/hooks/post-merge"), 0o755); err != nil {
				t.Fatal(err)
			}
			p.Git("r", append([]string{"merge", "-q"}, tt.args...)...)
			if got := history.IsMerging(p.Open("then")); got != tt.want {
				t.Errorf("Merging() = %v, want %v", got, tt.want)
			}
			if history.IsMerging(p.Open("r")) {
				t.Error("still, after the merge")
			}
		})
	}
}

// TestLongRewritten compares what git says to a post-rewrite hook with what is found without it.
func TestLongRewritten(t *testing.T) {
	for _, tt := range []struct {
		name  string
		steps []string
	}{
		{"an amend", []string{"git commit -q --amend -m x"}},
		{"a rebase", []string{"git reset -q --hard side~1", "git rebase -q main"}},
		{"a rebase with the apply backend", []string{"git reset -q --hard side~1", "git rebase -q --apply main"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := fork(t)
			// The repository as the hook finds it is kept.
			p.Write("r/.git/hooks/post-rewrite", "#!/bin/sh\ncat >../said\necho $1 >../args\ncp -R ../r ../then\n")
			if err := os.Chmod(p.At("r/.git/hooks/post-rewrite"), 0o755); err != nil {
				t.Fatal(err)
			}
			for _, step := range tt.steps {
				take(p, "linked", step)
			}
			args := repos.Must(os.ReadFile(p.At("args")))(t)
			p.Write("linked/.git", "gitdir: ../then/.git/worktrees/linked\n")
			harness.Equal(t, "rewrites", string(repos.Must(os.ReadFile(p.At("said")))(t)),
				history.PostRewriteInput(p.Open("linked"), string(args) == "amend\n"))
		})
	}
}

// The test binary stands in for a hook that asks for the repository's state.
const roleVar = "REKAL_GIT_TEST_ROLE"

func TestMain(m *testing.M) {
	if os.Getenv(roleVar) == "hook" {
		os.Exit(reportState())
	}
	os.Exit(m.Run())
}

var background = context.Background()

// reportState is the "hook": it appends its name to $LOG, and whether it has to do with an act
// of the user or with a step of a sequence.
func reportState() int {
	r, err := git.Open(background, ".", os.Environ())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer r.Close()
	f, err := os.OpenFile(os.Getenv("LOG"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return 1
	}
	what := "act"
	if history.IsSequencing(r) {
		what = "step"
	}
	fmt.Fprintln(f, os.Getenv("HOOK"), what)
	if f.Close() != nil {
		return 1
	}
	return 0
}
