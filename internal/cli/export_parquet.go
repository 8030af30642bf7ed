package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/bucket"
	"github.com/git-rekal/git-rekal/internal/capture"
	"github.com/git-rekal/git-rekal/internal/group"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

func (c *exportOptions) validateParquet(fs *pflag.FlagSet, args []string) error {
	switch {
	case c.parquet == "":
		return errors.New("--no-text, --bare-mirrors, --group and --all go with --parquet DIR")
	case strings.Contains(c.parquet, "://") && !strings.HasPrefix(c.parquet, bucket.Scheme):
		return errors.New("--parquet writes into a folder, or into s3://BUCKET/FOLDER")
	case c.dir != "" || c.format != "" || c.mine || c.write:
		return errors.New("--parquet goes with none of --md, --mine, --format and --write")
	case c.mirrors != "" && c.group.isGiven():
		return errors.New("give one of --bare-mirrors, --group and --all")
	}
	return cmp.Or(c.group.validate(fs), noArgs(args))
}

// exportParquet writes what --parquet asks for.
func (c *exportOptions) exportParquet(ctx context.Context, app *App) (err error) {
	to := c.parquet
	if !strings.HasPrefix(to, bucket.Scheme) {
		to = app.Path(to)
	}
	out, err := ask.OpenExport(ctx, to, !c.noText, app.Getenv, app.Now)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	left, shown := error(nil), app.meter("counting lines")
	if c.mirrors != "" || c.group.isGiven() {
		left, err = c.exportGroup(ctx, app, out, shown.setProgress)
	} else {
		err = app.withMoment(ctx, ask.Opening{}, func(_ *workspace.Workspace, at *ask.Moment) error { return at.Export(ctx, out, shown.setProgress) })
	}
	shown.end()
	if err != nil {
		return err
	}
	written, removed, err := out.Finish(ctx)
	if err == nil {
		app.printDone("wrote %s into %s, removed %d", session.CountNoun(written, "file"), c.parquet, removed)
	}
	return errors.Join(err, left)
}

// exportGroup adds several repositories; left says that some could not be.
func (c *exportOptions) exportGroup(ctx context.Context, app *App, out *ask.Export, progress func(done, total int)) (left, err error) {
	which := c.group.groupSelection(app)
	if c.mirrors != "" {
		if capture.InAgent(app.Getenv) {
			return nil, errors.New("--bare-mirrors is for people and their jobs, not for agents")
		}
		which = group.Which{Mirrors: app.Path(c.mirrors)}
	}
	err = app.withSelection(ctx, which, func(g *group.Group) error {
		err := g.Each(ctx, func(w *workspace.Workspace) error {
			at, err := ask.Open(ctx, w, ask.Opening{})
			if err != nil {
				return err
			}
			return errors.Join(at.Export(ctx, out, progress), at.Close())
		})
		left = leftOutError(g)
		return err
	})
	return left, err
}

// leftOutError is the error of members that were left out of a job which ought to reach all; each is told of by itself.
func leftOutError(g *group.Group) error {
	if len(g.Left) == 0 {
		return nil
	}
	return fmt.Errorf("%s left out", session.CountNoun(len(g.Left), "repository"))
}
