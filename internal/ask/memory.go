package ask

import (
	"context"

	"github.com/git-rekal/git-rekal/internal/statedb"
)

// memory keeps what walks of the history came by in the state of a folder. What can't be kept is walked again.
type memory string

func (dir memory) Text(ctx context.Context, name string) []byte {
	text, _ := statedb.Text(ctx, string(dir), name)
	return text
}

func (dir memory) SetText(ctx context.Context, name string, text []byte) {
	_ = statedb.SetText(ctx, string(dir), name, text, "")
}
