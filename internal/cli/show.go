package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/records"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// showCommand prints a record: `git rekal show 42 --raw`.
type showCommand struct {
	id  int
	raw bool
}

func showEntry() entry {
	return entry{
		name: "show", usage: "show N [--raw]", short: "print a record",
		long: `
Prints the record of a command: a line about it, and what mattered of its output. With --raw, the output itself, as it was printed but
for secrets; of more than 8 MB the first and last 4. Outputs are kept for 7 days.

  git rekal show 42
  git rekal show 42 --raw | grep -n timeout

Sessions and memories have longer IDs: "git rekal query --session ID" shows those.`,
		takes: takesID,
		make:  func() command { return &showCommand{} },
	}
}

func (c *showCommand) addFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&c.raw, "raw", false, "the output itself")
}

func (c *showCommand) validate(args []string) error {
	if len(args) == 0 {
		return errors.New("give the number of a record")
	}
	if err := noArgs(args[1:]); err != nil {
		return err
	}
	id, ok := records.ParseID(args[0])
	if c.id = id; !ok {
		return fmt.Errorf("%q is no number of a record", args[0])
	}
	return nil
}

func (c *showCommand) run(_ context.Context, app *App) error {
	w, err := workspace.Open(app.Process)
	if err != nil {
		return err
	}
	defer w.Close()
	store, err := w.Records()
	if err != nil {
		return err
	}
	r, err := store.Find(c.id)
	if err != nil {
		return err
	}
	if !c.raw {
		_, err = io.WriteString(app.Stdout, recordText(r))
		return err
	}
	raw, err := store.Raw(c.id)
	if errors.Is(err, fs.ErrNotExist) && r.From != nil {
		return fmt.Errorf("the output of %d is not kept here: it stands in %s, at %s", c.id, w.TranscriptOf(r), r.At.UTC().Format(time.RFC3339))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the output of %d: %w", c.id, records.ErrNoRaw)
	}
	if err != nil {
		return err
	}
	_, err = app.Stdout.Write(raw)
	return err
}

// recordText shows a record to a person or an agent.
func recordText(r records.Record) string {
	head := fmt.Sprintf("[%d] %s", r.ID, r.At.UTC().Format("2006-01-02 15:04:05Z"))
	if r.Exit != nil {
		head += fmt.Sprintf(" exit %d", *r.Exit)
	}
	if r.Hidden {
		head += " purged"
	}
	if r.Command != "" {
		head += "\n$ " + printable(r.Command)
	}
	if r.Dir != "" {
		head += "\nin " + printable(r.Dir)
	}
	if f := r.From; f != nil {
		head += fmt.Sprintf("\nby %s in session %s", f.Source, cmp.Or(f.Session, f.Native))
		if f.Turn >= 0 {
			head += fmt.Sprintf(", turn %d", f.Turn)
		}
	}
	if r.Instruction != "" {
		head += "\nlooking for: " + printable(r.Instruction)
	}
	return head + "\n\n" + r.Text
}
