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
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

type indexOptions struct {
	vectors, background bool
	unasked             bool // a command of ours started it: nobody waits, or reads what it says
	path                bool
}

// newIndexCmd rebuilds the caches: `git rekal index`, or those of a past state:
// `git rekal index --at HEAD~3`.
func newIndexCmd(app *App) *cobra.Command {
	c := &indexOptions{}
	cmd := &cobra.Command{
		Use: "index [--vectors [--background] | --path]", Short: "rebuild the caches",
		Long: `
Rebuilds the index and the tables for SQL from the ledgers here. It is seldom needed, because every command updates them. Past states
are answered from the same index.

--vectors makes only what is missing of vectors of meaning, and of verdicts on signatures, and waits for it; with --background it starts that and
returns. Commands and hooks do so by themselves. In the background it has a low priority, and stops while a question is asked.

--path prints where the databases for SQL lie, data.db and index.db, a line each, and rebuilds nothing. "git rekal query" brings them up.`,
	}
	fs := cmd.Flags()
	fs.BoolVar(&c.vectors, "vectors", false, "make only the vectors that are missing")
	fs.BoolVar(&c.background, "background", false, "with --vectors: do not wait for them")
	fs.BoolVar(&c.unasked, "unasked", false,
		"judge signatures that nobody has looked at, give way to others, and say nothing")
	_ = fs.MarkHidden("unasked") // it was just defined
	fs.BoolVar(&c.path, "path", false, "only print where the databases for SQL lie")
	return app.withOptions(cmd, c)
}

func (c *indexOptions) validate(_ *pflag.FlagSet, args []string) error {
	switch {
	case c.path && c.vectors:
		return errors.New("--path goes alone")
	case c.background && !c.vectors:
		return errors.New("--background goes with --vectors")
	}
	return noArgs(args)
}

// makesAll is whether the tables for SQL are made, too.
func (c *indexOptions) makesAll() bool { return !c.vectors && !c.unasked && !c.path }

func (c *indexOptions) run(ctx context.Context, app *App) error {
	if c.makesAll() {
		if err := app.needFull(); err != nil { // the index itself can be made without
			app.notify(explain(fmt.Errorf("no tables for SQL are made: %w", err)))
		}
	}
	w, err := workspace.Open(ctx, app.Process)
	if err != nil {
		return err
	}
	defer w.Close()
	if c.path {
		_, err := fmt.Fprintf(app.Stdout, "%s\n%s\n", filepath.Join(w.RekalDir(), dataDB),
			filepath.Join(w.RekalDir(), indexDB))
		return errors.Join(w.CheckReady(), err)
	}
	app.needFullToEmbed(w)
	if c.vectors || c.unasked {
		return c.makeMissing(ctx, app, w)
	}
	err = app.withIndexingMeter(false, func(progress func(done, total int)) error {
		return ask.Rebuild(ctx, w, progress, func(m *ask.Moment) error { return app.makeTables(ctx, m) })
	})
	if err != nil {
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

// makeTables makes the databases for SQL, where git-rekal-full is there.
func (app *App) makeTables(ctx context.Context, at *ask.Moment) error {
	if app.Full == nil {
		return nil
	}
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

// makeMissing makes the vectors and judges the signatures that are missing. It ends early where somebody cleans the
// repository, which waits for no vectors.
func (c *indexOptions) makeMissing(ctx context.Context, app *App, w *workspace.Workspace) error {
	if err := w.CheckReady(); err != nil {
		return err
	}
	conf, err := config.Read(ctx, w.Repo, w.Env)
	if err != nil {
		return err
	}
	if c.background && conf.Embed.IsBuiltIn() && !conf.CI { // in CI nothing goes on behind a command
		app.notify("vectors are made in the background; git rekal doctor says how many are missing")
		return w.StartBackgroundWork(conf, true)
	}
	if c.unasked {
		if err := w.CatchUp(ctx, nil); err != nil { // a question may wait for it
			return w.AsNotInitialised(err)
		}
		workspace.LowerPriority()
	}
	if _, err := w.JudgeSignatures(ctx, conf, math.MaxInt); err != nil || !c.vectors {
		return w.AsNotInitialised(err)
	}
	embedding := workspace.Embedding{
		Insist: true, Enough: func() bool { return w.CheckReady() != nil },
		GiveWay: c.unasked, Await: !c.unasked,
	}
	if c.unasked {
		return w.AsNotInitialised(w.Embed(ctx, conf.Embed, embedding))
	}
	return w.AsNotInitialised(app.embedAndTell(ctx, w, conf.Embed, embedding))
}

// embedAndTell makes the vectors that are missing, and says what it does, and what it did.
func (app *App) embedAndTell(ctx context.Context, w *workspace.Workspace, conf config.Embed,
	embedding workspace.Embedding,
) error {
	if conf.IsOff() {
		app.notify("rekal.embed is off: no vectors are made")
		return nil
	}
	started, done, all := app.Now(), 0, 0
	shown := app.meter("making vectors")
	defer shown.end()
	embedding.Progress = func(at, of int) {
		if all == 0 {
			app.notify("making the vectors of " + session.CountNoun(of, "session"))
		}
		done, all = at, of
		shown.setProgress(at, of)
	}
	err := w.Embed(ctx, conf, embedding)
	switch {
	case err != nil:
	case all == 0:
		app.notify("all sessions have vectors")
	case done == all:
		app.notify(fmt.Sprintf("the vectors of %s are made (%.1f s)", session.CountNoun(all, "session"),
			app.Now().Sub(started).Seconds()))
	}
	return err
}
