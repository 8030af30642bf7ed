package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/curate"
	"github.com/git-rekal/git-rekal/internal/records"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/text"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

type showOptions struct {
	what                         string
	raw, stat, prompts, md, full bool
	shape                        outputFlags
}

// newShowCmd tells what stands behind a commit, a range, a session or a line, and prints records: `git rekal show
// main..topic --md`.
func newShowCmd(app *App) *cobra.Command {
	c := &showOptions{}
	cmd := &cobra.Command{
		Use: "show [WHAT] [--full] [--stat|--prompts|--md|--json]\nshow N --raw", Short: "read a commit's sessions",
		Long: `
Shows commits and their sessions, as "git show" does: prompts, answers, tool calls, and what changed. WHAT is one of:

REV, RANGE::
Commits (default: HEAD), and the part of each session that led to them.

SESSION::
A session, by a prefix of its ID or of the agent's own, at least 4 characters. Of a long one it shows an outline: prompts, and commits between
them.

SESSION:TURN::
What was said around a turn. The pager opens there.

MEMORY::
A memory.

PATH:LINE::
The sessions behind a line, as "git rekal why" finds them.

N::
A record of what a command printed: a line about it, and what mattered. --raw prints the output itself without secrets; above 8 MB the first
and last 4. The raw output is kept for 7 days, the record for 90.

"show" is for reading. "git rekal query --session" gives scripts and agents a session page by page. "git rekal web" is for browsing.

  git rekal show HEAD~1
  git rekal show --md main..topic
  git rekal show --prompts 01KJW4MN
  git rekal show 42 --raw | grep timeout`,
		ValidArgsFunction: app.completionFor(takesID),
	}
	fs := cmd.Flags()
	fs.BoolVar(&c.raw, "raw", false, "the raw output of a record, without secrets; kept for 7 days")
	fs.BoolVar(&c.stat, "stat", false, "what each commit changed, and one line a session")
	fs.BoolVar(&c.prompts, "prompts", false, "only what people asked")
	fs.BoolVar(&c.md, "md", false, "a page of Markdown: what was asked, the last words, and the commits")
	fs.BoolVar(&c.full, "full", false, "all turns of a long session")
	c.shape.addFlags(fs)
	return app.withOptions(cmd, c)
}

func (c *showOptions) validate(_ *pflag.FlagSet, args []string) error {
	if len(args) > 1 {
		return &extraError{args[1]}
	}
	c.what = "HEAD"
	if len(args) == 1 {
		if c.what = args[0]; c.what == "" {
			return errors.New("give a commit, a session, a line or the number of a record")
		}
	}
	n := 0
	for _, on := range []bool{c.raw, c.stat, c.prompts, c.full, c.md, c.shape.json} {
		if on {
			n++
		}
	}
	if n > 1 {
		return errors.New("--raw, --stat, --prompts, --full, --md and --json do not go together")
	}
	return c.shape.validate()
}

func (c *showOptions) run(ctx context.Context, app *App) error {
	if id, ok := records.ParseID(c.what); ok {
		if err := c.printRecord(ctx, app, id); !errors.Is(err, records.ErrNone) || c.raw || len(c.what) < shortestRev {
			return err
		}
	}
	if c.raw {
		return &usageError{err: fmt.Errorf("--raw: %q is no number of a record", c.what), command: "show"}
	}
	app.Public = c.md
	return app.withMoment(ctx, ask.Opening{Reader: c.shape.reader(app)},
		func(w *workspace.Workspace, at *ask.Moment) error {
			told, err := at.Story(ctx, c.what)
			if err != nil {
				return err
			}
			if told.Cut {
				app.hint(`this clone is shallow, so commits are left out: "git fetch --unshallow" gets them`)
			}
			if !c.md {
				return c.print(ctx, app, w, told)
			}
			page, err := at.Review(ctx, told)
			if err == nil {
				_, err = io.WriteString(app.Stdout, page)
			}
			return err
		})
}

// shortestRev is how many digits may be the beginning of a commit or ID.
const shortestRev = 4

func (c *showOptions) print(ctx context.Context, app *App, w *workspace.Workspace, shown result.Story) error {
	view := text.Brief
	switch {
	case c.full:
		view = text.Full
	case c.stat:
		view = text.Stat
	case c.prompts:
		view = text.Prompts
	}
	c.shape.linewise = true
	return c.shape.answerAt(ctx, app, w, shown, nil, func(l text.Look) (string, int) { return text.Story(l, shown, view) })
}

// printRecord prints a record of what a command printed.
func (c *showOptions) printRecord(ctx context.Context, app *App, id int) error {
	w, err := workspace.Open(ctx, app.Process)
	if err != nil {
		return err
	}
	defer w.Close()
	r, err := ask.Record(ctx, w, id)
	switch {
	case err != nil:
		return err
	case c.shape.json:
		return result.Write(app.Stdout, recordShape(r))
	case !c.raw:
		_, err = io.WriteString(app.Stdout, recordText(r, app.formatTime(r.At)))
		return err
	}
	var raw []byte
	err = w.WithRecords(ctx, func(v *records.View) (err error) {
		raw, err = v.RawOutput(ctx, id)
		return err
	})
	if errors.Is(err, records.ErrNoRaw) && r.From != nil {
		return fmt.Errorf("the output of %d is not kept here: it stands in %s, at %s", id, curate.TranscriptOf(ctx, w, r),
			app.formatTime(r.At))
	}
	if err != nil {
		return err
	}
	_, err = app.Stdout.Write(raw)
	return err
}

// recordShape is a record as JSON.
func recordShape(r records.Record) result.Record {
	out := result.Record{
		Schema: result.Schema, ID: fmt.Sprint(r.ID), Kind: "record", CapturedAt: result.Time(r.At), Command: r.Command,
		Dir: r.Dir, Branch: r.Branch,
		Exit: r.Exit, Instruction: r.Instruction, Purged: r.Hidden, Text: r.Text,
	}
	if f := r.From; f != nil {
		out.Source, out.Session = f.Source, cmp.Or(f.Session, f.Native)
		if f.Turn >= 0 {
			out.Turn = &f.Turn
		}
	}
	return out
}

// recordText shows a record to a person or an agent. at is when it was made, as its readers take it.
func recordText(r records.Record, at string) string {
	head := fmt.Sprintf("[%d] %s", r.ID, at)
	if r.Exit != nil {
		head += fmt.Sprintf(" exit %d", *r.Exit)
	}
	if r.Hidden {
		head += " purged"
	}
	if r.Command != "" {
		head += "\n$ " + printable(r.Command)
	}
	if r.Dir != "" {
		head += "\nin " + printable(r.Dir)
	}
	if f := r.From; f != nil {
		head += fmt.Sprintf("\nby %s in session %s", f.Source, cmp.Or(f.Session, f.Native))
		if f.Turn >= 0 {
			head += fmt.Sprintf(", turn %d", f.Turn)
		}
	}
	if r.Instruction != "" {
		head += "\nlooking for: " + printable(r.Instruction)
	}
	return head + "\n\n" + r.Text
}
