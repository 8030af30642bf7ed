package cli

import (
	"cmp"
	"errors"
	"io/fs"
	"syscall"

	"github.com/git-rekal/git-rekal/internal/advice"
	"github.com/git-rekal/git-rekal/internal/capture"
	"github.com/git-rekal/git-rekal/internal/config"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/group"
	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/name"
	"github.com/git-rekal/git-rekal/internal/records"
	"github.com/git-rekal/git-rekal/internal/session"
)

// The exit statuses of every command but hook, which always exits with exitOK.
const (
	exitOK    = 0 // done; an empty result is done
	exitFail  = 1 // failed
	exitUsage = 2 // wrong usage
)

const usualExit = "0 done (also with an empty result), 1 failed, 2 wrong usage."

func exitCode(err error) int {
	switch {
	case errors.Is(err, name.ErrNoRevision):
		return exitFail
	case errors.As(err, new(*usageError)), errors.As(err, new(*name.UsageError)), errors.As(err, new(*capture.NoteError)),
		errors.As(err, new(*group.Refused)),
		errors.Is(err, config.ErrUnknownRemote), errors.Is(err, ledger.ErrNoMoment):
		return exitUsage
	}
	return exitFail
}

// explain is an error with what to do about it, in one line.
func explain(err error) string { return withHint(err, nil) }

// explainTool is explain for the caller of an MCP tool: its hints name the tool's inputs and no flags.
func explainTool(err error) string { return withHint(err, toolKinds) }

func withHint(err error, first []errorKind) string {
	if hint := cmp.Or(hintOfKind(first, err), advice.Of(err), hintOfKind(systemKinds, err)); hint != "" {
		return withoutPackageNames(err) + ": " + hint
	}
	return withoutPackageNames(err)
}

// steps are names of packages at the beginning of an error, maybe behind the hook's, that say nothing to a person.
var steps = lazy.Expr(`^([a-z]+-[a-z]+: )?(?:config: |git: open |ledger: scrub: )`)

// withoutPackageNames is an error without the names of the packages that it came through.
func withoutPackageNames(err error) string { return steps.ReplaceAllString(err.Error(), "$1") }

// explainWarning is a warning, with what to do where there is something.
func explainWarning(err error) string {
	if over := (*ledger.BoundsError)(nil); errors.As(err, &over) {
		return explain(err)
	}
	return withoutPackageNames(err)
}

func hintOfKind(kinds []errorKind, err error) string {
	for _, k := range kinds {
		if errors.Is(err, k.err) {
			return k.hint
		}
	}
	return ""
}

// errorKind is a kind of errors, and what to do about them.
type errorKind struct {
	err  error
	hint string
}

// toolKinds are the errors whose hint is another one for the caller of an MCP tool.
var toolKinds = []errorKind{ //nolint:gochecknoglobals // a table
	{git.ErrNotRepository, "the server has to be started inside a git repository"},
	{ledger.ErrNoMoment, "give a revision of the code, HEAD~n, or a date as @{2026-02-01} or @{3 days ago}"},
	{name.ErrNoRevision, "give a branch, a tag or a SHA of the code; a checkpoint's SHA goes into checkpoint"},
	{session.ErrNoID, "IDs are in the answers of recall"},
	{records.ErrNone, "numbers of records are in the answers of recall"},
}

// systemKinds are errors of the system.
var systemKinds = []errorKind{ //nolint:gochecknoglobals // a table
	{syscall.EADDRINUSE, "give another port, or none for a free one"},
	{fs.ErrPermission, "check who owns .git; nothing is lost"},
}
