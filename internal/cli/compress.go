package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/compress"
	"github.com/git-rekal/git-rekal/internal/curate"
	"github.com/git-rekal/git-rekal/internal/records"
)

type compressOptions struct {
	opt     compress.Options
	command string
	exit    int
	status  *int // the exit status where it was given
}

// newCompressCmd makes what another command printed small: `make 2>&1 | git rekal compress`.
func newCompressCmd(app *App) *cobra.Command {
	c := &compressOptions{}
	cmd := &cobra.Command{
		Use: "compress [-i TEXT] [--command TEXT] [--exit N]", Short: "make an output small",
		Long: `
Reads a command's output from stdin, and prints what matters: failing tests, errors and warnings with their places, and totals. From the
rest it prints the beginning, the end, and lines that mention the instruction.

A line that begins with "… " says what was left out. Every other line is a line of the input. Rules decide, not a model: the same input
gives the same output.

In a repository that is set up, the output is kept as a record, as by "git rekal run". A line on stderr has its number.

  go test ./... 2>&1 | git rekal compress
  git rekal compress -i "why does the login fail" < server.log`,
	}
	fs := cmd.Flags()
	compressFlags(fs, &c.opt)
	fs.StringVar(&c.command, "command", "", "the command `LINE` that printed it, for a later recall")
	fs.IntVar(&c.exit, "exit", 0, "its exit status was `N`")
	return app.withOptions(cmd, c)
}

// compressFlags say what an output is read for.
func compressFlags(fs *pflag.FlagSet, opt *compress.Options) {
	fs.StringVarP(&opt.Instruction, "instruction", "i", "", "keep lines that mention `TEXT`: what you look for")
	fs.String("intent", "", "") // what came first where not everything fits: now failures always do
	_ = fs.MarkHidden("intent") // it is there
	fs.IntVar(&opt.Budget, "budget", compress.Budget, "at most `N` tokens, 100 or more")
}

func checkBudget(opt compress.Options) error {
	if opt.Budget < 100 {
		return errors.New("--budget must be at least 100")
	}
	return nil
}

func (c *compressOptions) validate(fs *pflag.FlagSet, args []string) error {
	if err := noArgs(args); err != nil {
		return err
	}
	if fs.Changed("exit") {
		c.status = &c.exit
	}
	return checkBudget(c.opt)
}

func (c *compressOptions) run(ctx context.Context, app *App) error {
	debug.SetMemoryLimit(memoryLimit)
	small, raw := compress.New(c.opt), &records.Spool{}
	if _, err := io.Copy(io.MultiWriter(small, raw), app.Stdin); err != nil {
		return fmt.Errorf("compress: read stdin: %w", err)
	}
	r := small.Close()
	if _, err := io.WriteString(app.Stdout, r.Text); err != nil {
		return fmt.Errorf("compress: %w", err)
	}
	return c.storeRecord(ctx, app, r, raw)
}

// storeRecord stores what was read, where records are kept.
func (c *compressOptions) storeRecord(ctx context.Context, app *App, r compress.Result, raw *records.Spool) error {
	w, err := app.openToKeepRecords(ctx)
	if err != nil { // the result is there: who only wanted that needs no repository
		return nil //nolint:nilerr // see above
	}
	keeper := curate.PrepareKeeper(ctx, w)
	defer keeper.Close()
	kept, secrets, err := keeper.Keep(ctx, recordOf(r, c.opt, c.command, c.status), raw.Reader())
	if err != nil {
		app.notify(fmt.Sprintf("compress: nothing was kept: %v", err))
		return nil
	}
	app.tellRedacted(secrets)
	fmt.Fprintln(app.Stderr, recordLine(kept, r))
	return nil
}
