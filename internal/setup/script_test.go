package setup_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/hooks"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// logger is a program that notes its name, arguments, git's index and its stdin, and exits
// with the status that $EXIT_<name> says.
const logger = `#!/bin/sh
{ echo "%[1]s: $# $*"; echo "index: ${GIT_INDEX_FILE:+set}"; cat; } >>"$LOG/log"
exit ${EXIT_%[1]s:-0}
`

// withStub puts a git-rekal on PATH that only notes what it is called with.
func withStub(t *testing.T, folder string) *repo {
	t.Helper()
	r := newRepo(t, folder)
	r.write(filepath.Join(r.Root, "bin/git-rekal"), fmt.Sprintf(logger, "rekal"), 0o755)
	r.Env = append(r.Env, "PATH="+filepath.Join(r.Root, "bin")+":"+os.Getenv("PATH"))
	return r
}

// log is what was noted since the last call.
func (r *repo) log() string {
	r.T.Helper()
	path := filepath.Join(r.Root, "log/log")
	text := r.read(path)
	r.remove(path)
	return text
}

func (r *repo) commit(dir, file string) {
	r.T.Helper()
	r.write(filepath.Join(dir, file), file+"\n", 0o644)
	r.inDir(dir, "add", file)
	r.inDir(dir, "commit", "-q", "-m", file)
}

// Each hook, fired by git itself, calls the user's hook first and then ours, with equal
// arguments and stdin; alone, it calls ours with the same.
func TestLongHooksFire(t *testing.T) {
	for _, where := range []string{"work", `a 'quoted' "folder" $HOME`} {
		for _, chain := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/chained %v", where, chain), func(t *testing.T) {
				r := withStub(t, where)
				r.commit(r.tree, "first")
				remote := filepath.Join(r.Root, "remote.git")
				r.git("init", "-q", "--bare", remote)
				for _, name := range hooks.Names() {
					if chain {
						r.write(r.at(".git/hooks/"+name), fmt.Sprintf(logger, "user"), 0o755)
					}
				}
				install(t, r.layout())
				expect := func(hook string, args []string, index, stdin string) {
					t.Helper()
					index = "index: " + index + "\n"
					want := fmt.Sprintf("rekal: %d %s\n", len(args)+2, strings.Join(append([]string{"hook", hook}, args...), " ")) +
						index + stdin
					if chain {
						want = fmt.Sprintf("user: %d %s\n", len(args), strings.Join(args, " ")) + index + stdin + want
					}
					harness.Equal(t, hook, want, r.log())
				}

				r.commit(r.tree, "second")
				expect("post-commit", nil, "set", "")

				old := r.git("rev-parse", "HEAD")
				r.git("-c", "core.hooksPath=/dev/null", "commit", "-q", "--amend", "-m", "made without hooks")
				r.git("reset", "-q", "--hard", old)
				r.git("checkout", "-q", "-b", "side", "HEAD~")
				r.write(r.at("side"), "x\n", 0o644)
				r.git("add", "side")
				r.git("-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", "side")
				patch := r.git("format-patch", "-q", "-1", "--stdout") + "\n"
				r.git("checkout", "-q", "main")
				r.git("merge", "-q", "--no-edit", "--no-ff", "side")
				expect("post-merge", []string{"0"}, "", "")

				r.git("reset", "-q", "--hard", old)
				r.write(filepath.Join(r.Root, "patch"), patch, 0o644)
				r.git("am", "-q", filepath.Join(r.Root, "patch"))
				expect("post-applypatch", nil, "", "")

				before := r.git("rev-parse", "HEAD")
				r.git("rebase", "-q", "--no-ff", "HEAD~")
				log := r.log()
				rewritten := log[strings.LastIndex(log[:strings.Index(log, "rebase")+1], "\n")+1:]
				r.write(filepath.Join(r.Root, "log/log"), rewritten, 0o644)
				expect("post-rewrite", []string{"rebase"}, "", before+" "+r.git("rev-parse", "HEAD")+"\n")

				r.git("push", "-q", remote, "main")
				head := r.git("rev-parse", "HEAD")
				expect("pre-push", []string{remote, remote}, "",
					"refs/heads/main "+head+" refs/heads/main "+strings.Repeat("0", 40)+"\n")
				r.git("push", "-q", remote, "main")
				expect("pre-push", []string{remote, remote}, "", "")
			})
		}
	}
}

func TestHooksFireInLinkedWorktree(t *testing.T) {
	r := withStub(t, "work")
	linked(r)
	install(t, r.layout())
	dir := filepath.Join(r.Root, "linked")
	r.commit(dir, "first")
	harness.Equal(t, "post-commit", "rekal: 2 hook post-commit\nindex: set\n", r.log())
	r.mkdir(filepath.Join(dir, "below"))
	r.inDir(filepath.Join(dir, "below"), "commit", "-q", "--allow-empty", "-m", "from a subdirectory")
	harness.Equal(t, "post-commit", "rekal: 2 hook post-commit\nindex: set\n", r.log())
	r.exec(r.Root, "", "git", "--git-dir="+r.at(".git"), "--work-tree="+r.tree, "commit", "-q", "--allow-empty", "-m", "x")
	harness.Equal(t, "post-commit", "rekal: 2 hook post-commit\nindex: set\n", r.log())
}

// The user's hook decides: when it refuses a push, nothing goes out and we are not called.
func TestUserHookDecides(t *testing.T) {
	r := withStub(t, "work")
	r.commit(r.tree, "first")
	remote := filepath.Join(r.Root, "remote.git")
	r.git("init", "-q", "--bare", remote)
	for _, name := range []string{"pre-push", "post-commit", "post-rewrite"} {
		r.write(r.at(".git/hooks/"+name), fmt.Sprintf(logger, "user"), 0o755)
	}
	install(t, r.layout())
	plain := r.Env
	r.Env = append(slices.Clone(plain), "EXIT_user=3")
	if _, code := r.exec(r.tree, "", "git", "push", "-q", remote, "main"); code == 0 {
		t.Error("the push went through")
	}
	harness.Equal(t, "refs of the remote", "", r.inDir(remote, "for-each-ref"))
	if log := r.log(); strings.Contains(log, "rekal") {
		t.Errorf("we were called: %s", log)
	}
	for _, name := range []string{"pre-push", "post-commit", "post-rewrite"} {
		_, code := r.exec(r.tree, "x\n", r.at(".git/hooks/"+name))
		harness.Equal(t, name+"'s exit status", 3, code)
		harness.Equal(t, name+" calls us", name != "pre-push", strings.Contains(r.log(), "rekal: 2 hook "+name))
	}
	r.Env = plain
	r.git("push", "-q", remote, "main")
}

// Whatever becomes of our own part, git goes on.
func TestLongOursNeverFails(t *testing.T) {
	for name, c := range map[string]struct {
		stub string // of git-rekal; empty for none
		env  []string
	}{
		"fails":        {stub: "#!/bin/sh\nexit 7\n"},
		"is killed":    {stub: "#!/bin/sh\nkill -9 $$\n"},
		"missing":      {},
		"does not run": {stub: "#!/nowhere/sh\n"},
		"skipped":      {stub: "#!/bin/sh\necho called\n", env: []string{"REKAL_SKIP=1"}},
	} {
		for _, chain := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/chained %v", name, chain), func(t *testing.T) {
				r := newRepo(t, "work")
				r.Env = append(r.Env, c.env...)
				if c.stub != "" {
					r.write(filepath.Join(r.Root, "bin/git-rekal"), c.stub, 0o755)
					r.Env = append(r.Env, "PATH="+filepath.Join(r.Root, "bin")+":"+os.Getenv("PATH"))
				}
				if chain {
					for _, name := range hooks.Names() {
						r.write(r.at(".git/hooks/"+name), "#!/bin/sh\nexit 0\n", 0o755)
					}
				}
				install(t, r.layout())
				for _, name := range hooks.Names() {
					out, code := r.exec(r.tree, "x\n", ".git/hooks/"+name, "a", "b")
					harness.Equal(t, name+"'s exit status", 0, code)
					if c.stub == "" || c.env != nil {
						harness.Equal(t, name+"'s output", "", out)
					}
				}
				r.commit(r.tree, "first")
			})
		}
	}
}

// Graphical clients run git with a bare PATH.
func TestFallbackToInstalledBinary(t *testing.T) {
	for _, folder := range []string{"bin", "a b", `it's "quoted" $HOME \n`, "back`tick`"} {
		t.Run(folder, func(t *testing.T) {
			r := newRepo(t, "work")
			l := r.layout()
			l.Binary = filepath.Join(r.Root, folder, "git-rekal")
			r.write(l.Binary, fmt.Sprintf(logger, "rekal"), 0o755)
			install(t, l)
			for _, name := range hooks.Names() {
				if out, code := r.exec(r.tree, "in\n", r.at(".git/hooks/"+name)); code != 0 || out != "" {
					t.Errorf("%s: exit %d: %s", name, code, out)
				}
				contains(t, []string{r.log()}, "rekal: 2 hook "+name)
			}
			remove(t, l) // recognised in spite of the path
			harness.Equal(t, "post-commit", "", r.read(r.at(".git/hooks/post-commit")))
		})
	}
	t.Run("newline", func(t *testing.T) {
		r := newRepo(t, "work")
		l := r.layout()
		l.Binary = "/opt/a\nb/git-rekal"
		install(t, l)
		if out, code := r.exec(r.tree, "", r.at(".git/hooks/post-commit")); code != 0 || out != "" {
			t.Errorf("exit %d: %s", code, out)
		}
		harness.Equal(t, "Done by the second Install", []string(nil), install(t, l).Done)
	})
}

// Both get stdin to the byte, in each shell that may be sh, also when the user's hook does
// not read it and SIGPIPE is ignored.
func TestLongStdinReachesBoth(t *testing.T) {
	lines := strings.Repeat("refs/heads/ä "+strings.Repeat("a", 40)+"\n", 4000) // more than a pipe holds
	for _, sh := range []string{"dash", "bash"} {
		for text, in := range map[string]string{
			"nothing": "", "a newline": "\n", "newlines at the end": "a\n\n\n", "no newline": "a b",
			"odd bytes": "-n \\n %s \xff\xfe .\n", "much": lines,
		} {
			for _, name := range []string{"pre-push", "post-rewrite"} {
				t.Run(sh+"/"+text+"/"+name, func(t *testing.T) {
					r := withStub(t, "work")
					r.write(filepath.Join(r.Root, "bin/git-rekal"), "#!/bin/sh\ncat >\"$LOG/rekal\"\n", 0o755)
					r.write(r.at(".git/hooks/"+name), "#!/bin/sh\ncat >\"$LOG/user\"\n", 0o755)
					install(t, r.layout())
					r.exec(r.tree, in, sh, ".git/hooks/"+name)
					for _, who := range []string{"user", "rekal"} {
						if got := r.read(filepath.Join(r.Root, "log", who)); got != in {
							t.Errorf("%s got %.60q, want %.60q", who, got, in)
						}
					}
					r.write(r.at(".git/hooks/"+name+".pre-rekal"), "#!/bin/sh\nexit 0\n", 0o755)
					r.remove(filepath.Join(r.Root, "log/rekal"))
					out, code := r.exec(r.tree, in, sh, "-c", `trap "" PIPE; exec `+sh+` "$1"`, "sh", ".git/hooks/"+name)
					if out != "" || code != 0 {
						t.Errorf("with a hook that does not read: exit %d: %s", code, out)
					}
					if got := r.read(filepath.Join(r.Root, "log/rekal")); got != in {
						t.Errorf("with a hook that does not read: got %.60q, want %.60q", got, in)
					}
				})
			}
		}
	}
}

// A chained hook without #!, as git allows, and one that git would not run.
func TestChainedAsGitRunsThem(t *testing.T) {
	r := withStub(t, "work")
	r.write(r.at(".git/hooks/post-commit"), "echo user >>\"$LOG/log\"\n", 0o755)
	r.write(r.at(".git/hooks/post-merge"), "#!/bin/sh\necho user >>\"$LOG/log\"\n", 0o644)
	install(t, r.layout())
	r.commit(r.tree, "first")
	harness.Equal(t, "post-commit", "user\nrekal: 2 hook post-commit\nindex: set\n", r.log())
	r.exec(r.tree, "", ".git/hooks/post-merge", "0")
	harness.Equal(t, "post-merge", "rekal: 3 hook post-merge 0\nindex: \n", r.log())
}

// Hook managers that move our file and call it: each part runs once, and nothing turns in
// a circle, also when an older copy of the manager's own hook is what we had chained.
func TestManagersThatRunOurs(t *testing.T) {
	const pre = "# File generated by pre-commit: https://pre-commit.com\n"
	manager := func(mark, suffix, version string) string {
		return "#!/bin/sh\n" + mark + "old=${0%/*}/post-commit" + suffix + "\n[ ! -x \"$old\" ] || \"$old\" \"$@\"\n" +
			"echo manager " + version + " >>\"$LOG/log\"\n"
	}
	for name, c := range map[string]struct {
		first, suffix, then string
		again               bool // init once more
		want                map[string]int
	}{
		"pre-commit after us": {
			first: userLog, suffix: ".legacy", then: manager(pre, ".legacy", "2"),
			want: map[string]int{"user": 1, "rekal": 1, "manager 2": 1},
		},
		"pre-commit after us, then init": {
			first: userLog, suffix: ".legacy", then: manager(pre, ".legacy", "2"), again: true,
			want: map[string]int{"user": 1, "rekal": 1, "manager 2": 1},
		},
		"unknown manager before us, then anew": {
			first: manager("", ".theirs", "1"), suffix: ".theirs", then: manager("", ".theirs", "2"),
			want: map[string]int{"manager 1": 1, "rekal": 1, "manager 2": 1},
		},
		"unknown manager after us, then init": {
			first: userLog, suffix: ".theirs", then: manager("", ".theirs", "2"), again: true,
			want: map[string]int{"user": 1, "rekal": 1, "manager 2": 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := withStub(t, "work")
			path := r.at(".git/hooks/post-commit")
			r.write(path, c.first, 0o755)
			install(t, r.layout())
			r.rename(path, path+c.suffix) // what the manager does on its own install
			r.write(path, c.then, 0o755)
			if c.again {
				install(t, r.layout())
			}
			time.AfterFunc(20*time.Second, func() { r.remove(path + c.suffix) }) // ends a circle
			r.commit(r.tree, "first")
			log := r.log()
			for who, n := range c.want {
				harness.Equal(t, who+" in "+log, n, strings.Count(log, who))
			}
		})
	}
}

const userLog = "#!/bin/sh\necho user >>\"$LOG/log\"\n"

// The lines that Install prints for hooks elsewhere do what they should.
func TestCallLines(t *testing.T) {
	r := withStub(t, "work")
	r.git("config", "core.hooksPath", ".githooks")
	hint := strings.Join(install(t, r.layout()).Hints, "\n")
	for _, name := range hooks.Names() {
		_, line, _ := strings.Cut(hint, name+":  ")
		line, _, _ = strings.Cut(line, "\n")
		r.write(r.at(".githooks/"+name), "#!/bin/sh -e\n"+line+"\n", 0o755)
		for _, status := range []string{"0", "5"} {
			r.Env = append(r.Env, "EXIT_rekal="+status)
			if out, code := r.exec(r.tree, "in\n", r.at(".githooks/"+name), "a b", "c"); code != 0 || out != "" {
				t.Errorf("%s: exit %d: %s", name, code, out)
			}
			harness.Equal(t, name, "rekal: 4 hook "+name+" a b c\nindex: \nin\n", r.log())
		}
		r.remove(filepath.Join(r.Root, "bin"))
		if out, code := r.exec(r.tree, "in\n", r.at(".githooks/"+name)); code != 0 || out != "" {
			t.Errorf("%s without a binary: exit %d: %s", name, code, out)
		}
		r.write(filepath.Join(r.Root, "bin/git-rekal"), fmt.Sprintf(logger, "rekal"), 0o755)
	}
}
