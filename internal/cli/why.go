package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/text"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

type whyOptions struct {
	req   ask.WhyRequest
	lines string // "10,20" as in "git blame -L 10,20"
	shape outputFlags
}

// newWhyCmd tells where lines come from: `git rekal why src/jwt.go:40,52`.
func newWhyCmd(app *App) *cobra.Command {
	c := &whyOptions{}
	cmd := &cobra.Command{
		Use: "why PATH[:LINE[,LINE]] [-L RANGE] [FILTER…]", Short: "sessions behind lines",
		Long: `
Finds the commits that brought the lines of a file, as "git blame -w" does, and the sessions behind them. It follows amends, rebases, renames,
reverts and squash merges. It prints text on a terminal, elsewhere JSON. The session that explains most lines comes first. "explains"
lists its lines, and which of them several sessions share. "why" lists uncommitted lines, and lines that no session explains.

LINE,LINE may also be FIRST-LAST or FIRST,+COUNT. Without lines it is about the whole file. PATH is from the current folder or from the
repository's root. A file whose name ends in a colon and a number is found by that name. --checkpoint uses the file of that
checkpoint's code commit. A blame stops after 20 seconds.

Several words that are no path are a question: "git rekal why is the token refreshed twice" is a search.

  git rekal why src/auth/jwt.go:42
  git rekal why src/auth/jwt.go:40,52 -n 3
  git rekal why -L 40,+13 src/auth/jwt.go
  git rekal why --checkpoint v1.2.0 src/auth/jwt.go`,
	}
	fs := cmd.Flags()
	fs.Func("checkpoint", "answer as of a past state `REF`, as in recall", setOnce(&c.req.Checkpoint))
	fs.IntVarP(&c.req.Limit, "limit", "n", 0, "at most `N` results (default: all)")
	fs.FuncP("lines", "L", "the lines `RANGE`, as in git blame: LINE, FIRST,LAST or FIRST,+COUNT", setOnce(&c.lines))
	timeFlags(fs, &c.req.Times)
	c.shape.addFlags(fs)
	return app.withOptions(cmd, c)
}

// asksWhy reports whether what stands behind "why" is a question in words: several of which not each one is a path, or
// lines of one.
func (app *App) asksWhy(args []string) bool {
	fs := newWhyCmd(app).Flags()
	err := fs.Parse(translateGitFlags(fs, args))
	said := fs.Args()
	if err != nil { // it may have flags that a search alone has
		fs = newRecallCmd(app).Flags()
		err = fs.Parse(maskQuestion(fs, args))
		said = unmaskWords(fs.Args())
	}
	return err == nil && len(strings.Fields(strings.Join(said, " "))) > 1 &&
		slices.ContainsFunc(said, func(arg string) bool {
			path, last := strings.TrimRight(arg, "0123456789,+-:"), arg[strings.LastIndexByte(arg, ' ')+1:]
			_, missing := os.Lstat(app.Path(path))
			return path != "" && missing != nil && !operand.MatchString(last)
		})
}

func (c *whyOptions) validate(fs *pflag.FlagSet, args []string) error {
	switch {
	case len(args) == 0 || args[0] == "":
		return errors.New("give a file, as PATH or PATH:LINE or PATH:FIRST,LAST")
	case len(args) > 1:
		return &extraError{args[1]}
	case strings.ContainsFunc(c.lines, func(r rune) bool { return !strings.ContainsRune("0123456789,+-", r) }):
		return fmt.Errorf("-L %q: lines are LINE, FIRST,LAST or FIRST,+COUNT", c.lines)
	case fs.Changed("limit") && c.req.Limit < 1:
		return errors.New("-n must be at least 1")
	}
	if c.req.Target = args[0]; c.lines != "" {
		c.req.Target += ":" + c.lines
	}
	return c.shape.validate()
}

func (c *whyOptions) run(ctx context.Context, app *App) error {
	return app.withMoment(ctx, ask.Opening{At: c.req.Checkpoint, Reader: c.shape.reader(app)},
		func(w *workspace.Workspace, at *ask.Moment) error {
			answer, err := at.Why(ctx, c.req)
			if err != nil {
				return err
			}
			short, err := c.shape.shortener(ctx, app, at)
			var said map[string]result.Exchange
			if err == nil && c.shape.printsText(app) {
				said, err = at.Exchanges(ctx, answer.Results)
			}
			if err != nil {
				return err
			}
			return c.shape.answer(ctx, app, w, answer, short, func(l text.Look) string { return text.Recall(l, answer, said) })
		})
}
