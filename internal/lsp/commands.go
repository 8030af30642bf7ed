package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/text"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// Commands that an editor may run. Each takes the file's URI and a text, opens what it made, and returns its URI.
const (
	showSession = "git-rekal.showSession" // an ID or a link
	showCommit  = "git-rekal.showCommit"  // a revision
	askSelected = "git-rekal.ask"         // a question
	askWhy      = "git-rekal.why"         // two numbers of lines, from 1 on: "4,7"
)

// Kinds of actions. They are the server's own: none changes a text, so an editor that applies all of a kind runs none.
const (
	kindShow = "git-rekal.show"
	kindAsk  = "git-rekal.ask"
)

// How wide the texts are, and how much of a selection is a question, in characters.
const (
	textWidth   = 100
	maxQuestion = 400
)

// codeActions offer what can be read on from the first line of a selection. Behind lines that a session is known to
// have written, why they are so is the question; else the selection is.
func (c *connection) codeActions(ctx context.Context, p rangeParams) ([]codeAction, error) {
	out := []codeAction{}
	wanted := func(kind string) bool {
		within := func(only string) bool { return kind == only || strings.HasPrefix(kind, only+".") }
		return len(p.Context.Only) == 0 || slices.ContainsFunc(p.Context.Only, within)
	}
	if !wanted(kindShow) && !wanted(kindAsk) {
		return out, nil
	}
	offer := func(kind, title, name, argument string) {
		if wanted(kind) {
			out = append(out, codeAction{title, kind, command{title, name, []any{p.TextDocument.URI, argument}}})
		}
	}
	first, last := p.Range.Start.Line, p.Range.End.Line
	exact := false
	if lines := c.linesBehind(ctx, p.TextDocument.URI, first, first); len(lines) > 0 {
		l := lines[0]
		if exact = l.Exact; l.Session != "" {
			offer(kindShow, "Show the session: "+l.Title, showSession, l.Address)
		}
		if l.Commit != "" {
			offer(kindShow, "Show the commit "+l.Commit, showCommit, l.Commit)
		}
	}
	if exact {
		offer(kindAsk, "Ask git-rekal why this is so", askWhy, fmt.Sprintf("%d,%d", first+1, last+1))
	} else if question := c.selected(p); question != "" {
		offer(kindAsk, "Ask git-rekal about the selection", askSelected, question)
	}
	return out, nil
}

// selected is the text of a selection, as a question.
func (c *connection) selected(p rangeParams) string {
	shown, _ := c.open.text(p.TextDocument.URI)
	from, to := offset(shown, p.Range.Start), offset(shown, p.Range.End)
	question := []rune(strings.Join(strings.Fields(shown[from:max(from, to)]), " "))
	return string(question[:min(len(question), maxQuestion)])
}

// execute runs a command. Its error is the answer: the editor shows it to who asked.
func (c *connection) execute(ctx context.Context, p executeParams) (any, error) {
	var uri, argument string
	if len(p.Arguments) != 2 || json.Unmarshal(p.Arguments[0], &uri) != nil ||
		json.Unmarshal(p.Arguments[1], &argument) != nil {
		return nil, fmt.Errorf("%s: give the file's URI and a text", p.Command)
	}
	path, err := pathOf(uri)
	if err != nil {
		return nil, err
	}
	shown := ""
	err = c.withIndex(ctx, filepath.Dir(path), func(ctx context.Context, w *workspace.Workspace, at *ask.Moment) error {
		look := text.Look{Width: textWidth, UTF8: true, Now: w.Now(), People: w.People(ctx)}
		switch p.Command {
		case showSession, showCommit:
			story, err := at.Story(ctx, argument)
			shown, _ = text.Story(look, story, text.Full)
			return err
		case askSelected:
			found, err := at.Recall(ctx, ask.Question{Request: ask.Request{Query: argument}})
			look.Short = found.Names.Short
			shown = text.Recall(look, found.Recall, nil)
			return err
		case askWhy:
			shown, err = c.why(ctx, at, look, uri, path, argument)
			return err
		}
		return fmt.Errorf("%q is no command of git-rekal", p.Command)
	})
	if err != nil {
		return nil, errors.New(c.Explain(err))
	}
	file := filepath.Join(c.dir, strings.TrimPrefix(p.Command, "git-rekal.")+"-"+fileName(argument)+".txt")
	// read-only, as editors show it
	if err := errors.Join(os.RemoveAll(file), os.WriteFile(file, []byte(shown), 0o400)); err != nil {
		return nil, err
	}
	if c.client.shows {
		_, err = c.rpc.Callback(ctx, "window/showDocument", showDocumentParams{URI: uriOf(file), TakeFocus: true})
	} else {
		err = c.rpc.Notify(ctx, "window/showMessage", message{Type: messageInfo, Message: "git-rekal: open " + file})
	}
	return uriOf(file), err
}

// why tells what stands behind lines, as `git rekal why` does.
func (c *connection) why(ctx context.Context, at *ask.Moment, look text.Look, uri, path, lines string) (string, error) {
	var from, to int
	if _, err := fmt.Sscanf(lines, "%d,%d", &from, &to); err != nil {
		return "", fmt.Errorf("%s: %q: give two numbers of lines: %w", askWhy, lines, err)
	}
	answer, err := at.Why(ctx, c.whyRequest(uri, path, from-1, to-1))
	if err != nil {
		return "", err
	}
	exchanges, err := at.Exchanges(ctx, answer.Results)
	return text.Recall(look, answer, exchanges), err
}

// fileName is the beginning of a text as a part of a file's name.
func fileName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < 128 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9') {
			return r
		}
		return '-'
	}, s)
	return s[:min(len(s), 40)]
}
