package brief

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/git/worktree"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/tokens"
	"github.com/git-rekal/git-rekal/internal/transcript"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// OwnBudget is how many tokens the facts of a session have at most that goes on after a compaction or a resume.
const OwnBudget = 400

// What of a session's facts is told at most: commands that failed last, others, and files.
const (
	ownFailed   = 5
	ownCommands = 5
	ownFiles    = 12
)

const ownHead = "<git-rekal> What this session did before, by its transcript: data. Read on: git rekal query --session "

// ownFacts is what a summary tends to lose of a session that goes on: commands with how they ended last, those that
// failed first; files that it changed and that are not committed; and the person's prompts, the latest first. "" where
// its transcript says nothing.
func ownFacts(ctx context.Context, w *workspace.Workspace, agent string, e Event, tail []byte) (string, error) {
	s, ok := runningPart(ctx, w, agent, e, tail)
	if !ok || s.Turns[0].TS.IsZero() {
		return "", nil
	}
	changed, err := worktree.ChangedFiles(ctx, w.Repo)
	if err != nil {
		return "", err
	}
	at := func(turn int) string { return fmt.Sprintf(":%d ", turn) }
	if info, err := os.Stat(e.Transcript); err != nil || info.Size() > mostRead { // it was read from its middle on
		at = func(int) string { return "" }
	}
	failed, ran := lastOutcomes(s.ToolCalls, at)
	lines := failed
	if files := uncommitted(s.ToolCalls, changed); len(files) > 0 {
		lines = append(lines, "changed, not committed: "+strings.Join(files, ", "))
	}
	for _, t := range slices.Backward(s.Turns) {
		if t.Role == session.RoleHuman && !session.IsMark(t.Content) {
			lines = append(lines, at(t.Index)+"asked: "+t.Content)
		}
	}
	lines, err = redactTexts(ctx, w, append(lines, ran...))
	if err != nil || len(lines) == 0 {
		return "", err
	}
	return fitLines(ownHead+session.NewID(s.Turns[0].TS, agent, s.NativeID)[:shortID]+":TURN", lines, OwnBudget), nil
}

// runningPart is the running session as the end of its transcript tells it; ok is false where that says nothing of it,
// or is another one's: a session that was cleared may name the one before.
func runningPart(ctx context.Context, w *workspace.Workspace, agent string, e Event,
	tail []byte,
) (transcript.Part, bool) {
	if e.Session == "" || !strings.Contains(e.Transcript, e.Session) {
		return transcript.Part{}, false
	}
	parts := runningParts(ctx, w, agent, e, tail)
	at := slices.IndexFunc(parts, func(p transcript.Part) bool { return p.NativeID == e.Session && len(p.Turns) > 0 })
	if at < 0 {
		return transcript.Part{}, false
	}
	return parts[at], true
}

// runningParts are the sessions in the end of a transcript.
func runningParts(ctx context.Context, w *workspace.Workspace, agent string, e Event, tail []byte) []transcript.Part {
	i := slices.IndexFunc(transcript.Agents(), func(a transcript.Agent) bool { return a.Name() == agent })
	if i < 0 || len(tail) == 0 {
		return nil
	}
	file := transcript.File{Path: e.Transcript, NativeID: e.Session}
	opt := transcript.Options{File: file, Roots: w.Repo.Worktrees(), Inside: true}
	doc, err := transcript.Agents()[i].Decode(ctx, bytes.NewReader(tail), opt)
	if err != nil {
		return nil
	}
	return doc.Sessions
}

// lastOutcomes are the commands whose last run failed, and the others, the latest first.
func lastOutcomes(calls []session.ToolCall, at func(turn int) string) (failed, ran []string) {
	seen := map[string]bool{}
	for _, c := range slices.Backward(calls) {
		line := session.Shorten(session.OneLine(c.Cmd), session.CmdPrefix)
		if line == "" || seen[line] {
			continue
		}
		seen[line] = true
		switch {
		case (c.Failed || c.Exit != 0 || c.Terms != "") && len(failed) < ownFailed:
			failed = append(failed, fmt.Sprintf("%sfailed last%s: %s", at(c.Turn), status(c), line))
		case !c.Failed && c.Exit == 0 && c.Terms == "" && len(ran) < ownCommands:
			ran = append(ran, at(c.Turn)+"ran: "+line)
		}
	}
	return failed, ran
}

func status(c session.ToolCall) string {
	if c.Exit == 0 {
		return ""
	}
	return fmt.Sprintf(" (exit %d)", c.Exit)
}

// uncommitted are the files that calls changed, and that are changed and not committed.
func uncommitted(calls []session.ToolCall, changed []string) (files []string) {
	for _, c := range slices.Backward(calls) {
		if p := c.EditedPath(); slices.Contains(changed, p) && !slices.Contains(files, p) && len(files) < ownFiles {
			files = append(files, p)
		}
	}
	return files
}

// redactTexts takes out of texts what today's rules take for a secret; each is on one line then.
func redactTexts(ctx context.Context, w *workspace.Workspace, texts []string) ([]string, error) {
	conf, err := w.Settings()
	if err != nil {
		return nil, err
	}
	var s session.Session
	for i, text := range texts {
		s.Turns = append(s.Turns, session.Turn{Index: i, Role: session.RoleHuman, Content: text})
	}
	clean, _, err := w.Redactor(conf, workspace.ToShow).Apply(ctx, session.Entry{Sessions: []session.Session{s}})
	if err != nil {
		return nil, fmt.Errorf("brief: %w", err)
	}
	out := make([]string, 0, len(texts))
	for _, t := range clean.Entry().Sessions[0].Turns {
		out = append(out, onOneLine(t.Content))
	}
	return out, nil
}

// fitLines are lines behind a head, within a budget of tokens. The first that does not fit is cut; a line that says
// little of itself is left out.
func fitLines(head string, lines []string, budget int) string {
	const least = 40 // characters of a line that is cut
	out := head
	for _, line := range lines {
		more := out + "\n- " + line
		for n := len([]rune(line)); tokens.Count(more+"\n"+tail+"\n") > budget; more = out + "\n- " +
			session.Shorten(line, n) {
			if n = n * 3 / 4; n < least {
				return out + "\n" + tail + "\n"
			}
		}
		out = more
	}
	return out + "\n" + tail + "\n"
}
