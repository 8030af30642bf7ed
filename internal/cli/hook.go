package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/config"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/hook"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

type hookOptions struct {
	call hook.Call
}

const hookName = "hook"

// newHookCmd is what the installed hook scripts call: `git-rekal hook post-commit`. It
// never fails: what goes wrong is one line on stderr, and git goes on. In a repository that
// git-rekal can't work with it is silent.
func newHookCmd(app *App) *cobra.Command {
	c := &hookOptions{}
	cmd := &cobra.Command{
		Use: "hook NAME [ARG…]", Short: "for the installed hooks",
		Long: `
Captures what is new at a commit (post-commit), merge (post-merge), "git am" (post-applypatch) or push (pre-push). It notes which commits
an amend or rebase rewrote (post-rewrite). At a push it also sends the ledger to rekal.remote (pre-push). It names agents in messages, if
that is wanted (prepare-commit-msg, commit-msg).`,
		Annotations: map[string]string{exitStatus: "always 0, so that git goes on."},
		Hidden:      true,
	}
	fs := cmd.Flags()
	fs.SetInterspersed(false)
	fs.StringVar(&c.call.By, "by", "", "the process `ID` of the git that runs it as a configured hook")
	fs.BoolVar(&c.call.Global, "global", false, "set the repository up if nobody excluded it")
	fs.BoolVar(&c.call.Late, "late", false, "finish in the background what the hook left")
	return app.withOptions(cmd, c)
}

func (c *hookOptions) validate(_ *pflag.FlagSet, args []string) error {
	if len(args) == 0 {
		return errors.New("which hook?")
	}
	c.call.Name, c.call.Args = args[0], args[1:]
	return nil
}

func (c *hookOptions) run(ctx context.Context, app *App) error {
	if config.IsOff(app.Env) {
		return nil
	}
	c.call.Stdin, c.call.Skipped = app.Stdin, app.tellSkipped
	err := recoverPanic(func() error { return c.call.Run(ctx, app.Process) })
	if err != nil && !errors.Is(err, workspace.ErrNotInitialised) && !errors.Is(err, git.ErrUnsupported) {
		app.notify(fmt.Sprintf("%s: %s", c.call.Name, explain(err)))
	}
	return nil
}

// recoverPanic turns a panic into an error: whatever breaks here, git goes on with one line.
func recoverPanic(do func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("internal error: %v: please report it", v)
		}
	}()
	return do()
}
