// Package cli is the command line: one file a command, with its flags, its help and its output.
//
// In: arguments, streams, the process's environment. Out: results alone on stdout; "git-rekal: …" lines on stderr; an
// exit status from exit.go. Hints on errors are added here and nowhere below.
//
// A command file reads in one order: its options, newXCmd with a real invocation, flags and help, validate, run. Only
// what sends prompts. No command pages, or reads the clock or the environment on its own.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
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
	Full     *Full // nil in git-rekal, which starts git-rekal-full for what it lacks
	Stdin    io.Reader
	Stdout   io.Writer
	Stderr   io.Writer
	Terminal bool // whether Stderr is one: only then progress is shown
	Ends     bool // the process ends behind the command

	oneOfMany bool // the command runs in one repository after the other: what goes for all is told once

	args    []string // behind the program's name
	root    *cobra.Command
	helpErr error // what went wrong as help was printed
}

// options are what the flags and arguments of a command say; run does it.
type options interface {
	run(ctx context.Context, app *App) error
}

// validator is options that refuse what can't be run. A command without it takes no arguments.
type validator interface {
	validate(fs *pflag.FlagSet, args []string) error
}

// withOptions makes a command validate and run its options.
func (app *App) withOptions(cmd *cobra.Command, o options) *cobra.Command {
	fs := cmd.Flags()
	fs.BoolP("help", "h", false, "explain the command")
	fs.Lookup("help").Hidden = true
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		err := noArgs(args)
		if v, ok := o.(validator); ok {
			err = v.validate(fs, args)
		}
		if err != nil {
			return &usageError{err: err, command: cmd.Name()}
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), app) }
	return cmd
}

// exitStatus is the annotation of a command whose exit status says something else than usualExit.
const exitStatus = "exit status"

// addCommands makes all commands, to be run with some arguments. A search is a command, too, whose name nobody types.
// Help topics are commands that only help knows.
func (app *App) addCommands(args []string) {
	root := &cobra.Command{
		Use: "git-rekal", Short: "find the AI coding sessions behind the code",
		Long: `
Finds the AI coding sessions behind the code: git rekal "JWT expiry"

COMMANDS

"git rekal help COMMAND" explains a command, "help recall" searching, "help config" settings, "help words" terms. "git rekal
--help" needs the manual pages installed.`,
		SilenceErrors: true, SilenceUsage: true, CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	app.root = root
	help := newHelpCmd(app)
	if len(args) > 0 && args[0] == hookName { // a commit waits for it, and the others' flags take a while
		root.AddCommand(newHookCmd(app), help)
	} else {
		app.addAllCommands(help)
	}
	root.SetHelpCommand(help)
	root.SetOut(app.Stdout)
	root.SetErr(io.Discard)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { app.helpErr = app.help(app.helpSubject(cmd, args)) })
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		usage := &usageError{err: explainFlagError(err), command: cmd.Name()}
		if cmd.Name() == recallName {
			usage.meant = app.commandFor(args[0])
		}
		return usage
	})
	root.SetArgs(app.withCommandName(args))
}

func (app *App) addAllCommands(help *cobra.Command) {
	app.root.AddCommand(
		newRecallCmd(app), newWhyCmd(app), newFixCmd(app), newBriefCmd(app), newShowCmd(app), newLogCmd(app),
		newQueryCmd(app), newWebCmd(app), newStatsCmd(app),
		newResumeCmd(app), newHandoffCmd(app), newLinkCmd(app), newRunCmd(app), newCompressCmd(app), newSaveCmd(app),
		newMemoryCmd(app), newPurgeCmd(app), newRestoreCmd(app),
		newScrubCmd(app), newRedactCmd(app), newForgetCmd(app), newPrivateCmd(app), newSyncCmd(app), newPushCmd(app),
		newSignCmd(app), newMirrorCmd(app),
		newImportCmd(app), newExportCmd(app), newTrailersCmd(app), newCheckCmd(app), newInitCmd(app), newCleanCmd(app),
		newCheckpointCmd(app), newPauseCmd(app), newIndexCmd(app), newDoctorCmd(app),
		newMcpCmd(app), newLspCmd(app), newCompletionCmd(app), help, newVersionCmd(app), newHookCmd(app), newConfigTopic(),
		newWordsTopic(),
	)
}

// Main runs the program with the arguments behind its name, and returns the exit status.
func Main(ctx context.Context, app *App, args []string) int {
	app.Warn = func(err error) { app.notify(explainWarning(err)) }
	app.args = args
	if app.Full != nil {
		app.OpenServer = app.Full.OpenServer
	}
	app.addCommands(args)
	err := errors.Join(app.root.ExecuteContext(ctx), app.helpErr)
	if err == nil {
		return exitOK
	}
	if ran := exitError(0); errors.As(err, &ran) {
		return int(ran)
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		if app.Terminal {
			fmt.Fprintln(app.Stderr) // behind ^C
		}
		app.notify("stopped")
		return exitFail
	}
	app.notify(explain(err))
	if len(args) > 0 && args[0] == hookName {
		return exitOK // whatever a hook is called with, git goes on
	}
	return exitCode(err)
}

// withCommandName are the arguments with the name of a command before them, as cobra reads them. Commands win over a
// search for their names.
func (app *App) withCommandName(args []string) []string {
	if len(args) > 0 && args[0] == "--version" {
		args = append([]string{"version"}, args[1:]...)
	}
	if len(args) > 0 && args[0] == cobra.ShellCompRequestCmd {
		app.completeFlags()
		if words := args[1:]; len(words) > 0 && strings.HasPrefix(words[0], "-") ||
			len(words) > 1 && app.findCommand(words[0]) == nil {
			args = slices.Insert(slices.Clone(args), 1, recallName)
		}
		return args
	}
	args = app.commandFirst(args)
	if len(args) > 0 && (args[0] != "why" || !app.asksWhy(args[1:])) {
		if cmd := app.findCommand(args[0]); cmd != nil {
			return append([]string{args[0]}, translateGitFlags(cmd.Flags(), app.joinGroupName(cmd.Flags(), args[1:]))...)
		}
	}
	recall, _, _ := app.root.Find([]string{recallName})
	return append([]string{recallName}, maskQuestion(recall.Flags(), app.joinGroupName(recall.Flags(), args))...)
}

// commandFirst puts a command before the switches that stand before it, "--text why F:3", where the command has them
// all.
func (app *App) commandFirst(args []string) []string {
	n := slices.IndexFunc(args, func(a string) bool {
		return !slices.Contains([]string{"--text", "--json", "--no-pager"}, a)
	})
	if n < 1 {
		return args
	}
	cmd := app.findCommand(args[n])
	if cmd == nil || slices.ContainsFunc(args[:n], func(a string) bool {
		return cmd.Flags().Lookup(strings.TrimPrefix(a,
			"--")) == nil
	}) {
		return args
	}
	return slices.Concat(args[n:n+1], args[:n], args[n+1:])
}

// findCommand is the command that a person may name so; nil for none.
func (app *App) findCommand(name string) *cobra.Command {
	for _, cmd := range app.root.Commands() {
		if cmd.Name() == name && cmd.Runnable() && name != recallName {
			return cmd
		}
	}
	return nil
}

// openWithAuthor opens a repository that is set up, and tells who its user is. Close the workspace.
func (app *App) openWithAuthor(ctx context.Context) (*workspace.Workspace, workspace.Author, error) {
	w, err := workspace.Open(ctx, app.Process)
	if err != nil {
		return nil, workspace.Author{}, err
	}
	var author workspace.Author
	if err = w.CheckReady(); err == nil {
		author, err = w.Author(ctx)
	}
	if err != nil {
		w.Close()
		return nil, workspace.Author{}, err
	}
	return w, author, nil
}

// withMoment opens the repository and its index for a command that reads.
func (app *App) withMoment(ctx context.Context, o ask.Opening,
	use func(*workspace.Workspace, *ask.Moment) error,
) error {
	w, err := workspace.Open(ctx, app.Process)
	if err != nil {
		return err
	}
	defer w.Close()
	return w.AsNotInitialised(app.withIndexingMeter(true, func(progress func(done, total int)) error {
		o.Progress = progress
		at, err := ask.Open(ctx, w, o)
		if err != nil {
			return withFlagName(err)
		}
		app.printMomentNotice(at)
		return errors.Join(use(w, at), at.Close())
	}))
}

// printMomentNotice tells that an answer is as of a moment that nobody named.
func (app *App) printMomentNotice(at *ask.Moment) {
	if at.Notice != "" {
		app.notify(at.Notice)
	}
}

// stderrPrefix begins each line on stderr.
const stderrPrefix = "git-rekal: "

// printDone prints on stdout a line that says what a command did.
func (app *App) printDone(format string, a ...any) {
	columns := 0
	if app.seenByPerson(outputFlags{}) {
		columns = app.terminalOutput(outputFlags{}).Screen().Width
	}
	fmt.Fprint(app.Stdout, text.Message(columns, "", "    ", printable(fmt.Sprintf(format, a...))))
}

// notify prints one line for the user on stderr.
func (app *App) notify(line string) {
	fmt.Fprint(app.Stderr, text.Message(app.stderrWidth(), stderrPrefix, stderrPrefix, printable(line)))
}

// stderrWidth is how wide the terminal is on which the user is told something; 0 for no terminal.
func (app *App) stderrWidth() int {
	if !app.Terminal {
		return 0
	}
	return terminal.Output{Stdout: app.plainStderr(), Env: app.Env}.Screen().Width
}

// formatTime is a time as people are told it, in their zone.
func (app *App) formatTime(t time.Time) string {
	return t.In(app.Now().Location()).Format("2006-01-02 15:04")
}

// hint prints what the user may do about something; a hint may have several lines.
func (app *App) hint(hint string) {
	prefix := stderrPrefix + "hint: "
	for line := range strings.SplitSeq(hint, "\n") {
		fmt.Fprint(app.Stderr, text.Message(app.stderrWidth(), prefix, prefix, printable(line)))
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
