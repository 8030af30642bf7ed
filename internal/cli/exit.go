package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/git-rekal/git-rekal/internal/capture"
	"github.com/git-rekal/git-rekal/internal/config"
	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/lock"
	"github.com/git-rekal/git-rekal/internal/recall"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// The exit statuses of every command but hook, which always exits with exitOK.
const (
	exitOK    = 0 // done; an empty result is done
	exitFail  = 1 // failed
	exitUsage = 2 // wrong usage
)

const exitHelp = "\nExit status: 0 done (also with an empty result), 1 failed, 2 wrong usage.\n"

// usageError is a command line that can't be run.
type usageError struct {
	err     error
	command string // "" for recall
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func status(err error) int {
	var usage *usageError
	var request *recall.UsageError
	if errors.As(err, &usage) || errors.As(err, &request) || errors.Is(err, config.ErrUnknownRemote) || errors.Is(err, ledger.ErrNoMoment) {
		return exitUsage
	}
	return exitFail
}

// explain is an error with what to do about it, in one line.
func explain(err error) string {
	var usage *usageError
	var ambiguous *db.AmbiguousError
	var owner *git.OwnerError
	var blocked *ledger.BlockedError
	hint := ""
	switch {
	case errors.As(err, &usage):
		hint = fmt.Sprintf(`see "git rekal %s-h"`, strings.TrimLeft(usage.command+" ", " "))
	case errors.Is(err, workspace.ErrNotInitialised), errors.Is(err, capture.ErrNoLedger):
		hint = `run "git rekal init"`
	case errors.Is(err, git.ErrNotRepository):
		hint = "run it inside a git repository"
	case errors.Is(err, git.ErrNoIdentity):
		hint = `run "git config user.email you@example.com" and "git config user.name You"; nothing is lost, the next checkpoint captures it`
	case errors.As(err, &owner):
		hint = fmt.Sprintf("if you trust it, run %q", owner.Advice)
	case errors.As(err, &blocked):
		hint = fmt.Sprintf(`rename it, as by "git branch -m %s NAME"`, shortRef(blocked.By))
	case errors.Is(err, ledger.ErrFormat):
		hint = "a newer git-rekal wrote it, or it is another branch by that name, which you may rename"
	case errors.Is(err, git.ErrUnsupported):
		hint = "git-rekal works with SHA-1 repositories and refs in files"
	case errors.Is(err, lock.ErrBusy), errors.Is(err, capture.ErrBusy), errors.Is(err, db.ErrLocked):
		hint = "try again in a moment"
	case errors.Is(err, db.ErrCorrupt):
		hint = `run "git rekal index"`
	case errors.Is(err, fs.ErrPermission):
		hint = "check who owns .rekal and .git; nothing is lost"
	case errors.Is(err, ledger.ErrRefused) && errors.Is(err, git.ErrNotFound):
		hint = `this clone left something out; "git rekal sync" fetches it`
	case errors.Is(err, config.ErrNoRemote):
		hint = `add one with "git remote add origin URL", or name one`
	case errors.Is(err, config.ErrUnknownRemote):
		hint = `"git remote" lists them, "git config rekal.remote NAME" chooses one`
	case errors.Is(err, git.ErrTooLong):
		hint = "the file is long and changed often; ask for a few lines, as PATH:FIRST,LAST"
	case errors.As(err, &ambiguous):
		hint = "give more of the ID"
	}
	if hint == "" {
		return err.Error()
	}
	return fmt.Sprintf("%v: %s", err, hint)
}
