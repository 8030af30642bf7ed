package why

import (
	"context"
	"slices"

	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
)

// maxSpawned is how many sessions that spawned one another are followed.
const maxSpawned = 16

// askedSize is how many characters of a person's prompt an answer has.
const askedSize = 1000

// chain is what a person asked that led to the work of a subagent, and the sessions through which that came, from the
// subagent on; nothing for a session that no other one spawned, or whose spawner is hidden.
func (w *answer) chain(ctx context.Context, id string) (asked *result.Asked, through []result.Mention, err error) {
	row, err := w.index.Session(ctx, id)
	for n := 0; err == nil && row.Parent != "" && !slices.Contains(w.hidden, row.Parent) && n < maxSpawned; n++ {
		through = append(through, result.Mention{ID: row.ID, Title: session.InformativePart(row.Title)})
		began := row.StartedAt
		if row, err = w.index.Session(ctx, row.Parent); err != nil {
			return nil, nil, nil //nolint:nilerr // a ledger may name a session that is not here
		}
		turn, err := w.index.PromptBefore(ctx, row.ID, nil, began)
		if err != nil || turn < 0 {
			continue
		}
		said, err := w.index.Turns(ctx, row.ID, turn, 1, session.RoleHuman)
		if err == nil && len(said) > 0 {
			asked = &result.Asked{
				ID: row.ID, Turn: turn,
				Text: session.Shorten(session.PurposeOfPrompt(said[0].Content), askedSize),
			}
		}
	}
	return asked, through, err
}
