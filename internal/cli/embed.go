package cli

import (
	"context"

	"github.com/git-rekal/git-rekal/internal/config"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// embed sees to the vectors that are missing: the model that is built in makes them in the background, an embedding
// server at once.
func (app *App) embed(ctx context.Context, w *workspace.Workspace, conf config.Config,
	embedding workspace.Embedding,
) error {
	if app.oneOfMany { // as many processes at once would be too much; the next commit or sync of each starts one
		return nil
	}
	if conf.Embed.IsBuiltIn() {
		return w.StartBackgroundWork(conf, true)
	}
	return app.embedNow(ctx, w, conf.Embed, embedding)
}

// embedNow makes the vectors that are missing; a terminal sees how far it is. Nothing of it is lost when the user stops
// it.
func (app *App) embedNow(ctx context.Context, w *workspace.Workspace, conf config.Embed,
	embedding workspace.Embedding,
) error {
	shown := app.meter("making vectors")
	defer shown.end()
	embedding.Progress = shown.setProgress
	return w.Embed(ctx, conf, embedding)
}

// catchUp brings the index up to what a command stored, and makes the vectors of it.
func (app *App) catchUp(ctx context.Context, w *workspace.Workspace, author workspace.Author) error {
	err := app.withIndexingMeter(false, func(progress func(done, total int)) error { return w.CatchUp(ctx, progress) })
	all := true
	if err == nil {
		all, err = w.JudgeSignatures(ctx, author.Config, mostJudged)
	}
	if err == nil && !all && !author.Config.Embed.IsBuiltIn() { // else that is started anyway
		err = w.StartBackgroundWork(author.Config, true)
	}
	if err != nil {
		return err
	}
	return app.embed(ctx, w, author.Config, workspace.Embedding{})
}

// mostJudged is of how many signatures a command waits for git's verdict, about two seconds; the rest is left to the
// process in the background, or to "git rekal index".
const mostJudged = 200
