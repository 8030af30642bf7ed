package cli

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/materialize"
	"github.com/git-rekal/git-rekal/internal/recall"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/text"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// logCommand shows checkpoints: `git rekal log -n 5`.
type logCommand struct {
	req     recall.LogRequest
	oneline bool
	shape   shape
	flags   *pflag.FlagSet
}

func logEntry() entry {
	return entry{
		name: "log", usage: "log [-n N] [--oneline] [FILTER…] [A..B] [-- PATH…]", short: "list checkpoints",
		long: `
Lists the checkpoints of all ledgers here, the newest first, like "git log": the code commit, its author and date, and its sessions. For an
import, the date is when its sessions took place. Imported sessions that are tied to no commit are in no checkpoint.

A..B shows checkpoints at the commits of this range, also if a squash merge took them up. PATH is a pathspec: the commit changed such a file.
--agent shows checkpoints with sessions of this agent, and only these sessions. --json prints one object a line.

  git rekal log --oneline main..topic
  git rekal log --author alice --since "2 weeks ago" -- src/auth`,
		takes: takesRange,
		make:  func() command { return &logCommand{} },
	}
}

func (c *logCommand) addFlags(fs *pflag.FlagSet) {
	fs.IntVarP(&c.req.Limit, "limit", "n", 20, "at most `N` checkpoints")
	authorFlag(fs, &c.req.Author)
	agentFlag(fs, &c.req.Agent)
	timeFlags(fs, &c.req.Times)
	fs.BoolVar(&c.oneline, "oneline", false, "one line for each checkpoint")
	c.shape.addFlags(fs)
	c.flags = fs
}

func (c *logCommand) validate(args []string) error {
	if c.req.Limit < 1 {
		return errors.New("-n must be at least 1")
	}
	if c.oneline && c.shape.json {
		return errors.New("give either --json or --oneline, not both")
	}
	if dash := c.flags.ArgsLenAtDash(); dash >= 0 {
		args, c.req.Paths = args[:dash], args[dash:]
	}
	if len(args) > 0 && strings.Contains(args[0], "..") {
		args, c.req.Range = args[1:], args[0]
	}
	return cmp.Or(noArgs(args), c.shape.validate())
}

func (c *logCommand) run(ctx context.Context, app *App) error {
	return app.read(func(w *workspace.Workspace, m *materialize.Materializer) error {
		past, err := asOf(ctx, w, m, new(string))
		if err != nil {
			return err
		}
		data, err := past.Tables.Open(ctx)
		if err != nil {
			return err
		}
		c.req.Now = w.Now()
		checkpoints, err := recall.Log(ctx, data.DB, w.Repo, c.req)
		var names session.Names
		if err == nil {
			names, err = data.Names(ctx)
		}
		if err := errors.Join(flagged(err), data.Close()); err != nil {
			return err
		}
		return c.print(ctx, app, w, checkpoints, names)
	})
}

func (c *logCommand) print(ctx context.Context, app *App, w *workspace.Workspace, checkpoints []result.Checkpoint, names session.Names) error {
	if c.shape.json {
		for _, cp := range checkpoints {
			if err := result.Write(app.Stdout, cp); err != nil {
				return err
			}
		}
		return nil
	}
	form := text.Log
	if c.oneline {
		form = text.Oneline
	}
	switch {
	case len(checkpoints) > 0:
	case !c.everything():
		app.say("no checkpoint matches")
	case names.Len() > 0:
		app.hint(`no checkpoint yet; "git rekal -n 5" shows memories, and imported sessions without a commit`)
	}
	return app.layPlain(ctx, w, c.shape, func(l text.Look) string { return form(l, checkpoints, w.Subject) }, names)
}

// everything reports whether nothing is filtered.
func (c *logCommand) everything() bool {
	return c.req.Agent+c.req.Author+c.req.Since+c.req.Until+c.req.Range == "" && len(c.req.Paths) == 0
}
