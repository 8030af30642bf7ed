package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/launch"
	"github.com/git-rekal/git-rekal/internal/story"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

type handoffOptions struct {
	id     string
	to     string
	budget int
	print  bool
	more   []string // arguments for the agent
}

// newHandoffCmd gives a session to whoever goes on with it: `git rekal handoff 01KJW4MN --to codex`.
func newHandoffCmd(app *App) *cobra.Command {
	c := &handoffOptions{}
	cmd := &cobra.Command{
		Use: "handoff SESSION [--to AGENT] [--print] [--budget N] [-- ARG…]", Short: "hand a session over",
		Long: `
Prints what an agent needs to go on with a session, as Markdown: what was asked, the agent's last answers, the commands that failed when last
run, its commits, and its files as they stand today. All is quoted or counted. The session may be anybody's, of any agent and any machine.

With --to, it starts that agent, whose first prompt names a file with the page. AGENT is `,
		ValidArgsFunction: app.completionFor(takesID),
	}
	fs := cmd.Flags()
	fs.Func("to", "start `AGENT` with it", setOnce(&c.to))
	fs.BoolVar(&c.print, "print", false, "with --to: print the command, and start nothing")
	fs.IntVar(&c.budget, "budget", story.HandoffBudget, "at most about `N` tokens")
	return app.withOptions(cmd, c)
}

func (c *handoffOptions) validate(fs *pflag.FlagSet, args []string) error {
	if dash := fs.ArgsLenAtDash(); dash >= 0 {
		args, c.more = args[:dash], args[dash:]
	}
	switch {
	case len(args) == 0 || args[0] == "":
		return errors.New("give the session to hand over")
	case len(args) > 1:
		return &extraError{args[1]}
	case c.budget < story.HandoffLeast || c.budget > story.HandoffMost:
		return fmt.Errorf("--budget %d: it must be from %d to %d", c.budget, story.HandoffLeast, story.HandoffMost)
	case c.to == "" && len(c.more) > 0:
		return errors.New(`what stands behind "--" is for the agent that --to names`)
	}
	c.id = args[0]
	if c.to != "" {
		_, err := launch.Begin(c.to, "", nil)
		return err
	}
	return nil
}

func (c *handoffOptions) run(ctx context.Context, app *App) error {
	var command launch.Command
	err := app.withMoment(ctx, ask.Opening{}, func(w *workspace.Workspace, at *ask.Moment) error {
		page, ref, err := at.Handoff(ctx, c.id, c.budget)
		if err != nil {
			return err
		}
		if c.to == "" {
			_, err := io.WriteString(app.Stdout, page)
			return err
		}
		file, err := w.WriteForAgent("handoff-"+ref.ID, page)
		if err != nil {
			return err
		}
		command, err = launch.Begin(c.to, fmt.Sprintf(
			"Going on with %s: read the file %s (or run: git rekal handoff %s), look at the code, and go on with the work.", ref,
			file, ref.ID), c.more)
		command.Dir = w.Repo.Layout().WorkTree
		return err
	})
	if err != nil || c.to == "" {
		return err
	}
	if c.print {
		_, err := fmt.Fprintln(app.Stdout, command.ShellLine())
		return err
	}
	return command.Start(app.Env)
}
