package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/text"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// AgentNotes are the notes of agents, here and in the ledgers: see memory.Notes.
type AgentNotes interface {
	List(ctx context.Context, email string) (result.Notes, error)
	Diff(ctx context.Context) (patch string, err error)
	Check(ctx context.Context) (out result.NoteCheck, patch string, err error)
	Pull(ctx context.Context, dry bool) (result.NotePull, error)
	PullFrom(ctx context.Context, author string, dry bool) (result.NotePull, error)
}

type memoryOptions struct {
	verb        string
	agent, from string
	all         bool // notes of everybody
	dryRun, fix bool
	shape       outputFlags
}

// newMemoryCmd works with what agents noted in files: `git rekal memory pull --dry-run`.
func newMemoryCmd(app *App) *cobra.Command {
	c := &memoryOptions{shape: outputFlags{linewise: true}}
	cmd := &cobra.Command{
		Use: "memory list|diff|check|pull|push [--agent AGENT]", Short: "what agents noted in files",
		Long: `
Works with the notes that agents keep of a repository for their later sessions, as Markdown in a folder of the user. Captures take them into
the ledger, section by section, as memories: recall finds them, with who wrote them, when, and what they name that is gone.

  agent        where
  claude-code  ~/.claude/projects/FOLDER/memory/**.md: of the repository
  gemini-cli   ~/.gemini/tmp/PROJECT/memory/**.md: of a folder
  qwen-code    ~/.qwen/projects/FOLDER/memory/**.md: of a work tree
  codex        ~/.codex/memories/MEMORY.md: of all repositories

Of Codex's notes those groups count whose line "applies_to: cwd=" names a folder of this repository; in the ledger <repository> stands for that.
Notes stay in this clone until
"git config rekal.memoryFiles true" has them sent with the ledger; with false none are read. What a private session wrote is never sent, and
what was written during a pause never stored.

list::
The notes of your ledger; with --all those of everybody.

diff::
How the files here differ from your ledger, as a patch.

check::
Notes, and rules in HEAD (CLAUDE.md, AGENTS.md, .cursor/rules and others), that name files, symbols, commands or settings which are gone, that
contradict each other, or that a later version replaced. Nothing counts as gone that the history never had, but files
named below folders of HEAD. --fix prints a patch for what is plain.

pull::
Writes your notes of other machines into the agents' folders. Where both changed, sections are merged, with git's marks of conflicts. Text
that the ledger does not hold stays; so does a secret for which the ledger has a mark. With --from, notes of AUTHOR come behind yours in
MEMORY.md, quoted and marked as theirs; not with Codex.

push::
Captures at once what is new.

  git rekal memory check
  git rekal memory pull --agent claude-code --dry-run`,
		Annotations: map[string]string{exitStatus: "0 done, 1 failed, check found something, or pull a conflict, 2 wrong usage."},
	}
	fs := cmd.Flags()
	fs.StringVar(&c.agent, "agent", "", "only notes of `AGENT`")
	fs.StringVar(&c.from, "from", "", "with pull: notes of `AUTHOR`, an e-mail address")
	fs.BoolVar(&c.all, "all", false, "with list: of everybody")
	fs.BoolVar(&c.dryRun, "dry-run", false, "with pull: write nothing, and say what would be written")
	fs.BoolVar(&c.fix, "fix", false, "with check: print a patch")
	c.shape.addFlags(fs)
	return app.withOptions(cmd, c)
}

func (c *memoryOptions) validate(_ *pflag.FlagSet, args []string) error {
	if len(args) == 0 {
		return errors.New("say what: list, diff, check, pull or push")
	}
	c.verb = args[0]
	switch {
	case !slices.Contains([]string{"list", "diff", "check", "pull", "push"}, c.verb):
		return fmt.Errorf("%q: neither list, diff, check, pull nor push", c.verb)
	case c.agent != "" && !slices.Contains(session.NoteAgents(), c.agent):
		return fmt.Errorf("--agent %q: it keeps no notes; these do: %s", c.agent, strings.Join(session.NoteAgents(), ", "))
	case (c.from != "" || c.dryRun) && c.verb != "pull":
		return errors.New("--from and --dry-run go with pull")
	case c.all && c.verb != "list":
		return errors.New("--all goes with list")
	case c.fix && c.verb != "check":
		return errors.New("--fix goes with check")
	}
	return errors.Join(noArgs(args[1:]), c.shape.validate())
}

func (c *memoryOptions) run(ctx context.Context, app *App) error {
	if c.verb == "push" {
		return c.push(ctx, app)
	}
	if err := app.needFull(); err != nil {
		return err
	}
	return app.withMoment(ctx, ask.Opening{Reader: app.reader()}, func(w *workspace.Workspace, at *ask.Moment) error {
		author, err := w.Author(ctx)
		if err != nil {
			return err
		}
		of := app.Full.Notes(w, at, author, c.agent)
		switch c.verb {
		case "list":
			return c.list(ctx, app, w, of, author.Email)
		case "diff":
			patch, err := of.Diff(ctx)
			return errors.Join(err, c.printPatch(app, patch))
		case "check":
			return c.check(ctx, app, w, of)
		}
		return c.pull(ctx, app, w, of)
	})
}

func (c *memoryOptions) list(ctx context.Context, app *App, w *workspace.Workspace, of AgentNotes, email string) error {
	if c.all {
		email = ""
	}
	out, err := of.List(ctx, email)
	if err != nil {
		return err
	}
	return c.shape.answer(ctx, app, w, out, nil, func(l text.Look) string { return text.Notes(l, out) })
}

func (c *memoryOptions) check(ctx context.Context, app *App, w *workspace.Workspace, of AgentNotes) error {
	out, patch, err := of.Check(ctx)
	if err == nil && c.fix {
		err = c.printPatch(app, patch)
	} else if err == nil {
		err = c.shape.answer(ctx, app, w, out, nil, func(l text.Look) string { return text.NoteCheck(l, out) })
	}
	if err == nil && out.TimedOut {
		app.notify("memory check: time was up before all was looked for: more may be gone")
	}
	if err == nil && len(out.Problems) > 0 {
		return exitError(exitFail)
	}
	return err
}

func (c *memoryOptions) pull(ctx context.Context, app *App, w *workspace.Workspace, of AgentNotes) error {
	pull := of.Pull
	if c.from != "" {
		pull = func(ctx context.Context, dry bool) (result.NotePull, error) { return of.PullFrom(ctx, c.from, dry) }
	}
	out, err := pull(ctx, c.dryRun)
	if len(out.Files) > 0 || err == nil { // what was written is told in any case
		err = errors.Join(err,
			c.shape.answer(ctx, app, w, out, nil, func(l text.Look) string { return text.NotePull(l, out) }))
	}
	if err == nil && out.HasConflict() {
		return exitError(exitFail)
	}
	return err
}

// printPatch prints a patch as it is: it is for git apply.
func (c *memoryOptions) printPatch(app *App, patch string) error {
	_, err := io.WriteString(app.Stdout, patch)
	return err
}

// push captures what is new of notes, with all else that is.
func (c *memoryOptions) push(ctx context.Context, app *App) error {
	w, author, err := app.openWithAuthor(ctx)
	if err != nil {
		return err
	}
	defer w.Close()
	if err := app.captureNow(ctx, w, author, session.ViaManual); err != nil {
		return err
	}
	app.hintNotesStay(ctx, w, author)
	return nil
}
