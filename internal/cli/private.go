package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/git-rekal/git-rekal/internal/curate"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

type privateOptions struct {
	sessionArgs
	undo bool
}

// newPrivateCmd keeps sessions on this machine: `git rekal private 01KAB3F9`.
func newPrivateCmd(app *App) *cobra.Command {
	c := &privateOptions{}
	cmd := &cobra.Command{
		Use: "private [--undo] SESSION…", Short: "never send a session",
		Long: `
Keeps sessions in this clone, with the sessions that they started or that were forked from them. You find them as before, marked private. Pushes,
syncs, mirrors, "export", "show --md" and "web --export" leave them out. So do other clones of yours.

They move from the ledger's branch to a repository of their own, .git/rekal/private, which no push names. The branch is rewritten without
them, so IDs of later checkpoints change. What these sessions say later goes there, too. "git config --get-all rekal.private" names them.

What a remote holds already stays there: "git rekal purge" hides it, "git rekal scrub --pushed" takes its texts out. Answers count the turns
that were sent before ("sent"), and statements of "git rekal export --format in-toto" name such a session on.

SESSION may be the agent's own ID of a session that is not captured yet. --undo moves sessions back, and the next push sends them.`,
		ValidArgsFunction: app.completionFor(takesID),
	}
	fs := cmd.Flags()
	fs.BoolVar(&c.undo, "undo", false, "make them sessions like others again")
	return app.withOptions(cmd, c)
}

func (c *privateOptions) run(ctx context.Context, app *App) error {
	return app.withRewriteLock(ctx, func(w *workspace.Workspace,
		author workspace.Author,
	) error {
		return c.moveLedgers(ctx, app, w, author)
	})
}

func (c *privateOptions) moveLedgers(ctx context.Context, app *App, w *workspace.Workspace,
	author workspace.Author,
) error {
	do, became := curate.KeepPrivate, "private"
	if c.undo {
		do, became = curate.MakePublic, "no longer private"
	}
	out, err := do(ctx, w, author, c.ids)
	if pushed := (*ledger.PushedError)(nil); errors.As(err, &pushed) {
		return fmt.Errorf(`%s still holds what an earlier scrub took out: run "git rekal sync" first`,
			strings.Join(pushed.Remotes, ", "))
	}
	if err != nil {
		return err
	}
	app.printDone("%s: %s; moved %s, %s", became, strings.Join(out.Names, ", "),
		session.CountNoun(len(out.Sessions), "session"), session.CountNoun(out.Turns, "turn"))
	if out.Sent > 0 {
		for i, id := range c.ids { // other commands take no AGENT/ID
			if slices.Contains(out.Names, id) {
				_, c.ids[i], _ = strings.Cut(id, "/")
			}
		}
		app.hint(fmt.Sprintf(`%s were sent before and can't be taken back: "git rekal purge %s" hides them, "git rekal scrub --pushed" takes their texts out`,
			session.CountNoun(out.Sent, "turn"), strings.Join(c.ids, " ")))
	}
	app.hintLeftovers(out.Left, ledger.Scrubbed{})
	return nil
}
