package recall

import (
	"context"
	"errors"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/result"
)

// LogRequest asks for checkpoints. The zero value of a filter lets all pass.
type LogRequest struct {
	Limit  int      // at most so many
	Agent  string   // those with sessions of it, and these
	Author string   // as in Request
	Range  string   // "A..B" or "A...B": those made at its commits, or at what amends, rebases and squash merges made these of; "" for all
	Paths  []string // pathspecs: those whose code commit changed such a file
	Times
}

// Log reads the latest checkpoints, newest first.
func Log(ctx context.Context, index *db.DB, repo *git.Repo, req LogRequest) ([]result.Checkpoint, error) {
	if err := checkAgent(req.Agent); err != nil {
		return nil, err
	}
	span, err := req.span(ctx, repo)
	if err != nil {
		return nil, err
	}
	q := db.LogQuery{Limit: req.Limit, Agent: req.Agent, Period: db.Period(span)}
	if req.Author != "" {
		if q.Authors, err = authorsLike(ctx, index, repo, req.Author); err != nil {
			return nil, err
		}
	}
	if err := narrow(ctx, index, repo, req, &q); err != nil {
		return nil, err
	}
	rows, err := index.Log(ctx, q)
	if err != nil {
		return nil, err
	}
	out := []result.Checkpoint{}
	for _, r := range rows {
		if len(out) == 0 || out[len(out)-1].Checkpoint != r.ID {
			out = append(out, result.Checkpoint{
				Checkpoint: r.ID, Commit: r.GitSHA, Branch: r.GitBranch, Author: r.UserEmail, Actor: r.ActorType,
				LastTurnAt: result.Time(r.Took), TS: result.Time(r.TS), Via: r.Via, Files: r.FileCount, Sessions: []result.LogSession{},
			})
		}
		if r.Session == "" {
			continue
		}
		cp := &out[len(out)-1]
		cp.Sessions = append(cp.Sessions, result.LogSession{
			ID: r.Session, Title: r.Title, StartedAt: result.Time(r.Started), LastTurnAt: result.Time(r.Last), Source: r.Source, Model: r.Model, Actor: r.Actor, Turns: r.Turns, Tools: r.Tools, Inferred: r.Inferred,
		})
	}
	return out, nil
}

// narrow reads the range and the paths. They are arguments, and no filter names them in an error.
func narrow(ctx context.Context, index *db.DB, repo *git.Repo, req LogRequest, q *db.LogQuery) error {
	err := error(nil)
	if req.Range != "" {
		asked, failed := commits(ctx, index, repo, req.Range)
		q.Commits, err = asked.Commits(), failed
	}
	if len(req.Paths) > 0 && err == nil {
		paths, failed := pathsOf(repo, req.Paths)
		q.Paths, err = &paths, failed
	}
	if usage := (*UsageError)(nil); errors.As(err, &usage) {
		usage.Filter = ""
	}
	return err
}
