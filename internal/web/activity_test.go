package web

import (
	"fmt"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/result"
	nouns "github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// TestLanes: a session has one bracket from its last commit to its first, with its head above, and a lane that is free
// is taken again. Merges behind which no session stands are one row.
func TestLanes(t *testing.T) {
	var commits []ask.BranchCommit
	for _, ids := range []string{"a b", "c", "b", "", "merge", "merge", "d c"} {
		c := ask.BranchCommit{}
		if ids == "merge" {
			ids, c.Parents = "", []git.OID{"1", "2"}
		}
		for _, id := range strings.Fields(ids) {
			c.Sessions = append(c.Sessions, ask.TiedSession{Lane: ask.Lane{ID: id}, Tie: nouns.TieWrote})
		}
		commits = append(commits, c)
	}
	got := ""
	for _, row := range newBranch(commits).Rows {
		columns := []byte("    ")
		for _, l := range row.Lanes {
			mark := byte('|')
			switch {
			case l.Begins:
				mark = '.'
			case l.Ends && l.Tied:
				mark = 'O'
			case l.Tied:
				mark = 'o'
			}
			columns[l.X/laneWidth] = mark
		}
		switch {
		case row.Session != nil:
			columns = fmt.Appendf(columns, "%s, %d commits", row.Session.ID, row.Commits)
		case row.Merges != nil:
			columns = fmt.Appendf(columns, "%d merges", len(row.Merges))
		}
		got += strings.TrimRight(string(columns), " ") + "\n"
	}
	harness.Equal(t, "lanes", `.   a, 1 commits
|.  b, 2 commits
Oo
.|  c, 2 commits
o|
|O
|
|   2 merges
|.  d, 1 commits
OO
`, got)
}

// TestShares: the three parts of some lines add up to 100 %, and none is more than one off.
func TestShares(t *testing.T) {
	for _, parts := range [][3]int{{1, 1, 1}, {2, 0, 1}, {0, 0, 1}, {199, 1, 0}, {994, 3, 3}, {1, 2, 4}, {335, 335, 330}} {
		l := linesRow{Lines: result.Lines{
			Lines: parts[0] + parts[1] + parts[2], Wrote: parts[0], NoSession: parts[1], Unknown: parts[2],
		}}
		sum := 0
		for i, n := range l.Shares() {
			if sum += n; n < 100*parts[i]/l.Lines.Lines || n > 100*parts[i]/l.Lines.Lines+1 {
				t.Errorf("%v: %v", parts, l.Shares())
			}
		}
		harness.Equal(t, "sum", 100, sum)
	}
}

func TestCalendar(t *testing.T) {
	c := newCalendar([]result.Day{
		{Day: "2020-01-01", Sessions: 99},
		{Day: "2026-03-03", Sessions: 1},
		{Day: "2026-03-04", Sessions: 5},
	})
	harness.Equal(t, "the last week", []cell{
		{Title: "2 Mar 2026: 0 sessions"},
		{1, "2026-03-03", "3 Mar 2026: 1 session"},
		{4, "2026-03-04", "4 Mar 2026: 5 sessions"},
	}, c.Cells[52*7:])
	weeks := 0
	for _, m := range c.Months {
		weeks += m.Weeks
	}
	harness.Equal(t, "weeks, days, the most", []int{53, 2, 5}, []int{weeks, len(c.Days), c.Most})
	harness.Equal(t, "the first months", []month{{"Mar", 4}, {"Apr", 4}}, c.Months[:2])
	harness.Equal(t, "none", calendar{}, newCalendar(nil))
}
