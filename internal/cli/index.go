package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/config"
	"github.com/git-rekal/git-rekal/internal/materialize"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// indexCommand rebuilds the caches: `git rekal index`.
type indexCommand struct{}

func indexEntry() entry {
	return entry{
		name: "index", usage: "index", short: "rebuild the caches from the ledger",
		long: `
Rebuilds .rekal/data.db and .rekal/index.db from the ledgers that are here. Seldom needed: every
command brings them up to date by itself.`,
		make: func() command { return &indexCommand{} },
	}
}

func (c *indexCommand) addFlags(*pflag.FlagSet) {}

func (c *indexCommand) validate(args []string) error { return noArgs(args) }

func (c *indexCommand) run(ctx context.Context, app *App) error {
	return app.read(func(w *workspace.Workspace, m *materialize.Materializer) error {
		if err := m.Rebuild(ctx); err != nil {
			return err
		}
		conf, err := config.Read(ctx, w.Repo, w.Env)
		if err != nil {
			return err
		}
		return app.embed(ctx, w, m, conf.Embed, workspace.Embedding{Insist: true})
	})
}
