package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/curate"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

type redactOptions struct{ again, pushed bool }

// newRedactCmd applies today's redaction to what is stored: `git rekal redact --again`.
func newRedactCmd(app *App) *cobra.Command {
	c := &redactOptions{}
	cmd := &cobra.Command{
		Use: "redact --again [--pushed]", Short: "redact what is stored",
		Long: `
Brings your own ledger to what today's rules, settings and known values make of it. What they take out now is replaced by a marker, as in a
new text. What was taken out by mistake comes back if the agent's transcript is still there, after

    git config --add rekal.redact.allow REGEX

Turns, titles, commands and paths of sessions come back. Memories, branches and what was scrubbed stay as they are.

It rewrites the ledger as "git rekal scrub" does, from the first commit that changes. If a remote is known to hold such a commit, nothing is
done without --pushed. With it, the remote's branch is replaced, unless somebody moved it meanwhile. IDs of later checkpoints change.

"git rekal doctor" says beforehand what would be taken out.`,
	}
	fs := cmd.Flags()
	fs.BoolVar(&c.again, "again", false, "rewrite your own ledger with today's redaction")
	fs.BoolVar(&c.pushed, "pushed", false, "also rewrite the branch on the remote")
	return app.withOptions(cmd, c)
}

func (c *redactOptions) validate(_ *pflag.FlagSet, args []string) error {
	if !c.again {
		return errors.New("new text is redacted before it is stored; --again rewrites what is stored")
	}
	return noArgs(args)
}

func (c *redactOptions) run(ctx context.Context, app *App) error {
	return app.withRewriteLock(ctx, func(w *workspace.Workspace, author workspace.Author) error {
		if err := author.Config.Fault(); err != nil {
			return err
		}
		app.notifyStep("reading transcripts and the ledger")
		out, err := curate.RedactAgain(ctx, w, author, c.pushed)
		if err != nil {
			return err
		}
		said := "the ledger is as today's redaction makes it"
		if out.Tip != out.Old {
			said = fmt.Sprintf("redacted again: %s taken out, %s brought back: rewrote %s of %s",
				session.CountNoun(out.Places, "place"), session.CountNoun(out.Back, "place"),
				session.CountNoun(out.Commits, "commit"), shortRef(author.Ledger.Ref()))
		}
		return app.finishRewrite(ctx, w, author, out, said)
	})
}
