package web

import (
	"slices"
	"time"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/result"
	nouns "github.com/git-rekal/git-rekal/internal/session"
)

// Bounds of what was done when.
const (
	weeksShown  = 53
	branchShown = 40 // commits
	lanesMost   = 12 // sessions beside one another
)

// activityPage is the page of sessions by days and commits.
type activityPage struct {
	Work     result.WorkStats
	Calendar calendar
	Branch   branch
}

func makeActivity(r *request) (page, error) {
	p := page{Template: "activity", Title: "Activity", Here: "activity"}
	work, err := r.at.Work(r, ask.StatsRequest{})
	if err != nil {
		return p, err
	}
	commits, err := r.at.Branch(r, branchShown)
	p.Body = activityPage{work, newCalendar(work.Days), newBranch(commits)}
	return p, err
}

// calendar has a column for each week of a year, and in it a square for each day.
type calendar struct {
	Cells  []cell // from a Monday on
	Months []month
	Days   []result.Day // with sessions, the latest first
	Most   int          // sessions on a day
}

// month is the weeks from the one in which a month begins on.
type month struct {
	Name  string // "" where there is no room for it
	Weeks int
}

type cell struct {
	Level int    // 0 to 4
	Day   string // "" where no session began
	Title string
}

// newCalendar is of the year that ends with the last day.
func newCalendar(days []result.Day) (out calendar) {
	if len(days) == 0 {
		return out
	}
	last, err := time.Parse(time.DateOnly, days[len(days)-1].Day)
	if err != nil {
		return out
	}
	monday := last.AddDate(0, 0, -(int(last.Weekday())+6)%7-7*(weeksShown-1))
	on := map[string]int{}
	for _, d := range days {
		if on[d.Day] = d.Sessions; d.Day >= monday.Format(time.DateOnly) {
			out.Most = max(out.Most, d.Sessions)
			out.Days = append(out.Days, d)
		}
	}
	slices.Reverse(out.Days)
	for day := monday; !day.After(last); day = day.AddDate(0, 0, 1) {
		date := day.Format(time.DateOnly)
		c := cell{Title: day.Format("2 Jan 2006: ") + nouns.CountNoun(on[date], "session")}
		if n := on[date]; n > 0 {
			c.Level, c.Day = 1+(n-1)*3/max(out.Most-1, 1), date
		}
		out.Cells = append(out.Cells, c)
		if day.Weekday() == time.Monday {
			out.addWeek(day)
		}
	}
	return out
}

// addWeek counts a week to the month that begins in it, or to the one that goes on.
func (c *calendar) addWeek(monday time.Time) {
	const room = 3 // weeks, for a name
	n := len(c.Months) - 1
	if n >= 0 && monday.Day() > 1 && monday.AddDate(0, 0, 6).Month() == monday.Month() {
		c.Months[n].Weeks++
		return
	}
	if n >= 0 && c.Months[n].Weeks < room {
		c.Months[n].Name = ""
	}
	c.Months = append(c.Months, month{monday.AddDate(0, 0, 6).Format("Jan"), 1})
}

// branch is commits, one a row, beside the lanes of sessions: one below another, as git draws a graph.
type branch struct {
	Rows  []branchRow
	Width int // of the lanes
}

// branchRow is a commit, some merges, or the head of a session whose commits follow.
type branchRow struct {
	Commit  *ask.BranchCommit
	Merges  []branchRow
	Session *ask.TiedSession
	Commits int // of the session
	SHA, At string
	Lanes   []lane
}

// lane is a session beside a row, as a part of a bracket.
type lane struct {
	X, Color     int
	Begins, Ends bool // the upper and the lower end of the bracket
	Tied         bool // else it only lasts
	Inferred     bool
}

const laneWidth = 14

// newBranch draws a bracket for each session, from the last commit of it to the first, in the first lane that is free.
// Merges behind which no session stands are folded.
func newBranch(commits []ask.BranchCommit) (out branch) {
	rows, last, count := map[string]bool{}, map[string]int{}, map[string]int{}
	for i, c := range commits {
		for _, s := range c.Sessions {
			last[s.ID] = i
			count[s.ID]++
		}
	}
	lanes := lanes{color: map[string]int{}}
	for i, c := range commits {
		if len(c.Parents) > 1 && len(c.Sessions) == 0 {
			out.addMerge(branchRow{Commit: &c, SHA: string(c.OID), Lanes: lanes.row(c, nil)})
			continue
		}
		for _, s := range c.Sessions {
			if !rows[s.ID] && lanes.open(s.ID) {
				out.Rows = append(out.Rows, branchRow{Session: &s, Commits: count[s.ID], Lanes: lanes.row(c, &s)})
			}
			rows[s.ID] = true
		}
		row := branchRow{Commit: &c, SHA: string(c.OID), At: result.Time(c.Committer.When), Lanes: lanes.row(c, nil)}
		for n := range row.Lanes {
			l := &row.Lanes[n]
			if id := lanes.ids[l.X/laneWidth]; last[id] == i {
				l.Ends, lanes.ids[l.X/laneWidth] = true, ""
			}
		}
		out.Rows = append(out.Rows, row)
	}
	out.Width = max(1, len(lanes.ids)) * laneWidth
	return out
}

// addMerge puts a merge to those before it.
func (b *branch) addMerge(merge branchRow) {
	if n := len(b.Rows) - 1; n >= 0 && b.Rows[n].Merges != nil {
		b.Rows[n].Merges = append(b.Rows[n].Merges, merge)
		return
	}
	b.Rows = append(b.Rows, branchRow{Merges: []branchRow{merge}, Lanes: merge.Lanes})
}

// lanes are what is open at a row.
type lanes struct {
	ids   []string // the session in each, "" for none
	color map[string]int
}

// open gives a session a lane, if one is left.
func (l *lanes) open(id string) bool {
	at := slices.Index(l.ids, "")
	if at < 0 && len(l.ids) < lanesMost {
		at, l.ids = len(l.ids), append(l.ids, "")
	}
	if at < 0 {
		return false
	}
	l.ids[at], l.color[id] = id, len(l.color)%colors+1
	return true
}

// row is the lanes beside a commit, or beside the head of a session.
func (l *lanes) row(c ask.BranchCommit, head *ask.TiedSession) (out []lane) {
	for at, id := range l.ids {
		if id == "" {
			continue
		}
		one := lane{X: at*laneWidth + laneWidth/2, Color: l.color[id], Begins: head != nil && head.ID == id}
		n := slices.IndexFunc(c.Sessions, func(s ask.TiedSession) bool { return s.ID == id })
		if n >= 0 && head == nil {
			one.Tied, one.Inferred = true, c.Sessions[n].Tie.IsWeak()
		}
		out = append(out, one)
	}
	return out
}
