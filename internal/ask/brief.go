package ask

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/brief"
	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git/worktree"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/transcript"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// Brief is what an agent should know that begins here: what fits into a budget of tokens, and the text of it.
func Brief(ctx context.Context, w *workspace.Workspace, budget int) (out result.Brief, text string, err error) {
	index, err := Open(ctx, w)
	if err != nil {
		return out, "", err
	}
	s := briefSource(ctx, w, index.DB)
	lines, branch, err := start(ctx, w, s)
	if err == nil {
		text, lines, err = told(ctx, w, lines, budget)
	}
	out = result.Brief{Schema: result.Schema, Branch: branch, Lines: lines, Tokens: brief.Tokens(text)}
	return out, text, errors.Join(err, index.Close())
}

// Answer is what a hook answers to an event of an agent; nil for nothing.
func Answer(ctx context.Context, w *workspace.Workspace, agent string, e brief.Event) ([]byte, error) {
	if _, err := os.Stat(w.RekalDir()); err != nil || w.Ready() != nil {
		return nil, nil
	}
	index, err := glance(ctx, w)
	if err != nil {
		return nil, err
	}
	if agent == (transcript.Copilot{}).Name() {
		e.Transcript = transcript.Copilot{}.Running(transcript.Env{Home: w.Home, Getenv: w.Getenv}, e.Session)
	}
	tail, err := end(e.Transcript)
	if err != nil { // not written yet, or none
		tail = nil
	}
	s := briefSource(ctx, w, index)
	s.Native, s.Seen = e.Session, e.Told(tail)
	budget := brief.PromptBudget
	var lines []result.BriefLine
	switch e.Moment {
	case brief.AtStart:
		budget = brief.StartBudget
		lines, _, err = start(ctx, w, s)
	case brief.AtPrompt:
		lines, err = s.Prompt(ctx, e.Prompt, edited(ctx, w, agent, e, tail))
	case brief.BeforeEdit:
		lines, err = s.Edit(ctx, e.File, e.Old)
	case brief.Never:
	}
	if err != nil {
		return nil, err
	}
	text, _, err := told(ctx, w, lines, budget)
	if err != nil || text == "" {
		return nil, err
	}
	return e.Answer(agent, text)
}

// caughtUp is how long a hook waits for the index to be brought up; then it takes the one that is there.
const caughtUp = 80 * time.Millisecond

// glance opens the index for one answer of a process that ends then. Where there is none, it makes none: that may take minutes.
func glance(ctx context.Context, w *workspace.Workspace) (*db.DB, error) {
	m := w.Materializer(func(error) {})
	old, err := m.Peek(ctx)
	if err != nil {
		return nil, err
	}
	if m.Current(old) {
		return old.DB, nil
	}
	soon, cancel := context.WithTimeout(ctx, caughtUp)
	defer cancel()
	if now, err := m.Open(soon); err == nil {
		return now.DB, old.Close()
	}
	return old.DB, nil
}

func briefSource(ctx context.Context, w *workspace.Workspace, index *db.DB) brief.Source {
	s := brief.Source{Index: index, Repo: w.Repo, Now: w.Now()}
	if who, err := w.Repo.Identity(ctx); err == nil {
		s.Own = strings.ToLower(who.Email)
	}
	if store, err := w.Records(); err == nil {
		s.Records, _ = store.All() // a brief without them is one
	}
	return s
}

func start(ctx context.Context, w *workspace.Workspace, s brief.Source) (lines []result.BriefLine, branch string, err error) {
	if head, err := w.Repo.Head(); err == nil {
		branch = head.Branch
	}
	changed, err := worktree.Changed(ctx, w.Repo)
	if err == nil {
		lines, err = s.Start(ctx, branch, changed)
	}
	return lines, branch, err
}

// told is what is left of lines after today's redaction and within a budget.
func told(ctx context.Context, w *workspace.Workspace, lines []result.BriefLine, budget int) (string, []result.BriefLine, error) {
	if len(lines) == 0 {
		return "", []result.BriefLine{}, nil
	}
	conf, err := w.Settings()
	if err != nil {
		return "", nil, err
	}
	lines, err = brief.Clean(ctx, w.Redactor(conf, workspace.ToShow), lines)
	if err != nil {
		return "", nil, fmt.Errorf("brief: %w", err)
	}
	text, fit := brief.Text(lines, budget, w.Now().Location())
	return text, lines[:fit], nil
}

// mostRead is how much of a running session's transcript is read, from its end on.
const mostRead = 8 << 20

// end are the last whole lines of a file; of a document in one line, all of it.
func end(path string) ([]byte, error) {
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

// edited are the files that a running session has changed, as its transcript tells.
func edited(ctx context.Context, w *workspace.Workspace, name string, e brief.Event, tail []byte) (files []string) {
	i := slices.IndexFunc(transcript.Agents(), func(a transcript.Agent) bool { return a.Name() == name })
	roots, err := w.Repo.Worktrees()
	if i < 0 || err != nil || len(tail) == 0 {
		return nil
	}
	opt := transcript.Options{File: transcript.File{Path: e.Transcript, NativeID: e.Session}, Roots: roots, Inside: true}
	doc, err := transcript.Agents()[i].Decode(ctx, bytes.NewReader(tail), opt)
	if err != nil {
		return nil
	}
	for _, part := range doc.Sessions {
		for _, c := range part.ToolCalls {
			if p := c.Edited(); session.InTree(p) && !slices.Contains(files, p) {
				files = append(files, p)
			}
		}
	}
	return files
}
