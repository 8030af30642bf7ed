package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/text"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

type statsOptions struct {
	req   ask.StatsRequest
	shape shape
}

// newStatsCmd sums up what sessions took: `git rekal stats --by commit --since "2 weeks ago"`.
func newStatsCmd(app *App) *cobra.Command {
	c := &statsOptions{}
	cmd := &cobra.Command{
		Use: "stats [--by WHAT] [--agent NAME] [--since DATE] [--until DATE] [-n N]", Short: "sum up sessions' tokens",
		Long: `
Sums up what requests to language models took, as the agents' own transcripts count them; nothing is estimated. Input is what was
neither read from a cache nor written to one, output includes what the model thought. Nothing is counted of cursor, droid and
continue. Older versions of copilot-cli count the output only.

By commit, a request belongs to the next commit whose lines or files are its session's; by folder, to that of the first file that was
touched behind the same turn. What belongs to none is "none". By author it shows yourself only, unless rekal.stats.authors is true.

Money is what an agent recorded, in US dollars, or what your own prices of a million tokens say. MODEL may be a glob; the kinds are
input, output, cacheRead and cacheWrite:

  git config --global 'rekal.price.claude-opus-*.input' 5
  git rekal stats --by day --since "2 weeks ago"`,
	}
	fs := cmd.Flags()
	fs.StringVar(&c.req.By, "by", "model", "sum up by `WHAT`: agent, author, branch, commit, day, folder, model or session")
	agentFlag(fs, &c.req.Agent)
	timeFlags(fs, &c.req.Times)
	fs.IntVarP(&c.req.Limit, "limit", "n", 20, "at most `N` lines; 0 for all")
	c.shape.addFlags(fs)
	return app.runs(cmd, c)
}

func (c *statsOptions) validate(_ *pflag.FlagSet, args []string) error {
	if len(args) > 0 {
		return &extraError{args[0]}
	}
	if c.req.Limit < 0 {
		return errors.New("-n must not be below 0")
	}
	if err := ask.CheckGrouping(c.req.By); err != nil {
		return err
	}
	return c.shape.validate()
}

func (c *statsOptions) run(ctx context.Context, app *App) error {
	return app.asks(ctx, "", func(w *workspace.Workspace, at *ask.Moment) error {
		stats, notice, err := at.Stats(ctx, c.req)
		if err != nil {
			return flagged(err)
		}
		if notice != nil {
			app.hint(notice.Error())
		}
		if c.shape.json {
			return result.Write(app.Stdout, stats)
		}
		var names session.Names
		if c.req.By == "session" {
			var shown []string
			for _, r := range stats.Results {
				shown = append(shown, r.Key)
			}
			if names, err = at.Names(ctx, shown...); err != nil {
				return err
			}
		}
		return app.layPlain(ctx, w, c.shape, func(l text.Look) string { return text.Stats(l, stats) }, names)
	})
}
