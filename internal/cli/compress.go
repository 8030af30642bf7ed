package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/compress"
)

// compressCommand makes what another command printed small: `make 2>&1 | git rekal compress --intent build`.
type compressCommand struct{ opt compress.Options }

func compressEntry() entry {
	return entry{
		name: "compress", usage: "compress [-i TEXT] [--intent WORD]", short: "make a command's output small: failures, errors and totals",
		long: `
Reads what a command printed from stdin, and prints what matters of it: every failing test, every error and warning
with its place, the totals, and of everything else the beginning, the end and the lines that speak of the instruction.
Lines that begin with "… " say what was left out; every other line is one of the input. Rules do that, no model: the
same input gives the same output.

  go test ./... 2>&1 | git rekal compress
  git rekal compress -i "why does the login fail" < server.log`,
		make: func() command { return &compressCommand{} },
	}
}

func (c *compressCommand) addFlags(fs *pflag.FlagSet) { compressFlags(fs, &c.opt) }

// compressFlags say what an output is read for.
func compressFlags(fs *pflag.FlagSet, opt *compress.Options) {
	fs.StringVarP(&opt.Instruction, "instruction", "i", "", "what you look for: lines that speak of it are kept; `TEXT`")
	fs.Var((*intentFlag)(&opt.Intent), "intent", "what comes first where not everything fits: recall, errors, tests, build, diff or summary; `WORD`")
	fs.IntVar(&opt.Budget, "budget", compress.Budget, "at most `N` tokens, 100 or more")
}

type intentFlag compress.Intent

func (f *intentFlag) Set(v string) error {
	i, err := compress.ParseIntent(v)
	*f = intentFlag(i)
	return err
}

func (f *intentFlag) String() string { return string(*f) }

// Type is what the help calls the value.
func (f *intentFlag) Type() string { return "string" }

func checkBudget(opt compress.Options) error {
	if opt.Budget < 100 {
		return errors.New("--budget must be at least 100")
	}
	return nil
}

func (c *compressCommand) validate(args []string) error {
	if err := noArgs(args); err != nil {
		return err
	}
	return checkBudget(c.opt)
}

func (c *compressCommand) run(_ context.Context, app *App) error {
	small := compress.New(c.opt)
	if _, err := io.Copy(small, app.Stdin); err != nil {
		return fmt.Errorf("compress: read stdin: %w", err)
	}
	if _, err := io.WriteString(app.Stdout, small.Close().Text); err != nil {
		return fmt.Errorf("compress: %w", err)
	}
	return nil
}
