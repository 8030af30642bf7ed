package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/brief"
	"github.com/git-rekal/git-rekal/internal/compress"
	"github.com/git-rekal/git-rekal/internal/curate"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/records"
	"github.com/git-rekal/git-rekal/internal/run"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

type runOptions struct {
	opt  compress.Options
	full bool
	args []string
}

// exitError is the status of a command that was run, which is ours, too: there is nothing to say about it.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// newRunCmd runs a command and keeps what it printed: `git rekal run -- go test ./...`.
func newRunCmd(app *App) *cobra.Command {
	c := &runOptions{}
	cmd := &cobra.Command{
		Use: "run [-i TEXT] [--full] [--] COMMAND [ARG…]", Short: "run a command, keep output",
		Long: `
Runs COMMAND with your stdin and signals, and keeps its output, redacted, in this clone. A later recall finds it. On a terminal, and with
--full, everything is printed. Elsewhere (an agent, a pipe) you get what matters, as from "git rekal compress", and the record's number. Then
"git rekal show N --raw" has the rest.

  git rekal run -- pytest -q
  git rekal run -i "which migration fails" make migrate

Outside a repository that is set up, COMMAND runs as usual, and nothing is kept.`,
		Annotations: map[string]string{exitStatus: "the status of COMMAND; as in a shell 126 or 127 if it cannot run, 128+n if signal n ended it."},
	}
	fs := cmd.Flags()
	fs.SetInterspersed(false) // the command has flags of its own
	compressFlags(fs, &c.opt)
	fs.BoolVar(&c.full, "full", false, "print everything, also into a pipe or a file")
	return app.withOptions(cmd, c)
}

func (c *runOptions) validate(_ *pflag.FlagSet, args []string) error {
	if len(args) == 0 {
		return errors.New("give the command to run")
	}
	c.args = args
	return checkBudget(c.opt)
}

// memoryLimit keeps the memory low beside a command that needs its own; see docs/records.md for what is measured.
const memoryLimit = 28 << 20

func (c *runOptions) run(ctx context.Context, app *App) error {
	debug.SetMemoryLimit(memoryLimit)
	ctx = context.WithoutCancel(ctx) // a signal is the command's
	keeping := app.prepareKeeper(ctx)
	stdout, _ := app.Stdout.(*os.File)
	live := sync.OnceValue(func() bool {
		if c.full || stdout != nil && run.IsTerminal(stdout) {
			return true
		}
		_, unkept := keeping()
		return unkept != nil
	})
	stdin, _ := app.Stdin.(*os.File)
	stderr, _ := app.Stderr.(*os.File)
	small, raw := compress.New(c.opt), &records.Spool{}
	var broken error // the compressor may fail as it likes: the output is not its to lose
	try := func(do func()) {
		if broken == nil {
			broken = recoverPanic(func() error {
				do()
				return nil
			})
		}
	}
	done := run.Run(run.Command{
		Args: c.args, Dir: app.Dir, Env: app.Env, Stdin: stdin, Stdout: app.Stdout, Stderr: app.Stderr,
		Show: func(s run.Stream) bool { return live() || s == run.Err && stderr != nil && run.IsTerminal(stderr) },
		Hear: func(p []byte) {
			_, _ = raw.Write(p)
			try(func() { _, _ = small.Write(p) })
		},
	})
	keeper, unkept := keeping()
	if unkept == nil {
		defer keeper.Close()
	}
	if done.Failed != nil {
		app.notify(done.Failed.Error())
		return exitError(done.Status)
	}
	if done.Lost != nil {
		app.notify(fmt.Sprintf("run: the command's output could not be written: %v", done.Lost))
	}
	if unkept != nil {
		app.notifyNotKept(unkept)
	} else {
		var r compress.Result
		if try(func() { r = small.Close() }); broken != nil {
			app.notify("run: nothing was kept: the output could not be read")
			printUnkept(app.Stdout, raw, r, live())
			return exitError(done.Status)
		}
		c.keepOutput(ctx, app, keeper, done.Status, r, raw, live())
	}
	return exitError(done.Status)
}

// keepOutput stores the output of the command, and prints its short form if the output was not seen.
func (c *runOptions) keepOutput(ctx context.Context, app *App, keeper curate.Keeper, status int, r compress.Result,
	raw *records.Spool, seen bool,
) {
	kept, secrets, err := keeper.Keep(ctx, recordOf(r, c.opt, run.Quote(c.args), &status), raw.Reader())
	if err != nil {
		app.notify(fmt.Sprintf("run: nothing was kept: %v", err))
		printUnkept(app.Stdout, raw, r, seen)
		return
	}
	app.tellRedacted(secrets)
	line := recordLine(kept, r)
	if status != 0 {
		line += app.mendedBefore(ctx, kept.Command, r.Text)
	}
	if seen {
		fmt.Fprintln(app.Stderr, line)
		return
	}
	fmt.Fprintf(app.Stdout, "%s%s\n", r.Text, line)
}

// mendedTime is how long the end of a command that failed waits for how its error was mended before.
const mendedTime = 150 * time.Millisecond

// mendedBefore is a line about how the error of a command was mended before, behind a new line; "" for nothing, or
// where that takes too long.
func (app *App) mendedBefore(ctx context.Context, command, output string) string {
	ctx, cancel := context.WithTimeout(ctx, mendedTime)
	defer cancel()
	quiet := app.Process
	quiet.Warn = func(error) {}
	w, err := workspace.Open(ctx, quiet)
	if err != nil {
		return ""
	}
	defer w.Close()
	text, err := brief.MendedBefore(ctx, w, command, output)
	if err != nil || text == "" { // the command's own end is what counts
		return ""
	}
	return "\n" + text
}

// printUnkept prints an output that could not be stored: all of it if it is still in memory, else its short form.
func printUnkept(out io.Writer, raw *records.Spool, r compress.Result, seen bool) {
	if seen {
		return
	}
	if raw.Lost() > 0 && r.Text != "" {
		_, _ = io.WriteString(out, r.Text) // nobody is left to tell
		return
	}
	for _, p := range raw.Parts() {
		_, _ = out.Write(p)
	}
}

// openToKeepRecords opens the repository in which records are kept; an error says why none are.
func (app *App) openToKeepRecords(ctx context.Context) (*workspace.Workspace, error) {
	w, err := workspace.Open(ctx, app.Process)
	if err != nil {
		return nil, err
	}
	if err := curate.WhyNotKept(w); err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

// prepareKeeper opens the repository and loads what redaction needs while the command starts. The function that it
// returns waits for both.
func (app *App) prepareKeeper(ctx context.Context) func() (curate.Keeper, error) {
	ask := sync.OnceValues(func() (curate.Keeper, error) {
		w, err := app.openToKeepRecords(ctx)
		if err != nil {
			return curate.Keeper{}, err
		}
		return curate.PrepareKeeper(ctx, w), nil
	})
	go func() { _, _ = ask() }()
	return ask
}

// notifyNotKept says once why nothing was kept. Who switched records off knows.
func (app *App) notifyNotKept(err error) {
	switch {
	case errors.Is(err, curate.ErrRecordsOff):
	case errors.Is(err, git.ErrNotRepository):
		app.notify("nothing was kept: this is no git repository")
	default:
		app.notify("nothing was kept: " + explain(err))
	}
}

// recordOf is what is stored of an output.
func recordOf(r compress.Result, opt compress.Options, command string, status *int) records.Record {
	return records.Record{
		Command: command, Instruction: opt.Instruction, Exit: status,
		Lines: r.Lines, Bytes: r.Bytes, Shown: r.Shown, Text: r.Text, Terms: r.Terms, Paths: r.Paths,
		Failed: r.Failed, Errors: r.Errors, Tests: r.Tests,
	}
}

// recordLine tells of a record: "[42] exit 1, 18,204 lines → 31; git rekal show 42 --raw".
func recordLine(kept records.Record, r compress.Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[%d]", kept.ID)
	if kept.Exit != nil {
		fmt.Fprintf(&b, " exit %d,", *kept.Exit)
	}
	fmt.Fprintf(&b, " %s → %s; git rekal show %d --raw", session.Counted(r.Lines, "line"), session.Thousands(r.Shown),
		kept.ID)
	return b.String()
}
