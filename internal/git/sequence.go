package git

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Sequencing reports whether git is in the middle of a rebase, of `git am`, or of a
// cherry-pick or revert of several, in this worktree: it commits many times then for one act
// of the user. The last pick or patch ends the sequence (a rebase ends with post-rewrite),
// and a commit that the user makes while a sequence stands still is an act of its own. It is
// meant to be asked from a hook that runs because of what HEAD is now.
func (r *Repo) Sequencing() bool {
	switch {
	case r.has("rebase-merge"):
		return r.resolving() || !r.committedByHand()
	case r.has("rebase-apply/rebasing"):
		return !r.committedByHand()
	case r.has("rebase-apply"):
		return r.number("rebase-apply/next") < r.number("rebase-apply/last") && !r.committedByHand()
	}
	// The list still holds the pick that was just made.
	return r.picks("sequencer/todo") > 1 && !r.committedByHand()
}

// resolving is a rebase that stands still for a conflict, and not because it was told to.
func (r *Repo) resolving() bool {
	return r.has("rebase-merge/stopped-sha") && !r.has("rebase-merge/amend")
}

// committedByHand reports whether HEAD was moved by `git commit`, other than to finish a
// pick. git says so in HEAD's reflog; where none is kept, nothing counts as made by hand.
func (r *Repo) committedByHand() bool {
	_, _, move := r.lastMove()
	return strings.HasPrefix(move, "commit") && !strings.HasPrefix(move, "commit (cherry-pick)")
}

// Rewritten is what git says to a post-rewrite hook on its stdin, from where git has it: a hook
// manager may have kept it to itself. A line is an old and a new OID.
func (r *Repo) Rewritten(amend bool) string {
	if !amend {
		return r.text("rebase-merge/rewritten-list") + r.text("rebase-apply/rewritten")
	}
	if old, new, move := r.lastMove(); strings.HasPrefix(move, "commit (amend)") {
		return old + " " + new + "\n"
	}
	return ""
}

// Merging reports whether `git merge` is under way in this worktree, as it still is when its
// post-merge hook runs; a fast-forward and a squash never are.
func (r *Repo) Merging() bool { return r.has("MERGE_HEAD") }

func (r *Repo) has(name string) bool {
	_, err := os.Lstat(filepath.Join(r.layout.GitDir, name))
	return err == nil
}

// number reads a file that holds one; 0 when it does not.
func (r *Repo) number(name string) int {
	n, err := strconv.Atoi(strings.TrimSpace(r.text(name)))
	if err != nil {
		return 0
	}
	return n
}

// picks counts the instructions of a sequence's list.
func (r *Repo) picks(name string) int {
	n := 0
	for line := range strings.Lines(r.text(name)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			n++
		}
	}
	return n
}

func (r *Repo) text(name string) string {
	b, err := os.ReadFile(filepath.Join(r.layout.GitDir, name))
	if err != nil {
		return ""
	}
	return string(b)
}

// reflogTail is how much of the end of a reflog is read: more than its longest last line.
const reflogTail = 4 << 10

// lastMove is the newest entry in HEAD's reflog: from where to where git moved HEAD last, and
// how. All are "" where no reflog is kept.
func (r *Repo) lastMove() (old, new, how string) {
	f, err := os.Open(filepath.Join(r.layout.GitDir, "logs", "HEAD"))
	if err != nil {
		return "", "", ""
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return "", "", ""
	}
	tail := make([]byte, min(size, reflogTail))
	if _, err := f.ReadAt(tail, size-int64(len(tail))); err != nil {
		return "", "", ""
	}
	who, how, _ := strings.Cut(lastLine(string(tail)), "\t")
	old, who, _ = strings.Cut(who, " ")
	new, _, _ = strings.Cut(who, " ")
	return old, new, how
}
