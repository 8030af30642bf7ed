package cli

import (
	"cmp"
	"context"
	"errors"
	"os"
	"strings"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/choose"
	"github.com/git-rekal/git-rekal/internal/gate"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/run"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// interactive is how many results the list of -i has.
const interactive = 50

var errNoTerminal = errors.New("-i needs a terminal: without it the answer is printed")

// interact has a person choose one of the results, which follow what is typed.
func (c *recallOptions) interact(ctx context.Context, app *App) error {
	in, _ := app.Stdin.(*os.File)
	out, _ := app.Stdout.(*os.File)
	if in == nil || out == nil || !run.IsTerminal(in) || !run.IsTerminal(out) || !app.seenByPerson(c.shape) {
		return &usageError{err: errNoTerminal, command: recallName}
	}
	act, item := choose.Nothing, choose.Item{}
	err := app.withMoment(ctx, ask.Opening{At: c.req.Checkpoint, Reader: gate.Person}, func(w *workspace.Workspace, at *ask.Moment) (err error) {
		hits, people := map[string]result.Hit{}, w.People(ctx)
		act, item, err = choose.Run(ctx, in, out, app.Env, choose.Source{
			Find: func(question string) ([]choose.Item, error) {
				req := c.req
				req.Query, req.Limit, req.Kind = strings.TrimSpace(question), interactive, ask.KindSession
				found, err := at.Recall(ctx, ask.Question{Request: req, Long: true, Quick: true})
				var items []choose.Item
				for _, h := range found.Results {
					hits[h.ID] = h
					link := session.Ref{ID: h.ID, Turn: -1}
					if h.Turn != nil {
						link.Turn = *h.Turn
					}
					day, _, _ := strings.Cut(h.StartedAt, "T")
					items = append(items, choose.Item{
						ID: h.ID, Title: printable(h.Title), About: printable(day + " " + people.Name(h.Author) + " · " + h.Source), Link: link.String(),
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
		}, c.req.Query)
		return err
	})
	switch {
	case err != nil:
		return err
	case act == choose.Read:
		return (&showOptions{what: item.ID}).run(ctx, app)
	case act == choose.Resume:
		return (&resumeOptions{what: item.ID}).run(ctx, app)
	}
	return nil
}
