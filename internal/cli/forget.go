package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/curate"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// sessionArgs are the IDs of sessions that a command takes.
type sessionArgs struct{ ids []string }

type forgetOptions struct{ sessionArgs }

// newForgetCmd takes sessions out that nobody else has: `git rekal forget 01KAB3F9`.
func newForgetCmd(app *App) *cobra.Command {
	c := &forgetOptions{}
	cmd := &cobra.Command{
		Use: "forget SESSION…", Short: "drop an unshared session",
		Long: `
Takes sessions out of your own ledger as if they had never been captured, with the sessions that they started. Nothing stays in the branch,
its reflog, the caches, the records or the loose objects. This clone does not capture them again: "git config --get-all rekal.forgot"
names them. IDs of later checkpoints change.

It refuses in two cases:

  - A remote holds a part of it: "git rekal scrub" rewrites that, too.
  - Another session was forked from it, and begins with its copy: name both.

The transcript stays where the agent keeps it. Another clone may capture it. So may this one, if the agent continues the session
under another ID and the new transcript does not name the old ID.`,
		ValidArgsFunction: app.completionFor(takesID),
	}
	return app.withOptions(cmd, c)
}

func (c *sessionArgs) validate(_ *pflag.FlagSet, args []string) error {
	if len(args) == 0 {
		return errors.New("give the ID of a session")
	}
	c.ids = args
	return nil
}

func (c *forgetOptions) run(ctx context.Context, app *App) error {
	return app.withRewriteLock(ctx, func(w *workspace.Workspace,
		author workspace.Author,
	) error {
		return c.forget(ctx, app, w, author)
	})
}

func (c *forgetOptions) forget(ctx context.Context, app *App, w *workspace.Workspace, author workspace.Author) error {
	var targets []ledger.Target
	for _, id := range c.ids {
		targets = append(targets, ledger.Target{Session: id})
	}
	author = curate.AuthorWithLedgerOf(ctx, w, author, targets)
	out, err := curate.ForgetSessions(ctx, w, author, c.ids)
	if pushed := (*ledger.PushedError)(nil); errors.As(err, &pushed) {
		return fmt.Errorf(`%s has it already: nothing was forgotten; "git rekal scrub --pushed %s" takes its texts out there, too`,
			strings.Join(pushed.Remotes, ", "), strings.Join(c.ids, " "))
	}
	if errors.As(err, new(*ledger.TargetError)) { // one that was stopped half-way took it out of the ledger already
		_, discardErr := author.Ledger.Discard(ctx)
		return errors.Join(err, curate.ForgetRecords(ctx, w, author), curate.ForgetCaches(ctx, w), discardErr)
	}
	if err != nil {
		return err
	}
	said := fmt.Sprintf("forgot %s: rewrote %s of %s", scrubCounts(out), session.CountNoun(out.Commits, "commit"),
		shortRef(author.Ledger.Ref()))
	out.Kin, out.Remotes = nil, nil // no remote has it, and what was forked from it keeps nothing of it
	return app.finishRewrite(ctx, w, author, out, said)
}
