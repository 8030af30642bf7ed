package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/group"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/text"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

type logOptions struct {
	req     ask.LogRequest
	oneline bool
	group   groupFlags
	shape   outputFlags
	words   []string // before "--": a revision or range, then paths
	dashed  bool     // whether "--" was given
}

// newLogCmd shows checkpoints: `git rekal log -n 5`.
func newLogCmd(app *App) *cobra.Command {
	c := &logOptions{shape: outputFlags{linewise: true}}
	cmd := &cobra.Command{
		Use: "log [-n N] [--oneline] [FILTER…] [REV|A..B] [[--] PATH…]", Short: "list checkpoints",
		Long: `
Lists the checkpoints of all ledgers here, the newest first, like "git log": the code commit, its author and date, and its sessions. For an
import, the date is when its sessions took place. Imported sessions that are tied to no commit are in no checkpoint.

A..B shows checkpoints at the commits of this range, also if a squash merge took them up. REV shows those at this commit
and all before it. -3 is -n 3. PATH is a pathspec: the commit changed such a file. --agent shows checkpoints with sessions of this agent,
and only these sessions; so does --verified. --json prints one object a line.

  git rekal log --oneline main..topic
  git rekal log --author alice --since "2 weeks ago" -- src/auth`,
		ValidArgsFunction: app.completionFor(takesRange),
	}
	fs := cmd.Flags()
	fs.IntVarP(&c.req.Limit, "limit", "n", 20, "at most `N` checkpoints")
	authorFlag(fs, &c.req.Author)
	agentFlag(fs, &c.req.Agent)
	timeFlags(fs, &c.req.Times)
	verifiedFlag(fs, &c.req.Verified)
	fs.BoolVar(&c.oneline, "oneline", false, "one line for each checkpoint")
	c.group.addFlags(fs)
	c.shape.addFlags(fs)
	return app.withOptions(cmd, c)
}

func (c *logOptions) validate(fs *pflag.FlagSet, args []string) error {
	if c.req.Limit < 1 {
		return errors.New("-n must be at least 1")
	}
	if c.oneline && c.shape.json {
		return errors.New("give either --json or --oneline, not both")
	}
	if dash := fs.ArgsLenAtDash(); dash >= 0 {
		c.dashed = true
		args, c.req.Paths = args[:dash], args[dash:]
	}
	if c.words = args; c.group.isGiven() && len(c.words)+len(c.req.Paths) > 0 {
		return errors.New("REV and PATH go with one repository, neither with --group nor with --all")
	}
	if err := c.group.validate(fs); err != nil {
		return err
	}
	return c.shape.validate()
}

// splitOperands puts the words where they belong. Before "--" no path stands, and no revision has to be told from one.
func (c *logOptions) splitOperands(at *ask.Moment) error {
	if c.dashed {
		if len(c.words) > 1 {
			return &usageError{err: &extraError{c.words[1]}, command: "log"}
		}
		c.req.Range = strings.Join(c.words, "")
		return nil
	}
	rev, paths, err := at.Operands(c.words)
	c.req.Range, c.req.Paths = rev, paths
	return err
}

func (c *logOptions) run(ctx context.Context, app *App) error {
	if c.group.isGiven() {
		return c.runGroup(ctx, app)
	}
	return app.withMoment(ctx, ask.Opening{Reader: c.shape.reader(app)},
		func(w *workspace.Workspace, at *ask.Moment) error {
			if err := c.splitOperands(at); err != nil {
				return err
			}
			checkpoints, err := at.Log(ctx, c.req)
			if err != nil {
				return withFlagName(err)
			}
			names, err := at.Names(ctx, sessionIDs(checkpoints)...)
			if err != nil {
				return err
			}
			return c.print(ctx, app, w, group.Log{
				Checkpoints: checkpoints, Sessions: names.Len(), Short: names.Short,
				Subject: w.Subject,
			})
		})
}

// sessionIDs are the IDs of sessions.
func sessionIDs(checkpoints []result.Checkpoint) (ids []string) {
	for _, c := range checkpoints {
		for _, s := range c.Sessions {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// nothingYet is what a person is told who asks before there is an answer.
const nothingYet = `nothing is captured here yet: work with a coding agent as ever, and commit; "git rekal doctor" says whether all is set up`

func (c *logOptions) print(ctx context.Context, app *App, w *workspace.Workspace, log group.Log) error {
	if c.shape.json {
		for _, cp := range log.Checkpoints {
			if err := result.Write(app.Stdout, cp); err != nil {
				return err
			}
		}
		return nil
	}
	c.explainNoCheckpoints(app, log.Checkpoints, log.Sessions)
	return c.shape.answer(ctx, app, w, nil, log.Short, func(l text.Look) string {
		if c.group.isGiven() { // the settings are those of one of the repositories
			l.Commit = nil
		}
		if c.oneline {
			return text.Oneline(l, log.Checkpoints, log.Subject)
		}
		return text.Log(l, log.Checkpoints, log.Subject)
	})
}

// explainNoCheckpoints says why no checkpoint is shown, though the index has sessions.
func (c *logOptions) explainNoCheckpoints(app *App, checkpoints []result.Checkpoint, sessions int) {
	switch {
	case len(checkpoints) > 0:
	case !c.isUnfiltered():
		app.notify("no checkpoint matches")
	case sessions > 0:
		app.hint(`no checkpoint yet; "git rekal -n 5" shows memories, and imported sessions without a commit`)
	case app.seenByPerson(c.shape):
		app.hint(nothingYet)
	}
}

// isUnfiltered reports whether nothing is filtered.
func (c *logOptions) isUnfiltered() bool {
	return c.req.Agent+c.req.Author+c.req.Since+c.req.Until+c.req.Range == "" && len(c.req.Paths) == 0 && !c.req.Verified
}
