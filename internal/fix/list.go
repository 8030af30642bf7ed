package fix

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/git-rekal/git-rekal/internal/command"
	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/result"
)

// triedForPass is for how many of a command's failures, the latest, a pass is looked for.
const triedForPass = 5

// Failures counts what failed in a time, by command, the most often failed first, with where each was mended last. At
// most so many; 0 for all.
func (f Finder) Failures(ctx context.Context, since, until time.Time, limit int) (out result.Failures, err error) {
	out = result.Failures{Schema: result.Schema, Results: []result.Failed{}}
	all, err := f.Index.FailuresIn(ctx, since, until)
	if err != nil {
		return out, err
	}
	by := map[string][]db.FailureAt{}
	for _, c := range all { // the latest come first
		form := command.Form(c.Cmd)
		if len(form) == 0 {
			continue
		}
		key := form[len(form)-1]
		by[key] = append(by[key], c)
		out.Total++
	}
	keys := make([]string, 0, len(by))
	for key := range by {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(cmp.Compare(len(by[b]), len(by[a])), cmp.Compare(a, b)) })
	if limit > 0 && len(keys) > limit {
		keys, out.More = keys[:limit], len(keys)-limit
	}
	for _, key := range keys {
		row, err := f.failed(ctx, key, by[key])
		if err != nil {
			return out, err
		}
		out.Results = append(out.Results, row)
	}
	return out, nil
}

// failed is one command with its failures, the latest first.
func (f Finder) failed(ctx context.Context, key string, calls []db.FailureAt) (result.Failed, error) {
	row := result.Failed{Command: key, Failed: len(calls), LastAt: result.Time(calls[0].TS), Terms: calls[0].Terms.List()}
	sessions := map[string]bool{}
	for _, c := range calls {
		sessions[c.Session] = true
	}
	row.Sessions = len(sessions)
	for _, c := range calls[:min(len(calls), triedForPass)] {
		p, err := f.passOf(ctx, candidate{session: c.Session, call: c.ToolCall}, nil)
		if err != nil {
			return row, err
		}
		if p != nil {
			row.Mended = fmt.Sprintf("%s:%d", p.session, max(p.call.Turn, 0))
			for _, call := range p.between {
				if path := call.EditedPath(); !slices.Contains(row.Files, path) && len(row.Files) < shownFiles {
					row.Files = append(row.Files, path)
				}
			}
			return row, nil
		}
	}
	return row, nil
}
