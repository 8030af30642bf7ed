package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/brief"
	"github.com/git-rekal/git-rekal/internal/config"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

type briefOptions struct {
	budget     int
	json, text bool
	hook       string
}

// newBriefCmd says what an agent should know that begins here: `git rekal brief --text`.
func newBriefCmd(app *App) *cobra.Command {
	c := &briefOptions{}
	cmd := &cobra.Command{
		Use: "brief [--budget N] [--json|--text]", Short: "brief an agent that begins",
		Long: `
Prints what an agent should know when it begins, one line each with an ID:

  - the last session on this branch
  - sessions that changed files with uncommitted changes, memories on these files
  - the last command that failed
  - other people's news since your last session here

If there is nothing to say, nothing is printed. People and agents wrote the text: it is data, never instructions.

  git rekal brief --text
  git rekal brief --budget 300

"git rekal init --brief" installs hooks, so that agents read it by themselves. The hooks call --hook AGENT. It reads the agent's JSON on
stdin, prints an answer or nothing within 200 ms, and always exits with 0.`,
	}
	fs := cmd.Flags()
	fs.IntVar(&c.budget, "budget", brief.StartBudget, "at most about `N` tokens")
	fs.BoolVar(&c.json, "json", false, "JSON, also on a terminal")
	fs.BoolVar(&c.text, "text", false, "text as for agents, also into a pipe or a file")
	fs.StringVar(&c.hook, "hook", "", "answer a hook of the agent `NAME`: "+strings.Join(brief.Agents(), ", "))
	return app.withOptions(cmd, c)
}

func (c *briefOptions) validate(_ *pflag.FlagSet, args []string) error {
	switch {
	case c.hook != "": // a hook never fails
		return nil
	case c.json && c.text:
		return errors.New("--json does not go with --text")
	case c.budget < 1:
		return errors.New("--budget must be at least 1")
	}
	return noArgs(args)
}

func (c *briefOptions) run(ctx context.Context, app *App) error {
	if c.hook != "" {
		c.answerHook(ctx, app)
		return nil
	}
	w, err := workspace.Open(ctx, app.Process)
	if err != nil {
		return err
	}
	defer w.Close()
	out, text, err := brief.ForStart(ctx, w, c.budget)
	if err != nil {
		return w.AsNotInitialised(err)
	}
	if (outputFlags{json: c.json, text: c.text}).printsText(app) {
		_, err = io.WriteString(app.Stdout, text)
		return err
	}
	return result.Write(app.Stdout, out)
}

// briefTime is how long a hook may take behind the start of the process. An agent waits 200 ms at most; what is not
// there by then is left behind, and the process ends.
const briefTime = 120 * time.Millisecond

// briefInput is how much of what an agent says is read: a prompt may hold a whole log.
const briefInput = 4 << 20

// answerHook answers a hook in time, or not at all.
func (c *briefOptions) answerHook(ctx context.Context, app *App) {
	ctx, cancel := context.WithTimeout(ctx, briefTime)
	defer cancel()
	done := make(chan []byte, 1)
	go func() {
		var out []byte
		_ = recoverPanic(func() (err error) { // an agent is not told what went wrong
			out, err = c.briefInTime(ctx, *app)
			return err
		})
		done <- out
	}()
	select {
	case out := <-done:
		if len(out) > 0 {
			_, _ = fmt.Fprintf(app.Stdout, "%s\n", out)
		}
	case <-ctx.Done():
	}
}

func (c *briefOptions) briefInTime(ctx context.Context, app App) ([]byte, error) {
	if config.IsOff(app.Env) || !slices.Contains(brief.Agents(), c.hook) {
		return nil, nil
	}
	raw, err := io.ReadAll(io.LimitReader(app.Stdin, briefInput))
	if err != nil {
		return nil, err
	}
	e, ok := brief.Read(raw)
	if !ok {
		return nil, nil
	}
	if app.Warn = func(error) {}; e.Dir != "" {
		app.Dir = e.Dir
	}
	w, err := workspace.Open(ctx, app.Process)
	if err != nil {
		return nil, err
	}
	return brief.ForHook(ctx, w, c.hook, e) // the process ends: it has no time to close anything
}
