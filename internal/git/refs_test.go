package git_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
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

// TestLongStaleLock: what a process that died left behind blocks git for ever, but not us; a
// lock that somebody works on stays.
func TestLongStaleLock(t *testing.T) {
	p := repos.New(t)
	p.Start("r")
	id := draft(t, p.Open("r"), "1")
	lockFile := p.At("r/.git/refs/heads/locked.lock")
	p.Write("r/.git/refs/heads/locked.lock", "")
	alive, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for n := time.Unix(1, 0); alive.Err() == nil; n = n.Add(time.Second) {
			if err := os.Chtimes(lockFile, n, n); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Millisecond)
		}
	}()
	err := p.Open("r").CompareAndSwap(t.Context(), "refs/heads/locked", "", id, "test")
	if err == nil || errors.Is(err, git.ErrMoved) || !strings.Contains(err.Error(), "refs/heads/locked") {
		t.Errorf("while somebody works on it: error %v", err)
	}
	stop()
	<-done
	errs := make([]error, 4)
	var wg sync.WaitGroup
	for i := range errs {
		r := p.Open("r")
		wg.Go(func() { errs[i] = r.CompareAndSwap(t.Context(), "refs/heads/locked", "", id, "test") })
	}
	wg.Wait()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
		} else if !errors.Is(err, git.ErrMoved) {
			t.Error(err)
		}
	}
	if won != 1 {
		t.Errorf("%d of %d won", won, len(errs))
	}
	left := repos.Must(filepath.Glob(p.At("r/.git/*.lock")))(t)
	harness.Equal(t, "left over", []string(nil), left)
}

// What a process left that died while it emptied a reflog blocks git for ever, but not us.
func TestStaleLockOfReflog(t *testing.T) {
	const ref = "refs/heads/rekal/a@b.c"
	p := repos.New(t)
	p.Start("r")
	r := p.Open("r")
	if err := r.CompareAndSwap(t.Context(), ref, "", draft(t, r, "1"), "test"); err != nil {
		t.Fatal(err)
	}
	p.Write("r/.git/"+ref+".lock", "")
	p.Write("r/.git/logs/"+ref+".lock", "")
	if err := r.ExpireReflog(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	harness.Equal(t, "the reflog", 0, len(repos.Must(r.Reflog(ref))(t)))
	p.Git("r", "gc", "--prune=now", "-q") // no lock is in its way, either
}

func TestRefs(t *testing.T) {
	p := repos.New(t)
	p.Start("r")
	head := p.Rev("r", "HEAD")
	for _, name := range []string{"refs/heads/rekal/a@b.c", "refs/heads/rekal/x%2Fy@z", "refs/rekal/origin/d@e.f", "refs/heads/rekalx"} {
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
		if err := r.DeleteRef("refs/rekal/x"); err != nil {
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
		"refs/heads/main", "refs/heads/a@b.c", "refs/heads/a/b", "refs/heads/.a", "refs/heads/a..b", "refs/heads/a.lock", "refs/heads/a.lock/b",
		"refs/heads/", "refs/heads//a", "refs/heads/a b", "refs/heads/a~", "refs/heads/a^", "refs/heads/a:", "refs/heads/a?", "refs/heads/a*",
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
			harness.Equal(t, "in the way", tt.want, p.Open("r").InTheWay(name))
		})
	}
}
