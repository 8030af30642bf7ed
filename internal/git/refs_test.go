package git_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/tests/harness"
	"github.com/git-rekal/git-rekal/tests/harness/repos"
)

func TestCompareAndSwap(t *testing.T) {
	const ref = "refs/heads/rekal/a@b.c"
	for _, tt := range []struct {
		name     string
		at       int // where the ref stands before: 0 is nowhere
		old, new int
		want     error
		then     int
	}{
		{"create", 0, 0, 1, nil, 1},
		{"create what is there", 1, 0, 2, git.ErrMoved, 1},
		{"move", 1, 1, 2, nil, 2},
		{"move back", 2, 2, 1, nil, 1},
		{"move to where it is", 1, 1, 1, nil, 1},
		{"move what moved", 2, 1, 3, git.ErrMoved, 2},
		{"move what is gone", 0, 1, 2, git.ErrMoved, 0},
	} {
		for _, packed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, packed %v", tt.name, packed), func(t *testing.T) {
				p := repos.New(t)
				p.Start("r")
				r := p.Open("r")
				ids := []git.OID{"", draft(t, r, "1"), draft(t, r, "2"), draft(t, r, "3")}
				if tt.at > 0 {
					p.Git("r", "update-ref", ref, string(ids[tt.at]))
				}
				if packed {
					p.Git("r", "pack-refs", "--all")
				}
				err := r.CompareAndSwap(t.Context(), ref, ids[tt.old], ids[tt.new], "test")
				if !errors.Is(err, tt.want) || (err == nil) != (tt.want == nil) {
					t.Errorf("error %v, want %v", err, tt.want)
				}
				got, err := r.Ref(ref)
				if got != ids[tt.then] || tt.then == 0 && !errors.Is(err, git.ErrNotFound) {
					t.Errorf("the ref is at %q, %v; want %q", got, err, ids[tt.then])
				}
			})
		}
	}
}

func TestCompareAndSwapBesideAFolder(t *testing.T) {
	p := repos.New(t)
	p.Start("r")
	p.Git("r", "branch", "rekal") // a file where the ref needs a folder
	r := p.Open("r")
	err := r.CompareAndSwap(t.Context(), "refs/heads/rekal/a@b.c", "", draft(t, r, "1"), "test")
	if err == nil || errors.Is(err, git.ErrMoved) {
		t.Errorf("error %v; it did not move, and will never go", err)
	}
}

// TestLongRaces: in each round everybody swaps from the same tip, and exactly one wins.
func TestLongRaces(t *testing.T) {
	p := repos.New(t)
	p.Start("r")
	base := p.Open("r")
	tip := draft(t, base, "0")
	p.Git("r", "update-ref", contested, string(tip))
	const rivals, rounds = 6, 20
	rs := make([]*git.Repo, rivals)
	for i := range rs {
		rs[i] = p.Open("r")
	}
	for round := range rounds {
		ids := make([]git.OID, rivals)
		errs := make([]error, rivals)
		for i := range ids {
			ids[i] = draft(t, rs[i], fmt.Sprint(round, " ", i), tip)
		}
		var wg sync.WaitGroup
		for i, r := range rs {
			wg.Go(func() { errs[i] = r.CompareAndSwap(t.Context(), contested, tip, ids[i], "race") })
		}
		wg.Wait()
		winner := -1
		for i, err := range errs {
			switch {
			case err == nil && winner < 0:
				winner = i
			case err == nil:
				t.Errorf("round %d: both %d and %d won", round, winner, i)
			case !errors.Is(err, git.ErrMoved):
				t.Errorf("round %d: %d lost with %v", round, i, err)
			}
		}
		if winner < 0 {
			t.Fatalf("round %d: nobody won", round)
		}
		if tip = repos.Must(base.Ref(contested))(t); tip != ids[winner] {
			t.Fatalf("round %d: the ref is not at the winner's commit", round)
		}
	}
}

// TestLongProcessesLoseNoUpdate lets processes grow one ref at once, while git packs refs.
func TestLongProcessesLoseNoUpdate(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := repos.New(t)
	p.Start("r")
	p.Git("r", "update-ref", contested, string(draft(t, p.Open("r"), "0")))
	const rivals, each = 4, 15
	var wg sync.WaitGroup
	for i := range rivals {
		cmd := exec.CommandContext(t.Context(), exe)
		cmd.Dir = p.At("r")
		cmd.Env = append(p.Environ(), roleVar+"=rival", fmt.Sprint("COUNT=", each), fmt.Sprint("NAME=", i))
		wg.Go(func() {
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("process %d: %v\n%s", i, err, out)
			}
		})
	}
	wg.Go(func() {
		for range 10 {
			_, _ = p.Try("r", "pack-refs", "--all") // may find a ref locked
		}
	})
	wg.Wait()
	log := p.Git("r", "log", "--first-parent", "--format=%s", contested)
	for i := range rivals {
		for n := range each {
			if line := fmt.Sprintf("%d %d", i, n); strings.Count("\n"+log+"\n", "\n"+line+"\n") != 1 {
				t.Errorf("commit %q is not there once", line)
			}
		}
	}
	p.Fsck("r")
}

// TestLockOfALiveGit: nobody can tell whether a lock file's owner still lives, so it is never taken away, however long
// that takes. Who is in need of the ref is told which file is in the way.
func TestLockOfALiveGit(t *testing.T) {
	const ref = "refs/heads/rekal/a@b.c"
	for name, try := range map[string]func(*repos.Place, *git.Repo) error{
		"move": func(p *repos.Place, r *git.Repo) error {
			return r.CompareAndSwap(t.Context(), ref, p.Rev("r", ref), p.Rev("r", "HEAD~1"), "test")
		},
		"create": func(p *repos.Place, r *git.Repo) error {
			return r.CompareAndSwap(t.Context(), ref, "", p.Rev("r", "HEAD~1"), "test")
		},
		"empty its reflog": func(_ *repos.Place, r *git.Repo) error { return r.ExpireReflog(t.Context(), ref) },
		"delete":           func(_ *repos.Place, r *git.Repo) error { return r.DeleteRef(t.Context(), ref) },
		"fetch": func(p *repos.Place, r *git.Repo) error {
			return r.Fetch(t.Context(), p.At("r"), []string{"+refs/heads/main:" + ref}, false, false)
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := repos.New(t)
			p.Start("r")
			p.Add("r", "two", "file", "2\n")
			if name != "create" {
				p.Git("r", "update-ref", "--create-reflog", ref, "HEAD~1")
			}
			held, release := p.At("held"), p.At("release")
			if err := syscall.Mkfifo(release, 0o600); err != nil {
				t.Fatal(err)
			}
			p.Write("r/.git/hooks/reference-transaction",
				fmt.Sprintf("#!/bin/sh\n[ \"$1\" != prepared ] || [ -e %[1]s ] || { : >%[1]s; read x <%[2]s; }\n", held, release))
			if err := os.Chmod(p.At("r/.git/hooks/reference-transaction"), 0o700); err != nil {
				t.Fatal(err)
			}
			done := make(chan error)
			go func() {
				out, err := p.Try("r", "update-ref", ref, "HEAD")
				done <- errors.Join(err, errors.New(out))
			}()
			for _, err := os.Stat(held); err != nil; _, err = os.Stat(held) {
				time.Sleep(time.Millisecond)
			}
			lock := p.At("r/.git/" + ref + ".lock")
			if err := try(p, p.Open("r")); err == nil || errors.Is(err, git.ErrMoved) ||
				!strings.Contains(err.Error(), "remove "+lock) {
				t.Errorf("error %v; want one that names %s", err, lock)
			}
			if _, err := os.Stat(lock); err != nil {
				t.Error(err)
			}
			if err := os.WriteFile(release, []byte("go on\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := <-done; err.Error() != "" {
				t.Errorf("git update-ref: %v", err)
			}
			harness.Equal(t, "the ref", p.Rev("r", "HEAD"), p.Rev("r", ref))
		})
	}
}

// TestLockIsNamed: what a process left that died while it emptied a reflog blocks git, and us; the error names it.
func TestLockIsNamed(t *testing.T) {
	const ref = "refs/heads/rekal/a@b.c"
	for _, left := range []string{ref, "logs/" + ref} {
		p := repos.New(t)
		p.Start("r")
		p.Git("r", "update-ref", "--create-reflog", ref, "HEAD")
		p.Write("r/.git/"+left+".lock", "")
		err := p.Open("r").ExpireReflog(t.Context(), ref)
		if err == nil || !strings.Contains(err.Error(), "remove "+p.At("r/.git/"+left+".lock")) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v; want it to say what to remove", err)
		}
	}
}

// TestKillLeavesNoLock: a process that is killed with all that it started, in the middle of a change, leaves nothing
// that blocks others.
func TestKillLeavesNoLock(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := repos.New(t)
	p.Start("r")
	held, release := p.At("held"), p.At("release")
	if err := syscall.Mkfifo(release, 0o600); err != nil {
		t.Fatal(err)
	}
	p.Write("bin/git", fmt.Sprintf("#!/bin/sh\ncase $* in *update-ref*) : >%s; read x <%s;; esac\nexec %s \"$@\"\n", held,
		release, repos.Must(exec.LookPath("git"))(t)))
	if err := os.Chmod(p.At("bin/git"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.Git("r", "update-ref", contested, string(draft(t, p.Open("r"), "0")))
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Dir, cmd.SysProcAttr = p.At("r"), &syscall.SysProcAttr{Setpgid: true}
	cmd.Env = append(p.Environ(), roleVar+"=rival", "COUNT=1", "NAME=killed", "PATH="+p.At("bin")+":"+os.Getenv("PATH"))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for _, err := os.Stat(held); err != nil; _, err = os.Stat(held) {
		time.Sleep(time.Millisecond)
	}
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed, and says so
	if err := os.WriteFile(release, []byte("go on\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for p.Git("r", "log", "-1", "--format=%s", contested) != "killed 0" {
		time.Sleep(time.Millisecond)
	}
	r := p.Open("r")
	if err := r.CompareAndSwap(t.Context(), contested, p.Rev("r", contested), draft(t, r, "next"), "test"); err != nil {
		t.Error(err)
	}
}

func TestRefs(t *testing.T) {
	p := repos.New(t)
	p.Start("r")
	head := p.Rev("r", "HEAD")
	for _, name := range []string{
		"refs/heads/rekal/a@b.c", "refs/heads/rekal/x%2Fy@z", "refs/rekal/origin/d@e.f",
		"refs/heads/rekalx",
	} {
		p.Git("r", "update-ref", name, string(head))
	}
	p.Git("r", "symbolic-ref", "refs/heads/rekal/sym", "refs/heads/main")
	p.Git("r", "pack-refs", "--all")
	p.Git("r", "update-ref", "refs/heads/rekal/loose", string(head))
	r := p.Open("r")
	harness.Equal(t, "own", map[string]git.OID{
		"refs/heads/rekal/a@b.c": head, "refs/heads/rekal/x%2Fy@z": head, "refs/heads/rekal/loose": head,
	}, repos.Must(r.Refs("refs/heads/rekal/*"))(t))
	harness.Equal(t, "fetched", map[string]git.OID{"refs/rekal/origin/d@e.f": head}, repos.Must(r.Refs("refs/rekal/*"))(t))
	harness.Equal(t, "none", map[string]git.OID{}, repos.Must(r.Refs("refs/nothing/*"))(t))
}

func TestDeleteRef(t *testing.T) {
	p := repos.New(t)
	p.Start("r")
	r := p.Open("r")
	p.Git("r", "update-ref", "refs/rekal/x", "HEAD")
	for range 2 { // the second time it is not there any more
		if err := r.DeleteRef(t.Context(), "refs/rekal/x"); err != nil {
			t.Error(err)
		}
		if _, err := r.Ref("refs/rekal/x"); !errors.Is(err, git.ErrNotFound) {
			t.Errorf("error %v, want ErrNotFound", err)
		}
	}
}

// TestValidRef agrees with git itself, but for DEL, which libgit2 lets through.
func TestValidRef(t *testing.T) {
	p := repos.New(t)
	for _, name := range []string{
		"refs/heads/main", "refs/heads/a@b.c", "refs/heads/a/b", "refs/heads/.a", "refs/heads/a..b", "refs/heads/a.lock",
		"refs/heads/a.lock/b",
		"refs/heads/", "refs/heads//a", "refs/heads/a b", "refs/heads/a~", "refs/heads/a^", "refs/heads/a:", "refs/heads/a?",
		"refs/heads/a*",
		"refs/heads/a[", "refs/heads/a\\b", "refs/heads/a@{b", "refs/heads/a.", "refs/heads/ü", "refs/heads/@", "",
	} {
		_, err := p.Try(".", "check-ref-format", name)
		if got := git.ValidRef(name); got != (err == nil) {
			t.Errorf("ValidRef(%q) = %v, but git: %v", name, got, err)
		}
	}
}

func TestInTheWay(t *testing.T) {
	const name = "refs/heads/rekal/a@b.c"
	for _, tt := range []struct {
		name string
		run  [][]string
		want string
	}{
		{"nothing", nil, ""},
		{"itself", [][]string{{"branch", "rekal/a@b.c"}}, ""},
		{"a neighbour", [][]string{{"branch", "rekal/a@b.co"}}, ""},
		{"a tag", [][]string{{"tag", "rekal"}}, ""},
		{"a branch above", [][]string{{"branch", "rekal"}}, "refs/heads/rekal"},
		{"a packed branch above", [][]string{{"branch", "rekal"}, {"pack-refs", "--all"}}, "refs/heads/rekal"},
		{"branches below", [][]string{{"branch", "rekal/a@b.c/y"}, {"branch", "rekal/a@b.c/x"}}, name + "/x"},
		{"a symbolic branch above", [][]string{{"symbolic-ref", "refs/heads/rekal", "refs/heads/main"}}, "refs/heads/rekal"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := repos.New(t)
			p.Start("r")
			for _, args := range tt.run {
				p.Git("r", args...)
			}
			harness.Equal(t, "in the way", tt.want, p.Open("r").ConflictingRef(name))
		})
	}
}
