package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/materialize"
	"github.com/git-rekal/git-rekal/internal/recall"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// logCommand shows checkpoints: `git rekal log -n 5`.
type logCommand struct {
	req  recall.LogRequest
	json bool
}

func logEntry() entry {
	return entry{
		name: "log", usage: "log [-n N] [filters] [--json]", short: "list checkpoints",
		long: `
Shows the checkpoints of everybody whose ledger is here, like "git log": the code commit, who made it and when, and the sessions behind
it; the newest first. With --agent: those that have sessions of this agent, and these. What was imported and is tied to no commit is in
none. With --json: one object a line.`,
		make: func() command { return &logCommand{} },
	}
}

func (c *logCommand) addFlags(fs *pflag.FlagSet) {
	fs.IntVarP(&c.req.Limit, "limit", "n", 20, "at most `N` checkpoints")
	authorFlag(fs, &c.req.Author)
	agentFlag(fs, &c.req.Agent)
	timeFlags(fs, &c.req.Times)
	fs.BoolVar(&c.json, "json", false, "JSON, one object a line")
}

func (c *logCommand) validate(args []string) error {
	if c.req.Limit < 1 {
		return errors.New("-n must be at least 1")
	}
	return noArgs(args)
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
		return c.print(app, w, checkpoints, names)
	})
}

func (c *logCommand) print(app *App, w *workspace.Workspace, checkpoints []result.Checkpoint, short session.Names) error {
	for i, cp := range checkpoints {
		err := error(nil)
		if c.json {
			err = result.Write(app.Stdout, cp)
		} else {
			err = printCheckpoint(app.Stdout, cp, w.Subject(cp.Commit), short, i > 0)
		}
		if err != nil {
			return err
		}
	}
	if len(checkpoints) == 0 && short.Len() > 0 && !c.json && c.req.Agent+c.req.Author+c.req.Since+c.req.Until == "" {
		app.hint(`no checkpoint yet: memories, and what was imported and could not be tied to a commit, are in none; "git rekal -n 5" shows them`)
	}
	return nil
}

// maxLogged is how many sessions of a checkpoint are shown as text.
const maxLogged = 20

func printCheckpoint(w io.Writer, cp result.Checkpoint, subject string, short session.Names, gap bool) error {
	var b strings.Builder
	if gap {
		b.WriteByte('\n')
	}
	commit := "before the first commit"
	if cp.Commit != session.ZeroSHA {
		commit = "commit " + result.Short(cp.Commit)
		if cp.Branch != "HEAD" || cp.Via != session.ViaImport { // of a commit that was imported, the branch may not be known
			commit += " (" + cp.Branch + ")"
		}
		commit = strings.TrimSpace(commit + " " + subject)
	}
	fmt.Fprintf(&b, "checkpoint %s\n", cp.Checkpoint)
	fmt.Fprintf(&b, "Code:   %s\n", printable(commit))
	fmt.Fprintf(&b, "Author: %s", printable(cp.Author))
	if cp.Actor == session.ActorAgent {
		b.WriteString(" (agent)")
	}
	b.WriteString("\nDate:   " + gitDate(cmp.Or(cp.LastTurnAt, cp.TS)))
	fmt.Fprintf(&b, "\nVia:    %s", printable(cp.Via))
	if cp.LastTurnAt != "" {
		b.WriteString(" on " + gitDate(cp.TS))
	}
	fmt.Fprintf(&b, ", %s\n\n", plural(cp.Files, "file"))
	for i, s := range cp.Sessions {
		if i == maxLogged {
			fmt.Fprintf(&b, "    and %d more: \"git rekal --commit %s\"\n", len(cp.Sessions)-i, result.Short(cp.Commit))
			break
		}
		note := ""
		if s.Inferred {
			note = ", inferred"
		}
		fmt.Fprintf(&b, "    %s  %s\n        %s, %s, %s%s\n", short.Short(s.ID), printable(s.Title),
			printable(s.Source), plural(s.Turns, "turn"), plural(s.Tools, "tool call"), note)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// gitDate is a time as git log shows it.
func gitDate(ts string) string {
	t, err := time.Parse(time.RFC3339, ts)
	if err != nil {
		return ts
	}
	return t.Format("Mon Jan 2 15:04:05 2006 -0700")
}
