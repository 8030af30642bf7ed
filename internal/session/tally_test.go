package session_test

import (
	"slices"
	"testing"

	"github.com/git-rekal/git-rekal/internal/session"
)

func tally(purges, restores []int) (t session.Tally) {
	for i, numbers := range [][]int{purges, restores} {
		for _, n := range numbers {
			t.Add(n, i == 0)
		}
	}
	return t
}

func TestTally(t *testing.T) {
	const most = session.MaxMark
	for _, c := range []struct {
		name             string
		purges, restores []int
		purged           bool
		n                int
	}{
		{"none", nil, nil, false, 0},
		{"one", []int{1}, nil, true, 1},
		{"the highest", []int{1, 3}, []int{2}, true, 3},
		{"in any order, and again", []int{3, 1, 3}, []int{4, 2, 2}, false, 4},
		{"a tie", []int{2}, []int{2}, true, 2},
		{"what is not here", []int{5}, []int{3, 6}, false, 6},
		{"the highest there is", []int{most}, nil, true, 1001},
		{"answered", []int{most}, []int{1002}, false, 1002},
		{"both at the top", []int{most}, []int{most}, true, 1002},
		{"the nearer one", []int{most - 1}, []int{most}, false, 1002},
	} {
		t.Run(c.name, func(t *testing.T) {
			purged, n := tally(c.purges, c.restores).Outcome()
			if purged != c.purged || n != c.n {
				t.Errorf("purged %t by %d, want %t by %d", purged, n, c.purged, c.n)
			}
		})
	}
}

// Whatever numbers stand there, the next marks decide, and those after these.
func TestTallyIsAlwaysAnswered(t *testing.T) {
	const most = session.MaxMark
	for _, numbers := range [][]int{
		nil,
		{1},
		{1, 2},
		{most},
		{most - 1, most},
		{1001},
		{1002},
		{1002, 1003, 1004, most},
		{1003, 1004},
		{1, 2, 1005, most},
		{0},
	} {
		for _, mask := range []int{0, 1, 5, 10, 15} { // which of them restore
			var now session.Marks
			for i, n := range numbers {
				now.Add(n, mask>>i&1 == 0, i%2 == 0)
			}
			for i := range 6 {
				purge := i%2 == 0
				next := now.NextNumbers(purge)
				for _, n := range next {
					now.Add(n, purge, true)
				}
				if now.Purged() != purge || len(next) > 5 || slices.Max(append(next, 0)) > 5000 {
					t.Errorf("%v, of which %b restore: purged %t behind %v, want %t", numbers, mask, now.Purged(), next, purge)
				}
			}
		}
	}
}
