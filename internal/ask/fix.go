package ask

import (
	"context"
	"errors"

	"github.com/git-rekal/git-rekal/internal/fix"
	"github.com/git-rekal/git-rekal/internal/result"
)

// FixRequest is an error; see fix.Request.
type FixRequest = fix.Request

// Fix finds how an error was mended before: see fix.Finder. A past moment has no records.
func (m *Moment) Fix(ctx context.Context, req FixRequest) (out result.Fix, err error) {
	f := fix.Finder{Index: m.DB, Repo: m.w.Repo}
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
