package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/curate"
)

// markOptions are what to hide, or to show again.
type markOptions struct {
	restore bool
	ids     []string
}

// newPurgeCmd hides sessions and memories: `git rekal purge 01KAB3F9Q2`.
func newPurgeCmd(app *App) *cobra.Command {
	return app.withOptions(&cobra.Command{
		Use: "purge ID…", Short: "hide what is wrong",
		Long: `
Hides sessions, memories and records by their IDs. Recall, query --session and log no longer show them, today and as of any past moment.
After the next sync your own sessions and memories are hidden from everybody. Somebody else's are hidden only in your clones. Records are
hidden in this clone.

Nothing is lost: "git rekal --purged" lists hidden items, and "git rekal restore ID" brings them back. SQL still has them; the table purged
holds their IDs. To take a secret out of the ledger for good, see "git rekal help scrub".

A unique prefix of an ID is enough, at least 4 characters.`,
		ValidArgsFunction: app.completionFor(takesID),
	}, &markOptions{})
}

// newRestoreCmd shows them again: `git rekal restore 01KAB3F9Q2`.
func newRestoreCmd(app *App) *cobra.Command {
	return app.withOptions(&cobra.Command{
		Use: "restore ID…", Short: "show what was purged",
		Long: `
Shows purged items again, as they were. "git rekal --purged" lists them. A unique prefix of an ID is enough, at least 4 characters.`,
		ValidArgsFunction: app.completionFor(takesPurged),
	}, &markOptions{restore: true})
}

func (c *markOptions) validate(_ *pflag.FlagSet, args []string) error {
	if len(args) == 0 {
		return errors.New("give the ID of a session or memory")
	}
	c.ids = args
	return nil
}

func (c *markOptions) run(ctx context.Context, app *App) error {
	w, author, err := app.openWithAuthor(ctx)
	if err != nil {
		return err
	}
	defer w.Close()
	done := "Purged"
	if c.restore {
		done = "Restored"
	}
	out, err := curate.Mark(ctx, w, author, c.ids, !c.restore)
	if err != nil {
		return err
	}
	if len(out.Done) > 0 || len(out.Failed) == 0 {
		app.printDone("%s %d of %d", done, len(out.Done), out.Total())
	}
	if len(out.Others) > 0 {
		app.hint("somebody else wrote these, so it counts only here: " + strings.Join(out.Others, ", "))
	}
	return app.notifyFailures(out.Failed)
}

// notifyFailures tells of what failed, but for the last one: that is told like any other error.
func (app *App) notifyFailures(failed []error) error {
	for i, err := range failed {
		if i == len(failed)-1 {
			return err
		}
		app.notify(explain(err))
	}
	return nil
}
