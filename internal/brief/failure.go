package brief

import (
	"context"
	"fmt"
	"strings"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/fix"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/tokens"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// FailureBudget is how many tokens a line about an error has at most.
const FailureBudget = 60

// Mended is one line about how the error of a command was mended before, or nothing. It names no session that Seen
// knows.
func (s Source) Mended(ctx context.Context, command, output string) ([]result.Mended, error) {
	own, err := s.runningIDs(ctx)
	if err != nil {
		return nil, err
	}
	found, err := s.Index.Fix(ctx, fix.Request{Output: output, Command: command, Without: own, Limit: 1, Brief: true})
	if err != nil || len(found.Results) == 0 || s.Seen != nil && s.Seen(nameOfMended(found.Results[0])) {
		return nil, err
	}
	return found.Results, nil
}

func nameOfMended(m result.Mended) string {
	if m.ID == "" {
		return fmt.Sprintf("record %d", m.Record)
	}
	return m.ID[:min(len(m.ID), shortID)]
}

// TextOfMended is a pair as an agent is to read it, within a budget of tokens: what was changed, and where to read on.
func TextOfMended(ctx context.Context, w *workspace.Workspace, m result.Mended, budget int) (string, error) {
	line := result.BriefLine{ID: nameOfMended(m)}
	for _, f := range m.Files {
		line.Files = append(line.Files, f.Path)
	}
	switch {
	case len(m.Commits) > 0:
		line.Title = m.Commits[0].Commit + " " + m.Commits[0].Subject
	case m.PassedWith != "" && len(m.Files) == 0:
		line.Title = m.PassedWith
	}
	conf, err := w.Settings()
	if err != nil {
		return "", err
	}
	clean, err := RedactLines(ctx, w.Redactor(conf, workspace.ToShow), []result.BriefLine{line})
	if err != nil {
		return "", fmt.Errorf("brief: %w", err)
	}
	line = clean[0]
	read := "git rekal show " + line.ID
	if turn := strings.LastIndexByte(m.Address, ':'); m.ID != "" && turn > 0 {
		read = "git rekal query --session " + line.ID + m.Address[turn:]
	} else if m.ID == "" {
		read = fmt.Sprintf("git rekal show %d", m.Record)
	}
	for shown := min(len(line.Files), shownFiles); ; shown-- {
		what := ""
		if shown > 0 {
			what = " by " + strings.Join(line.Files[:shown], ", ")
		}
		if line.Title != "" {
			what += " (" + line.Title + ")"
		}
		text := "<git-rekal> Data: same error mended before" + what + ": " + read + " " + tail + "\n"
		if tokens.Count(text) <= budget {
			return text, nil
		}
		if shown <= 0 {
			if line.Title == "" {
				return "", nil
			}
			line.Title, shown = "", min(len(line.Files), shownFiles)+1
		}
	}
}

// forFailure answers a command that failed.
func forFailure(ctx context.Context, w *workspace.Workspace, s Source, e Event) (string, error) {
	conf, err := w.Settings()
	if err != nil || conf.BriefErrorsOff {
		return "", err
	}
	found, err := s.Mended(ctx, e.Command, e.Error)
	if err != nil || len(found) == 0 {
		return "", err
	}
	return TextOfMended(ctx, w, found[0], FailureBudget)
}

// MendedBefore is a line about how the error of a command was mended before, for who ran it; "" for nothing.
func MendedBefore(ctx context.Context, w *workspace.Workspace, command, output string) (string, error) {
	index, err := ask.OpenExisting(ctx, w)
	if err != nil {
		return "", err
	}
	defer index.Close()
	found, err := Source{Index: index, Repo: w.Repo, Now: w.Now()}.Mended(ctx, command, output)
	if err != nil || len(found) == 0 {
		return "", err
	}
	text, err := TextOfMended(ctx, w, found[0], FailureBudget)
	return strings.TrimSuffix(text, "\n"), err
}
