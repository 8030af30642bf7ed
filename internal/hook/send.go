package hook

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// sendBesidePush sends the ledger now or, where another hook may still refuse the push, once git has ended: git runs
// hooks of its configuration before one that is a file, runs all of them whatever the first say, and has none behind a
// push.
func (c Call) sendBesidePush(ctx context.Context, p workspace.Process, w *workspace.Workspace, author workspace.Author,
	input string,
) error {
	if c.By == "" || !w.HasOtherHooks(ctx, prePush) {
		return c.sendLedger(ctx, w, author, input)
	}
	if author.Config.Remote == "" || len(pushedCommits(input)) == 0 {
		return nil // nothing will tell whether it was refused
	}
	return c.startLater(p, input, "--by", c.By)
}

// pollInterval is how often sendAfterPush looks whether git has ended.
const pollInterval = 50 * time.Millisecond

// sendAfterPush waits for the end of the git that pushes, and sends the ledger if the remote has something of what was
// pushed. Nobody hears why it did not: the next push or sync sends.
func (c Call) sendAfterPush(ctx context.Context, w *workspace.Workspace, author workspace.Author, input string) error {
	pid, err := strconv.Atoi(c.By)
	if err != nil || len(c.Args) < 2 {
		return err
	}
	for !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pollInterval):
		}
	}
	there, err := w.Repo.RefsAt(ctx, c.Args[1], false)
	if err != nil || !slices.ContainsFunc(slices.Collect(strings.Lines(input)), func(line string) bool {
		f := strings.Fields(line)
		return len(f) == 4 && there[f[2]] == git.OID(f[1])
	}) {
		return err
	}
	return c.sendLedger(ctx, w, author, input)
}

// sendLedger brings the ledger to the remote that the user agreed to, beside a push of code to
// whichever remote. It stays out of the way of a push that names a ledger itself: git would
// find the remote's branch moved ("cannot lock ref").
func (c Call) sendLedger(ctx context.Context, w *workspace.Workspace, author workspace.Author, input string) error {
	if author.Config.Remote == "" || !author.Config.Autopush || namesLedger(input) {
		return nil
	}
	remote, err := author.Config.RemoteFor("", "")
	if err != nil {
		return err
	}
	if all, err := author.Ledger.IsSent(remote); err != nil || all {
		return err
	}
	to, err := w.Route(ctx, remote)
	if err != nil {
		return fmt.Errorf("the ledger was not sent: %w", err)
	}
	if !author.Config.Agreed(remote, to.All()...) {
		return fmt.Errorf(`the ledger was not sent: %q leads to another place than you agreed to: run "git rekal push" to agree`, remote)
	}
	sent, err := w.Send(ctx, author, remote, pushedCommits(input), false)
	for _, d := range sent.Scrubbed {
		w.Warn(errors.New(d.RescueCommand()))
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("%q: %w", remote, git.ErrTimeout)
	}
	if err != nil {
		return fmt.Errorf(`the ledger was not sent: %w: run "git rekal push"`, err)
	}
	if len(author.Config.Addresses) == 0 { // rekal.remote was set by hand: it meant this place
		return w.StoreAddresses(ctx, to.All())
	}
	return nil
}

// pushedCommits are the commits that a push brings, by what git gives to pre-push.
func pushedCommits(input string) (out []git.OID) {
	for line := range strings.Lines(input) {
		if f := strings.Fields(line); len(f) == 4 && strings.Trim(f[1], "0") != "" { // else it deletes a branch
			out = append(out, git.OID(f[1]))
		}
	}
	return out
}

// namesLedger reports whether what git gives to pre-push (local ref, OID, remote ref, OID a
// line) concerns a ledger.
func namesLedger(input string) bool {
	return slices.ContainsFunc(strings.Fields(input), ledger.IsLedger)
}
