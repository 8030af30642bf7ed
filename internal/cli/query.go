package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/advice"
	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/text"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

type queryOptions struct {
	sql     string
	index   bool
	timeout time.Duration
	page    ask.Page
	shape   outputFlags
}

// newQueryCmd drills down: `git rekal query --session 01KAB3F9 --offset 12`, or
// `git rekal query "SELECT tool, count(*) FROM tool_calls GROUP BY tool"`.
func newQueryCmd(app *App) *cobra.Command {
	c := &queryOptions{}
	cmd := &cobra.Command{
		Use: `query --session ID [--full] [--offset N] [--limit N] [--role R]
query "SELECT …" [--index] [--timeout D]`, Short: "read sessions, ask in SQL",
		Long: `
With --session it prints a page of a session, or one memory: a conversation on a terminal, elsewhere JSON. A page has at most 20 turns
(--limit) and 20,000 bytes. --offset takes the "turn" of a recall result, or the "next" of the page before. A longer turn is cut; SQL
reads on at "content_next": substr(content, N, 20000). ID may be a prefix of at least 4 characters, or the agent's own. For people
"git rekal show ID" is shorter.

  git rekal query --session 01KJW4MN --role human
  git rekal query --session 01KJW4MN --offset 12 --limit 5

With SQL it runs one read-only SELECT on data.db, and prints one JSON object a row. Tables: sessions, turns, tool_calls, usage, checkpoints,
files_touched, checkpoint_sessions, memories, and purged (the IDs of hidden items, which the other tables still hold). --index uses
index.db. The statement reads no files and no network. It stops after --timeout, above 16 MB of answer, or if it needs too much memory.

  git rekal query "SELECT source, count(*) FROM sessions GROUP BY 1"`,
	}
	fs := cmd.Flags()
	fs.BoolVar(&c.index, "index", false, "run the SQL on index.db")
	fs.DurationVar(&c.timeout, "timeout", 30*time.Second, "stop the SQL after `TIME`, such as 10s or 2m")
	fs.StringVar(&c.page.ID, "session", "", "the session or memory with this `ID`")
	fs.IntVar(&c.page.Offset, "offset", 0, "start at turn `N`")
	fs.IntVar(&c.page.Limit, "limit", 0, "at most `N` turns (default 20), fewer if they are long")
	fs.StringVar(&c.page.Role, "role", "", "only turns of `WHO`: human or assistant")
	fs.BoolVar(&c.page.Full, "full", false, "with tool calls, files, commits, related files and related sessions")
	c.shape.addFlags(fs)
	return app.withOptions(cmd, c)
}

// idForm is what a whole ID, or a beginning of one that is no word, looks like, or one that an agent gave.
var idForm = lazy.Expr(`^(?:0[0-9A-Za-z]{7,25}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$`)

func (c *queryOptions) validate(fs *pflag.FlagSet, args []string) error {
	c.sql = strings.TrimSpace(strings.Join(args, " "))
	if ref := session.OnlyRef(c.page.ID); ref.Turn >= 0 && !fs.Changed("offset") {
		c.page.Offset = ref.Turn
	}
	switch {
	case c.page.ID == "" && c.sql == "":
		return errors.New("give a SELECT or --session ID")
	case c.page.ID != "" && c.sql != "":
		return errors.New("give either a SELECT or --session, not both")
	case fs.Changed("limit") && c.page.Limit < 1:
		return errors.New("--limit must be at least 1")
	case c.page.Offset < 0:
		return errors.New("--offset must not be negative")
	case c.page.ID != "" && c.index:
		return errors.New("--index goes with a SELECT")
	case c.page.ID != "" && fs.Changed("timeout"):
		return errors.New("--timeout goes with a SELECT")
	case c.timeout <= 0:
		return errors.New("--timeout must be positive")
	case idForm.MatchString(c.sql):
		return fmt.Errorf(`%q is no SELECT; to read a session or memory, write "git rekal query --session %s"`, c.sql, c.sql)
	case len(c.sql) > maxSQL:
		return fmt.Errorf("the statement has %d bytes; at most %d are allowed", len(c.sql), maxSQL)
	}
	if r := c.page.Role; r != "" && r != session.RoleHuman && r != session.RoleAssistant {
		return fmt.Errorf(`--role %q: neither "human" nor "assistant"`, r)
	}
	if c.page.ID == "" {
		for _, name := range []string{"offset", "limit", "role", "full", "text", "color"} {
			if fs.Changed(name) {
				return fmt.Errorf("--%s goes with --session", name)
			}
		}
	}
	return c.shape.validate()
}

func (c *queryOptions) run(ctx context.Context, app *App) error {
	if c.page.ID == "" {
		if err := app.needFull(); err != nil {
			return err
		}
	}
	return app.withMoment(ctx, ask.Opening{Reader: c.shape.reader(app)},
		func(w *workspace.Workspace, at *ask.Moment) error {
			if c.page.ID != "" {
				return c.printSession(ctx, app, w, at)
			}
			return c.selectRows(ctx, app, at)
		})
}

func (c *queryOptions) printSession(ctx context.Context, app *App, w *workspace.Workspace, at *ask.Moment) error {
	answer, memory, err := at.Item(ctx, c.page)
	if err != nil {
		return err
	}
	short, err := c.shape.shortener(ctx, app, at)
	if err != nil {
		return err
	}
	if memory != nil {
		return c.shape.answer(ctx, app, w, memory, short, func(l text.Look) string { return text.Memory(l, *memory) })
	}
	if len(answer.Page) == 0 && c.page.Offset >= answer.Turns && answer.Turns > 0 {
		app.hint(fmt.Sprintf("the session has %s, 0 to %d: --offset %d is behind them",
			session.CountNoun(answer.Turns, "turn"), answer.Turns-1, c.page.Offset))
	}
	return c.shape.answer(ctx, app, w, answer, short, func(l text.Look) string { return text.Session(l, *answer) })
}

// What is taken of a statement, and what is given back, in bytes.
const (
	maxSQL    = 256 << 10
	maxAnswer = 16 << 20
)

var errAnswer = advice.New("query: the answer has more than 16 MB", "ask for less: fewer columns, a WHERE, a LIMIT")

// selectRows collects the rows before it prints them: no lock is held while writing.
func (c *queryOptions) selectRows(ctx context.Context, app *App, at *ask.Moment) error {
	file := dataDB
	if c.index {
		file = indexDB
	}
	d, err := app.Full.OpenSQL(ctx, at, file, c.sql, app.notifyMakingTables)
	if err != nil {
		return err
	}
	var out strings.Builder
	err = d.Select(ctx, c.sql, c.timeout, func(columns []string, values []any) error {
		if out.Len() > maxAnswer {
			return errAnswer
		}
		return result.WriteRow(&out, columns, values)
	})
	if err := errors.Join(err, d.Close()); err != nil {
		return err
	}
	_, err = io.WriteString(app.Stdout, out.String())
	return err
}

// notifyMakingTables says why SQL waits.
func (app *App) notifyMakingTables() { app.notifyStep("making the tables for SQL") }
