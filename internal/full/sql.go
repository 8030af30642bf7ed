package full

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/bucket"
	"github.com/git-rekal/git-rekal/internal/cli"
	"github.com/git-rekal/git-rekal/internal/config"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/materialize"
	"github.com/git-rekal/git-rekal/internal/tables"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// database is an open database for SQL.
type database struct {
	*tables.DB
	file    materialize.SQLFile
	scratch string // the folder of one of a past moment, which goes with it; "" for today
}

// openSQL opens a database for SQL, again where the index was made anew meanwhile.
func openSQL(ctx context.Context, at *ask.Moment, name, statement string, slow func()) (cli.SQL, error) {
	dir, remove, err := at.SQLDir()
	if err != nil {
		return nil, err
	}
	out := database{file: materialize.SQLFile(name)}
	if remove {
		out.scratch = dir
	}
	out.DB, err = tables.Open(ctx, dir, out.file, statement, at.DB, slow)
	for tries := 1; errors.Is(err, tables.ErrMoved) && tries < 5; tries++ {
		if err = at.Reopen(ctx); err == nil {
			out.DB, err = tables.Open(ctx, dir, out.file, statement, at.DB, slow)
		}
	}
	if err != nil {
		return nil, errors.Join(err, out.removeScratch())
	}
	return out, nil
}

// Close implements cli.SQL.
func (d database) Close() error { return errors.Join(d.DB.Close(), d.removeScratch()) }

func (d database) removeScratch() error {
	if d.scratch == "" {
		return nil
	}
	return os.RemoveAll(d.scratch)
}

// Select implements cli.SQL.
func (d database) Select(ctx context.Context, statement string, limit time.Duration,
	row func([]string, []any) error,
) error {
	return d.DB.Select(ctx, statement, tables.Limits{Time: limit, Memory: tables.QueryMemory},
		func(r tables.Row) error { return row(r.Columns, r.Values) })
}

// Broken implements cli.SQL.
func (d database) Broken(ctx context.Context) ([]string, int, error) { return d.DB.Broken(ctx, d.file) }

// export is a run that writes Parquet files.
type export struct{ *tables.Export }

func openExport(ctx context.Context, app *cli.App, to string, text bool) (cli.Export, error) {
	var e *tables.Export
	var err error
	if strings.HasPrefix(to, bucket.Scheme) {
		var b *bucket.Bucket
		if b, err = bucket.Open(to, app.Getenv); err == nil {
			e, err = tables.OpenExportTo(ctx, b, text)
		}
	} else {
		e, err = tables.OpenExport(ctx, to, text)
	}
	if err != nil {
		return nil, err
	}
	return export{e}, nil
}

// Add adds a repository to the export, by the place of its remote, or its folder.
func (e export) Add(ctx context.Context, w *workspace.Workspace, at *ask.Moment, progress func(done, total int)) error {
	conf, err := w.Settings()
	if err != nil {
		return err
	}
	source := w.Root()
	if remote, err := conf.RemoteFor("", ""); err == nil && conf.Places[remote] != "" {
		source = config.PlaceOf(conf.Places[remote])
	}
	head, err := w.Repo.Head()
	if err != nil {
		return err
	}
	lines := func() (tables.Head, error) { return headLines(ctx, w, at, progress) }
	return e.Export.Add(ctx, config.PlaceName(source), source, at.DB, string(head.OID), lines)
}

// headLines are whose the lines of HEAD are. If they can't be counted, the export goes on without them.
func headLines(ctx context.Context, w *workspace.Workspace, at *ask.Moment,
	progress func(done, total int),
) (out tables.Head, err error) {
	counted, err := at.Standing(ctx, "", ask.Counting{Progress: progress})
	switch {
	case ctx.Err() != nil:
		return out, err
	case err != nil:
		if !errors.Is(err, git.ErrNotFound) { // where there is no code, nothing is missing
			w.Warn(fmt.Errorf("head_lines of %s are left out: %w", w.Root(), err))
		}
		return out, nil
	}
	out = tables.Head{Commit: string(counted.Head.OID), TS: counted.Head.Committer.When}
	add := func(path, whose, id string, n int) {
		if n > 0 {
			out.Lines = append(out.Lines, tables.HeadLines{Path: path, Whose: whose, Session: id, N: n})
		}
	}
	for path, share := range counted.Files {
		unknown := share.Lines - share.NoSession
		for id, n := range share.Wrote {
			add(path, "session", id, n)
			unknown -= n
		}
		add(path, "no_session", "", share.NoSession)
		add(path, "unknown", "", unknown)
	}
	return out, nil
}
