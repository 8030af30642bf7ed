package cli

import (
	"cmp"
	"context"
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/doctor"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/text"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

type doctorOptions struct {
	outputFlags
	show, index bool
}

// errWrong is the exit status of a doctor that found something; the result says what.
var errWrong = errors.New("something is wrong: see above")

// newDoctorCmd says what is wrong, and what mends it: `git rekal doctor`.
func newDoctorCmd(app *App) *cobra.Command {
	c := &doctorOptions{outputFlags: outputFlags{linewise: true}}
	cmd := &cobra.Command{
		Use: "doctor [--index] [--show|--json]", Short: "find what is wrong",
		Long: `
Checks git, the settings, hooks and skill, sharing, stale locks, the caches, the agents' transcripts and the embedding server. It says
what is wrong, and what mends it. It changes nothing.

It also applies today's redaction to every ledger here, with all that was taken out in this clone since. Each finding has its commit and
place, what made the rule look, and the text around it. --show also prints what stands there, on a terminal only. "git rekal scrub ID" takes
a secret out of your own ledger. Other authors have to do it in theirs.

--index also looks at each key and reference in the tables of "git rekal query", which are brought up to date for it.`,
		Annotations: map[string]string{exitStatus: "0 nothing is wrong (notes do not count), 1 something is, 2 wrong usage."},
	}
	fs := cmd.Flags()
	c.outputFlags.addFlags(fs)
	fs.BoolVar(&c.index, "index", false, "check all keys of the tables for SQL, too")
	fs.BoolVar(&c.show, "show", false, "print what would be redacted, on a terminal only")
	return app.withOptions(cmd, c)
}

func (c *doctorOptions) validate(_ *pflag.FlagSet, args []string) error {
	if c.show && c.json {
		return errShowJSON
	}
	return cmp.Or(noArgs(args), c.outputFlags.validate())
}

func (c *doctorOptions) run(ctx context.Context, app *App) error {
	if err := app.whyNotShown(c.show); err != nil {
		return err
	}
	if c.index {
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
	found, err := doctor.Run(ctx, w)
	if err != nil {
		return err
	}
	full, err := app.fullVersion(ctx)
	doctor.ReportFull(&found, app.Version, full.Version, err)
	shown := app.meter("reading ledgers")
	err = doctor.Scan(ctx, w, &found, func(segments int) { shown.setProgress(segments, 0) })
	shown.end()
	if err != nil {
		return err
	}
	if c.index && w.CheckReady() == nil {
		if err := c.checkSQLKeys(ctx, app, &found); err != nil {
			return err
		}
	}
	err = c.answer(ctx, app, w, found, nil, func(l text.Look) string { return text.Doctor(l, found, c.show) })
	if err == nil && !found.OK {
		err = errWrong
	}
	return err
}

// checkSQLKeys checks the databases of SQL.
func (c *doctorOptions) checkSQLKeys(ctx context.Context, app *App, found *result.Doctor) error {
	return app.withMoment(ctx, ask.Opening{}, func(_ *workspace.Workspace, at *ask.Moment) error {
		for _, file := range []string{dataDB, indexDB} {
			d, err := app.Full.OpenSQL(ctx, at, file, "", app.notifyMakingTables)
			if err != nil {
				return err
			}
			broken, checked, err := d.Broken(ctx)
			if err := errors.Join(err, d.Close()); err != nil {
				return err
			}
			doctor.ReportKeys(found, file, broken, checked)
		}
		return nil
	})
}
