package workspace

import (
	"path/filepath"
	"strings"

	"github.com/git-rekal/git-rekal/internal/advice"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/internal/ledger"
)

// Snapshot is the commit of a ledger that is checked out where the user is; "" where code is.
func (w *Workspace) Snapshot() string {
	head, err := w.Repo.Head()
	if err != nil || head.OID == "" || !ledger.HasCommit(w.Repo, head.OID) {
		return ""
	}
	return string(head.OID)
}

// ErrOnLedger is a HEAD that is a commit of a ledger, where only code can be captured behind.
var ErrOnLedger = advice.New("HEAD is a commit of a ledger, not of code: nothing is captured", `check out a branch of code; "git reset --keep HEAD~1" removes a commit made there by mistake`)

// OnCode returns ErrOnLedger unless code is checked out.
func (w *Workspace) OnCode() error {
	if w.Snapshot() != "" {
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

// OwnMerge reports whether HEAD is a merge commit that this user makes just now. A
// fast-forward pull runs post-merge, too, and is nobody's commit; so does `merge --squash`.
func (w *Workspace) OwnMerge(a Author) (bool, error) {
	if !history.Merging(w.Repo) {
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
