package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/config"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// indexCommand rebuilds the caches: `git rekal index`, or those of a past state:
// `git rekal index --at HEAD~3`.
type indexCommand struct {
	at string
}

func (*indexCommand) about() entry {
	return entry{
		name: "index", usage: "index [--at REF|DIR]", short: "rebuild the caches",
		long: `
Rebuilds the index and the tables for SQL from the ledgers here, and drops the caches of past states. It is seldom needed, because
every command updates them. If a commit of a ledger is checked out, it builds the caches of that commit.

--at builds the caches of one past state, for "git rekal --checkpoint REF". REF is as in --checkpoint. The last four are kept.

  git rekal index --at '@{2026-02-01}'
  git worktree add ../then rekal/alice@example.com~20
  git rekal index --at ../then`,
	}
}

func (c *indexCommand) addFlags(fs *pflag.FlagSet) {
	fs.StringVar(&c.at, "at", "", "build the caches of the past state `REF`, which may be a folder")
}

func (c *indexCommand) validate(fs *pflag.FlagSet, args []string) error {
	if c.at == "" && fs.Changed("at") {
		return errors.New("--at must not be empty")
	}
	return noArgs(args)
}

func (c *indexCommand) run(ctx context.Context, app *App) error {
	w, err := workspace.Open(ctx, app.Process)
	if err != nil {
		return err
	}
	defer w.Close()
	today := false
	err = app.indexing(false, func(progress func(done, total int)) (err error) {
		today, err = ask.Rebuild(ctx, w, c.at, progress, app.makingTables)
		return err
	})
	if wrong := (*ask.CheckpointError)(nil); errors.As(err, &wrong) {
		return fmt.Errorf("--at %q: %w", wrong.Text, wrong.Err)
	}
	if err != nil || !today {
		return w.Gone(err)
	}
	conf, err := config.Read(ctx, w.Repo, w.Env)
	if err != nil {
		return err
	}
	app.acted("rebuilt the caches", "index")
	return w.Gone(app.embed(ctx, w, conf.Embed, workspace.Embedding{Insist: true}))
}
