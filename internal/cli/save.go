package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/capture"
	"github.com/git-rekal/git-rekal/internal/curate"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

type saveOptions struct {
	note   capture.Note
	record int
	stdin  bool
	words  string // where they are several arguments, and may have been meant as a search
}

// newSaveCmd stores a memory: `git rekal save --title "Leeway" "Tokens have 30 s of leeway."`.
func newSaveCmd(app *App) *cobra.Command {
	c := &saveOptions{}
	cmd := &cobra.Command{
		Use: "save [--title T] [--source S] [--supersedes ID] [--rejects ID|TEXT] [--record N] [TEXT|-]", Short: "save what was learned",
		Long: `
Saves a text of at most 64 KB as a memory in your ledger, redacted. Recall finds it at once, beside sessions, and sync shares it. Without TEXT a
terminal opens git's editor; elsewhere, and with "-", the text is read from stdin. The title has at most 200 characters. It prints the memory as JSON on one line.

With --supersedes it stands in the place of another memory: recall shows it alone, with what it said before. With --rejects it says what was tried
and dropped, in a session, a memory or in words, and TEXT says why. Two memories with other values of one file, symbol or setting name each other.

The same text under the same title is not stored again. The answer then names the stored memory, with "existing".

  git rekal save --title "Leeway of tokens" "30 s, because clocks differ."
  git rekal save --title "Release steps" - < notes.md
  git rekal save --supersedes 01KJW4MN "60 s: the gate's clock lags."
  git rekal save --rejects "Redis for sessions" "Nobody here can run it."
  git rekal save --record 42 --title "How the first migration failed"`,
	}
	fs := cmd.Flags()
	fs.StringVar(&c.note.Title, "title", "",
		"the title `LINE`, at most 200 characters; it weighs more than the text (default: what it rejects in words, else the text's first line)")
	fs.StringVar(&c.note.Source, "source", "manual", "`WHO` it is from, a person or a tool")
	fs.StringVar(&c.note.Supersedes, "supersedes", "", "it stands in the place of the memory `ID`")
	fs.StringVar(&c.note.Rejects, "rejects", "", "it says why `ID|TEXT` was dropped")
	fs.IntVar(&c.record, "record", 0, "save what a command printed: record number `N`")
	return app.withOptions(cmd, c)
}

// validate leaves an empty text to be read from stdin.
func (c *saveOptions) validate(fs *pflag.FlagSet, args []string) error {
	if fs.Changed("record") {
		if c.record < 1 {
			return errors.New("--record needs the number of a record")
		}
		if !fs.Changed("source") {
			c.note.Source = "record"
		}
		return noArgs(args)
	}
	if err := c.validateStates(fs); err != nil {
		return err
	}
	if c.stdin = len(args) == 1 && args[0] == "-"; c.stdin || len(args) == 0 {
		return nil
	}
	if c.note.Content = strings.Join(args, " "); strings.TrimSpace(c.note.Content) == "" {
		return errors.New("the text is empty")
	}
	if len(args) > 1 && len(args) < 10 && fs.NFlag() == 0 {
		c.words = strings.Join(args, " ")
	}
	return nil
}

// validateStates refuses a state of nothing, as of a variable that is not set.
func (c *saveOptions) validateStates(fs *pflag.FlagSet) error {
	if fs.Changed("supersedes") && strings.TrimSpace(c.note.Supersedes) == "" {
		return errors.New("--supersedes needs the ID of a memory")
	}
	if fs.Changed("rejects") && strings.TrimSpace(c.note.Rejects) == "" {
		return errors.New("--rejects needs a text or an ID")
	}
	return nil
}

func (c *saveOptions) run(ctx context.Context, app *App) error {
	w, author, err := app.openWithAuthor(ctx)
	if err != nil {
		return err
	}
	defer w.Close()
	if c.record > 0 {
		if err := c.memoryFromRecord(ctx, w); err != nil {
			return err
		}
	}
	if c.note.Content == "" {
		if c.note.Content, err = c.writtenText(ctx, app); err != nil {
			return err
		}
		if strings.TrimSpace(c.note.Content) == "" {
			return &usageError{err: errors.New("the text is empty: give it as an argument, or on stdin"), command: "save"}
		}
	}
	memory, secrets, err := curate.Save(ctx, w, author, c.note)
	if err != nil {
		return err
	}
	app.tellRedacted(secrets)
	if c.words != "" {
		app.hintIfSearchMeant(fmt.Sprintf(`saved a memory, which "git rekal purge %s" hides`, memory.ID), "save "+c.words)
	}
	return result.Write(app.Stdout, memory)
}

// writtenText is the text of stdin, or of git's editor where a person has a terminal and did not ask for stdin.
func (c *saveOptions) writtenText(ctx context.Context, app *App) (string, error) {
	if !c.stdin && app.canAsk() {
		return app.editText(ctx, "# Write a memory above this line: its first line is its title, no text saves nothing.")
	}
	// What is longer is refused, so no more of it has to be here.
	text, err := io.ReadAll(io.LimitReader(app.Stdin, capture.MaxContent+1))
	if err != nil {
		err = fmt.Errorf("save: read stdin: %w", err)
	}
	return string(text), err
}

// memoryFromRecord makes the memory of a record.
func (c *saveOptions) memoryFromRecord(ctx context.Context, w *workspace.Workspace) error {
	r, err := ask.Record(ctx, w, c.record)
	if err != nil {
		return err
	}
	c.note.Content = recordText(r, r.At.UTC().Format("2006-01-02 15:04:05Z"))
	if c.note.Title == "" {
		c.note.Title = cmp.Or(r.Command, r.Instruction)
	}
	return nil
}
