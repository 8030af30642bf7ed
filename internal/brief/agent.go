package brief

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/git/worktree"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/transcript"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// ForStart is what an agent should know that begins here: what fits into a budget of tokens, and the text of it.
func ForStart(ctx context.Context, w *workspace.Workspace, budget int) (out result.Brief, text string, err error) {
	index, err := ask.Open(ctx, w, ask.Opening{})
	if err != nil {
		return out, "", err
	}
	if index.Notice != "" {
		w.Warn(errors.New(index.Notice))
	}
	s := newSource(ctx, w, index)
	lines, branch, err := startBrief(ctx, w, s)
	if err == nil {
		text, lines, err = redactToBudget(ctx, w, lines, budget)
	}
	out = result.Brief{Schema: result.Schema, Branch: branch, Lines: lines, Tokens: Tokens(text)}
	return out, text, errors.Join(err, index.Close())
}

// ForHook is what a hook answers to an event of an agent; nil for nothing.
func ForHook(ctx context.Context, w *workspace.Workspace, agent string, e Event) ([]byte, error) {
	if _, err := os.Stat(w.RekalDir()); err != nil || w.CheckReady() != nil {
		return nil, nil
	}
	index, err := ask.OpenExisting(ctx, w)
	if err != nil {
		return nil, err
	}
	if agent == (transcript.Copilot{}).Name() {
		e.Transcript = transcript.Copilot{}.RunningFile(transcript.Env{Home: w.Home, Getenv: w.Getenv}, e.Session)
	}
	tail, err := lastLines(e.Transcript)
	if err != nil { // not written yet, or none
		tail = nil
	}
	s := newSource(ctx, w, index)
	s.Native, s.Seen = e.Session, e.SeenIn(tail)
	budget, own := PromptBudget, ""
	var lines []result.BriefLine
	switch e.Moment {
	case AtStart:
		budget = StartBudget
		if lines, _, err = startBrief(ctx, w, s); err == nil && e.hasForgotten(tail) {
			own, err = ownFacts(ctx, w, agent, e, tail)
			budget = max(StartBudget-Tokens(own), PromptBudget)
		}
	case AtPrompt:
		lines, err = s.Prompt(ctx, e.Prompt, filesEditedBy(ctx, w, agent, e, tail))
	case BeforeEdit:
		lines, err = s.Edit(ctx, e.File, e.Old)
	case AfterFailure:
		text, err := forFailure(ctx, w, s, e)
		if err != nil || text == "" {
			return nil, err
		}
		return e.Answer(agent, text)
	case Never:
	}
	if err != nil {
		return nil, err
	}
	text, _, err := redactToBudget(ctx, w, lines, budget)
	if err != nil || own+text == "" {
		return nil, err
	}
	return e.Answer(agent, own+text)
}

func newSource(ctx context.Context, w *workspace.Workspace, index *ask.Moment) Source {
	s := Source{Index: index, Repo: w.Repo, Now: w.Now()}
	if who, err := w.Repo.Identity(ctx); err == nil {
		s.Own = strings.ToLower(who.Email)
	}
	if v, err := w.Records().Open(ctx); err == nil { // a brief without them is one
		s.Records = v.All
		_ = v.Close() // nothing was written
	}
	return s
}

func startBrief(ctx context.Context, w *workspace.Workspace,
	s Source,
) (lines []result.BriefLine, branch string, err error) {
	if head, err := w.Repo.Head(); err == nil {
		branch = head.Branch
	}
	changed, err := worktree.ChangedFiles(ctx, w.Repo)
	if err == nil {
		lines, err = s.Start(ctx, branch, changed)
	}
	return lines, branch, err
}

// redactToBudget redacts lines by today's rules, and keeps those that fit into a budget of tokens.
func redactToBudget(ctx context.Context, w *workspace.Workspace, lines []result.BriefLine,
	budget int,
) (string, []result.BriefLine, error) {
	if len(lines) == 0 {
		return "", []result.BriefLine{}, nil
	}
	conf, err := w.Settings()
	if err != nil {
		return "", nil, err
	}
	lines, err = RedactLines(ctx, w.Redactor(conf, workspace.ToShow), lines)
	if err != nil {
		return "", nil, fmt.Errorf("brief: %w", err)
	}
	text, fit := Text(lines, budget, w.Now().Location())
	return text, lines[:fit], nil
}

// mostRead is how much of a running session's transcript is read, from its end on.
const mostRead = 8 << 20

// lastLines are the last whole lines of a file; of a document in one line, all of it.
func lastLines(path string) ([]byte, error) {
	if path == "" {
		return nil, os.ErrNotExist
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, os.ErrInvalid)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	from := max(0, info.Size()-mostRead)
	text, err := io.ReadAll(io.NewSectionReader(f, from, info.Size()-from))
	if from > 0 {
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	return text, err
}

// filesEditedBy are the files that a running session has changed, as its transcript tells.
func filesEditedBy(ctx context.Context, w *workspace.Workspace, name string, e Event, tail []byte) (files []string) {
	parts := runningParts(ctx, w, name, e, tail)
	for _, part := range parts {
		for _, c := range part.ToolCalls {
			if p := c.EditedPath(); session.IsPathInTree(p) && !slices.Contains(files, p) {
				files = append(files, p)
			}
		}
	}
	return files
}
