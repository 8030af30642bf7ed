package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/curate"
)

// markCommand hides sessions and memories or shows them again: `git rekal purge 01KAB3F9Q2`,
// `git rekal restore 01KAB3F9Q2`.
type markCommand struct {
	restore bool
	ids     []string
}

func (c *markCommand) about() entry {
	if c.restore {
		return entry{
			name: "restore", usage: "restore ID…", short: "show what was purged",
			long: `
Shows purged items again, as they were. "git rekal --purged" lists them. A unique prefix of an ID is enough, at least 4 characters.`,
			takes: takesPurged,
		}
	}
	return entry{
		name: "purge", usage: "purge ID…", short: "hide what is wrong",
		long: `
Hides sessions, memories and records by their IDs. Recall, query --session and log no longer show them, today and as of any past moment.
After the next sync your own sessions and memories are hidden from everybody. Somebody else's are hidden only in your clones. Records are
hidden in this clone.

Nothing is lost: "git rekal --purged" lists hidden items, and "git rekal restore ID" brings them back. SQL still has them; the table purged
holds their IDs. To take a secret out of the ledger for good, see "git rekal help scrub".

A unique prefix of an ID is enough, at least 4 characters.`,
		takes: takesID,
	}
}

func (c *markCommand) addFlags(*pflag.FlagSet) {}

func (c *markCommand) validate(_ *pflag.FlagSet, args []string) error {
	if len(args) == 0 {
		return errors.New("give the ID of a session or memory")
	}
	c.ids = args
	return nil
}

func (c *markCommand) run(ctx context.Context, app *App) error {
	w, author, err := app.open(ctx)
	if err != nil {
		return err
	}
	defer w.Close()
	mark, done := curate.Purge, "Purged"
	if c.restore {
		mark, done = curate.Restore, "Restored"
	}
	out, err := mark(ctx, w, author, c.ids)
	if err != nil {
		return err
	}
	if len(out.Done) > 0 || len(out.Failed) == 0 {
		app.tell("%s %d of %d", done, len(out.Done), out.Total())
	}
	if len(out.Others) > 0 {
		app.hint("somebody else wrote these, so it counts only here: " + strings.Join(out.Others, ", "))
	}
	return app.last(out.Failed)
}

// last tells of what failed, but for the last one: that is told like any other error.
func (app *App) last(failed []error) error {
	for i, err := range failed {
		if i == len(failed)-1 {
			return err
		}
		app.say(explain(err))
	}
	return nil
}
