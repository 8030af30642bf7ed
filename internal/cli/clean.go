package cli

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/advice"
	"github.com/git-rekal/git-rekal/internal/curate"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

type cleanOptions struct {
	ledger, records bool
	all             bool
	shared          bool // the repository has no worktree: people push to it
}

// errShared is a repository whose ledgers other people pushed.
var errShared = advice.New("--ledger: this repository has no worktree, so its ledgers are everybody's; nothing was removed", `delete one with "git branch -D rekal/EMAIL"`)

// newCleanCmd undoes init: `git rekal clean`.
func newCleanCmd(app *App) *cobra.Command {
	c := &cleanOptions{}
	cmd := &cobra.Command{
		Use: "clean [--ledger] [--records]\nclean --all", Short: "remove what init made",
		Long: `
Removes hooks, skill, caches and rekal.remote, in all worktrees. Former hooks come back, byte for byte.

These stay:

  - a skill that was edited or committed
  - the ledger branch and private sessions; --ledger removes these, too
  - rekal.pause, rekal.pause.notes, rekal.forgot and rekal.private, which keep
    things out of any later ledger, too
  - records of what commands printed; --records removes these, too
  - .git/rekal/remembered, the fingerprints of secrets that were taken out

--all cleans every repository that was set up for you, takes back "git rekal init --global", and keeps all ledgers and records.

--ledger is refused in a repository without a worktree, because its ledgers are everybody's.`,
	}
	fs := cmd.Flags()
	fs.BoolVar(&c.ledger, "ledger", false,
		"also remove the ledger branches; captured sessions that no remote has are lost")
	fs.BoolVar(&c.records, "records", false, "also remove the records of what commands printed, for good")
	fs.BoolVar(&c.all, "all", false, "clean every repository that was set up on this machine")
	return app.withOptions(cmd, c)
}

func (c *cleanOptions) validate(_ *pflag.FlagSet, args []string) error {
	if c.all && (c.ledger || c.records) {
		return errors.New("--ledger and --records remove what can't be made again, and go without --all")
	}
	return noArgs(args)
}

func (c *cleanOptions) run(ctx context.Context, app *App) error {
	if c.all {
		return c.runAll(ctx, app)
	}
	return c.cleanUp(ctx, app)
}

// cleanUp cleans the repository that the process runs in.
func (c *cleanOptions) cleanUp(ctx context.Context, app *App) error {
	w, err := workspace.Open(ctx, app.Process)
	if err != nil {
		return err
	}
	defer w.Close()
	if c.shared = len(w.Repo.Worktrees()) == 0; c.shared && c.ledger {
		return errShared
	}
	layout, err := w.Layout(ctx)
	if err != nil {
		return err
	}
	report, err := w.Uninstall(ctx, layout)
	if err != nil {
		return err
	}
	for _, line := range report.Done {
		app.printDone("removed: %s", line)
	}
	for _, hint := range report.Hints {
		app.hint(hint)
	}
	if err := w.WantTrailers(ctx, ""); err != nil {
		return err
	}
	// Whoever sets the repository up again agrees again to share.
	remote, err := w.RemoveAgreement(ctx)
	if remote != "" {
		app.printDone("removed: rekal.remote (was %s)", remote)
	}
	if err != nil {
		return err
	}
	if global, err := app.Machine().SetCleaned(ctx, w.Repo.Layout().CommonDir, true); err != nil {
		return err
	} else if global {
		app.printDone("left: the hooks for all repositories, which leave this one alone from now on")
	}
	if len(report.Done) > 0 && !c.ledger && !app.oneOfMany { // who says --ledger means it
		app.hint(`"git rekal init" sets it up again; to search for the word, write "git rekal -- clean"`)
	}
	if err := c.removeRecords(ctx, app, w); err != nil {
		return err
	}
	if file := w.RememberedFile(); file != "" { // also where the ledger goes: its transcripts may be captured again
		app.printDone("left: fingerprints of what was taken out, in %s (remove the file to forget them)", file)
	}
	if err := c.removeLedgers(ctx, app, w); err != nil || !c.ledger {
		return err
	}
	if err := w.ForgetExcused(); err != nil {
		return err
	}
	return tellExclusions(ctx, app, w)
}

// removeRecords removes the records of what commands printed; without --records, only those that can be made again from
// transcripts.
func (c *cleanOptions) removeRecords(ctx context.Context, app *App, w *workspace.Workspace) error {
	if !c.records {
		if err := curate.ForgetAgentOutputs(ctx, w); err != nil {
			return err
		}
	}
	n, err := curate.CountRecords(ctx, w)
	switch {
	case !c.records && (err != nil || n == 0): // what can't be read can be removed
		return err
	case !c.records:
		app.printDone(`left: %s of what commands printed ("git rekal clean --records" removes them)`,
			session.CountNoun(n, "record"))
		return nil
	}
	if err := curate.RemoveRecords(w); err != nil {
		return err
	}
	app.printDone("removed: %s of what commands printed", session.CountNoun(n, "record"))
	return nil
}

func (c *cleanOptions) removeLedgers(ctx context.Context, app *App, w *workspace.Workspace) error {
	heads, err := ledger.Heads(w.Repo)
	if err != nil {
		return err
	}
	for _, h := range heads {
		if c.shared {
			app.printDone("left: the ledger %s", shortRef(h.Ref))
			continue
		}
		if !c.ledger {
			app.printDone(`left: the ledger %s ("git rekal clean --ledger" removes it)`, shortRef(h.Ref))
			continue
		}
		remove := w.Repo.DeleteRef
		if h.Private {
			remove = func(context.Context, string) error { return os.RemoveAll(w.PrivateDir()) }
		}
		if err := remove(ctx, h.Ref); err != nil {
			return err
		}
		app.printDone("removed: the ledger %s (was %s)", shortRef(h.Ref), h.OID)
	}
	return nil
}

// tellExclusions names the settings that go on to keep something out of a ledger.
func tellExclusions(ctx context.Context, app *App, w *workspace.Workspace) error {
	keys, err := curate.Exclusions(ctx, w)
	for _, key := range keys {
		app.printDone(`left: %s; what it keeps out stays out of the next ledger, too ("git config --unset-all %[1]s" takes it back)`, key)
	}
	return err
}

func shortRef(ref string) string { return strings.TrimPrefix(ref, "refs/heads/") }
