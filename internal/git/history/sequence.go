package history

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/git-rekal/git-rekal/internal/git"
)

// Sequencing reports whether git is in the middle of a rebase, of `git am`, or of a
// cherry-pick or revert of several, in this worktree: it commits many times then for one act
// of the user. The last pick or patch ends the sequence (a rebase ends with post-rewrite),
// and a commit that the user makes while a sequence stands still is an act of its own. Where a
// sequence ends in another way (skip, abort), the next commit is the act. It is
// meant to be asked from a hook that runs because of what HEAD is now.
func Sequencing(r *git.Repo) bool {
	switch {
	case stateExists(r, "rebase-merge"):
		conflict := stateExists(r, "rebase-merge/stopped-sha") && !stateExists(r, "rebase-merge/amend") // else it stands still because it was told to
		return conflict || !committedByHand(r)
	case stateExists(r, "rebase-apply/rebasing"):
		return !committedByHand(r)
	case stateExists(r, "rebase-apply"):
		return stateNumber(r, "rebase-apply/next") < stateNumber(r, "rebase-apply/last") && !committedByHand(r)
	}
	// The list still holds the pick that was just made.
	return countPicks(r, "sequencer/todo") > 1 && !committedByHand(r)
}

// committedByHand reports whether HEAD was moved by `git commit`, other than to finish a
// pick. git says so in HEAD's reflog; where none is kept, nothing counts as made by hand.
func committedByHand(r *git.Repo) bool {
	move := lastMove(r).what
	return strings.HasPrefix(move, "commit") && !strings.HasPrefix(move, "commit (cherry-pick)")
}

// Rewritten is what git says to a post-rewrite hook on its stdin, from where git has it: a hook
// manager may have kept it to itself. A line is an old and a new OID.
func Rewritten(r *git.Repo, amend bool) string {
	if !amend {
		return stateText(r, "rebase-merge/rewritten-list") + stateText(r, "rebase-apply/rewritten")
	}
	if move := lastMove(r); move.amends() {
		return string(move.old) + " " + string(move.new) + "\n"
	}
	return ""
}

// Merging reports whether `git merge` is under way in this worktree, as it still is when its
// post-merge hook runs; a fast-forward and a squash never are.
func Merging(r *git.Repo) bool { return stateExists(r, "MERGE_HEAD") }

func stateExists(r *git.Repo, name string) bool {
	_, err := os.Lstat(filepath.Join(r.Layout().GitDir, name))
	return err == nil
}

// stateNumber reads a file that holds one; 0 when it does not.
func stateNumber(r *git.Repo, name string) int {
	n, err := strconv.Atoi(strings.TrimSpace(stateText(r, name)))
	if err != nil {
		return 0
	}
	return n
}

// countPicks counts the instructions of a sequence's list.
func countPicks(r *git.Repo, name string) int {
	n := 0
	for line := range strings.Lines(stateText(r, name)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			n++
		}
	}
	return n
}

func stateText(r *git.Repo, name string) string {
	b, _ := os.ReadFile(filepath.Join(r.Layout().GitDir, name)) // mostly there is none
	return string(b)
}

// reflogTail is how much of the end of a reflog is read: more than its longest last line.
const reflogTail = 4 << 10

// lastMove is the newest entry in HEAD's reflog; the zero entry where none is kept.
func lastMove(r *git.Repo) logEntry {
	log, err := r.OpenReflog(r.HeadName(r.Layout().GitDir))
	if err != nil {
		return logEntry{}
	}
	defer log.Close()
	n := min(log.Size, reflogTail)
	tail := strings.TrimSpace(readSection(log, log.Size-n, n))
	e, _ := entryOf(tail[strings.LastIndexByte(tail, '\n')+1:])
	return e
}
