package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/curate"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/story"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

type exportOptions struct {
	dir     string
	mine    bool
	parquet string // "" for none
	noText  bool
	mirrors string
	group   groupFlags
	format  string // "" for sessions
	write   bool
	rev     string // with format
	sign    bool
}

// newExportCmd writes out all that this clone has: `git rekal export --md sessions/`.
func newExportCmd(app *App) *cobra.Command {
	c := &exportOptions{}
	cmd := &cobra.Command{
		Use: "export [--mine] [--md DIR]\nexport --format FORMAT [--write|--sign] [RANGE]\nexport --format otel [--mine] [--no-text]\nexport --parquet DIR|s3://BUCKET/FOLDER [--no-text] [--group[=NAME]|--all|--bare-mirrors DIR]", Short: "write out all sessions",
		Long: `
Prints everything that recall finds in this clone, one JSON object a line: whole sessions, memories, and records of what commands
printed. "kind" tells them apart. It includes all ledgers here, without purged and scrubbed texts. Times are UTC.

With --md it writes Markdown instead, a file for each session and memory, without records.

With --format it prints who wrote the lines of commits in a format of other tools: "agent-trace" (Agent Trace 0.1.0), a record for each commit of
RANGE, or "git-ai-notes" (Git AI 3.0.0), the note of each. RANGE is a commit or a range; the default is HEAD. Only lines that a session is known to
have written count as its. --write stores the notes in refs/notes/ai; entries that are there stay. "in-toto" is a statement on all commits of RANGE (in-toto
Statement v1): who helped, by which commits of ledgers that is known, and what nobody knows. Clones with the same ledgers and known keys print the same
bytes. --sign puts it into a DSSE envelope, signed by git's signing key. "git rekal check --statement FILE" verifies it.

With --format otel it prints traces of OpenTelemetry: OTLP as JSON, a line for each session, by the conventions for generative AI 0.1.0. A session is
the span of an agent, above those of what the model was asked and of calls of tools, with tokens. --no-text leaves out what --parquet leaves out.

With --parquet it writes tables for other engines into DIR: Parquet files by table, repository and month, and manifest.json with a sum of each. A
later run writes only what is new or changed, and removes what was purged or scrubbed. A bucket's key is read from AWS_ACCESS_KEY_ID and
AWS_SECRET_ACCESS_KEY, its server from AWS_REGION or AWS_ENDPOINT_URL. docs/engines/README.md has the tables, and statements for DuckDB,
ClickHouse and Spark. Private sessions and records stay out.

  git rekal export > backup.jsonl
  git rekal export --format agent-trace main..topic
  git rekal export --mine --md ~/sessions
  git rekal export --format otel > traces.jsonl
  git rekal export --parquet /srv/lake --group shop`,
	}
	fs := cmd.Flags()
	fs.StringVar(&c.dir, "md", "", "write Markdown files into `DIR`, which is made if needed")
	fs.StringVar(&c.format, "format", "",
		"another `FORMAT`: agent-trace, git-ai-notes or in-toto for lines, otel for sessions")
	fs.BoolVar(&c.sign, "sign", false, "with in-toto: sign with git's signing key")
	fs.BoolVar(&c.write, "write", false, "with git-ai-notes: write refs/notes/ai")
	fs.BoolVar(&c.mine, "mine", false, "only your own sessions and memories")
	fs.StringVar(&c.parquet, "parquet", "",
		"write Parquet files into `DIR`, which is made if needed, or into s3://BUCKET/FOLDER")
	fs.BoolVar(&c.noText, "no-text", false, "with --parquet and otel: no prompts, answers, titles, commands and memories")
	fs.StringVar(&c.mirrors, "bare-mirrors", "", "with --parquet: all mirrors in `DIR`: see \"git rekal help mirror\"")
	c.group.addFlags(fs)
	return app.withOptions(cmd, c)
}

func (c *exportOptions) validate(fs *pflag.FlagSet, args []string) error {
	if fs.Changed("md") && c.dir == "" {
		return errors.New("--md needs a folder")
	}
	if fs.Changed("parquet") || c.noText && c.format != otelTraces || c.mirrors != "" || c.group.isGiven() {
		return c.validateParquet(fs, args)
	}
	if c.rev = "HEAD"; len(args) == 1 && c.format != "" && c.format != otelTraces {
		c.rev, args = args[0], nil
	}
	switch {
	case fs.Changed("format") && !slices.Contains(fixedWords()["format"], c.format):
		return fmt.Errorf("--format %q: %s", c.format, strings.Join(fixedWords()["format"], ", "))
	case c.sign && c.format != inToto:
		return errors.New("--sign goes with --format in-toto")
	case c.format != "" && (c.mine && c.format != otelTraces || c.dir != ""):
		return errors.New("--format goes with neither --md nor --mine")
	case c.write && c.format != gitAINotes:
		return errors.New("--write goes with --format git-ai-notes")
	}
	return noArgs(args)
}

func (c *exportOptions) run(ctx context.Context, app *App) error {
	app.Public = true
	if c.parquet != "" {
		return c.exportParquet(ctx, app)
	}
	switch c.format {
	case agentTrace:
		return c.exportAgentTrace(ctx, app)
	case gitAINotes:
		return c.exportGitAINotes(ctx, app)
	case otelTraces:
		return c.exportTraces(ctx, app)
	case inToto:
		return c.exportStatement(ctx, app)
	}
	return app.withMoment(ctx, ask.Opening{}, func(w *workspace.Workspace, at *ask.Moment) error {
		authors, err := c.authors(ctx, w)
		if err != nil {
			return err
		}
		if c.dir != "" {
			return c.exportMarkdown(ctx, app, at, authors)
		}
		return c.exportJSON(ctx, app, w, at, authors)
	})
}

// authors are those whose sessions are written; nil for all.
func (c *exportOptions) authors(ctx context.Context, w *workspace.Workspace) ([]string, error) {
	if !c.mine {
		return nil, nil
	}
	who, err := w.Repo.Identity(ctx)
	return []string{strings.ToLower(who.Email)}, err
}

// exported is a session as a line.
type exported struct {
	Schema int    `json:"schema"`
	Kind   string `json:"kind"`
	result.StorySession
}

func (c *exportOptions) exportJSON(ctx context.Context, app *App, w *workspace.Workspace, at *ask.Moment,
	authors []string,
) error {
	out := bufio.NewWriter(app.Stdout)
	err := at.Each(ctx, authors, func(s *result.StorySession, m *result.Memory) error {
		if m != nil {
			return result.Write(out, m)
		}
		return result.Write(out, exported{result.Schema, "session", *s})
	})
	if err != nil {
		return err
	}
	if err := curate.RecordAllAgentOutputs(ctx, w); err != nil {
		return err
	}
	records, err := at.Records(ctx)
	if err != nil {
		return err
	}
	conf, err := w.Settings()
	if err != nil {
		return err
	}
	names, err := at.Names(ctx)
	if err != nil {
		return err
	}
	for _, r := range records {
		if r.From != nil && len(conf.Private) > 0 {
			id, err := names.CompleteID(r.From.Session)
			if err != nil || slices.Contains(at.Barred(), id) { // it is of a private session
				continue
			}
		}
		if err := result.Write(out, recordShape(r)); err != nil {
			return err
		}
	}
	return out.Flush()
}

func (c *exportOptions) exportMarkdown(ctx context.Context, app *App, at *ask.Moment, authors []string) error {
	dir := app.Path(c.dir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	n := 0
	err := at.Each(ctx, authors, func(s *result.StorySession, m *result.Memory) error {
		name, text := "", ""
		if m != nil {
			name, text = story.FileName(m.CapturedAt, m.ID, m.Title), story.MemoryPage(*m)
		} else {
			name, text = story.FileName(s.StartedAt, s.ID, s.Title), story.SessionPage(*s)
		}
		n++
		return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)
	})
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	app.printDone("wrote %s into %s", session.CountNoun(n, "file"), c.dir)
	return nil
}
