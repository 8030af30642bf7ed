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
	var pushed *ledger.PushedError
	var target *ledger.TargetError
	var prefix *ledger.AmbiguousError
	var tree *workspace.CheckedOutError
	hint := ""
	switch {
	case errors.As(err, &usage):
		hint = fmt.Sprintf(`see "git rekal %s-h"`, strings.TrimLeft(usage.command+" ", " "))
	case errors.Is(err, workspace.ErrNotInitialised), errors.Is(err, capture.ErrNoLedger):
		hint = `run "git rekal init"`
	case errors.Is(err, workspace.ErrTracked):
		hint = `remove it: "git rm -r --cached .rekal", commit, and delete the folder`
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
	case errors.Is(err, db.ErrRoom):
		hint = "the ledgers hold very long turns; nothing is lost, and recall answers from the state before"
	case errors.Is(err, db.ErrTime):
		hint = "ask for less, or give it more with --timeout"
	case errors.Is(err, db.ErrMemory), errors.Is(err, errAnswer):
		hint = "ask for less: fewer columns, a WHERE, a LIMIT"
	case errors.Is(err, fs.ErrPermission):
		hint = "check who owns .rekal and .git; nothing is lost"
	case errors.Is(err, ledger.ErrRefused) && errors.Is(err, git.ErrNotFound):
		hint = `this clone left something out; "git rekal sync" fetches it`
	case errors.Is(err, config.ErrNoRemote):
		hint = `add one with "git remote add origin URL", or name one`
	case errors.Is(err, config.ErrUnknownRemote):
		hint = `"git remote" lists them, "git config rekal.remote NAME" chooses one`
	case errors.As(err, &pushed):
		hint = `nothing was changed; "git rekal scrub --pushed" rewrites it there, too: others keep what they fetched until their next "git rekal sync", so change the secret in any case`
	case errors.As(err, &target):
		hint = "only your own ledger can be scrubbed; whoever wrote it scrubs another one"
	case errors.Is(err, ledger.ErrCut):
		hint = `run "git fetch --unshallow" first`
	case errors.As(err, &tree):
		hint = fmt.Sprintf(`run "git -C %s switch --detach" on another commit, or remove that worktree`, tree.Dir)
	case errors.As(err, &ambiguous), errors.As(err, &prefix):
		hint = "give more of the ID"
	}
	if hint == "" {
		return err.Error()
	}
	return fmt.Sprintf("%v: %s", err, hint)
}
