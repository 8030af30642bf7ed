package workspace

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/git-rekal/git-rekal/internal/capture"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
)

// LostLedger is an error that says what to do about a ledger whose branch somebody deleted, as a tidying "git branch
// -D" does, while its commits are here still and may be all that there is of some memories; nil where none is lost. The
// last capture tells where it stood.
func (w *Workspace) LostLedger(ctx context.Context) error {
	now, err := ledger.LocalTips(w.Repo)
	if err != nil || len(now) > 0 {
		return nil //nolint:nilerr // who needs the ledgers says so
	}
	for ref, tip := range capture.LastTips(ctx, w.RekalDir()) {
		branch, ok := strings.CutPrefix(ref, "refs/heads/")
		if _, err := w.Repo.Commit(tip); !ok || errors.Is(err, git.ErrNotFound) {
			continue
		}
		return fmt.Errorf(`the branch of your ledger, %s, is gone, and nothing is captured without it: "git branch %[1]s %.12[2]s" brings it back, "git rekal init" begins a new one`,
			branch, tip)
	}
	return nil
}
