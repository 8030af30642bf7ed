package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

type linkOptions struct {
	what string
	json bool
}

// newLinkCmd names a session for others: `git rekal link 01KJW4MN:8`.
func newLinkCmd(app *App) *cobra.Command {
	c := &linkOptions{}
	cmd := &cobra.Command{
		Use: "link SESSION[:TURN]|CHECKPOINT [--json]", Short: "a stable name of a session",
		Long: `
Prints a name that stays the same wherever the ledger goes: rekal:ID for a session or memory, rekal:ID#TURN for a turn, rekal:SHA for a checkpoint. Put it
into an issue, a commit's message or a prompt. Every command, the agents' server and the pages take it where they take an ID, and "git rekal
show" names the sessions to which a commit's message links.

Where the ledger was pushed to a known host, a second line has the address of the ledger's commit there. A scrub gives checkpoints other names;
those of sessions and memories stay.

  git rekal link 01KJW4MN
  git rekal link 01KJW4MN:8
  git rekal show rekal:01KJW4MN48AJBF1NFJ2X4RZ873#8`,
		ValidArgsFunction: app.completionFor(takesID),
	}
	fs := cmd.Flags()
	fs.BoolVar(&c.json, "json", false, "JSON on one line")
	return app.withOptions(cmd, c)
}

func (c *linkOptions) validate(_ *pflag.FlagSet, args []string) error {
	switch {
	case len(args) == 0 || args[0] == "":
		return errors.New("give a session, a memory or a checkpoint")
	case len(args) > 1:
		return &extraError{args[1]}
	}
	c.what = args[0]
	return nil
}

func (c *linkOptions) run(ctx context.Context, app *App) error {
	return app.withMoment(ctx, ask.Opening{Reader: app.reader()}, func(_ *workspace.Workspace, at *ask.Moment) error {
		link, err := at.Link(ctx, c.what)
		if err != nil {
			return err
		}
		if c.json {
			return result.Write(app.Stdout, link)
		}
		fmt.Fprintln(app.Stdout, link.Link)
		if link.URL != "" {
			fmt.Fprintln(app.Stdout, link.URL)
		}
		return nil
	})
}
