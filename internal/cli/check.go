package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/check"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/text"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

type checkOptions struct {
	rev    string
	rules  []string
	form   string
	format string // "" for text or JSON

	statement string // a file
	shape     outputFlags
}

// The formats of checks beside text and JSON.
const (
	sarif       = "sarif"
	annotations = "annotations"
)

// newCheckCmd holds commits to rules about agents: `git rekal check main..topic`.
func newCheckCmd(app *App) *cobra.Command {
	c := &checkOptions{shape: outputFlags{linewise: true}}
	cmd := &cobra.Command{
		Use:   "check [--rule RULE]… [--form FORM] [--format FORMAT] [REV|A..B]\ncheck --statement FILE [--format FORMAT]",
		Short: "check who is named",
		Long: `
Compares what commits say of agents with what is known of their lines, and prints what is missing, false, doubtful or refused, with its
evidence. What can't be told in this clone, such as a commit of somebody whose ledger is not here, is listed, and is no finding. The default
is HEAD. Merges are not checked, the commits that they bring are.

RULE, or rekal.check, is one of these. There may be several. Without one it is truth.

truth::
An agent that a trailer names helped, and with the model that it names.

trailers::
And who helped has a trailer: in FORM or rekal.trailer if one is set (see "git rekal help trailers"), else in any form.

unknown=PERCENT::
Of at most so many of its lines nobody knows who wrote them, if sessions stand behind it.

agent=GLOB, model=GLOB::
No other agents, or models, helped. Each such rule allows what it fits.

verified, shared, no-private::
The sessions are signed by a key of their author, are known to be on a remote, and are not private.

--statement verifies a statement of "git rekal export --format in-toto": that this clone would say the same of its commits, to the byte, and that
the signature fits and is of a key that git knows.

FORMAT is sarif (SARIF 2.1.0) or annotations, which GitHub, Gitea and Forgejo show beside a job.

  git rekal check main..topic
  git rekal check --rule trailers --rule unknown=20 --format annotations main..topic`,
		ValidArgsFunction: app.completionFor(takesRange),
		Annotations:       map[string]string{exitStatus: "0 nothing was found, 1 something was, or it failed, 2 wrong usage."},
	}
	fs := cmd.Flags()
	fs.StringArrayVar(&c.rules, "rule", nil, "hold commits to `RULE` (default: rekal.check, else truth)")
	fs.StringVar(&c.form, "form", "", "as in trailers: how `FORM` names agents")
	fs.StringVar(&c.statement, "statement", "", "verify the in-toto statement in `FILE`")
	fs.StringVar(&c.format, "format", "", "print `FORMAT`: sarif or annotations")
	c.shape.addFlags(fs)
	return app.withOptions(cmd, c)
}

func (c *checkOptions) validate(_ *pflag.FlagSet, args []string) error {
	if c.rev = "HEAD"; len(args) > 0 {
		c.rev, args = args[0], args[1:]
	}
	if err := noArgs(args); err != nil {
		return err
	}
	for _, r := range c.rules {
		if _, err := check.Parse(r); err != nil {
			return fmt.Errorf("--rule: %w", err)
		}
	}
	switch {
	case c.statement != "" && (len(c.rules) > 0 || c.form != "" || c.rev != "HEAD"):
		return errors.New("--statement goes without a range, --rule and --form")
	case c.format != "" && c.format != sarif && c.format != annotations:
		return fmt.Errorf("--format %q: sarif or annotations", c.format)
	case c.format != "" && (c.shape.json || c.shape.text):
		return errors.New("--format goes with neither --json nor --text")
	}
	return c.shape.validate()
}

// parseRules are those that are asked for, else those of the settings.
func (c *checkOptions) parseRules(w *workspace.Workspace) (rules check.Rules, err error) {
	texts, from := c.rules, "--rule"
	if len(texts) == 0 {
		conf, err := w.Settings()
		if err != nil {
			return nil, err
		}
		texts, from = conf.Check, "rekal.check"
	}
	if len(texts) == 0 {
		texts = []string{check.Default}
	}
	for _, t := range texts {
		r, err := check.Parse(t)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", from, err)
		}
		rules = append(rules, r)
	}
	return rules, nil
}

func (c *checkOptions) run(ctx context.Context, app *App) error {
	if c.statement != "" {
		return c.runStatement(ctx, app)
	}
	return app.withMoment(ctx, ask.Opening{Reader: app.reader()}, func(w *workspace.Workspace, at *ask.Moment) error {
		rules, err := c.parseRules(w)
		if err != nil {
			return err
		}
		form, isSet, err := trailerForm(ctx, w, c.form)
		if err != nil {
			return err
		}
		commits, err := at.Helped(ctx, c.rev, form, rules.CountLines)
		if err != nil {
			return err // it names the operand
		}
		key := ""
		if isSet {
			key = form.Key()
		}
		return c.answer(ctx, app, w, rules.Check(c.rev, key, commits))
	})
}

// answer prints what was found, and fails if something was.
func (c *checkOptions) answer(ctx context.Context, app *App, w *workspace.Workspace, answer result.Checked) error {
	if err := c.print(ctx, app, w, answer); err != nil {
		return err
	}
	if len(answer.Findings) > 0 {
		return exitError(exitFail)
	}
	return nil
}

func (c *checkOptions) print(ctx context.Context, app *App, w *workspace.Workspace, answer result.Checked) error {
	switch c.format {
	case sarif:
		return result.Write(app.Stdout, check.SARIF(answer, app.Version))
	case annotations:
		_, err := io.WriteString(app.Stdout, check.Annotations(answer))
		return err
	}
	return c.shape.answer(ctx, app, w, answer, nil, func(l text.Look) string { return text.Check(l, answer) })
}
