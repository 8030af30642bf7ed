package cli

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/name"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/text"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// recallName is the name of a search, which nobody types.
const recallName = "recall"

type recallOptions struct {
	req    ask.Request
	words  []string // as they were given
	purged bool
	full   bool
	choose bool
	group  groupFlags
	shape  outputFlags
}

// newRecallCmd answers `git rekal --file '^src/auth/' "JWT expiry"`.
func newRecallCmd(app *App) *cobra.Command {
	c := &recallOptions{}
	cmd := &cobra.Command{
		Use: recallName + " [FILTER…] [QUESTION]", Hidden: true, Short: "search (needs no name)",
		Long: `
Finds AI coding sessions behind the code, saved memories, and what commands printed. It prints the best first: text on a terminal,
elsewhere JSON on one line. Filters are ANDed, before or after the question. Without a question it lists the latest.

  git rekal "JWT expiry"
  git rekal --file '^src/auth/' -n 5 "why is the token refreshed twice"
  git rekal --since v1.2 "what did we decide about retries"
  git rekal "auth test failure" --files tests/test_auth.py src/auth/tokens.py
  git rekal --kind record -n 1 "last failing tests"
  git rekal --commit HEAD~3
  git rekal --checkpoint '@{3 days ago}' "JWT expiry"

Several words need no quotes. A word that is also a command runs the command: "git rekal -- log" searches for "log". The question may name a
time: "retries since v1.2", "what did we do last week".

Freshness says how far to trust a result: fresh (its files are as its commits left them), stale_changed, stale_deleted, unverifiable (it
changed none) or unknown. If nothing answers well, the nearest result comes, marked "weak", with the titles of the
next five.

--file matches all former and present names of a file. Filters by files or commits leave memories out.

--commit takes any revision, also one from before an amend or rebase, and ranges such as v1.0..v1.1. An unknown commit is an error.

--checkpoint answers as of a past moment: with your ledger at that commit, and other people's up to its time. REF is one of:

SHA, HEAD~3::
A checkpoint of your ledger.

@{yesterday}, @{3 days ago}, @{2026-02-01}::
The last checkpoint by then. A day or week without a time means its end.

v1.2.0::
A revision of the code: the checkpoint that captured it, else the last one before.

PATH::
A folder in which a commit of a ledger of this repository is checked out.

A date or a code revision also includes what was said by then and imported later.`,
	}
	fs := cmd.Flags()
	fs.Func("file", "sessions that edited or read a file whose path matches `REGEX`, or whose commits changed one",
		setOnce(&c.req.File))
	fs.StringArrayVar(&c.req.Path, "path", nil, "like --file, with git's `PATHSPEC`; may be given several times")
	fs.Func("commit", "sessions behind a code commit `REV`, also before an amend or rebase, or squashed on a server",
		setOnce(&c.req.Commit))
	fs.Func("checkpoint", "answer as of a past state `REF`: a checkpoint's SHA, HEAD~n, @{date}, a code revision or a folder", setOnce(&c.req.Checkpoint))
	authorFlag(fs, &c.req.Author)
	fs.Func("actor", "sessions that `WHO` started: human or agent", setOnce(&c.req.Actor))
	agentFlag(fs, &c.req.Agent)
	timeFlags(fs, &c.req.Times)
	fs.Func("kind", "only `KIND`: session, memory or record (what a command printed)", setOnce(&c.req.Kind))
	fs.StringArrayVar(&c.req.Files, "files", nil,
		"only results that touch a `PATH`, if any do; after the question, all words up to the next flag are paths")
	verifiedFlag(fs, &c.req.Verified)
	c.addListFlags(fs)
	return app.withOptions(cmd, c)
}

// addListFlags adds those that say what is shown that else is hidden, how many results, and how.
func (c *recallOptions) addListFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&c.purged, "purged", false, "purged items only")
	fs.BoolVar(&c.req.Undone, "undone", false, "also what a person took back")
	fs.IntVarP(&c.req.Limit, "limit", "n", 0, "at most `N` results (default: the best, and the titles of the others)")
	fs.BoolVar(&c.full, "full", false, "show all results in full, none by its title alone")
	fs.BoolVarP(&c.choose, "interactive", "i", false,
		"choose a session from a list that follows what you type; on a terminal only")
	c.group.addFlags(fs)
	c.shape.addFlags(fs)
}

// authorFlag is the filter --author, which log has, too.
func authorFlag(fs *pflag.FlagSet, name *string) {
	fs.Func("author", "by people whose name or e-mail address, as in the mailmap, contains `TEXT` in any case",
		setOnce(name))
}

// agentFlag is the filter --agent, which log has, too.
func agentFlag(fs *pflag.FlagSet, name *string) {
	fs.Func("agent", "sessions of the agent `NAME`: "+strings.Join(session.Agents(), ", "), setOnce(name))
}

// verifiedFlag is the filter --verified, which log has, too.
func verifiedFlag(fs *pflag.FlagSet, only *bool) {
	fs.BoolVar(only, "verified", false, "only what a key of its author signed")
}

// timeFlags are the filters --since and --until.
func timeFlags(fs *pflag.FlagSet, t *ask.Times) {
	fs.Func("since", "from a `DATE` on: yesterday, 13 Feb, \"2 weeks ago\", or a revision such as v1.2", setOnce(&t.Since))
	fs.Func("until", "up to a `DATE` or revision", setOnce(&t.Until))
}

// setOnce sets a filter that takes one value: a second one would silently replace the first,
// where filters are ANDed.
func setOnce(filter *string) func(string) error {
	return func(v string) error {
		switch {
		case *filter != "":
			return errors.New("the flag is given twice")
		case v == "":
			return errors.New("must not be empty")
		}
		*filter = v
		return nil
	}
}

func (c *recallOptions) validate(fs *pflag.FlagSet, args []string) error {
	c.words = unmaskWords(args)
	c.req.Query = strings.TrimSpace(strings.Join(c.words, " "))
	if fs.Changed("limit") && c.req.Limit < 1 {
		return errors.New("-n must be at least 1")
	}
	if slices.Contains(c.req.Files, "") {
		return errors.New("--files needs a path")
	}
	if c.purged {
		c.req.Purged = ask.PurgedOnly
	}
	if c.purged && c.req.Checkpoint != "" {
		return errors.New("--purged does not go with --checkpoint: it lists what is hidden today")
	}
	if c.choose && (c.group.isGiven() || c.shape.json) {
		return errors.New("-i goes neither with several repositories nor with --json")
	}
	if err := c.group.validate(fs); err != nil {
		return err
	}
	return c.shape.validate()
}

// Memory is first collected at 40 MB, by when the process of nearly every question has ended, and then before it grows
// beyond lastMemory, in bytes: 1.1 million turns need that. What brought the index up before may have needed more.
const (
	lastGC     = 1000
	lastMemory = 64 << 20
)

func (c *recallOptions) run(ctx context.Context, app *App) error {
	if c.choose {
		return c.interact(ctx, app)
	}
	c.req.Brief, c.req.Apart, c.req.Far, c.req.Stale = !c.full, c.full, c.req.Limit > 0, c.shape.printsText(app)
	if c.group.isGiven() {
		return c.runGroup(ctx, app)
	}
	w, err := workspace.Open(ctx, app.Process)
	if err != nil {
		return err
	}
	defer w.Close()
	app.needFullToEmbed(w)
	if app.Ends { // and has no time to collect what it leaves anyway
		debug.SetGCPercent(400)
	}
	// The system takes back memory and files at once, but not while a person reads in a pager.
	reads := c.shape.printsText(app)
	var found ask.Found
	err = app.withIndexingMeter(true, func(progress func(done, total int)) error {
		at, err := ask.Open(ctx, w, ask.Opening{
			At: c.req.Checkpoint, Records: true, Question: c.req.Query,
			Reader: c.shape.reader(app), Progress: progress,
		})
		if err != nil {
			return err
		}
		app.printMomentNotice(at)
		ends := app.Ends && !reads
		if ends {
			debug.SetGCPercent(lastGC)
			debug.SetMemoryLimit(lastMemory)
		}
		found, err = at.Recall(ctx, ask.Question{Request: c.req, Long: !reads})
		if ends {
			return err
		}
		return errors.Join(err, at.Close())
	})
	if err != nil {
		return w.AsNotInitialised(withFlagName(err))
	}
	if len(found.Failed) > 0 { // of a link
		return found.Failed[0]
	}
	return c.print(ctx, app, w, found, found.Names.Short)
}

// print prints an answer, with hints.
func (c *recallOptions) print(ctx context.Context, app *App, w *workspace.Workspace, found ask.Found,
	short func(string) string,
) error {
	answer := found.Recall
	c.hintIntent(app, found)
	if c.shape.printsText(app) && app.seenByPerson(c.shape) && answer.Total == 0 && !c.group.isGiven() &&
		found.Names.Len() == 0 {
		app.hint(nothingYet)
	}
	return c.shape.answer(ctx, app, w, answer, short, func(l text.Look) string {
		if l.Matches = questionMatcher(answer); c.group.isGiven() { // the settings are those of one of the repositories
			l.Commit = nil
		}
		return text.Recall(l, answer, nil)
	})
}

// hintIntent hints at what may have been meant.
func (c *recallOptions) hintIntent(app *App, found ask.Found) {
	answer := found.Recall
	if len(c.req.Files) > 0 && len(answer.Filters.Files) == 0 && len(answer.Results) > 0 {
		app.hint("nothing touched what --files names: this is the answer without it")
	}
	if hint := app.guessIntent(c.words, answer); hint != "" {
		app.hint(hint)
	}
	if idForm.MatchString(c.req.Query) && (answer.Total == 0 || answer.Results[0].Weak) {
		app.hint(fmt.Sprintf(`"git rekal query --session %s" shows what has that ID`, c.req.Query))
	}
}

// withFlagName names a filter that can't be answered as its flag.
func withFlagName(err error) error {
	if usage := (*name.UsageError)(nil); errors.As(err, &usage) && usage.Filter != "" ||
		errors.As(err, new(*ask.CheckpointError)) {
		return fmt.Errorf("--%w", err)
	}
	return err
}
