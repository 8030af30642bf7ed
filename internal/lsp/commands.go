package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
)

// How wide the texts are, and how much of a selection is a question, in characters.
const (
	textWidth   = 100
	maxQuestion = 400
)

// codeActions offer what can be read on from the first line of a selection.
func (c *connection) codeActions(ctx context.Context, p rangeParams) ([]codeAction, error) {
	out := []codeAction{}
	offer := func(title, name, argument string) {
		out = append(out, codeAction{title, command{title, name, []any{p.TextDocument.URI, argument}}})
	}
	if lines := c.linesBehind(ctx, p.TextDocument.URI, p.Range.Start.Line, p.Range.Start.Line); len(lines) > 0 {
		if l := lines[0]; l.Session != "" {
			offer("Show the session: "+l.Title, showSession, l.Address)
		}
		if l := lines[0]; l.Commit != "" {
			offer("Show the commit "+l.Commit, showCommit, l.Commit)
		}
	}
	if shown, ok := c.open.text(p.TextDocument.URI); ok {
		selected := shown[offset(shown, p.Range.Start):max(offset(shown, p.Range.Start), offset(shown, p.Range.End))]
		if selected = strings.Join(strings.Fields(selected), " "); selected != "" {
			offer("Ask git-rekal about the selection", askSelected,
				string([]rune(selected)[:min(len([]rune(selected)), maxQuestion)]))
		}
	}
	return out, nil
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
