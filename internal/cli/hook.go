package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/git-rekal/git-rekal/internal/capture"
	"github.com/git-rekal/git-rekal/internal/config"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// hookCommand is what the installed hook scripts call: `git-rekal hook post-commit`. It
// never fails: what goes wrong is one line on stderr, and git goes on. In a repository that
// git-rekal can't work with it is silent.
type hookCommand struct {
	name string
	args []string
	late bool
}

const (
	hookName    = "hook"
	postRewrite = "post-rewrite"
	prePush     = "pre-push"
)

func hookEntry() entry {
	return entry{
		name: hookName, usage: "hook NAME [ARG…]", short: "for the installed hooks",
		long: `
Captures what is new at a commit (post-commit), merge (post-merge), "git am" (post-applypatch) or push (pre-push). It notes which commits
an amend or rebase rewrote (post-rewrite). At a push it also sends the ledger to rekal.remote (pre-push).`,
		exit: "always 0, so that git goes on.",
		make: func() command { return &hookCommand{} },
	}
}

func (c *hookCommand) addFlags(fs *pflag.FlagSet) {
	fs.SetInterspersed(false)
	fs.BoolVar(&c.late, "late", false, "finish what the hook left, which nobody waits for")
}

func (c *hookCommand) validate(args []string) error {
	if len(args) == 0 {
		return errors.New("which hook?")
	}
	c.name, c.args = args[0], args[1:]
	return nil
}

// hookBudget is how long a hook may hold up git; what takes longer is left to a process of its own, which has lateBudget.
const (
	hookBudget = 3 * time.Second
	lateBudget = 10 * time.Minute
)

// hookAhead is how many commits of ledgers a hook reads that its cache does not know of: about 40 ms. There are more
// behind a clone, an upgrade, or a sync of another machine's work.
const hookAhead = 24

// hookBytes is how much of transcripts a hook reads, the latest first: about half a second.
// The next hook goes on with the rest.
const hookBytes = 48 << 20

var errTooMuch = errors.New(`there is too much to capture in a hook: run "git rekal checkpoint"`)

// pushBudget is how long a push of code is held up in all: by capture, and then by the
// ledger's remote.
const pushBudget = 5 * time.Second

func (c *hookCommand) run(ctx context.Context, app *App) error {
	if config.Off(app.Env) {
		return nil
	}
	err := guarded(func() error { return c.serve(ctx, app) })
	if err != nil && !errors.Is(err, workspace.ErrNotInitialised) && !errors.Is(err, git.ErrUnsupported) {
		app.say(fmt.Sprintf("%s: %s", c.name, explain(err)))
	}
	return nil
}

// guarded turns a panic into an error: whatever breaks here, git goes on with one line.
func guarded(do func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("internal error: %v: please report it", v)
		}
	}()
	return do()
}

// serve does what the hook is for: it captures, and beside a push it sends what was captured.
func (c *hookCommand) serve(ctx context.Context, app *App) error {
	budget, push := hookBudget, pushBudget
	if c.late {
		budget, push = lateBudget, lateBudget
	}
	whole, stop := context.WithTimeout(ctx, push)
	defer stop()
	within, cancel := context.WithTimeout(whole, budget)
	defer cancel()
	w, err := workspace.Open(app.Process)
	if err != nil {
		return err
	}
	defer w.Close()
	if err := w.Ready(); err != nil {
		return err
	}
	author, err := w.Author(within)
	if err != nil || !author.Config.Enabled || author.Config.Skip {
		return err
	}
	via, ok, err := c.reason(w, author)
	if err != nil || !ok {
		return err
	}
	input, err := c.input(within, app.Stdin)
	if author.Config.CheckPaused() != nil {
		if c.name != prePush || err != nil {
			return err
		}
		app.paused(author.Config)
		return c.send(whole, w, author, input)
	}
	if input == "" && c.name == postRewrite {
		input = history.Rewritten(w.Repo, slices.Contains(c.args, "amend"))
	}
	err = errors.Join(err, c.capture(within, app, w, author, via, input))
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil || errors.Is(err, capture.ErrBehind) {
		if err = errTooMuch; !c.late && c.leave(app, input) == nil {
			err = nil
		}
	}
	if c.name == prePush && !c.late {
		err = errors.Join(err, c.send(whole, w, author, input))
	}
	return err
}

func (c *hookCommand) capture(ctx context.Context, app *App, w *workspace.Workspace, author workspace.Author, via, input string) error {
	for _, fault := range author.Config.Faults {
		if slices.Contains([]string{"rekal.exclude", "rekal.pause", "rekal.forgot"}, fault.Key) {
			return fault // what the user wants left out would be stored
		}
		app.Warn(fmt.Errorf("%w: go on without it", fault))
	}
	if err := w.OnCode(); err != nil {
		return err
	}
	capturer, err := w.Capturer(ctx, author)
	if err != nil {
		return err
	}
	if !c.late {
		capturer.Budget, capturer.Ahead = hookBytes, hookAhead
	}
	run := func() (capture.Outcome, error) { return capturer.Run(ctx, via, c.rewrites(input)) }
	if via == "" {
		run = func() (capture.Outcome, error) { return capturer.Arrive(ctx) }
	}
	out, err := run()
	for _, warning := range out.Warnings {
		app.Warn(warning)
	}
	app.skipped(out)
	return err
}

// leave starts a process that finishes what this one has no time for, and does not wait for it. It is given what git gave to the hook.
func (c *hookCommand) leave(app *App, input string) error {
	given, err := os.CreateTemp("", "git-rekal-*")
	if err != nil {
		return err
	}
	defer given.Close()
	err = errors.Join(os.Remove(given.Name()), writeAll(given, input))
	if err != nil {
		return err
	}
	cmd := exec.Command(app.Exe, append([]string{hookName, "--late", c.name}, c.args...)...)
	cmd.Dir, cmd.Stdin = app.Dir, given
	cmd.Env = slices.DeleteFunc(slices.Clone(app.Env), func(v string) bool { return strings.HasPrefix(v, "GIT_INDEX_FILE=") }) // is gone by then
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd.Start()
}

func writeAll(f *os.File, text string) error {
	_, err := f.WriteString(text)
	_, back := f.Seek(0, io.SeekStart)
	return errors.Join(err, back)
}

// send brings the ledger to the remote that the user agreed to, beside a push of code to
// whichever remote. It stays out of the way of a push that names a ledger itself: git would
// find the remote's branch moved ("cannot lock ref").
func (c *hookCommand) send(ctx context.Context, w *workspace.Workspace, author workspace.Author, input string) error {
	if author.Config.Remote == "" || !author.Config.Autopush || namesLedger(input) {
		return nil
	}
	remote, err := author.Config.RemoteFor("", "")
	if err != nil {
		return err
	}
	if !author.Config.Agreed(remote) {
		return fmt.Errorf(`the ledger was not sent: %q leads to another place than you agreed to: run "git rekal push" to agree`, remote)
	}
	if all, err := author.Ledger.Sent(remote); err != nil || all {
		return err
	}
	sent, err := author.Ledger.Push(ctx, remote, false)
	for _, d := range sent.Scrubbed {
		w.Warn(errors.New(rescue(d)))
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("%q: %w", remote, git.ErrTimeout)
	}
	if err != nil {
		return fmt.Errorf(`the ledger was not sent: %w: run "git rekal push"`, err)
	}
	if author.Config.Place == "" { // rekal.remote was set by hand: it meant this place
		return w.Settle(ctx, author.Config.Places[remote])
	}
	return nil
}

// namesLedger reports whether what git gives to pre-push (local ref, OID, remote ref, OID a
// line) concerns a ledger.
func namesLedger(input string) bool {
	return slices.ContainsFunc(strings.Fields(input), ledger.IsLedger)
}

// reason is why a hook captures, "" where it only looks at what arrived; false when it has nothing to do.
func (c *hookCommand) reason(w *workspace.Workspace, author workspace.Author) (via string, ok bool, err error) {
	switch c.name {
	case "post-commit":
		// The picks of a sequence are not acts of the user; its last one is, and post-rewrite
		// sees the end of a rebase.
		return session.ViaCommit, !history.Sequencing(w.Repo), nil
	case "post-merge":
		own, err := w.OwnMerge(author)
		if err == nil && !own {
			return "", !history.Merging(w.Repo), nil // what was pulled may hold lines of sessions here
		}
		return session.ViaMerge, own && !history.Sequencing(w.Repo), err
	case "post-applypatch":
		return session.ViaAm, !history.Sequencing(w.Repo), nil // `rebase --apply` calls it, too
	case postRewrite:
		// A rebase calls it at its end, when its own state is still there; its own amends (a
		// fixup) are not acts of the user.
		return session.ViaRewrite, slices.Contains(c.args, "rebase") || !history.Sequencing(w.Repo), nil
	case prePush:
		return session.ViaPush, true, nil
	}
	return "", false, fmt.Errorf("hook %q is not one of git-rekal's", c.name)
}

// rewriteLine is a line that git gives to post-rewrite: old and new OID, and maybe more.
var rewriteLine = lazy.Expr(`^([0-9a-f]{40}(?:[0-9a-f]{24})?) ([0-9a-f]{40}(?:[0-9a-f]{24})?)(?: |$)`)

// maxInput bounds how much of stdin is read: 16 MB are about 190,000 commits.
const maxInput = 16 << 20

// input reads what git gives to post-rewrite and pre-push. A stdin that is never closed (a
// hook run by hand at a terminal) holds nothing up: it ends with ctx.
func (c *hookCommand) input(ctx context.Context, stdin io.Reader) (string, error) {
	if c.name != postRewrite && c.name != prePush {
		return "", nil
	}
	type read struct {
		text []byte
		err  error
	}
	done := make(chan read, 1)
	go func() {
		text, err := io.ReadAll(io.LimitReader(stdin, maxInput))
		done <- read{text, err}
	}()
	select {
	case <-ctx.Done():
		return "", fmt.Errorf("read what git says: %w", ctx.Err())
	case r := <-done:
		return string(r.text), r.err
	}
}

func (c *hookCommand) rewrites(input string) []session.Rewrite {
	var out []session.Rewrite
	for line := range strings.Lines(input) {
		if m := rewriteLine.FindStringSubmatch(strings.TrimSpace(line)); m != nil && c.name == postRewrite {
			out = append(out, session.Rewrite{Old: m[1], New: m[2]})
		}
	}
	return out
}
