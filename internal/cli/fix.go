package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/fix"
	"github.com/git-rekal/git-rekal/internal/text"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

type fixOptions struct {
	req   fix.Request
	words []string
	shape outputFlags
}

// newFixCmd finds how an error was mended before: `go test ./... 2>&1 | git rekal fix -`.
func newFixCmd(app *App) *cobra.Command {
	c := &fixOptions{}
	cmd := &cobra.Command{
		Use: "fix [TEXT… | -] [--command CMD] [-n N]", Short: "how an error was mended",
		Long: `
Finds commands that failed with the same error, here or in a colleague's session, and passed later in the same session or on the same branch.
It shows the error as it stood, the files and commits in between, what the agent said when it passed, and where to read on.

TEXT is the error; "-" reads it from stdin. Without it, the last command that failed is looked up. --command says which command failed: then
less of the error has to be the same. What a commit reverted is never shown, and nothing is shown where nothing is much alike.

  go test ./... 2>&1 | git rekal fix -
  git rekal fix "undefined: parseToken" --command "go build ./..."`,
	}
	fs := cmd.Flags()
	fs.StringVar(&c.req.Command, "command", "", "the command that failed, `CMD`")
	fs.IntVarP(&c.req.Limit, "limit", "n", 3, "at most `N` results")
	c.shape.addFlags(fs)
	return app.withOptions(cmd, c)
}

func (c *fixOptions) validate(_ *pflag.FlagSet, args []string) error {
	c.words = args
	if c.req.Limit < 1 {
		return errors.New("-n must be at least 1")
	}
	return c.shape.validate()
}

func (c *fixOptions) run(ctx context.Context, app *App) error {
	c.req.Output = strings.Join(c.words, " ")
	if c.req.Output == "-" {
		raw, err := io.ReadAll(io.LimitReader(app.Stdin, maxErrorText))
		if err != nil {
			return fmt.Errorf("fix: read the error: %w", err)
		}
		c.req.Output = string(raw)
	}
	return app.withMoment(ctx, ask.Opening{Reader: c.shape.reader(app)},
		func(w *workspace.Workspace, at *ask.Moment) error {
			answer, err := at.Fix(ctx, c.req)
			if err != nil {
				return err
			}
			short, err := c.shape.shortener(ctx, app, at)
			if err != nil {
				return err
			}
			return c.shape.answer(ctx, app, w, answer, short, func(l text.Look) string { return text.Fix(l, answer) })
		})
}

// maxErrorText is how much of an error is read, in bytes.
const maxErrorText = 16 << 20
