package ask

import (
	"context"

	"github.com/git-rekal/git-rekal/internal/materialize"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// Open opens the index for what pages for people are made from besides questions to Ask: brought up to the ledgers, in one state. Close it.
func Open(ctx context.Context, w *workspace.Workspace) (*materialize.Reader, error) {
	m, err := w.Reader()
	if err != nil {
		return nil, err
	}
	return m.Open(ctx)
}
