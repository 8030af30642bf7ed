package hook

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

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
