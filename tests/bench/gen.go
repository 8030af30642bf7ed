package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/search/analysis"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/history"
)

// steps are how many commits each author makes at a size.
func steps(size string) (int, error) {
	n := map[string]int{"11k": 36, "225k": 710, "1100k": 3550, "10000-sessions": 1250, "100000-sessions": 12_500}[size]
	if n == 0 {
		return 0, fmt.Errorf("size %q: 11k, 225k or 1100k turns; 10000-sessions or 100000-sessions", size)
	}
	return n, nil
}

// bench is a folder with everything that is measured at one size.
type bench struct {
	size, dir string
	bin       string // the folder of git-rekal
}

// What lies in the folder.
func (b bench) team() string    { return filepath.Join(b.dir, "team.git") } // everybody's pushes
func (b bench) repo() string    { return filepath.Join(b.dir, "repo") }     // the first author's clone, after init
func (b bench) home() string    { return filepath.Join(b.dir, "home") }
func (b bench) raw() string     { return filepath.Join(b.dir, "raw") }       // a transcript a session
func (b bench) turns() string   { return filepath.Join(b.dir, "turns.sql") } // for SQLite
func (b bench) queries() string { return filepath.Join(b.dir, "queries.jsonl") }
func (b bench) later() string   { return filepath.Join(b.dir, "later") } // transcripts of more sessions
func (b bench) done() string    { return filepath.Join(b.dir, "done") }  // what was counted; written last

// generate makes the folder.
func (b bench) generate(ctx context.Context, sources []source) error {
	n, err := steps(b.size)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(b.dir); err != nil {
		return err
	}
	if err := os.MkdirAll(b.home(), 0o755); err != nil {
		return err
	}
	mix := newRemix(sources)
	plan := mix.plan(n)
	if err := b.git(ctx, b.dir, "init", "-q", "--bare", "-b", "main", b.team()); err != nil {
		return err
	}
	if err := plan.Write(ctx, b.team()); err != nil {
		return err
	}
	if err := b.clone(ctx); err != nil {
		return err
	}
	counted, err := b.rawTexts(plan)
	if err != nil {
		return err
	}
	if err := b.writeQueries(ctx, plan, mix.lexicon); err != nil {
		return err
	}
	if err := b.writeLater(ctx, mix, n); err != nil {
		return err
	}
	return os.WriteFile(b.done(), []byte(counted), 0o644)
}

// clone makes the first author's clone: init, and everybody's ledgers, but no caches yet.
func (b bench) clone(ctx context.Context) error {
	own, err := ledger.RefName(email(0))
	if err != nil {
		return err
	}
	config := fmt.Sprintf("[user]\n\tname = ada\n\temail = %s\n[init]\n\tdefaultBranch = main\n[gc]\n\tauto = 0\n", email(0))
	if err := os.WriteFile(filepath.Join(b.home(), ".gitconfig"), []byte(config), 0o644); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"-C", b.team(), "gc", "-q"},
		{"clone", "-q", "--single-branch", b.team(), b.repo()},
		{"-C", b.repo(), "fetch", "-q", "origin", own + ":" + own},
		{"-C", b.repo(), "rekal", "init"},
		{"-C", b.repo(), "fetch", "-q", "origin", "refs/heads/rekal/*:refs/rekal/origin/*", "^" + own},
	} {
		if err := b.git(ctx, b.dir, args...); err != nil {
			return err
		}
	}
	return nil
}

func (b bench) git(ctx context.Context, dir string, args ...string) error {
	cmd := b.command(ctx, dir, "git", args...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}

// command is a process with the first author's home.
func (b bench) command(ctx context.Context, dir, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = []string{
		"HOME=" + b.home(), "PATH=" + b.bin + string(os.PathListSeparator) + os.Getenv("PATH"),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "TZ=UTC", "LC_ALL=C.UTF-8",
		"REKAL_EMBED=off", // no process in the background beside what is measured
	}
	return cmd
}

// rawTexts writes what the others search: a transcript a session, in Claude Code's shape but
// without tool output, and the turns as SQL. It returns what there is of everything.
func (b bench) rawTexts(plan history.Plan) (string, error) {
	if err := os.MkdirAll(b.raw(), 0o755); err != nil {
		return "", err
	}
	f, err := os.Create(b.turns())
	if err != nil {
		return "", err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	fmt.Fprint(w, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;\nCREATE VIRTUAL TABLE t USING fts5(session UNINDEXED, content, tokenize='porter unicode61');\nBEGIN;\n")
	var c census
	for n := range plan.Steps {
		for a := range plan.Authors {
			for _, s := range plan.Step(a, n).Sessions {
				c.count(s)
				if err := b.rawText(w, s); err != nil {
					return "", errors.Join(err, f.Close())
				}
			}
		}
	}
	fmt.Fprint(w, "COMMIT;\n")
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		return "", err
	}
	return c.String(), nil
}

func (b bench) rawText(sql io.Writer, s session.Session) error {
	f, err := os.OpenFile(filepath.Join(b.raw(), s.NativeID+".jsonl"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	writeTranscript(w, s, b.repo())
	for _, t := range s.Turns {
		fmt.Fprintf(sql, "INSERT INTO t VALUES('%s','%s');\n", s.ID, strings.ReplaceAll(t.Content, "'", "''"))
	}
	return errors.Join(w.Flush(), f.Close())
}

// writeTranscript writes a session as Claude Code does, without what tools put out.
func writeTranscript(w io.Writer, s session.Session, cwd string) {
	enc := json.NewEncoder(w)
	calls := s.ToolCalls
	record := func(kind string, at time.Time, content any) {
		_ = enc.Encode(map[string]any{ // the writer keeps its error
			"type": kind, "sessionId": s.NativeID, "cwd": cwd, "gitBranch": s.Branch, "timestamp": at.Format(time.RFC3339Nano),
			"uuid": fmt.Sprintf("%s-%d-%d", s.NativeID, at.UnixMilli(), len(calls)), "message": map[string]any{"role": kind, "content": content},
		})
	}
	for _, t := range s.Turns {
		kind := "assistant"
		if t.Role == session.RoleHuman {
			kind = "user"
		}
		record(kind, t.TS, []any{map[string]string{"type": "text", "text": t.Content}})
		for len(calls) > 0 && calls[0].Turn <= t.Index {
			c := calls[0]
			record("assistant", t.TS, []any{map[string]any{
				"type": "tool_use", "id": fmt.Sprintf("toolu_%d", c.Index), "name": c.Tool,
				"input": map[string]string{"file_path": c.Path, "command": c.Cmd},
			}})
			calls = calls[1:]
		}
	}
}

// census counts what there is, and how the vocabulary grows.
type census struct {
	sessions     map[string]bool
	turns, calls int
	bytes        int
	words        map[string]bool
	wholes       map[string]bool
	paths        map[string]bool
	analyzer     *analysis.Analyzer
}

func (c *census) count(s session.Session) {
	if c.analyzer == nil {
		c.analyzer = analysis.New()
		c.sessions, c.words, c.wholes, c.paths = map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	}
	c.sessions[s.ID] = true
	c.turns += len(s.Turns)
	c.calls += len(s.ToolCalls)
	for _, t := range s.Turns {
		c.bytes += len(t.Content)
		for _, k := range c.analyzer.Tokens(t.Content) {
			if k.Kind == analysis.Word {
				c.words[k.Term] = true
			} else {
				c.wholes[k.Term] = true
			}
		}
	}
	for _, t := range s.ToolCalls {
		c.paths[t.Path] = true
	}
}

func (c *census) String() string {
	return fmt.Sprintf("%d sessions, %d turns, %d tool calls, %.1f MB of turns, %d stems, %d whole forms, %d paths\n",
		len(c.sessions), c.turns, c.calls, float64(c.bytes)/1e6, len(c.words), len(c.wholes), len(c.paths))
}
