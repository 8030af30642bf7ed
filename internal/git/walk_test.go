package git_test

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/tests/harness"
	"github.com/git-rekal/git-rekal/tests/harness/repos"
)

// TestWalks: on random histories the same commits as git lists, the newest first or parents before children.
func TestWalks(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 8))
	p := repos.New(t)
	p.Start("r")
	const n = 60
	var stream strings.Builder
	for i := range n {
		fmt.Fprintf(&stream, "commit refs/heads/b%d\nmark :%d\ncommitter A <a@example.com> %d +0000\ndata 1\nx\n", i, i+1,
			1_700_000_000+i/2)
		for k, parent := range random.Perm(i)[:min(i, random.IntN(3))] {
			fmt.Fprintf(&stream, "%s :%d\n", [...]string{"from", "merge"}[min(k, 1)], parent+1)
		}
		stream.WriteString("\n")
	}
	made := exec.Command("git", "fast-import", "--quiet")
	made.Dir, made.Env, made.Stdin = p.At("r"), p.Environ(), strings.NewReader(stream.String())
	if out, err := made.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var ids []git.OID
	for _, id := range strings.Fields(p.Git("r", "for-each-ref", "--format=%(objectname)", "--sort=version:refname",
		"refs/heads/b*")) {
		ids = append(ids, git.OID(id))
	}
	r := p.Open("r")
	some := func(most int) (out []git.OID) {
		for range random.IntN(most + 1) {
			out = append(out, ids[random.IntN(n)])
		}
		return out
	}
	for range 200 {
		tips, hide := some(3), some(3)
		got := repos.OIDs(t, r.Newest(background, tips, hide))
		var want []git.OID
		if len(tips) > 0 {
			args := []string{"rev-list"}
			for _, id := range tips {
				args = append(args, string(id))
			}
			for _, id := range hide {
				args = append(args, "^"+string(id))
			}
			for _, id := range strings.Fields(p.Git("r", args...)) {
				want = append(want, git.OID(id))
			}
		}
		walked := repos.OIDs(t, r.Walk(background, tips, hide))
		parentsFirst(t, r, walked)
		harness.Equal(t, fmt.Sprintf("walk of %v without %v", tips, hide), sorted(want), sorted(walked))
		for _, old := range tips {
			for _, now := range hide {
				_, err := p.Try("r", "merge-base", "--is-ancestor", string(old), string(now))
				harness.Equal(t, fmt.Sprint(old, " behind ", now), err == nil, repos.Must(r.IsAncestor(old, now))(t))
			}
		}
		harness.Equal(t, fmt.Sprintf("%v without %v", tips, hide), sorted(want), sorted(got))
		at := func(id git.OID) int { return slices.Index(ids, id) / 2 }
		if !slices.IsSortedFunc(got, func(a, b git.OID) int { return at(b) - at(a) }) {
			t.Fatalf("not the newest first: %v", got)
		}
	}
}
