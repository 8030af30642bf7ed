package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/git-rekal/git-rekal/internal/archive"
	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/capture"
	"github.com/git-rekal/git-rekal/internal/config"
	"github.com/git-rekal/git-rekal/internal/curate"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/internal/group"
	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/lock"
	"github.com/git-rekal/git-rekal/internal/records"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/workspace"
)

// The exit statuses of every command but hook, which always exits with exitOK.
const (
	exitOK    = 0 // done; an empty result is done
	exitFail  = 1 // failed
	exitUsage = 2 // wrong usage
)

const usualExit = "0 done (also with an empty result), 1 failed, 2 wrong usage."

func status(err error) int {
	switch {
	case errors.Is(err, ask.ErrNoRevision):
		return exitFail
	case errors.As(err, new(*usageError)), errors.As(err, new(*ask.UsageError)), errors.As(err, new(*capture.NoteError)), errors.As(err, new(*group.Refused)),
		errors.Is(err, config.ErrUnknownRemote), errors.Is(err, ledger.ErrNoMoment):
		return exitUsage
	}
	return exitFail
}

// explain is an error with what to do about it, in one line.
func explain(err error) string { return advise(err, nil) }

// explainTool is the same for who called a tool of the MCP server, and knows its inputs rather than flags.
func explainTool(err error) string { return advise(err, toolKinds) }

func advise(err error, first []kind) string {
	if hint := cmp.Or(hintIn(first, err), hintOf(err), hintIn(kinds, err)); hint != "" {
		return withoutSteps(err) + ": " + hint
	}
	return withoutSteps(err)
}

// steps are names of packages at the beginning of an error, maybe behind the hook's, that say nothing to a person.
var steps = lazy.Expr(`^([a-z]+-[a-z]+: )?(?:config: |git: open |ledger: scrub: )`)

// withoutSteps is an error without the names of the packages that it came through.
func withoutSteps(err error) string { return steps.ReplaceAllString(err.Error(), "$1") }

// explainWarning is a warning, with what to do where there is something.
func explainWarning(err error) string {
	if over := (*ledger.BoundsError)(nil); errors.As(err, &over) || errors.Is(err, workspace.ErrTracked) {
		return explain(err)
	}
	return withoutSteps(err)
}

func hintIn(kinds []kind, err error) string {
	for _, k := range kinds {
		if errors.Is(err, k.err) {
			return k.hint
		}
	}
	return ""
}

// kind of errors, and what to do about it.
type kind struct {
	err  error
	hint string
}

// toolKinds are those about which a tool's caller does something else.
var toolKinds = []kind{ //nolint:gochecknoglobals // a table
	{git.ErrNotRepository, "the server has to be started inside a git repository"},
	{ledger.ErrNoMoment, "give a revision of the code, HEAD~n, or a date as @{2026-02-01} or @{3 days ago}"},
	{ask.ErrNoRevision, "give a branch, a tag or a SHA of the code; a checkpoint's SHA goes into checkpoint"},
	{session.ErrNoID, "IDs are in the answers of recall"},
	{records.ErrNone, "numbers of records are in the answers of recall"},
}

// kinds of errors; of several that fit, the first one counts.
var kinds = []kind{ //nolint:gochecknoglobals // a table
	{workspace.ErrOnLedger, `check out a branch of code; "git reset --keep HEAD~1" removes a commit made there by mistake`},
	{workspace.ErrNotInitialised, `run "git rekal init"`},
	{capture.ErrNoLedger, `run "git rekal init"`},
	{workspace.ErrTracked, `remove it: "git rm -r --cached .rekal", commit, and delete the folder`},
	{git.ErrNotRepository, "run it inside a git repository"},
	{git.ErrNoIdentity, `run "git config user.email you@example.com" and "git config user.name You"; no session is lost, the next checkpoint captures it`},
	{ledger.ErrAddress, `run "git config user.email you@example.com"`},
	{ledger.ErrFormat, "update git-rekal if a newer one wrote it, else rename the branch"},
	{git.ErrUnsupported, "git-rekal works with SHA-1 repositories and refs in files"},
	{errShared, `delete one with "git branch -D rekal/EMAIL"`},
	{archive.ErrNoTranscript, "say which agent wrote it, with --agent NAME"},
	{lock.ErrBusy, "try again in a moment"},
	{capture.ErrBusy, "try again in a moment"},
	{ask.ErrIndexLocked, "try again in a moment"},
	{ask.ErrIndexCorrupt, `run "git rekal index"`},
	{ask.ErrIndexRoom, "the ledgers hold very long turns; nothing is lost, and recall answers from the state before"},
	{records.ErrNone, `numbers are in the answers of recall: "git rekal --kind record -n 5" lists the latest`},
	{records.ErrNoRaw, "the raw output is kept for 7 days, the record for 90; without --raw you see what mattered"},
	{ask.ErrSQLTime, "ask for less, or give it more with --timeout"},
	{ask.ErrSQLMemory, "ask for less: fewer columns, a WHERE, a LIMIT"},
	{errAnswer, "ask for less: fewer columns, a WHERE, a LIMIT"},
	{history.ErrTooLong, "the file is long and changed often; ask for fewer lines, as PATH:FIRST,LAST"},
	{syscall.EADDRINUSE, "give another port, or none for a free one"},
	{fs.ErrPermission, "check who owns .rekal and .git; nothing is lost"},
	{config.ErrNoRemote, `add one with "git remote add origin URL", or name one`},
	{config.ErrUnknownRemote, `"git remote" lists them, "git config rekal.remote NAME" chooses one`},
	{ledger.ErrNoMoment, `give a checkpoint ("git rekal log" lists them), a revision of the code, or a date as '@{2026-02-01}' or '@{3 days ago}'`},
	{ask.ErrFolder, `name one of its files; "git rekal --path PATH" finds the sessions of a folder`},
	{ask.ErrNoFile, `paths are from here or from the repository's root, lines PATH:LINE or PATH:FIRST,LAST; to search for words, write "git rekal -- why …"`},
	{ask.ErrNothingNamed, `give a commit, a range, PATH:LINE, or an ID from an answer of recall; "git rekal -n 5" lists the latest`},
	{ask.ErrNoRevision, `give a branch, a tag or a SHA of the code; a checkpoint's SHA goes with --checkpoint`},
	{ask.ErrOperand, `write paths that are gone behind "--"; to search for words, write "git rekal -- log …"`},
	{session.ErrNoID, `IDs are in the answers of recall; "git rekal -n 5" lists the latest, "git rekal sync" fetches the team's`},
	{ask.ErrSQLName, `this lists tables and columns, with --index those of index.db: git rekal query "SELECT table_name, column_name FROM duckdb_columns() WHERE NOT internal"`},
	{ask.ErrSQLStatement, `give one SELECT`},
	{ledger.ErrCut, `run "git fetch --unshallow" first`},
}

// hinter is an error that knows what to do about it.
type hinter interface {
	error
	Hint() string
}

// hintOf is what to do about an error that says more than its kind.
func hintOf(err error) string {
	var known hinter
	var owner *git.OwnerError
	var over *ledger.BoundsError
	var blocked *ledger.BlockedError
	var pushed *ledger.PushedError
	var target *ledger.TargetError
	var tree *curate.CheckedOutError
	var forked *curate.ForkedError
	var purged *ask.PurgedError
	switch {
	case errors.As(err, &known):
		return known.Hint()
	case errors.As(err, &owner):
		return fmt.Sprintf("if you trust it, run %q", owner.Advice)
	case errors.As(err, new(*ledger.LaterError)):
		return "nothing was changed; update git-rekal, then do it again"
	case errors.As(err, &over) && over.Own:
		return `if another machine of yours wrote it, "git rekal sync --unbounded" takes it in, else "git rekal doctor" says how to remove it`
	case errors.As(err, &over) && over.Later:
		return `"git rekal sync" goes on with it, "git rekal index" reads it at once`
	case errors.As(err, &over):
		return `"git rekal doctor" says how to leave it out`
	case errors.As(err, &blocked) && blocked.Remote != "":
		return fmt.Sprintf(`rename it there: "git fetch %[1]s '%[2]s' && git push %[1]s FETCH_HEAD:refs/heads/NAME ':%[2]s'"`, blocked.Remote, strings.ReplaceAll(blocked.By, "'", `'\''`))
	case errors.As(err, &blocked):
		return fmt.Sprintf(`rename it: "git branch -m %s NAME"`, shortRef(blocked.By))
	case errors.Is(err, ledger.ErrRefused) && errors.Is(err, git.ErrNotFound):
		return `objects are missing in this clone; "git rekal sync" fetches them`
	case errors.Is(err, ledger.ErrRefused) && errors.Is(err, ledger.ErrFormat):
		return "update git-rekal if a newer one wrote it, else rename or delete the branch on the remote"
	case errors.Is(err, ledger.ErrRefused) && errors.Is(err, git.ErrMalformed):
		return `nobody can read it: rename or delete it on the remote; for your own branch "git rekal doctor" says how`
	case errors.As(err, &pushed):
		return `nothing was changed; "git rekal scrub --pushed" rewrites it there, too; change the secret in any case, because others may have fetched it`
	case errors.As(err, &target) && target.Turns > 0:
		return `"git rekal query --session ID" shows them`
	case errors.As(err, &target):
		return "only your own ledger can be rewritten; ask its author to scrub it"
	case errors.As(err, &forked):
		return fmt.Sprintf(`nothing was changed; "git rekal forget %s %s" forgets all of them`, forked.ID, strings.Join(forked.Forks, " "))
	case errors.As(err, &tree):
		return fmt.Sprintf(`run "git -C %s switch --detach" on another commit, or remove that worktree`, tree.Dir)
	case errors.As(err, &purged):
		return fmt.Sprintf(`"git rekal restore %s" shows it again`, purged.ID)
	case errors.As(err, new(*ask.HandoffError)):
		return `"git rekal --kind session -n 5" lists sessions`
	case errors.As(err, new(*session.AmbiguousError)):
		return "give more of the ID"
	}
	return ""
}
