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

// TestTiles: the map is filled, no tile lies upon another, and each is as large as it has lines.
func TestTiles(t *testing.T) {
	for n := range 30 {
		var rows []ownersRow
		sum := 0
		for i := range n {
			lines := 1 + (n-i)*(n-i)*17
			sum += lines
			rows = append(rows, ownersRow{Lines: result.Lines{
				Key: fmt.Sprint(i), Lines: lines, Wrote: lines / 3,
				NoSession: lines / 2,
			}, Name: "日本語.go"})
		}
		covered := map[[2]int]string{}
		for _, tile := range treemap(rows) {
			if want := mapWidth * mapHeight * tile.Lines.Lines / sum; want > 2000 && (tile.W+2)*(tile.H+2)*100 < want*90 {
				t.Errorf("%d tiles: %d×%d for an area of %d", n, tile.W, tile.H, want)
			}
			if tile.X < 0 || tile.Y < 0 || tile.X+tile.W > mapWidth || tile.Y+tile.H > mapHeight ||
				tile.WroteW+tile.NoSessionW+tile.UnknownW != tile.W {
				t.Errorf("%d tiles: %+v", n, tile)
			}
			for x := tile.X; x < tile.X+tile.W; x += 5 {
				for y := tile.Y; y < tile.Y+tile.H; y += 5 {
					if was := covered[[2]int{x, y}]; was != "" {
						t.Fatalf("%d tiles: %s lies upon %s", n, tile.Key, was)
					}
					covered[[2]int{x, y}] = tile.Key
				}
			}
		}
	}
}

func TestCalendar(t *testing.T) {
	c := newCalendar([]result.Day{
		{Day: "2020-01-01", Sessions: 99},
		{Day: "2026-03-03", Sessions: 1},
		{Day: "2026-03-04", Sessions: 5},
	})
	last := c.Cells[len(c.Cells)-1]
	harness.Equal(t, "the last day", cell{30 + 52*13, 18 + 2*13, 4, "2026-03-04", "4 Mar 2026: 5 sessions"}, last)
	harness.Equal(t, "days, the most", []int{52*7 + 3, 2, 5}, []int{len(c.Cells), len(c.Days), c.Most})
	harness.Equal(t, "none", calendar{}, newCalendar(nil))
}
