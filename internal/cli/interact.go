package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/gate"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/run"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/text"
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
	pages := app.terminalOutput(c.shape).Screen().Pages()
	for chosen := (Chosen{Question: c.req.Query}); ; {
		list := &sessionList{options: c, hits: map[string]result.Hit{}}
		err := app.withMoment(ctx, ask.Opening{At: c.req.Checkpoint, Reader: gate.Person},
			func(w *workspace.Workspace, at *ask.Moment) (err error) {
				list.at, list.people = at, w.People(ctx)
				chosen, err = list.choose(ctx, app, in, out, chosen)
				return err
			})
		switch {
		case err != nil || chosen.ID == "":
			return err
		case chosen.Resume:
			return (&resumeOptions{what: chosen.ID}).run(ctx, app)
		}
		if err := (&showOptions{what: list.hits[chosen.ID].Address}).run(ctx, app.pagingWhole()); err != nil || !pages {
			return err
		}
	}
}

// pagingWhole is the program with a pager that waits for a key also where a text fits on a screen: the list comes back
// then.
func (app *App) pagingWhole() *App {
	waits := *app
	waits.Env = append(slices.Clip(app.Env), "LESS="+cmp.Or(app.Getenv("LESS"), "R")+"$-+F")
	return &waits
}

// sessionList finds sessions for a person who types.
type sessionList struct {
	options *recallOptions
	at      *ask.Moment
	people  result.People
	hits    map[string]result.Hit
}

func (l *sessionList) choose(ctx context.Context, app *App, in, out *os.File, before Chosen) (Chosen, error) {
	_, all, err := l.find(ctx, "")
	if err != nil {
		return Chosen{}, err
	}
	return app.Full.Choose(ctx, in, out, app.Env, Choices{
		Question: before.Question, Selected: before.ID, All: all,
		Find:    func(question string) ([]Choice, int, error) { return l.find(ctx, question) },
		Preview: func(id string) (string, error) { return l.preview(ctx, id) },
	})
}

func (l *sessionList) find(ctx context.Context, question string) (items []Choice, total int, err error) {
	req := l.options.req
	req.Query, req.Limit, req.Kind = strings.TrimSpace(question), interactive, ask.KindSession
	found, err := l.at.Recall(ctx, ask.Question{Request: req, Long: true, Quick: true})
	for _, h := range found.Results {
		l.hits[h.ID] = h
		link := session.Ref{ID: h.ID, Turn: -1}
		if h.Turn != nil {
			link.Turn = *h.Turn
		}
		day, _, _ := strings.Cut(h.StartedAt, "T")
		items = append(items, Choice{
			ID: h.ID, Title: printable(h.Title), About: printable(day + " " + l.people.Name(h.Author) + " · " + h.Source +
				alikeNote(h)), Link: link.String(),
		})
	}
	return items, found.Total, err
}

// preview is a session from the passage on that answers the question.
func (l *sessionList) preview(ctx context.Context, id string) (string, error) {
	told, err := l.at.Story(ctx, l.hits[id].Address)
	if err != nil {
		return "", err
	}
	page, start := text.Story(text.Look{UTF8: true}, told, text.Full)
	lines := strings.Split(page, "\n")
	return printable(l.hits[id].Title) + "\n\n" + strings.Join(lines[start:], "\n"), nil
}
