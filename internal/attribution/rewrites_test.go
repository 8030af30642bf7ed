package attribution_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// became reads rewrites of an author's ledger: "12" says that 1 became 2, "12!" that the ledger names 1.
func became(email string, pairs ...string) (out []attribution.Rewrite) {
	for _, p := range pairs {
		out = append(out, attribution.Rewrite{Email: email, Old: p[:1], New: p[1:2], Named: len(p) > 2})
	}
	return out
}

func TestResolve(t *testing.T) {
	for _, c := range []struct {
		name  string
		pairs []string
		want  string // "12 3 1": what 1 became at last, and the name of its family
	}{
		{"a chain", []string{"12!", "23"}, "12 3 1, 23 3 1"},
		{"the later one counts", []string{"12!", "13!"}, "12 3 1, 13 3 1"},
		{"a squash", []string{"13!", "23!"}, "13 3 1, 23 3 1"},
		{"a ring", []string{"12!", "23", "31"}, "12 3 1, 23 3 1, 31 3 1"},
		{"of itself", []string{"11!", "12!", "12!"}, "12 2 1"},
		{"families", []string{"54!", "12!"}, "54 4 4, 12 2 1"},
		{"of what is not named", []string{"12", "34"}, ""},
		{"reached by what comes later", []string{"23", "12!"}, "23 3 1, 12 3 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, r := range attribution.Resolve(became("a", c.pairs...)) {
				got = append(got, fmt.Sprintf("%s%s %s %s", r.Old, r.New, r.Latest, r.Root))
			}
			harness.Equal(t, "resolved", c.want, strings.Join(got, ", "))
		})
	}
}

// No family is larger than what a question can follow.
func TestFamiliesAreBounded(t *testing.T) {
	var all []attribution.Rewrite
	for i := range 10_000 {
		all = append(all, attribution.Rewrite{Old: fmt.Sprintf("%05d", i), New: fmt.Sprintf("%05d", i+1), Named: i == 0})
	}
	sizes := map[string]int{}
	for _, r := range attribution.Resolve(all) {
		sizes[r.Root]++
	}
	var got []int
	for _, n := range sizes {
		got = append(got, n)
	}
	slices.Sort(got)
	harness.Equal(t, "sizes", []int{1808, 4095, 4095}, got)
}

// Each ledger's rewrites lead on in that ledger alone, and by the word of who made the commit.
func TestLineage(t *testing.T) {
	l := attribution.NewLineage()
	l.Add(became("ann", "12", "23"))
	l.Add(became("ben", "29", "12"))
	l.Add(became("ann", "12")) // again
	told := func(all []attribution.Commit) string {
		var out []string
		for _, c := range all {
			out = append(out, strings.TrimPrefix(c.Email+":"+c.SHA, ":"))
		}
		slices.Sort(out)
		return strings.Join(out, " ")
	}
	ann := attribution.Maker{Here: true, Author: "Ann", Committer: "x"}
	for _, c := range []struct{ name, want, got string }{
		{"family", "2 ann:1 ann:2 ann:3 ben:1 ben:2 ben:9", told(l.Family("2"))},
		{"what she says it became", "2 ann:2 ann:3", told(l.Follow("2", ann, l.Successors))},
		{"what she says it was", "2 ann:1 ann:2", told(l.Follow("2", ann, l.Predecessors))},
		{"immediately before", "1", strings.Join(l.DirectPredecessors("2", ann), " ")},
		{"nobody speaks of it", "7", told(l.Family("7"))},
	} {
		harness.Equal(t, c.name, c.want, c.got)
	}
}
