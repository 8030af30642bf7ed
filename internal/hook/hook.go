// Package hook is what git's hooks do: it decides which act of the user captures, captures within the time that a
// commit may wait, and sends the ledger beside a push.
//
// In: a hook's name, its arguments and what git gives it on stdin. Out: a capture or nothing, and an error to tell. It
// promises that git never waits longer than the budgets below: a process that nobody waits for finishes the rest.
//
//	reason.go   which act captures
//	send.go     the ledger beside a push
//	message.go  trailers in the message of a commit
package hook

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

	"github.com/git-rekal/git-rekal/internal/capture"
	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// Call is one call of a hook.
type Call struct {
	Name    string   // post-commit, post-merge, post-applypatch, post-rewrite, pre-push, prepare-commit-msg or commit-msg
	Args    []string // of the hook
	Stdin   io.Reader
	By      string                // the process of the git that runs it as a configured hook; "" for a hook that is a file
	Global  bool                  // it is one for all repositories, which sets them up
	Late    bool                  // nobody waits for it: it finishes what a hook left
	Skipped func(capture.Outcome) // hears what could not be read
}

// The hooks that are given something on stdin.
const (
	postRewrite = "post-rewrite"
	prePush     = "pre-push"
)

// budget is how long a hook may hold up git; what takes longer is left to a process of its own, which has lateBudget.
const (
	budget     = 3 * time.Second
	lateBudget = 10 * time.Minute
)

// ahead is how many commits of ledgers a hook reads that its cache does not know of: about 40 ms. There are more
// behind a clone, an upgrade, or a sync of another machine's work.
const ahead = 24

// most is how much of transcripts a hook reads, the latest first: about half a second.
// The next hook goes on with the rest.
const most = 48 << 20

// agentPatience is how long a hook waits for a program that gives sessions; one that takes longer is asked again when
// nobody waits.
const agentPatience = 100 * time.Millisecond

var errSlowAgent = errors.New("a program that gives sessions takes longer than a commit may wait")

var errTooMuch = errors.New(`there is too much to capture in a hook: run "git rekal checkpoint"`)

// sendBudget is how long a push of code is held up in all: by capture, and then by the
// ledger's remote.
const sendBudget = 5 * time.Second

// Run does what the hook is for: it captures, and beside a push it sends what was captured. It returns
// workspace.ErrNotInitialised where init was not run.
func (c Call) Run(ctx context.Context, p workspace.Process) error {
	wait, all := budget, budget
	switch {
	case c.Name == prepareMessage || c.Name == commitMessage:
		return withoutPatience(c.runOnMessage(ctx, p))
	case c.Late:
		wait, all = lateBudget, lateBudget
	case c.Name == prePush:
		all = sendBudget
	}
	whole, stop := context.WithTimeout(ctx, all)
	defer stop()
	within, cancel := context.WithTimeout(whole, wait)
	defer cancel()
	leave := func(input string, err error) error { return c.leave(ctx, p, input, err) }
	w, err := workspace.Open(whole, p) // what it starts ends with git's patience
	if err != nil {
		return leave("", err)
	}
	defer w.Close()
	if err := w.CheckReady(); err != nil {
		if !c.Global {
			return err
		}
		if err := w.SetUpUnasked(within); err != nil {
			return err
		}
	}
	if c.By != "" && !c.Late {
		if c.Name == prePush && w.HookFileCalls(prePush) {
			return nil // git runs that file later, and it first runs whatever may refuse the push
		}
		w.NoteHookRan(c.By, c.Name)
	}
	author, err := w.Author(within)
	if err != nil || !author.Config.Enabled || author.Config.Skip {
		return leave("", err)
	}
	via, ok, err := c.captureReason(w, author)
	if err != nil || !ok {
		return err
	}
	input, err := c.input(within)
	if c.Late && c.By != "" {
		return errors.Join(err, c.sendAfterPush(whole, w, author, input))
	}
	if author.Config.CheckPaused() != nil {
		if c.Name != prePush || err != nil {
			return err
		}
		w.Warn(author.Config.CheckPaused())
		return c.sendBesidePush(whole, p, w, author, input)
	}
	if input == "" && c.Name == postRewrite {
		input = history.PostRewriteInput(w.Repo, slices.Contains(c.Args, "amend"))
	}
	err = leave(input, errors.Join(err, c.capture(within, w, author, via, input)))
	if c.Name == prePush && !c.Late {
		err = errors.Join(err, c.sendBesidePush(whole, p, w, author, input))
		// the remote's part of the ledger may have come; without time for it, the next capture does it
		_ = capture.UpdateCache(whole, w.Repo, w.RekalDir())
	}
	return err
}

// leave leaves what takes too long, as an error says, to a process that nobody waits for.
func (c Call) leave(ctx context.Context, p workspace.Process, input string, err error) error {
	if (!errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil) && !errors.Is(err, capture.ErrBehind) &&
		!errors.Is(err, workspace.ErrLater) && !errors.Is(err, errSlowAgent) {
		return err
	}
	if !c.Late && c.startLater(p, input) == nil {
		return nil
	}
	return errTooMuch
}

func (c Call) capture(ctx context.Context, w *workspace.Workspace, author workspace.Author, via, input string) error {
	for _, fault := range author.Config.Faults {
		if slices.Contains([]string{"rekal.exclude", "rekal.pause", "rekal.forgot", "rekal.private"}, fault.Key) {
			return fault // what the user wants left out would be stored
		}
		w.Warn(fmt.Errorf("%w: go on without it", fault))
	}
	if err := w.RequireCode(); err != nil {
		return err
	}
	if !c.Late {
		w.AgentPatience = agentPatience
	}
	capturer, err := w.Capturer(ctx, author)
	if err != nil {
		return err
	}
	if capturer.Caller = gitCommand; c.Late {
		capturer.Caller = nil
	}
	if !c.Late {
		capturer.Budget, capturer.MaxBehind = most, ahead
	}
	run := func() (capture.Outcome, error) { return capturer.Run(ctx, via, c.parseRewrites(input)) }
	if via == "" {
		run = func() (capture.Outcome, error) { return capturer.RecordArrived(ctx) }
	}
	out, err := run()
	for _, warning := range out.Warnings {
		if workspace.IsSlowAgent(warning) {
			err = errors.Join(err, errSlowAgent)
			continue
		}
		w.Warn(warning)
	}
	c.Skipped(out)
	if out.Tip != "" {
		err = errors.Join(err, w.StartBackgroundWork(author.Config, author.Signer != nil))
	}
	return err
}

// startLater starts a process that finishes what this one has no time for, and does not wait for it. It is given what
// git gave to the hook.
func (c Call) startLater(p workspace.Process, input string, options ...string) error {
	given, err := os.CreateTemp("", "git-rekal-*")
	if err != nil {
		return err
	}
	defer given.Close()
	err = errors.Join(os.Remove(given.Name()), writeAll(given, input))
	if err != nil {
		return err
	}
	cmd := exec.Command(p.Exe, slices.Concat([]string{"hook", "--late"}, options, []string{c.Name}, c.Args)...)
	cmd.Dir, cmd.Stdin = p.Dir, given
	// is gone by then
	cmd.Env = slices.DeleteFunc(slices.Clone(p.Env),
		func(v string) bool { return strings.HasPrefix(v, "GIT_INDEX_FILE=") })
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd.Start()
}

func writeAll(f *os.File, text string) error {
	_, err := f.WriteString(text)
	_, back := f.Seek(0, io.SeekStart)
	return errors.Join(err, back)
}

// maxInput bounds how much of stdin is read: 16 MB are about 190,000 commits.
const maxInput = 16 << 20

// input reads what git gives to post-rewrite and pre-push. Stdin that is never closed (a
// hook run by hand at a terminal) holds nothing up: it ends with ctx.
func (c Call) input(ctx context.Context) (string, error) {
	if c.Name != postRewrite && c.Name != prePush {
		return "", nil
	}
	type read struct {
		text []byte
		err  error
	}
	done := make(chan read, 1)
	go func() {
		text, err := io.ReadAll(io.LimitReader(c.Stdin, maxInput))
		done <- read{text, err}
	}()
	select {
	case <-ctx.Done():
		return "", fmt.Errorf("read what git says: %w", ctx.Err())
	case r := <-done:
		return string(r.text), r.err
	}
}
