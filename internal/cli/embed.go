package cli

import (
	"context"

	"github.com/git-rekal/git-rekal/internal/config"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// embed makes the vectors that are missing, where there is an embedding server; a terminal sees
// how far it is. Nothing of it is lost when the user stops it.
func (app *App) embed(ctx context.Context, w *workspace.Workspace, conf config.Embed, how workspace.Embedding) error {
	shown := app.meter("making vectors")
	defer shown.end()
	how.Progress = shown.step
	return w.Embed(ctx, conf, how)
}

// catchUp brings the index up to what a command stored, and makes the vectors of it.
func (app *App) catchUp(ctx context.Context, w *workspace.Workspace, author workspace.Author) error {
	err := app.indexing(false, func(progress func(done, total int)) error { return w.CatchUp(ctx, progress) })
	if err != nil {
		return err
	}
	return app.embed(ctx, w, author.Config.Embed, workspace.Embedding{})
}
