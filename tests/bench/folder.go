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
	"github.com/git-rekal/git-rekal/internal/session"
)

// sizes are how many commits each of the authors makes.
var sizes = map[string]int{"11k": 36, "225k": 710, "1100k": 3550, "10000-sessions": 1250, "100000-sessions": 12_500}

// authors is how many there are.
const authors = 8

// more is how many sessions come later, one by one, to be captured.
const more = 10

// bench is a folder with everything that is measured at one size.
type bench struct {
	size, dir string
	bin       string // the folder of git-rekal
}

// What lies in the folder.
func (b bench) team() string    { return filepath.Join(b.dir, "team.git") } // everybody's pushes
func (b bench) repo() string    { return filepath.Join(b.dir, "repo") }     // the first author's clone, after init
func (b bench) scratch() string { return filepath.Join(b.dir, "scratch") }  // what a measurement makes
func (b bench) copy() string    { return filepath.Join(b.scratch(), "repo") }
func (b bench) home() string    { return filepath.Join(b.dir, "home") }
func (b bench) raw() string     { return filepath.Join(b.dir, "raw") }       // a transcript a session
func (b bench) turns() string   { return filepath.Join(b.dir, "turns.sql") } // for SQLite
func (b bench) queries() string { return filepath.Join(b.dir, "queries") }   // one a line
func (b bench) later() string   { return filepath.Join(b.dir, "later") }     // transcripts of more sessions
func (b bench) counted() string { return filepath.Join(b.dir, "counted") }   // what there is; written last

// generate makes the folder.
func (b bench) generate(ctx context.Context, mix *remix) error {
	if err := errors.Join(os.RemoveAll(b.dir), os.MkdirAll(b.home(), 0o755), os.Mkdir(b.raw(), 0o755),
		os.Mkdir(b.later(), 0o755)); err != nil {
		return err
	}
	if err := b.git(ctx, "init", "-q", "--bare", "-b", "main", b.team()); err != nil {
		return err
	}
	steps := sizes[b.size]
	if err := mix.write(ctx, b.team(), 0, steps); err != nil {
		return err
	}
	if err := b.clone(ctx); err != nil {
		return err
	}
	if err := os.WriteFile(b.queries(), []byte(strings.Join(mix.queries(steps), "\n")), 0o644); err != nil {
		return err
	}
	for i := range more {
		if err := writeTranscript(filepath.Join(b.later(), fmt.Sprintf("%d.jsonl", i)), mix.session(0, steps+i).Session,
			b.copy()); err != nil {
			return err
		}
	}
	counted, err := b.rawTexts(mix, steps)
	if err != nil {
		return err
	}
	return os.WriteFile(b.counted(), []byte(counted), 0o644)
}

// clone makes the first author's clone: init, and everybody's ledgers, but no caches yet.
func (b bench) clone(ctx context.Context) error {
	own, err := ledger.RefName(email(0))
	if err != nil {
		return err
	}
	config := fmt.Sprintf("[user]\n\tname = ada\n\temail = %s\n[init]\n\tdefaultBranch = main\n[gc]\n\tauto = 0\n",
		email(0))
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
		if err := b.git(ctx, args...); err != nil {
			return err
		}
	}
	return nil
}

func (b bench) git(ctx context.Context, args ...string) error {
	_, err := process(b.command(ctx, b.dir, "git", args...))
	return err
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
func (b bench) rawTexts(mix *remix, steps int) (string, error) {
	f, err := os.Create(b.turns())
	if err != nil {
		return "", err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	fmt.Fprint(w, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;\nCREATE VIRTUAL TABLE t USING fts5(session UNINDEXED, content, tokenize='porter unicode61');\nBEGIN;\n")
	turns, calls, bytes := 0, 0, 0
	for i := range steps * mix.authors {
		for _, s := range mix.step(i%mix.authors, i/mix.authors).sessions {
			turns += len(s.Turns)
			calls += len(s.ToolCalls)
			for _, t := range s.Turns {
				bytes += len(t.Content)
				fmt.Fprintf(w, "INSERT INTO t VALUES('%s','%s');\n", s.ID, strings.ReplaceAll(t.Content, "'", "''"))
			}
			if err := writeTranscript(filepath.Join(b.raw(), s.NativeID+".jsonl"), s, b.repo()); err != nil {
				return "", errors.Join(err, f.Close())
			}
		}
	}
	fmt.Fprint(w, "COMMIT;\n")
	counted := fmt.Sprintf("%d sessions, %d turns, %d tool calls, %.1f MB of turns\n", steps*mix.authors, turns, calls,
		float64(bytes)/1e6)
	return counted, errors.Join(w.Flush(), f.Close())
}

// writeTranscript writes a session, or more of it, as Claude Code does, without what tools put out.
func writeTranscript(path string, s session.Session, cwd string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	writeRecords(w, s, cwd)
	return errors.Join(w.Flush(), f.Close())
}

func writeRecords(w io.Writer, s session.Session, cwd string) {
	enc := json.NewEncoder(w)
	calls := s.ToolCalls
	record := func(kind string, at time.Time, content any) {
		_ = enc.Encode(map[string]any{ // the writer keeps its error
			"type": kind, "sessionId": s.NativeID, "cwd": cwd, "gitBranch": s.Branch, "timestamp": at.Format(time.RFC3339Nano),
			"uuid":    fmt.Sprintf("%s-%d-%d", s.NativeID, at.UnixMilli(), len(calls)),
			"message": map[string]any{"role": kind, "content": []any{content}},
		})
	}
	for _, t := range s.Turns {
		kind := "assistant"
		if t.Role == session.RoleHuman {
			kind = "user"
		}
		record(kind, t.TS, map[string]string{"type": "text", "text": t.Content})
		for ; len(calls) > 0 && calls[0].Turn <= t.Index; calls = calls[1:] {
			c := calls[0]
			record("assistant", t.TS, map[string]any{
				"type": "tool_use", "id": fmt.Sprintf("toolu_%d", c.Index), "name": c.Tool,
				"input": map[string]string{"file_path": c.Path, "command": c.Cmd},
			})
		}
	}
}
