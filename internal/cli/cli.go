// Package cli is the command line: one file a command, with its flags, its help and its output.
//
// In: arguments, streams, the process's environment. Out: results alone on stdout; "git-rekal: …" lines on stderr; an exit status from
// exit.go. Hints on errors are added here and nowhere below.
//
// A command file reads in one order: a doc comment with a real invocation, an options struct, addFlags, validate, run. No command
// prompts, pages, or reads the clock or the environment on its own.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/terminal"
	"github.com/git-rekal/git-rekal/internal/text"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// App is one run of the program.
type App struct {
	workspace.Process
	Version  string
	Stdin    io.Reader
	Stdout   io.Writer
	Stderr   io.Writer
	Terminal bool // whether Stderr is one: only then progress is shown
	Ends     bool // the process ends behind the command
}

// command is what each command file holds.
type command interface {
	about() entry
	addFlags(fs *pflag.FlagSet)
	validate(fs *pflag.FlagSet, args []string) error
	run(ctx context.Context, app *App) error
}

// entry is one line of the command table. What it says is laid out by package manual, which tells how long may be written.
type entry struct {
	name    string // "" for recall
	usage   string // behind "git rekal ", a form a line
	short   string // at most 26 columns
	long    string
	takes   string // what its arguments are, of those that a shell completes
	exit    string // what the exit status says; "" for usualExit
	command        // nil for a topic of the help alone
}

// table lists the commands in the order of the help: what finds and shows, keeps, shares, and sets up. Subcommands win over a
// query of the same name.
func table() (out []entry) {
	for _, c := range []command{
		&recallCommand{}, &whyCommand{}, &briefCommand{}, &showCommand{}, &logCommand{}, &queryCommand{}, &webCommand{}, &resumeCommand{}, &handoffCommand{}, &linkCommand{},
		&runCommand{}, &compressCommand{}, &saveCommand{}, &markCommand{}, &markCommand{restore: true}, &scrubCommand{}, &redactCommand{}, &forgetCommand{},
		&syncCommand{}, &pushCommand{}, &importCommand{}, &exportCommand{},
		&initCommand{}, &cleanCommand{}, &checkpointCommand{}, &pauseCommand{}, &indexCommand{}, &doctorCommand{},
		&mcpCommand{}, &lspCommand{}, &completionCommand{}, &helpCommand{}, &versionCommand{}, &hookCommand{},
	} {
		e := c.about()
		e.command = c
		out = append(out, e)
	}
	return out
}

// Main runs the program with the arguments behind its name, and returns the exit status.
func Main(ctx context.Context, app *App, args []string) int {
	app.Warn = func(err error) { app.say(told(err)) }
	e, rest := choose(args)
	if e.name == "why" && app.asksWhy(rest) {
		e, rest = table()[0], args
	}
	err := parse(e, rest)
	if err == nil {
		err = e.run(ctx, app)
	}
	if err == nil {
		return exitOK
	}
	if errors.Is(err, pflag.ErrHelp) {
		if err = app.help(topic(e, rest)); err == nil {
			return exitOK
		}
	}
	if ran := exitError(0); errors.As(err, &ran) {
		return int(ran)
	}
	app.say(explain(err))
	if e.name == hookName {
		return exitOK // whatever a hook is called with, git goes on
	}
	return status(err)
}

// choose finds the command that the first argument names; without one it is recall.
func choose(args []string) (entry, []string) {
	all := table()
	if len(args) == 0 {
		return all[0], args
	}
	name := args[0]
	if name == "--version" {
		name = "version"
	}
	for _, e := range all {
		if e.name != "" && e.name == name {
			return e, args[1:]
		}
	}
	return all[0], args
}

// parse fills in a command.
func parse(e entry, args []string) error {
	fs := pflag.NewFlagSet(e.name, pflag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	e.addFlags(fs)
	args = habits(fs, args)
	rest, err := args, error(nil)
	if e.name == "" {
		rest, err = words(fs, args)
	} else if err = fs.Parse(args); err == nil {
		rest = fs.Args()
	}
	if errors.Is(err, pflag.ErrHelp) {
		return err
	}
	if err != nil {
		usage := &usageError{err: plainFlag(err), command: e.name}
		if e.name == "" && len(args) > 0 {
			usage.meant = commandFor(args[0])
		}
		return usage
	}
	if err := e.validate(fs, rest); err != nil {
		return &usageError{err: err, command: e.name}
	}
	return nil
}

// open is what every command that shares goes through: a repository that is set up, and its
// user. Close the workspace.
func (app *App) open(ctx context.Context) (*workspace.Workspace, workspace.Author, error) {
	w, err := workspace.Open(ctx, app.Process)
	if err != nil {
		return nil, workspace.Author{}, err
	}
	var author workspace.Author
	if err = w.Ready(); err == nil {
		author, err = w.Author(ctx)
	}
	if err != nil {
		w.Close()
		return nil, workspace.Author{}, err
	}
	return w, author, nil
}

// asks is what every command that reads goes through: it opens the repository, and the index as of what a text names, or for "" as it is now,
// or was at the commit of a ledger that is checked out.
func (app *App) asks(ctx context.Context, checkpoint string, use func(*workspace.Workspace, *ask.Moment) error) error {
	w, err := workspace.Open(ctx, app.Process)
	if err != nil {
		return err
	}
	defer w.Close()
	return w.Gone(app.indexing(true, func(progress func(done, total int)) error {
		at, err := ask.Open(ctx, w, ask.Opening{At: checkpoint, Progress: progress})
		if err != nil {
			return flagged(err)
		}
		app.notice(at)
		return errors.Join(use(w, at), at.Close())
	}))
}

// notice tells that an answer is as of a moment that nobody named.
func (app *App) notice(at *ask.Moment) {
	if at.Notice != "" {
		app.say(at.Notice)
	}
}

// said is before each line on stderr.
const said = "git-rekal: "

// tell prints a line of what a command did.
func (app *App) tell(format string, a ...any) {
	columns := 0
	if app.watched(shape{}) {
		columns = app.given(shape{}).Screen().Width
	}
	fmt.Fprint(app.Stdout, text.Message(columns, "", "    ", printable(fmt.Sprintf(format, a...))))
}

// say prints one line for the user.
func (app *App) say(line string) {
	fmt.Fprint(app.Stderr, text.Message(app.columns(), said, said, printable(line)))
}

// columns is how wide the terminal is on which the user is told something; 0 for no terminal.
func (app *App) columns() int {
	if !app.Terminal {
		return 0
	}
	return terminal.Given{Stdout: app.plainStderr(), Env: app.Env}.Screen().Width
}

// at is a time as people are told it, in their zone.
func (app *App) at(t time.Time) string { return t.In(app.Now().Location()).Format("2006-01-02 15:04") }

// hint prints what the user may do about something; a hint may have several lines.
func (app *App) hint(hint string) {
	prefix := said + "hint: "
	for line := range strings.SplitSeq(hint, "\n") {
		fmt.Fprint(app.Stderr, text.Message(app.columns(), prefix, prefix, printable(line)))
		prefix = ""
	}
}

// printable makes text from elsewhere safe to show on a terminal, and one line.
func printable(s string) string { return result.Printable(s) }

func noArgs(args []string) error {
	if len(args) > 0 {
		return &extraError{args[0]}
	}
	return nil
}
