package published_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/published"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// check asks a repository, as a new process does.
func check(t testing.TB, p *harness.Place) *published.Check {
	t.Helper()
	repo, err := git.Open(t.Context(), p.At("repo"), p.Environ())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(repo.Close)
	return &published.Check{Repo: repo, Dir: p.At("cache"), Keep: true, Now: time.Now}
}

func places(t testing.TB, p *harness.Place, candidates ...string) []string {
	t.Helper()
	out, err := check(t, p).Places(t.Context(), candidates)
	if err != nil {
		t.Fatal(err)
	}
	at := make([]string, len(out))
	for i, p := range out {
		at[i] = p.At
	}
	return at
}

// many commits so many files, among them those of TestPlaces.
func many(p *harness.Place, n int) {
	p.Init("repo")
	var files []string
	for i := range n {
		files = append(files, fmt.Sprintf("lib/d%d/f%d.go", i%40, i),
			fmt.Sprintf("package common\n\nvar Common%d = common.word\n", i))
	}
	p.Commit("repo", "first", append(files,
		"src/RemediationHistory.tsx", "export const AES = \"AES-256-CTR\"\nmy_word-Gadget\n",
		"ü.txt", "Gärten und Größe9\n",
		"image.bin", "BinaryWord\x00\n",
		"large.txt", "LargeWord\n"+strings.Repeat("x\n", 1<<20),
	)...)
}

// TestPlaces: what stands in HEAD as a whole word is public, in a small repository and in one with a cache.
func TestPlaces(t *testing.T) {
	cases := []struct{ name, candidate, want string }{
		{"name of a file", "RemediationHistory", "src/RemediationHistory.tsx"},
		{"file", "RemediationHistory.tsx", "src/RemediationHistory.tsx"},
		{"several words", "AES-256-CTR", "src/RemediationHistory.tsx"},
		{"word behind a sign", "Gadget", "src/RemediationHistory.tsx"},
		{"part of a word", "word-Gadget", ""},
		{"beginning of a word", "Remediation", ""},
		{"words that stand apart", "AES-Gadget", ""},
		{"letters beyond ASCII", "Größe9", "ü.txt"},
		{"part of a word beyond ASCII", "rten", ""},
		{"nothing", "Vexing-Otter-91", ""},
		{"signs alone", "#-#", ""},
		{"empty", "", ""},
		{"binary", "BinaryWord", ""},
		{"large file", "LargeWord", ""},
		{"removed", "RemovedWord", ""},
		{"new", "ChangedWord", "new.txt"},
		{"author", "Thor", "author A U Thor <a@example.com>"},
		{"branch of a remote", "feature-otter", "branch fix/feature-otter"},
		{"branch of this clone", "local-otter", ""},
		{"ledger's branch", "b@example.com", ""},
	}
	var candidates, want []string
	for _, c := range cases {
		candidates, want = append(candidates, c.candidate), append(want, c.want)
	}
	for _, n := range []int{3, 150} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			p := harness.New(t)
			p.Write("cache/x", "")
			many(p, n)
			p.Commit("repo", "second", "old.txt", "RemovedWord here\n")
			places(t, p, "RemovedWord") // makes the cache
			_, err := os.Stat(p.At("cache/words"))
			if made := err == nil; made != (n > 100) {
				t.Errorf("a cache: %v", made)
			}
			p.Git("repo", "rm", "-q", "old.txt")
			head := p.Commit("repo", "third", "new.txt", "ChangedWord\n")
			for _, ref := range []string{
				"refs/remotes/origin/fix/feature-otter", "refs/remotes/origin/rekal/b@example.com",
				"refs/heads/local-otter",
			} {
				p.Git("repo", "update-ref", ref, head)
			}
			if diff := cmp.Diff(want, places(t, p, candidates...)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestPushed: a remote has what a remote-tracking ref has, also where HEAD has it no more, and what is pushed just now;
// nothing else.
func TestPushed(t *testing.T) {
	for _, n := range []int{3, 150} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			p := harness.New(t)
			p.Write("cache/x", "")
			many(p, n)
			candidates := []string{"AES-256-CTR", "AmendedWord", "PushedWord", "LocalWord", "BranchWord", "WipWord"}
			ask := func(step string, pushing []git.OID, want ...string) {
				t.Helper()
				c := check(t, p)
				c.Pushing = pushing
				out, err := c.Places(t.Context(), candidates)
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for i, at := range out {
					if at.Pushed {
						got = append(got, candidates[i])
					} else if at.At != "" {
						got = append(got, candidates[i]+" here")
					}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", step, diff)
				}
			}
			ask("no remote", nil, "AES-256-CTR here")
			p.Git("repo", "checkout", "-qb", "other")
			p.Git("repo", "update-ref", "refs/remotes/origin/other",
				p.Commit("repo", "on a branch", "branch.txt", "BranchWord\n"))
			p.Git("repo", "checkout", "-q", "-")
			p.Git("repo", "update-ref", "refs/remotes/origin/main", p.Commit("repo", "pushed", "pushed.txt", "PushedWord\n"))
			p.Git("repo", "checkout", "-qb", "wip")
			p.Commit("repo", "wip", "wip.txt", "WipWord\n")
			p.Git("repo", "checkout", "-q", "-")
			p.Git("repo", "branch", "-qD", "wip")
			p.Git("repo", "rm", "-q", "pushed.txt")
			p.Commit("repo", "amended", "local.txt", "AmendedWord\n")
			ask("before", nil, "AES-256-CTR", "AmendedWord here", "PushedWord", "BranchWord")
			p.Write("repo/local.txt", "LocalWord\n")
			p.Git("repo", "commit", "-q", "-a", "--amend", "-m", "local")
			ask("amended", nil, "AES-256-CTR", "PushedWord", "LocalWord here", "BranchWord")
			p.Git("repo", "tag", "-a", "-m", "tag", "v1")
			ask("its tag being pushed", []git.OID{git.OID(strings.TrimSpace(p.Git("repo", "rev-parse", "v1")))}, "AES-256-CTR",
				"PushedWord", "LocalWord", "BranchWord")
			ask("being pushed", []git.OID{git.OID(strings.TrimSpace(p.Git("repo", "rev-parse", "HEAD")))}, "AES-256-CTR",
				"PushedWord", "LocalWord", "BranchWord")
		})
	}
}

// TestNoCommit: a repository without a commit publishes nothing.
func TestNoCommit(t *testing.T) {
	p := harness.New(t)
	p.Init("repo")
	if got := places(t, p, "anything"); got[0] != "" {
		t.Errorf("%q", got)
	}
}

// TestHurry: a hook does not wait for a large tree; once somebody had the time, it is answered.
func TestHurry(t *testing.T) {
	p := harness.New(t)
	p.Write("cache/x", "")
	many(p, 2100)
	soon, stop := context.WithTimeout(t.Context(), 9*time.Second)
	defer stop()
	if _, err := check(t, p).Places(soon, []string{"AES-256-CTR"}); !errors.Is(err, published.ErrLater) {
		t.Errorf("error: %v", err)
	}
	places(t, p, "AES-256-CTR")
	if got, err := check(t, p).Places(soon, []string{"AES-256-CTR", "Vexing-Otter"}); err != nil || got[0].At == "" ||
		got[1].At != "" {
		t.Errorf("%v, %v", got, err)
	}
}

// TestDamagedCache: a cache that holds anything makes nothing public, and is made anew.
func TestDamagedCache(t *testing.T) {
	p := harness.New(t)
	p.Write("cache/x", "")
	many(p, 150)
	want := places(t, p, "AES-256-CTR", "Vexing-Otter")
	raw, err := os.ReadFile(p.At("cache/words"))
	if err != nil {
		t.Fatal(err)
	}
	for _, damaged := range [][]byte{nil, raw[:len(raw)/2], append([]byte("x"), raw...), []byte("rekal-words 1 x\n")} {
		p.Write("cache/words", string(damaged))
		if diff := cmp.Diff(want, places(t, p, "AES-256-CTR", "Vexing-Otter")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	left, err := filepath.Glob(p.At("cache/words.*"))
	if err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}

// FuzzCache: whatever the cache holds, nothing becomes public that is not.
func FuzzCache(f *testing.F) {
	p := harness.New(f)
	p.Write("cache/x", "")
	many(p, 150)
	places(f, p, "AES-256-CTR")
	raw, err := os.ReadFile(p.At("cache/words"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Fuzz(func(t *testing.T, cache []byte) {
		if err := os.WriteFile(p.At("cache/words"), cache, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := places(t, p, "Vexing-Otter", "Common"); got[0] != "" || got[1] != "" {
			t.Fatalf("%q", got)
		}
	})
}
