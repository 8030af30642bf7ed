package mcp

import (
	"context"
	"errors"
	"strings"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/mcp/view"
	"github.com/git-rekal/git-rekal/internal/text"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// explain tells what stands behind lines of a file, a commit or a range, or what a session or memory holds, within the
// budget of one item.
func (in recallInput) explain(ctx context.Context, w *workspace.Workspace) (string, error) {
	at, err := ask.Open(ctx, w, ask.Opening{At: in.Checkpoint})
	if err != nil {
		return "", err
	}
	told := in.story
	if in.Action == actionWhy {
		told = in.why
	}
	page, err := told(ctx, w, at)
	if err = errors.Join(err, at.Close()); err != nil {
		return "", err
	}
	return view.ShortText(strings.TrimSpace(page), view.FullBudget), nil
}

// whyLimit is how many sessions behind lines are told: of a whole file there may be hundreds.
const whyLimit = 5

// why is what "git rekal why" prints.
func (in recallInput) why(ctx context.Context, w *workspace.Workspace, at *ask.Moment) (string, error) {
	found, err := at.Why(ctx, ask.WhyRequest{Target: in.ID, Limit: min(in.Limit, whyLimit)})
	if err != nil {
		return "", err
	}
	said, err := at.Exchanges(ctx, found.Results)
	if err != nil {
		return "", err
	}
	names, err := at.Names(ctx)
	return text.Recall(text.Look{Short: names.Short, People: w.People(ctx)}, found, said), err
}

// story is of commits the page for a reviewer, of a session or memory what "git rekal show" prints.
func (in recallInput) story(ctx context.Context, w *workspace.Workspace, at *ask.Moment) (string, error) {
	told, err := at.Story(ctx, in.ID)
	if err != nil {
		return "", err
	}
	if told.Kind != ask.KindSession && told.Kind != ask.KindMemory {
		return at.Review(ctx, told)
	}
	page, _ := text.Story(text.Look{People: w.People(ctx)}, told, text.Brief)
	return page, nil
}
