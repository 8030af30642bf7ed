package workspace

import (
	"context"
	"fmt"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/redact"
	"github.com/git-rekal/git-rekal/internal/remembered"
)

// Send sends the author's ledger to a remote, beside a push of these commits. First it takes out what was stored
// because commits have it, and the remote does not get with those: they were amended, or their branch is gone.
func (w *Workspace) Send(ctx context.Context, a Author, remote string, pushing []git.OID,
	attended git.Attended,
) (ledger.Sent, error) {
	release, err := w.holdDecisions(ctx)
	if err != nil {
		return ledger.Sent{}, err
	}
	defer func() { _ = release() }() // the lock of a process that ends is free
	if err := w.redactUnsent(ctx, a, pushing); err != nil {
		return ledger.Sent{}, fmt.Errorf("look again at what was not pushed: %w", err)
	}
	return a.Ledger.Push(ctx, remote, attended)
}

// ForgetExcused removes what there is to look at again, which no ledger here holds any more.
func (w *Workspace) ForgetExcused() error { return w.excused(ToStore).Remove() }

// redactUnsent redacts again what no remote is known to hold of the ledger; nothing where no value was ever excused.
func (w *Workspace) redactUnsent(ctx context.Context, a Author, pushing []git.OID) error {
	excused := w.excused(ToShow)
	if !excused.Exists() {
		return nil
	}
	check := w.Published(ToStore)
	check.Pushing = pushing
	s := w.redaction(a.Config, ToStore)
	s.Remembered = remembered.Joined{Store: w.Remembered(ToStore), Second: excused}
	s.Published = func(ctx context.Context, candidates []string) ([]redact.Publicity, error) {
		out, err := publicityBy(check)(ctx, candidates)
		for i, p := range out {
			if p == redact.Committed { // which does not count any more
				out[i] = redact.Unpublished
			}
		}
		return out, err
	}
	_, err := a.Ledger.RedactUnsent(ctx, redact.With(s))
	return err
}
