package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/gate"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/run"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// interactive is how many results the list of -i has.
const interactive = 50

// alikeNote says how many sessions a row stands for besides.
func alikeNote(h result.Hit) string {
	if h.Alike == 0 {
		return ""
	}
	return fmt.Sprintf(" · and %d that begin alike", h.Alike)
}

var errNoTerminal = errors.New("-i needs a terminal: without it the answer is printed")

// interact has a person choose one of the results, which follow what is typed.
func (c *recallOptions) interact(ctx context.Context, app *App) error {
	in, _ := app.Stdin.(*os.File)
	out, _ := app.Stdout.(*os.File)
	if in == nil || out == nil || !run.IsTerminal(in) || !run.IsTerminal(out) || !app.seenByPerson(c.shape) {
		return &usageError{err: errNoTerminal, command: recallName}
	}
	if err := app.needFull(); err != nil {
		return err
	}
	id, resume := "", false
	err := app.withMoment(ctx, ask.Opening{At: c.req.Checkpoint, Reader: gate.Person}, func(w *workspace.Workspace, at *ask.Moment) (err error) {
		hits, people := map[string]result.Hit{}, w.People(ctx)
		id, resume, err = app.Full.Choose(ctx, in, out, app.Env, Choices{
			Question: c.req.Query,
			Find: func(question string) ([]Choice, error) {
				req := c.req
				req.Query, req.Limit, req.Kind = strings.TrimSpace(question), interactive, ask.KindSession
				found, err := at.Recall(ctx, ask.Question{Request: req, Long: true, Quick: true})
				var items []Choice
				for _, h := range found.Results {
					hits[h.ID] = h
					link := session.Ref{ID: h.ID, Turn: -1}
					if h.Turn != nil {
						link.Turn = *h.Turn
					}
					day, _, _ := strings.Cut(h.StartedAt, "T")
					items = append(items, Choice{
						ID: h.ID, Title: printable(h.Title), About: printable(day + " " + people.Name(h.Author) + " · " + h.Source + alikeNote(h)), Link: link.String(),
					})
				}
				return items, err
			},
			Preview: func(id string) (string, error) {
				asked, answered, err := at.Exchange(ctx, hits[id])
				var b strings.Builder
				for _, part := range []string{hits[id].Title, cmp.Or(asked, hits[id].Snippet), answered} {
					for line := range strings.Lines(strings.TrimSpace(part) + "\n\n") {
						b.WriteString(printable(strings.TrimRight(line, "\r\n")) + "\n")
					}
				}
				return b.String(), err
			},
		})
		return err
	})
	switch {
	case err != nil || id == "":
		return err
	case resume:
		return (&resumeOptions{what: id}).run(ctx, app)
	}
	return (&showOptions{what: id}).run(ctx, app)
}
