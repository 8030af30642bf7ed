package ask

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/fix"
	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/internal/question"
	"github.com/git-rekal/git-rekal/internal/recall"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Fix finds how an error was mended before: see fix.Finder. A past moment has no records.
func (m *Moment) Fix(ctx context.Context, req fix.Request) (out result.Fix, err error) {
	f := fix.Finder{Index: m.DB, Repo: m.w.Repo, History: m.w.Noted()}
	if m.Text == "" {
		if f.Records, err = m.w.Records().Glance(ctx); err != nil {
			m.w.Warn(err) // the ledgers know, too
			f.Records = nil
		}
	}
	out, err = f.Find(ctx, req)
	if f.Records != nil {
		err = errors.Join(err, f.Records.Close())
	}
	return out, err
}

// Reverted are the commits of the current branch that a later one took back, by their OIDs: see history.Reverted.
func (m *Moment) Reverted(ctx context.Context) (map[string]result.Reverted, error) {
	all, err := history.Reverted(ctx, m.w.Repo, m.w.Noted())
	out := make(map[string]result.Reverted, len(all))
	for sha, r := range all {
		out[string(sha)] = recall.RevertedOf(sha, r)
	}
	return out, err
}

// FailureGroupings are the words by which failures can be summed up.
func FailureGroupings() []string { return []string{"command", "path"} }

// Failures counts what failed, by command or path, with what was dropped: see fix.Finder.Failures. It is for
// LimitFailures.
func (m *Moment) Failures(ctx context.Context, req StatsRequest) (out result.Failures, err error) {
	req.Now = m.w.Now()
	span, err := req.Span(m.w.Repo)
	if err != nil {
		return out, err
	}
	finder := fix.Finder{Index: m.DB, Repo: m.w.Repo}
	if out, err = finder.Failures(ctx, req.By == "path", span.Since, span.Until, req.Limit); err != nil {
		return out, err
	}
	out.By = req.By
	out.Dropped, err = m.dropped(ctx, span)
	return out, err
}

// LimitFailures puts results in order, and leaves out what is beyond a limit; 0: nothing.
func LimitFailures(f *result.Failures, limit int) {
	fix.SortFailures(f.Results)
	slices.SortStableFunc(f.Dropped, func(a, b result.Dropped) int {
		return cmp.Or(strings.Compare(b.At, a.At), strings.Compare(a.ID, b.ID))
	})
	if n := len(f.Results); limit > 0 && n > limit {
		f.Results, f.More = f.Results[:limit], n-limit
	}
	if limit > 0 && len(f.Dropped) > limit {
		f.Dropped = f.Dropped[:limit]
	}
}

// dropped are the commits of sessions that a later one took back in a time, and what memories of then reject.
func (m *Moment) dropped(ctx context.Context, span question.Span) (out []result.Dropped, err error) {
	reverted, err := history.Reverted(ctx, m.w.Repo, m.w.Noted())
	if err != nil {
		return nil, err
	}
	shas := make([]string, 0, len(reverted))
	for sha := range reverted {
		shas = append(shas, string(sha))
	}
	ties, err := m.TiesOfCommits(ctx, shas)
	if err != nil {
		return nil, err
	}
	purged, err := db.PurgedIDs(ctx, m.DB)
	if err != nil {
		return nil, err
	}
	for sha, r := range reverted {
		of := slices.DeleteFunc(ties[string(sha)], func(t attribution.Tie) bool { return slices.Contains(purged, t.Session) })
		by, err := m.w.Repo.Commit(r.By)
		if len(of) == 0 || err != nil || !holds(span, by.Committer.When) {
			continue
		}
		said := recall.RevertedOf(sha, r)
		out = append(out, result.Dropped{
			ID: of[0].Session, At: result.Time(by.Committer.When), What: m.w.Subject(string(sha)), Commit: said.Commit,
			By: said.By, Reason: said.Reason,
		})
	}
	memories, err := m.Rejecting(ctx)
	if err != nil {
		return nil, err
	}
	titles, err := m.TitlesOfRejected(ctx, memories)
	for _, row := range memories {
		if holds(span, row.TS) {
			out = append(out, result.Dropped{
				ID: row.ID, At: result.Time(row.TS), What: row.Rejects, Title: titles[row.Rejects],
				Reason: session.OneLine(row.Content),
			})
		}
	}
	return out, err
}

// holds reports whether a time is in a span.
func holds(span question.Span, at time.Time) bool {
	return (span.Since.IsZero() || !at.Before(span.Since)) && (span.Until.IsZero() || at.Before(span.Until))
}
