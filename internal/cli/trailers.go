package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/text"
	"github.com/git-rekal/git-rekal/internal/trailer"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

type trailersOptions struct {
	rev     string
	form    string
	staged  bool
	rewrite bool
	replace bool // with rewrite
	shape   outputFlags
}

// newTrailersCmd says who helped, for commits' messages: `git rekal trailers main..topic`.
func newTrailersCmd(app *App) *cobra.Command {
	c := &trailersOptions{shape: outputFlags{linewise: true}}
	cmd := &cobra.Command{
		Use: "trailers [--form FORM] [REV|A..B]\ntrailers --staged [--form FORM]\ntrailers --rewrite [--replace] [--form FORM] REV|A..B", Short: "name who helped in commits",
		Long: `
Prints the trailers that are true of a commit: one for each agent and model whose session is known to have written lines of it, to have edited
files for it, or to have made it. Who only talked meanwhile has none. A merge has none, as its commits have theirs. Of a range, each commit
stands above its own. The default is HEAD. --json prints an object a commit, with the evidence.

--staged is about what is staged, by what agents have written so far. "git rekal init --trailers" has each commit name them as it is made.

--rewrite adds them to commits that no remote has, up to HEAD, by "git interpret-trailers", and makes these and what is built on them anew. Merges
and Signed-off-by stay as they are. --replace takes out lines that name agents otherwise.

FORM, or rekal.trailer, is one of these, or a template. A project may name it for all in a file .gitrekal at its root, as in git's configuration:
"[rekal]" and "trailer = generated-by".

assisted-by::
Assisted-by: AGENT:MODEL, as the Linux kernel wants it. This is the default.

generated-by::
Generated-by: AGENT MODEL.

co-authored-by::
Co-authored-by: NAME <ADDRESS>, of agents that have an address of their own.

"AI: {agent} {model}"::
A template. It may have {agent}, {model}, {version} (of the agent), {share} (percent of the lines), {session} (a link), {name} and {email}.

  git rekal trailers
  git rekal trailers --rewrite @{upstream}..
  git rekal trailers --form "AI-Used: {agent} ({share} %) {session}" main..topic`,
		ValidArgsFunction: app.completionFor(takesRange),
	}
	fs := cmd.Flags()
	fs.StringVar(&c.form, "form", "", "name agents in `FORM` (default: rekal.trailer, else assisted-by)")
	fs.BoolVar(&c.staged, "staged", false, "of what is staged")
	fs.BoolVar(&c.rewrite, "rewrite", false, "add them to the messages of commits")
	fs.BoolVar(&c.replace, "replace", false, "with --rewrite: take out lines that name agents otherwise")
	c.shape.addFlags(fs)
	return app.withOptions(cmd, c)
}

func (c *trailersOptions) validate(_ *pflag.FlagSet, args []string) error {
	switch {
	case c.rewrite && (c.staged || c.shape.json):
		return errors.New("--rewrite goes with neither --staged nor --json")
	case c.rewrite && len(args) == 0:
		return errors.New("--rewrite needs a commit or a range")
	case c.replace && !c.rewrite:
		return errors.New("--replace goes with --rewrite")
	case c.staged && len(args) > 0:
		return errors.New("--staged goes without a commit")
	}
	if c.rev = "HEAD"; len(args) > 0 {
		c.rev, args = args[0], args[1:]
	}
	if err := noArgs(args); err != nil {
		return err
	}
	if _, err := trailer.ParseForm(c.form); err != nil {
		return fmt.Errorf("--form: %w", err)
	}
	return c.shape.validate()
}

// trailerForm is the form that is asked for, else that of the repository. isSet tells whether anything names it.
func trailerForm(ctx context.Context, w *workspace.Workspace, asked string) (form trailer.Form, isSet bool, err error) {
	if asked == "" {
		return w.TrailerForm(ctx)
	}
	form, err = trailer.ParseForm(asked)
	return form, true, err
}

func (c *trailersOptions) run(ctx context.Context, app *App) error {
	if c.staged {
		return c.runStaged(ctx, app)
	}
	return app.withMoment(ctx, ask.Opening{Reader: app.reader()}, func(w *workspace.Workspace, at *ask.Moment) error {
		form, _, err := trailerForm(ctx, w, c.form)
		if err != nil {
			return err
		}
		all, err := at.Helped(ctx, c.rev, form, nil)
		if err != nil {
			return err // it names the operand
		}
		if c.rewrite {
			return c.reword(ctx, app, w, all)
		}
		if c.shape.json {
			for _, h := range all {
				err = errors.Join(err, result.Write(app.Stdout, h))
			}
			return err
		}
		for _, h := range all {
			for _, helper := range h.Helpers {
				if helper.Trailer == "" {
					app.hint(fmt.Sprintf("%s: %s has no address that %s could name", result.ShortOID(h.Commit),
						printable(helper.Agent), form.Key()))
				}
			}
		}
		alone := !strings.Contains(c.rev, "..") && len(all) < 2
		return c.shape.answer(ctx, app, w, nil, nil, func(l text.Look) string { return text.Trailers(l, all, alone) })
	})
}
