package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/config"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

type indexOptions struct {
	at                  string
	vectors, signatures bool
	path                bool
}

// newIndexCmd rebuilds the caches: `git rekal index`, or those of a past state:
// `git rekal index --at HEAD~3`.
func newIndexCmd(app *App) *cobra.Command {
	c := &indexOptions{}
	cmd := &cobra.Command{
		Use: "index [--at REF|DIR | --vectors | --path]", Short: "rebuild the caches",
		Long: `
Rebuilds the index and the tables for SQL from the ledgers here, and drops the caches of past states. It is seldom needed, because
every command updates them. If a commit of a ledger is checked out, it builds the caches of that commit.

--vectors makes only what is missing of vectors of meaning, and of verdicts on signatures. Commands and hooks start it in the background, at low
priority.

--path prints where the databases for SQL lie, data.db and index.db, a line each, and rebuilds nothing. "git rekal query" brings them up.

--at builds the caches of one past state, for "git rekal --checkpoint REF". REF is as in --checkpoint. The last four are kept.

  git rekal index --at '@{2026-02-01}'
  git worktree add ../then rekal/alice@example.com~20
  git rekal index --at ../then`,
	}
	fs := cmd.Flags()
	fs.BoolVar(&c.vectors, "vectors", false, "make only the vectors that are missing")
	fs.BoolVar(&c.signatures, "signatures", false, "only judge the signatures that nobody has looked at") // for processes of ours
	_ = fs.MarkHidden("signatures")                                                                       // it was just defined
	fs.StringVar(&c.at, "at", "", "build the caches of the past state `REF`, which may be a folder")
	fs.BoolVar(&c.path, "path", false, "only print where the databases for SQL lie")
	return app.withOptions(cmd, c)
}

func (c *indexOptions) validate(fs *pflag.FlagSet, args []string) error {
	switch {
	case c.at == "" && fs.Changed("at"):
		return errors.New("--at must not be empty")
	case c.path && (c.vectors || c.at != ""):
		return errors.New("--path goes alone")
	case c.vectors && c.at != "":
		return errors.New("--vectors goes without --at: a past state has no vectors")
	}
	return noArgs(args)
}

// makesAll is whether the tables for SQL are made, too.
func (c *indexOptions) makesAll() bool { return c.at == "" && !c.vectors && !c.signatures && !c.path }

func (c *indexOptions) run(ctx context.Context, app *App) error {
	if c.makesAll() {
		if err := app.needFull(); err != nil {
			return err
		}
	}
	w, err := workspace.Open(ctx, app.Process)
	if err != nil {
		return err
	}
	defer w.Close()
	app.needFullToEmbed(w)
	if c.path {
		_, err := fmt.Fprintf(app.Stdout, "%s\n%s\n", filepath.Join(w.RekalDir(), dataDB), filepath.Join(w.RekalDir(), indexDB))
		return errors.Join(w.CheckReady(), err)
	}
	if c.vectors || c.signatures {
		return c.makeMissing(ctx, app, w)
	}
	today := false
	err = app.withIndexingMeter(false, func(progress func(done, total int)) (err error) {
		today, err = ask.Rebuild(ctx, w, c.at, progress, func(m *ask.Moment) error { return app.makeTables(ctx, m) })
		return err
	})
	if wrong := (*ask.CheckpointError)(nil); errors.As(err, &wrong) {
		return fmt.Errorf("--at %q: %w", wrong.Text, wrong.Err)
	}
	if err != nil || !today {
		return w.AsNotInitialised(err)
	}
	conf, err := config.Read(ctx, w.Repo, w.Env)
	if err != nil {
		return err
	}
	if _, err := w.JudgeSignatures(ctx, conf, math.MaxInt); err != nil {
		return w.AsNotInitialised(err)
	}
	app.hintIfSearchMeant("rebuilt the caches", "index")
	return w.AsNotInitialised(app.embed(ctx, w, conf, workspace.Embedding{Insist: true}))
}

// makeTables makes the databases for SQL.
func (app *App) makeTables(ctx context.Context, at *ask.Moment) error {
	for _, file := range []string{dataDB, indexDB} {
		d, err := app.Full.OpenSQL(ctx, at, file, "", app.notifyMakingTables)
		if err == nil {
			err = d.Close()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// makeMissing makes the vectors and judges the signatures that are missing. It ends early where somebody cleans the repository, which waits for no vectors.
func (c *indexOptions) makeMissing(ctx context.Context, app *App, w *workspace.Workspace) error {
	if err := w.CheckReady(); err != nil {
		return err
	}
	conf, err := config.Read(ctx, w.Repo, w.Env)
	if err != nil {
		return err
	}
	if _, err := w.JudgeSignatures(ctx, conf, math.MaxInt); err != nil || !c.vectors {
		return w.AsNotInitialised(err)
	}
	isCleaned := func() bool { return w.CheckReady() != nil }
	return w.AsNotInitialised(app.embedNow(ctx, w, conf.Embed, workspace.Embedding{Insist: true, Enough: isCleaned}))
}
