package cli

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/setup"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// initCommand sets a repository up: `git rekal init`.
type initCommand struct{}

func initEntry() entry {
	return entry{
		name: "init", usage: "init", short: "set this repository up, and import what agents already recorded",
		long: `
Makes the ledger branch rekal/<email>, the caches in .rekal/, the hooks and the agent's skill,
ignores the last two through info/exclude, and imports the sessions that coding agents
already recorded for this repository. Run again, it repairs what is missing and changes
nothing else. "git rekal clean" undoes it.`,
		make: func() command { return &initCommand{} },
	}
}

func (c *initCommand) addFlags(*pflag.FlagSet) {}

func (c *initCommand) validate(args []string) error { return noArgs(args) }

func (c *initCommand) run(ctx context.Context, app *App) error {
	w, err := workspace.Open(app.Process)
	if err != nil {
		return err
	}
	defer w.Close()
	author, err := w.Author(ctx)
	if err != nil {
		return err
	}
	layout, err := w.Layout(ctx)
	if err != nil {
		return err
	}
	created, err := author.Ledger.Create(ctx) // where that can't be, nothing else is made
	if err != nil {
		return err
	}
	report, err := setup.Install(layout)
	if err != nil {
		return err
	}
	if created {
		report.Done = append(report.Done, "ledger branch "+shortRef(author.Ledger.Ref()))
	}
	for _, line := range report.Done {
		fmt.Fprintln(app.Stdout, printable(line))
	}
	if err := c.importSessions(ctx, app, w, author); err != nil {
		return err
	}
	for _, hint := range report.Hints {
		app.hint(hint)
	}
	return nil
}

func (c *initCommand) importSessions(ctx context.Context, app *App, w *workspace.Workspace, author workspace.Author) error {
	capturer, err := w.Capturer(ctx, author)
	if err != nil {
		return err
	}
	if app.Terminal {
		capturer.Progress = func(done, total int) {
			fmt.Fprintf(app.Stderr, "\rimporting transcripts: %d of %d", done, total)
			if done == total {
				fmt.Fprintln(app.Stderr)
			}
		}
	}
	out, err := capturer.Import(ctx)
	if err != nil {
		return err
	}
	app.report(out)
	if out.Sessions > 0 {
		fmt.Fprintf(app.Stdout, "imported %s, tied to %s\n", counted(out), plural(out.Checkpoints, "commit"))
	}
	m, err := w.Reader()
	if err != nil {
		return err
	}
	return m.CatchUp(ctx)
}
