package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/text"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

type statsOptions struct {
	req             ask.StatsRequest
	lines, sessions bool
	failures        bool
	survival        bool
	of              string // a path or a range
	group           groupFlags
	shape           outputFlags
}

// newStatsCmd sums up what sessions took: `git rekal stats --by commit --since "2 weeks ago"`.
func newStatsCmd(app *App) *cobra.Command {
	c := &statsOptions{shape: outputFlags{linewise: true}}
	cmd := &cobra.Command{
		Use: "stats [--by WHAT | --sessions | --failures | --survival | --lines [PATH|REV|A..B]] [--agent NAME] [--since DATE] [--until DATE] [-n N]", Short: "sum up sessions",
		Long: `
Sums up what requests to language models took, as the agents' own transcripts count them; nothing is estimated. Input is what was
neither read from a cache nor written to one, output includes what the model thought. Nothing is counted of cursor, droid and
continue. Older versions of copilot-cli count the output only.

By commit, a request belongs to the next commit whose lines or files are its session's; by folder, to that of the first file that was
touched behind the same turn. What belongs to none is "none". By author it shows yourself only, unless rekal.stats.authors is true.

Money is what an agent recorded, in US dollars, or what your own prices of a million tokens say. MODEL may be a glob; the kinds are
input, output, cacheRead and cacheWrite:

  git config --global 'rekal.price.claude-opus-*.input' 5
  git rekal stats --by day --since "2 weeks ago"
  git rekal stats --by repository --group

With --sessions it counts sessions instead: a calendar of the last year, how long they last, how many stand behind a commit, and which files change
together. Nobody is compared with others.

With --failures it counts commands that failed, or by path the files that their errors name, with where each was mended last ("git rekal fix" tells
how), and what was dropped: commits that were reverted, and what memories reject.

With --lines it says who wrote the lines of HEAD, of a file or folder, or those that the commits of a range brought, as "why" does of each:
a session, nobody knows, or no session is known behind them, so that a person may have written them. The first time, git is asked about each
file; .git/rekal/state.db keeps the answers.

With --survival it follows the lines that sessions wrote: how many reached a commit, how many of those in HEAD's history live after 30 and 90 days,
and today, by agent, author, folder, model or month. Nothing is guessed: a line counts where "why" is sure. How old it is, its commits tell.

  git rekal stats --survival --by agent
  git rekal stats --sessions --since 2026-01-01
  git rekal stats --lines src
  git rekal stats --lines main..topic`,
	}
	fs := cmd.Flags()
	fs.StringVar(&c.req.By, "by", "model",
		"sum up by `WHAT`: agent, author, branch, commit, day, folder, model, repository or session; with --survival also month; with --failures command or path")
	fs.BoolVar(&c.sessions, "sessions", false, "count sessions instead of tokens")
	fs.BoolVar(&c.failures, "failures", false, "count commands that failed")
	fs.BoolVar(&c.lines, "lines", false, "say who wrote lines")
	fs.BoolVar(&c.survival, "survival", false, "count how long lines live")
	agentFlag(fs, &c.req.Agent)
	timeFlags(fs, &c.req.Times)
	fs.IntVarP(&c.req.Limit, "limit", "n", 20, "at most `N` lines; 0 for all")
	c.group.addFlags(fs)
	c.shape.addFlags(fs)
	return app.withOptions(cmd, c)
}

func (c *statsOptions) validate(fs *pflag.FlagSet, args []string) error {
	if c.lines && len(args) > 0 {
		c.of, args = args[0], args[1:]
	}
	if len(args) > 0 {
		return &extraError{args[0]}
	}
	if c.survival {
		for _, flag := range []string{groupFlag, "all", "sessions", "lines", "failures"} {
			if fs.Changed(flag) {
				return fmt.Errorf("--%s does not go with --survival", flag)
			}
		}
	}
	if c.failures {
		for _, flag := range []string{"sessions", "lines", "agent"} {
			if fs.Changed(flag) {
				return fmt.Errorf("--%s does not go with --failures", flag)
			}
		}
		if !fs.Changed("by") {
			c.req.By = "command"
		}
	}
	for _, flag := range []string{"by", groupFlag, "all", "sessions", "agent", "since", "until"} {
		if ofTokens := slices.Contains([]string{"by", groupFlag, "all"}, flag); fs.Changed(flag) &&
			(c.lines || c.sessions && ofTokens) {
			return fmt.Errorf("--%s does not go with --%s", flag, map[bool]string{true: "lines", false: "sessions"}[c.lines])
		}
	}
	if c.req.Limit < 0 {
		return errors.New("-n must not be below 0")
	}
	words := ask.Groupings()
	switch {
	case c.survival:
		words = ask.SurvivalGroupings()
	case c.failures:
		words = ask.FailureGroupings()
	}
	if err := ask.CheckGrouping(c.req.By, words); err != nil {
		return err
	}
	return cmp.Or(c.group.validate(fs), c.shape.validate())
}

func (c *statsOptions) run(ctx context.Context, app *App) error {
	if c.group.isGiven() {
		return c.runGroup(ctx, app)
	}
	if c.survival {
		if err := app.needFull(); err != nil {
			return err
		}
	}
	return app.withMoment(ctx, ask.Opening{Reader: c.shape.reader(app)},
		func(w *workspace.Workspace, at *ask.Moment) error {
			switch {
			case c.survival:
				return c.countSurvival(ctx, app, w, at)
			case c.lines:
				return c.countLines(ctx, app, w, at)
			case c.failures:
				failures, err := at.Failures(ctx, c.req)
				if err != nil {
					return withFlagName(err)
				}
				ask.LimitFailures(&failures, c.req.Limit)
				return c.printFailures(ctx, app, w, failures)
			case c.sessions:
				work, err := at.Work(ctx, c.req)
				if err != nil {
					return withFlagName(err)
				}
				return c.shape.answer(ctx, app, w, work, nil, func(l text.Look) string { return text.Work(l, work) })
			}
			stats, notice, err := at.Stats(ctx, c.req)
			if err != nil {
				return withFlagName(err)
			}
			var names session.Names
			if c.req.By == "session" && !c.shape.json {
				var shown []string
				for _, r := range stats.Results {
					shown = append(shown, r.Key)
				}
				if names, err = at.Names(ctx, shown...); err != nil {
					return err
				}
			}
			return c.print(ctx, app, w, stats, notice, names.Short)
		})
}

func (c *statsOptions) printFailures(ctx context.Context, app *App, w *workspace.Workspace, f result.Failures) error {
	return c.shape.answer(ctx, app, w, f, nil, func(l text.Look) string { return text.Failures(l, f) })
}

func (c *statsOptions) countLines(ctx context.Context, app *App, w *workspace.Workspace, at *ask.Moment) error {
	shown := app.meter("counting lines")
	lines, err := at.LineStats(ctx, c.of, c.req.Limit, shown.setProgress)
	shown.end()
	if err != nil {
		return withFlagName(err)
	}
	return c.shape.answer(ctx, app, w, lines, nil, func(l text.Look) string { return text.Lines(l, lines) })
}

func (c *statsOptions) countSurvival(ctx context.Context, app *App, w *workspace.Workspace, at *ask.Moment) error {
	_, notice, err := at.OnlyAuthor(ctx, c.req.By)
	if err != nil {
		return err
	}
	if notice != nil {
		app.hint(notice.Error())
	}
	shown := app.meter("following lines")
	lines, err := app.Full.Survival(ctx, w, at, c.req, shown.setProgress)
	shown.end()
	if err != nil {
		return withFlagName(err)
	}
	return c.shape.answer(ctx, app, w, lines, nil, func(l text.Look) string { return text.Survival(l, lines) })
}

func (c *statsOptions) print(ctx context.Context, app *App, w *workspace.Workspace, stats result.Stats, notice error,
	short func(string) string,
) error {
	if notice != nil {
		app.hint(notice.Error())
	}
	return c.shape.answer(ctx, app, w, stats, short, func(l text.Look) string { return text.Stats(l, stats) })
}
