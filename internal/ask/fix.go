package ask

import (
	"context"
	"errors"

	"github.com/git-rekal/git-rekal/internal/fix"
	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/internal/recall"
	"github.com/git-rekal/git-rekal/internal/result"
)

// FixRequest is an error; see fix.Request.
type FixRequest = fix.Request

// Fix finds how an error was mended before: see fix.Finder. A past moment has no records.
func (m *Moment) Fix(ctx context.Context, req FixRequest) (out result.Fix, err error) {
	f := fix.Finder{Index: m.DB, Repo: m.w.Repo, History: memory(m.w.RekalDir())}
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
	all, err := history.Reverted(ctx, m.w.Repo, memory(m.w.RekalDir()))
	out := make(map[string]result.Reverted, len(all))
	for sha, r := range all {
		out[string(sha)] = recall.RevertedOf(sha, r)
	}
	return out, err
}

// Failures counts what failed, by command: see fix.Finder.Failures.
func (m *Moment) Failures(ctx context.Context, req StatsRequest) (result.Failures, error) {
	req.Now = m.w.Now()
	span, err := req.Span(m.w.Repo)
	if err != nil {
		return result.Failures{}, err
	}
	return fix.Finder{Index: m.DB, Repo: m.w.Repo}.Failures(ctx, span.Since, span.Until, req.Limit)
}
