package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/capture"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

type checkpointOptions struct{ dryRun, show, json bool }

// newCheckpointCmd captures now: `git rekal checkpoint`, or says what that would store:
// `git rekal checkpoint --dry-run`.
func newCheckpointCmd(app *App) *cobra.Command {
	c := &checkpointOptions{}
	cmd := &cobra.Command{
		Use: "checkpoint [--dry-run [--show|--json]]", Short: "capture what is new now",
		Long: `
Captures what coding agents recorded since the last checkpoint, and ties it to HEAD. It prints nothing if there is nothing new. The hooks
do the same at every commit.

--dry-run writes nothing. It lists the sessions, turns, tool calls and files that would be stored, by agent. It also lists what would
be redacted, by rule, with what made the rule look and the text around each place. --show also prints what stands there, on a terminal only.
Before "git rekal init" it shows what init would import.`,
	}
	fs := cmd.Flags()
	fs.BoolVar(&c.dryRun, "dry-run", false, "store nothing; show what would be stored and redacted")
	fs.BoolVar(&c.show, "show", false, "with --dry-run: print what would be redacted, on a terminal only")
	fs.BoolVar(&c.json, "json", false, "with --dry-run: JSON on one line")
	return app.withOptions(cmd, c)
}

func (c *checkpointOptions) validate(_ *pflag.FlagSet, args []string) error {
	switch {
	case (c.json || c.show) && !c.dryRun:
		return errors.New("--json and --show go with --dry-run")
	case c.json && c.show:
		return errShowJSON
	}
	return noArgs(args)
}

func (c *checkpointOptions) run(ctx context.Context, app *App) error {
	w, err := workspace.Open(ctx, app.Process)
	if err != nil {
		return err
	}
	defer w.Close()
	app.needFullToEmbed(w)
	author, err := w.Author(ctx)
	if err != nil {
		return err
	}
	if err := author.Config.Fault(); err != nil {
		return err
	}
	if c.dryRun {
		if err := app.whyNotShown(c.show); err != nil {
			return err
		}
		return c.preview(ctx, app, w, author)
	}
	if err := app.captureNow(ctx, w, author, session.ViaManual); err != nil {
		return err
	}
	// Unlike a read, this waits for other processes that index, so that a search finds the captured sessions at once.
	err = app.withIndexingMeter(false, func(progress func(done, total int)) error {
		return w.CatchUpBriefly(ctx, progress)
	})
	if err != nil {
		return err
	}
	end := app.Now().Add(checkpointTime)
	enough := func() bool { return app.Now().After(end) }
	return app.embed(ctx, w, author.Config, workspace.Embedding{Enough: enough, Patience: checkpointTime})
}

// Why --show is refused.
var (
	errShowJSON  = errors.New("--show goes without --json: JSON never holds a secret")
	errShowWhere = errors.New("--show prints secrets, so stdout must be a terminal in front of a person: nothing was done")
)

// whyNotShown returns why no secret may be printed, where one is asked for.
func (app *App) whyNotShown(asked bool) error {
	if asked && !app.seenByPerson(outputFlags{}) {
		return errShowWhere
	}
	return nil
}

// checkpointTime is how long a checkpoint asks an embedding server for vectors: its caller may wait
// for it.
const checkpointTime = 10 * time.Second

// captureNow captures what is new and says what it was.
func (app *App) captureNow(ctx context.Context, w *workspace.Workspace, author workspace.Author, via string) error {
	if err := author.Config.Fault(); err != nil {
		return err
	}
	if err := w.RequireCode(); err != nil && via == session.ViaManual {
		return err
	} else if err != nil {
		app.Warn(err)
		return nil
	}
	if app.notifyPaused(author.Config) {
		return nil
	}
	capturer, err := w.Capturer(ctx, author)
	if err != nil {
		return err
	}
	shown := app.meter(capture.Reading)
	capturer.Progress = shown.setStage
	out, err := capturer.Run(ctx, via, nil)
	shown.end()
	if err != nil {
		return err
	}
	app.tellCaptured(out)
	if out.Tip != "" {
		tied := ""
		if len(out.Tied) > 0 {
			tied = tiedText(len(out.Tied))
		}
		app.printDone("checkpoint %s: %s%s", result.ShortOID(string(out.Tip)), captureCounts(out), tied)
	}
	if via == session.ViaManual {
		app.hintIfSearchMeant("captured what is new", "checkpoint")
	}
	return nil
}

// tellCaptured tells the user what a capture could not read, and what it took out.
func (app *App) tellCaptured(out capture.Outcome) {
	for _, w := range out.Warnings {
		app.Warn(w)
	}
	app.tellSkipped(out)
	app.tellRedacted(total(out.Redacted))
}

// tellRedacted tells the user that something was taken out.
func (app *App) tellRedacted(secrets int) {
	if secrets > 0 {
		app.notify(fmt.Sprintf("redacted %s before storing", session.CountNoun(secrets, "secret")))
	}
}

// tellSkipped tells the user which lines are not captured.
func (app *App) tellSkipped(out capture.Outcome) {
	if out.Skipped > 0 {
		where := out.SkippedIn[0]
		if more := len(out.SkippedIn) - 1; more > 0 {
			where = fmt.Sprintf("%s and %d more", where, more)
		}
		app.notify(fmt.Sprintf("skipped %s that can't be read, in %s", session.CountNoun(out.Skipped, "line"), where))
	}
}

func captureCounts(out capture.Outcome) string {
	counts := fmt.Sprintf("%s, %s, %s", session.CountNoun(out.Sessions, "session"), session.CountNoun(out.Turns, "turn"),
		session.CountNoun(out.ToolCalls, "tool call"))
	if out.Notes > 0 {
		counts += ", " + session.CountNoun(out.Notes, "note")
	}
	return counts
}

func total(counts map[string]int) int {
	n := 0
	for _, c := range counts {
		n += c
	}
	return n
}
