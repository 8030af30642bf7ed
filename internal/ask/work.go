package ask

import (
	"context"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/result"
)

// Work says how much was worked in sessions; By and Limit of a request count for nothing, but that Limit is how many
// pairs of files there are.
func (m *Moment) Work(ctx context.Context, req StatsRequest) (result.WorkStats, error) {
	out := result.WorkStats{
		Schema: result.Schema, Since: req.Since, Until: req.Until, Agent: req.Agent,
		Days: []result.Day{}, Together: []result.Pair{},
	}
	req.Now = m.w.Now()
	span, err := req.Span(m.w.Repo)
	if err != nil {
		return out, err
	}
	rows, commits, err := m.DB.SessionSizes(ctx, db.UsageFilter{Since: span.Since, Until: span.Until, Source: req.Agent})
	if err != nil {
		return out, err
	}
	days, sessions := map[string]int{}, map[string]int{} // of a day, of a commit
	var minutes, perSession, perCommit []int
	for _, r := range rows {
		out.Sessions, out.Turns, out.ToolCalls = out.Sessions+1, out.Turns+r.Turns, out.ToolCalls+r.Tools
		if !r.Started.IsZero() {
			days[r.Started.In(req.Now.Location()).Format("2006-01-02")]++
			minutes = append(minutes, int(r.Last.Sub(r.Started).Minutes()))
		}
		if n := len(commits[r.ID]); n > 0 {
			perSession = append(perSession, n)
		}
		for _, sha := range commits[r.ID] {
			sessions[sha]++
		}
	}
	for _, n := range sessions {
		perCommit = append(perCommit, n)
	}
	for day, n := range days {
		out.Days = append(out.Days, result.Day{Day: day, Sessions: n})
	}
	slices.SortFunc(out.Days, func(a, b result.Day) int { return strings.Compare(a.Day, b.Day) })
	out.Commits, out.Committed = len(perCommit), len(perSession)
	out.Minutes, out.PerCommit, out.PerSession = result.SpreadOf(minutes), result.SpreadOf(perCommit),
		result.SpreadOf(perSession)
	pairs, err := m.ChangedTogether(ctx, "", req.Limit)
	for _, p := range pairs {
		out.Together = append(out.Together, result.Pair(p))
	}
	return out, err
}
