package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/capture"
	"github.com/git-rekal/git-rekal/internal/group"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// bucketScheme begins the name of a folder in a bucket.
const bucketScheme = "s3://"

func (c *exportOptions) validateParquet(fs *pflag.FlagSet, args []string) error {
	switch {
	case c.parquet == "":
		return errors.New("--no-text, --bare-mirrors, --group and --all go with --parquet DIR")
	case strings.Contains(c.parquet, "://") && !strings.HasPrefix(c.parquet, bucketScheme):
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
	if err := app.needFull(); err != nil {
		return err
	}
	to := c.parquet
	if !strings.HasPrefix(to, bucketScheme) {
		to = app.Path(to)
	}
	out, err := app.Full.OpenExport(ctx, app, to, !c.noText)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	left, shown := error(nil), app.meter("counting lines")
	if c.mirrors != "" || c.group.isGiven() {
		left, err = c.exportGroup(ctx, app, out, shown.setProgress)
	} else {
		err = app.withMoment(ctx, ask.Opening{}, func(w *workspace.Workspace, at *ask.Moment) error {
			return out.Add(ctx, w, at, shown.setProgress)
		})
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
func (c *exportOptions) exportGroup(ctx context.Context, app *App, out Export,
	progress func(done, total int),
) (left, err error) {
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
			return errors.Join(out.Add(ctx, w, at, progress), at.Close())
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
