package cli

import (
	"context"

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

// catchUp brings the index up to what a command stored, and makes the vectors of it.
func (app *App) catchUp(ctx context.Context, w *workspace.Workspace, author workspace.Author) error {
	m, err := w.Reader()
	if err != nil {
		return err
	}
	if err := app.indexing(m, func() error { return w.Gone(m.CatchUp(ctx)) }); err != nil {
		return err
	}
	return app.embed(ctx, w, m, author.Config.Embed, workspace.Embedding{})
}
