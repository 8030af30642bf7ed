package cli

import (
	"context"
	"time"

	"github.com/git-rekal/git-rekal/internal/config"
	"github.com/git-rekal/git-rekal/internal/materialize"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// embed makes the vectors that are missing, where there is an embedding server; a terminal sees
// how far it is. Nothing of it is lost when the user stops it.
func (app *App) embed(ctx context.Context, w *workspace.Workspace, m *materialize.Materializer, conf config.Embed, how workspace.Embedding) error {
	shown := app.meter("making vectors")
	defer shown.end()
	how.Progress = shown.step
	return w.Embed(ctx, m, conf, how)
}

// after tells when some time has passed.
func (app *App) after(d time.Duration) func() bool {
	end := app.Now().Add(d)
	return func() bool { return app.Now().After(end) }
}
