package ask

import (
	"context"

	"github.com/git-rekal/git-rekal/internal/commits"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/why"
)

// Attributions tells of each commit of a range, or of one commit, who wrote the lines that it brought, the oldest
// first. A commit without lines, such as a merge, is left out.
func (m *Moment) Attributions(ctx context.Context, rev string, visit func(result.Attribution) error) error {
	ids, err := commits.Revisions(ctx, m.DB, m.w.Repo, rev)
	if err != nil {
		return err
	}
	known := map[string]result.Writer{}
	for i := range ids {
		one, err := m.attribution(ctx, git.OID(ids[len(ids)-1-i]), known) // a range lists the newest first
		if err == nil && len(one.Files) > 0 {
			err = visit(one)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (m *Moment) attribution(ctx context.Context, id git.OID,
	known map[string]result.Writer,
) (result.Attribution, error) {
	out := result.Attribution{Commit: string(id), Sessions: map[string]result.Writer{}}
	commit, err := m.w.Repo.Commit(id)
	if err != nil || len(commit.Parents) > 1 {
		return out, err
	}
	out.At = result.Time(commit.Committer.When)
	counter, err := why.NewCounter(ctx, m.DB, m.w.Repo)
	if err != nil {
		return out, err
	}
	files, err := counter.BroughtLines(ctx, id)
	if err != nil {
		return out, err
	}
	for _, f := range files {
		lines := map[string][]int{}
		for i, line := range f.Lines {
			lines[f.Writer[i].Session] = append(lines[f.Writer[i].Session], line)
		}
		file := result.AttributedFile{Path: f.Path, Wrote: map[string][]result.Range{}}
		for writer, numbers := range lines {
			ranges := session.RangesOf(numbers)
			if writer == "" {
				file.Unknown = ranges
				continue
			}
			file.Wrote[writer] = ranges
			if _, ok := known[writer]; !ok {
				s, err := m.Session(ctx, writer)
				if err != nil {
					return out, err
				}
				known[writer] = result.Writer{Source: s.Source, NativeID: s.NativeID, Model: s.Model, Author: s.Author}
			}
			out.Sessions[writer] = known[writer]
		}
		out.Files = append(out.Files, file)
	}
	return out, nil
}
