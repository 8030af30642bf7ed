package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/text"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// doctorCommand says what is wrong, and what mends it: `git rekal doctor`.
type doctorCommand struct{ shape shape }

// errWrong is the exit status of a doctor that found something; the result says what.
var errWrong = errors.New("something is wrong: see above")

func doctorEntry() entry {
	return entry{
		name: "doctor", usage: "doctor [--json]", short: "say what is set up, what is wrong, and what mends it",
		long: `
Looks at git, the settings, hooks and skill, sharing, stale locks, the caches and what their tables say
of each other, the agents' transcripts and the embedding server, and changes nothing. Then it reads every
ledger that is here, yours and those that were fetched, and applies today's redaction to them: what is
found (rules are added with time) is listed with its place and the text around it, and never with what
stands there. "git rekal scrub ID" takes it out of your own; the author of another one has to.

Exit status 1 says that something is wrong; notes alone don't count.`,
		make: func() command { return &doctorCommand{} },
	}
}

func (c *doctorCommand) addFlags(fs *pflag.FlagSet) {
	c.shape.addFlags(fs)
}

func (c *doctorCommand) validate(args []string) error {
	return cmp.Or(noArgs(args), c.shape.validate())
}

func (c *doctorCommand) run(ctx context.Context, app *App) error {
	w, err := workspace.Open(app.Process)
	if err != nil {
		return err
	}
	defer w.Close()
	checks, err := w.Doctor(ctx)
	if err != nil {
		return err
	}
	shown := false
	more, scanned, err := w.Scan(ctx, func(segments int) {
		if app.Terminal && segments%20 == 0 {
			fmt.Fprintf(app.Stderr, "\rreading ledgers: %s", plural(segments, "segment"))
			shown = true
		}
	})
	if shown {
		fmt.Fprintln(app.Stderr)
	}
	if err != nil {
		return err
	}
	checks = append(checks, more...)
	bad := slices.ContainsFunc(checks, func(c workspace.Check) bool { return c.Status == workspace.Wrong })
	if found := doctorOf(checks, scanned, !bad); c.shape.json {
		err = result.Write(app.Stdout, found)
	} else {
		err = app.layPlain(ctx, w, c.shape, func(l text.Look) string { return text.Doctor(l, found) }, session.Names{})
	}
	if err == nil && bad {
		err = errWrong
	}
	return err
}

func doctorOf(checks []workspace.Check, s workspace.Scanned, ok bool) result.Doctor {
	out := result.Doctor{
		Schema: result.Schema, OK: ok, Leaks: []result.Finding{}, More: s.More,
		Scanned: result.Scanned{Ledgers: s.Ledgers, Segments: s.Segments, Bytes: s.Bytes},
	}
	for _, c := range checks {
		out.Checks = append(out.Checks, result.Check{Name: c.Name, Status: string(c.Status), Says: c.Says, Fix: c.Fix})
	}
	for _, l := range s.Leaks {
		f := findingOf(l.Finding)
		f.Author, f.Scrub = l.Author, l.Scrub
		out.Leaks = append(out.Leaks, f)
	}
	return out
}
