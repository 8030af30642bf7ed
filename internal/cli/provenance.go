package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/provenance"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// The formats of `git rekal export --format`.
const (
	agentTrace = "agent-trace"
	gitAINotes = "git-ai-notes"
	otelTraces = "otel"
	inToto     = "in-toto"
)

// exportTraces prints a line of OTLP a session.
func (c *exportOptions) exportTraces(ctx context.Context, app *App) error {
	if err := app.needFull(); err != nil {
		return err
	}
	return app.withMoment(ctx, ask.Opening{}, func(w *workspace.Workspace, at *ask.Moment) error {
		authors, err := c.authors(ctx, w)
		if err != nil {
			return err
		}
		out := bufio.NewWriter(app.Stdout)
		err = at.Each(ctx, authors, func(s *result.StorySession, _ *result.Memory) error {
			if s == nil {
				return nil
			}
			usage, err := at.UsageByTurn(ctx, s.ID)
			if err != nil {
				return err
			}
			return result.Write(out, app.Full.Traces(app, *s, usage, !c.noText))
		})
		return cmp.Or(err, out.Flush())
	})
}

// exportAgentTrace prints an Agent Trace record a commit.
func (c *exportOptions) exportAgentTrace(ctx context.Context, app *App) error {
	return app.withMoment(ctx, ask.Opening{}, func(_ *workspace.Workspace, at *ask.Moment) error {
		return at.Attributions(ctx, c.rev, func(a result.Attribution) error {
			return result.Write(app.Stdout, provenance.AgentTrace(a, app.Version))
		})
	})
}

// aiNote is the note of a commit as a line.
type aiNote struct {
	Commit string `json:"commit"`
	Note   string `json:"note"`
}

// exportGitAINotes prints the Git AI note of each commit that has one, or writes them. A note that is somebody else's
// costs its own commit only.
func (c *exportOptions) exportGitAINotes(ctx context.Context, app *App) error {
	written, foreign := 0, 0
	err := app.withMoment(ctx, ask.Opening{}, func(w *workspace.Workspace, at *ask.Moment) error {
		there, err := w.Repo.Notes(ctx, notesRef)
		if err != nil {
			return err
		}
		return at.Attributions(ctx, c.rev, func(a result.Attribution) error {
			former := ""
			if blob, ok := there[git.OID(a.Commit)]; ok {
				text, err := w.Repo.Blob(blob)
				if err != nil {
					return err
				}
				former = string(text)
			}
			note, err := provenance.GitAINote(a, former)
			switch {
			case errors.Is(err, provenance.ErrNote):
				foreign++
				app.Warn(err)
				return nil
			case err != nil || note == "":
				return err
			case !c.write:
				return result.Write(app.Stdout, aiNote{a.Commit, note})
			case note == former:
				return nil
			}
			written++
			return w.Repo.WriteNote(ctx, notesRef, git.OID(a.Commit), note)
		})
	})
	if c.write && err == nil {
		app.printDone("wrote %s into %s", session.CountNoun(written, "note"), notesRef)
	}
	if foreign > 0 && err == nil {
		err = fmt.Errorf("export: %s left as they are", session.CountNoun(foreign, "foreign note"))
	}
	return err
}

// notesRef is where Git AI's tools look.
const notesRef = "refs/notes/ai"
