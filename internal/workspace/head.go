package workspace

import (
	"path/filepath"
	"strings"

	"github.com/git-rekal/git-rekal/internal/advice"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/internal/ledger"
)

// CheckedOutLedgerCommit is the OID of HEAD if that is a commit of a ledger; "" if code is checked out.
func (w *Workspace) CheckedOutLedgerCommit() string {
	head, err := w.Repo.Head()
	if err != nil || head.OID == "" || !ledger.HasCommit(w.Repo, head.OID) {
		return ""
	}
	return string(head.OID)
}

// ErrOnLedger is the error of a capture if HEAD is a commit of a ledger.
var ErrOnLedger = advice.New("HEAD is a commit of a ledger, not of code: nothing is captured",
	`check out a branch of code; "git reset --keep HEAD~1" removes a commit made there by mistake`)

// RequireCode returns ErrOnLedger unless code is checked out.
func (w *Workspace) RequireCode() error {
	if w.CheckedOutLedgerCommit() != "" {
		return ErrOnLedger
	}
	return nil
}

// Name is what people call the repository: the folder of its main worktree, or of a bare repository.
func (w *Workspace) Name() string {
	l := w.Repo.Layout()
	if l.MainTree != "" {
		return filepath.Base(l.MainTree)
	}
	return strings.TrimSuffix(filepath.Base(l.CommonDir), ".git")
}

// Subject is the first line of a code commit's message; "" when the commit is not here.
func (w *Workspace) Subject(sha string) string {
	c, err := w.Repo.Commit(git.OID(sha))
	if err != nil {
		return ""
	}
	return c.Subject()
}

// IsOwnMerge reports whether HEAD is a merge commit that this user has just made. After a
// fast-forward pull or `merge --squash`, which run post-merge, too, it is not.
func (w *Workspace) IsOwnMerge(a Author) (bool, error) {
	if !history.IsMerging(w.Repo) {
		return false, nil
	}
	head, err := w.Repo.Head()
	if err != nil || head.OID == "" {
		return false, err
	}
	c, err := w.Repo.Commit(head.OID)
	if err != nil {
		return false, err
	}
	return len(c.Parents) > 1 && strings.EqualFold(c.Committer.Email, a.Email), nil
}
