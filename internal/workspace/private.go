package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
)

// PrivateDir is the git repository with the ledger of private sessions. Because it is another one, no push, clone or
// bundle of the user's repository can contain anything of it.
func (w *Workspace) PrivateDir() string {
	return filepath.Join(w.RekalDir(), "private")
}

// openPrivate lets the workspace read private sessions, if there are any.
func (w *Workspace) openPrivate(ctx context.Context) error {
	dir := w.PrivateDir()
	if w.Public || !exists(dir) {
		return nil
	}
	repo, err := git.OpenBare(ctx, dir)
	if err != nil {
		return fmt.Errorf("private sessions can't be read: %w", err)
	}
	w.private = repo
	w.Repo.AlsoReadFrom(repo)
	return nil
}

// PrivateLedger is the ledger of an author's private sessions; nil if there is none.
func (w *Workspace) PrivateLedger(a Author) (*ledger.Ledger, error) {
	if w.private == nil {
		return nil, nil
	}
	return ledger.OpenPrivate(w.private, a.who, w.Rand)
}

// EnsurePrivateLedger is PrivateLedger, and makes it if there is none.
func (w *Workspace) EnsurePrivateLedger(ctx context.Context, a Author) (*ledger.Ledger, error) {
	if w.private == nil {
		dir := w.PrivateDir()
		made := fmt.Sprintf("%s.%d.new", dir, os.Getpid())
		err := os.MkdirAll(filepath.Dir(dir), 0o700)
		if err == nil {
			err = errors.Join(os.RemoveAll(made), w.Repo.InitBeside(made))
		}
		if err == nil {
			err = os.Rename(made, dir)
		}
		if errors.Is(err, fs.ErrExist) { // somebody else was first
			err = os.RemoveAll(made)
		}
		if err == nil {
			err = w.openPrivate(ctx)
		}
		if err != nil {
			return nil, fmt.Errorf("make the ledger of private sessions: %w", err)
		}
	}
	return w.PrivateLedger(a)
}
