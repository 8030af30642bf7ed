package history

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/git-rekal/git-rekal/internal/git"
)

// IsSequencing reports whether git is in the middle of a rebase, of `git am`, or of a
// cherry-pick or revert of several, in this worktree: it commits many times then for one act
// of the user. The last pick or patch ends the sequence (a rebase ends with post-rewrite),
// and a commit that the user makes while a sequence stands still is an act of its own. Where a
// sequence ends in another way (skip, abort), the next commit is the act. It is
// meant to be asked from a hook that runs because of what HEAD is now.
func IsSequencing(r *git.Repo) bool {
	switch {
	case hasState(r, "rebase-merge"):
		// else it stands still because it was told to
		conflict := hasState(r, "rebase-merge/stopped-sha") && !hasState(r, "rebase-merge/amend")
		return conflict || !isCommittedByHand(r)
	case hasState(r, "rebase-apply/rebasing"):
		return !isCommittedByHand(r)
	case hasState(r, "rebase-apply"):
		return numberInState(r, "rebase-apply/next") < numberInState(r, "rebase-apply/last") && !isCommittedByHand(r)
	}
	// The list still holds the pick that was just made.
	return countPicks(r, "sequencer/todo") > 1 && !isCommittedByHand(r)
}

// isCommittedByHand reports whether HEAD was moved by `git commit`, other than to finish a
// pick. git says so in HEAD's reflog; where none is kept, nothing counts as made by hand.
func isCommittedByHand(r *git.Repo) bool {
	move := lastReflogEntry(r).what
	return strings.HasPrefix(move, "commit") && !strings.HasPrefix(move, "commit (cherry-pick)")
}

// stopDepth is how many commits are made at most at one stop of a rebase, and behind it.
const stopDepth = 64

// Became is what a commit became, if git says that it became another one; ok is false where it stays. git calls what
// was made at an `edit` stop of a rebase what the commit became at which it stopped. But that stays below, or is the
// commit below of the same author and time.
func Became(r *git.Repo, old, now git.OID) (became git.OID, ok bool) {
	became = now
	was, err := r.Commit(old)
	if err != nil {
		return became, true
	}
	for id, depth, found := now, 0, false; depth < stopDepth; depth++ {
		c, err := r.Commit(id)
		if err != nil || c.Committer.When.Before(was.Committer.When) {
			break
		}
		if id == old {
			return "", false
		}
		if !found && c.Author.Email == was.Author.Email && c.Author.When.Equal(was.Author.When) {
			became, found = id, true
		}
		if len(c.Parents) == 0 {
			break
		}
		id = c.Parents[0]
	}
	return became, true
}

// PostRewriteInput is what git says to a post-rewrite hook on its stdin, from where git has it: a hook
// manager may have kept it to itself. A line is an old and a new OID.
func PostRewriteInput(r *git.Repo, amend bool) string {
	if !amend {
		return readState(r, "rebase-merge/rewritten-list") + readState(r, "rebase-apply/rewritten")
	}
	if move := lastReflogEntry(r); move.isAmend() {
		return string(move.old) + " " + string(move.new) + "\n"
	}
	return ""
}

// IsMerging reports whether `git merge` is under way in this worktree, as it still is when its
// post-merge hook runs; a fast-forward and a squash never are.
func IsMerging(r *git.Repo) bool { return hasState(r, "MERGE_HEAD") }

func hasState(r *git.Repo, name string) bool {
	_, err := os.Lstat(filepath.Join(r.Layout().GitDir, name))
	return err == nil
}

// numberInState reads a file of git's state that holds a number; 0 when it does not.
func numberInState(r *git.Repo, name string) int {
	n, err := strconv.Atoi(strings.TrimSpace(readState(r, name)))
	if err != nil {
		return 0
	}
	return n
}

// countPicks counts the instructions of a sequence's list.
func countPicks(r *git.Repo, name string) int {
	n := 0
	for line := range strings.Lines(readState(r, name)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			n++
		}
	}
	return n
}

func readState(r *git.Repo, name string) string {
	b, _ := os.ReadFile(filepath.Join(r.Layout().GitDir, name)) // mostly there is none
	return string(b)
}

// reflogTail is how much of the end of a reflog is read: more than its longest last line.
const reflogTail = 4 << 10

// lastReflogEntry is the newest entry in HEAD's reflog; the zero entry where none is kept.
func lastReflogEntry(r *git.Repo) logEntry {
	log, err := r.OpenReflog(r.HeadName(r.Layout().GitDir))
	if err != nil {
		return logEntry{}
	}
	defer log.Close()
	n := min(log.Size, reflogTail)
	tail := strings.TrimSpace(readSection(log, log.Size-n, n))
	e, _ := parseLogEntry(tail[strings.LastIndexByte(tail, '\n')+1:])
	return e
}
