package history

import (
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/git"
)

// Bounds of what is read of a reflog, in bytes. A line takes about 180.
const (
	maxReflog    = 1 << 20  // behind a mark
	recentReflog = 64 << 10 // where there is none
)

// ReflogMark is how far a reflog was read.
type ReflogMark struct {
	Size    int64
	Last    git.OID // to which HEAD was moved there
	Written int64   // of a CommitMap: when, in nanoseconds since 1970
}

// Made is a commit that was made in a worktree: by `git commit`, or as the last one of a cherry-pick, a revert or `git
// am`.
type Made struct {
	OID    git.OID
	Was    git.OID // what an amend made it of; "" for another commit
	When   time.Time
	Branch string     // it was made on; "HEAD" when detached
	Before ReflogMark // before its line
}

// Reflog is what is new in HEAD's reflog of one worktree.
type Reflog struct {
	Path   string // of the file
	Follow bool   // it goes on from the mark; else these are the last entries
	Made   []Made // in their order
	Mark   ReflogMark
}

// Reflogs reads the entries behind the marks, by path, of the reflog of each worktree's HEAD. A reflog without new
// entries only costs a look at its size. Reflogs that can't be read are left out.
func Reflogs(r *git.Repo, marks map[string]ReflogMark) (out []Reflog) {
	for _, dir := range r.GitDirs() {
		log := Reflog{Path: filepath.Join(dir, "logs", "HEAD")}
		text, ok := log.read(r, r.HeadName(dir), marks[log.Path])
		if !ok {
			continue
		}
		branch := "HEAD"
		if head, err := r.HeadIn(dir); err == nil {
			branch = head.Branch
		}
		log.parse(text, branch)
		out = append(out, log)
	}
	return out
}

// read returns whole lines: the lines behind the mark, if the reflog still holds it, else the last ones. It reports
// false if nothing is new.
func (l *Reflog) read(r *git.Repo, head string, mark ReflogMark) (text string, ok bool) {
	f, err := r.OpenReflog(head)
	if err != nil {
		return "", false
	}
	defer f.Close()
	size := f.Size
	if size == mark.Size {
		return "", false
	}
	l.Mark = mark
	if more := size - mark.Size; mark.Size > 0 && more > 0 && more <= maxReflog {
		text = readSection(f, mark.Size, more)
		l.Follow = strings.HasPrefix(text, string(mark.Last)+" ")
	}
	if !l.Follow { // git wrote it anew without its oldest entries, or nobody has read it yet
		from := max(0, size-recentReflog)
		text = readSection(f, from, size-from)
		if from > 0 {
			_, text, _ = strings.Cut(text, "\n")
			from = size - int64(len(text))
		}
		l.Mark = ReflogMark{Size: from}
	}
	return text[:strings.LastIndexByte(text, '\n')+1], true
}

func readSection(f io.ReaderAt, from, n int64) string {
	b := make([]byte, n)
	got, _ := f.ReadAt(b, from) // what is there of it
	return string(b[:got])
}

// parse takes lines in, the last of which moved HEAD to where it is, on a branch.
func (l *Reflog) parse(text, branch string) {
	on, act := 0, "" // the first commit whose branch is not known; what made the one before
	for line := range strings.Lines(text) {
		e, ok := parseLogEntry(line)
		e.made.Before, l.Mark = l.Mark, ReflogMark{Size: l.Mark.Size + int64(len(line)), Last: e.new}
		if !ok {
			act = ""
			continue
		}
		if from, left := strings.CutPrefix(e.what, "checkout: moving from "); left {
			from, _, _ = strings.Cut(from, " ")
			on = l.setBranch(on, from)
		}
		now := e.actThatCommitted()
		switch {
		case now == "":
		case now == act && now != "commit": // one act of the user's, of which the last counts
			l.Made[len(l.Made)-1] = e.made
		default:
			l.Made = append(l.Made, e.made)
		}
		act = now
	}
	l.setBranch(on, branch)
}

// setBranch says of the commits from one on which branch they are of.
func (l *Reflog) setBranch(from int, branch string) (next int) {
	if git.IsOID(branch) {
		branch = "HEAD"
	}
	for i := from; i < len(l.Made); i++ {
		l.Made[i].Branch = branch
	}
	return len(l.Made)
}

// logEntry is a line of a reflog: "OLD NEW Name <address> 1700000000 +0100\tcommit: Subject".
type logEntry struct {
	old, new git.OID
	what     string
	made     Made
}

func parseLogEntry(line string) (e logEntry, ok bool) {
	who, what, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
	old, who, _ := strings.Cut(who, " ")
	now, who, _ := strings.Cut(who, " ")
	if !git.IsOID(old) || !git.IsOID(now) {
		return e, false
	}
	e.what, e.old, e.new = what, git.OID(old), git.OID(now)
	e.made.OID = e.new
	if e.isAmend() {
		e.made.Was = e.old
	}
	if f := strings.Fields(who[strings.LastIndexByte(who, '>')+1:]); len(f) == 2 {
		sec, err := strconv.ParseInt(f[0], 10, 64)
		e.made.When, ok = time.Unix(sec, 0), ok && err == nil
	}
	return e, ok
}

func (e logEntry) isAmend() bool { return strings.HasPrefix(e.what, "commit (amend)") }

// actThatCommitted is the act that made a commit; "" where HEAD only moved, and for the picks of a rebase, which are
// other commits made anew.
func (e logEntry) actThatCommitted() string {
	act, _, _ := strings.Cut(e.what, ":")
	act, _, _ = strings.Cut(act, " (")
	switch act {
	case "commit", "cherry-pick", "revert", "am":
		return act
	}
	return ""
}

// RecentCommit is a commit with the first line of its message, as a reflog tells.
type RecentCommit struct {
	OID     git.OID
	Subject string
}

// RecentCommits are the commits that `git commit` made in this worktree since a time, the oldest first, as the end of
// HEAD's reflog tells.
func RecentCommits(r *git.Repo, since time.Time) (out []RecentCommit) {
	log, err := r.OpenReflog(r.HeadName(r.Layout().GitDir))
	if err != nil {
		return nil
	}
	defer log.Close()
	n := min(log.Size, recentTail)
	for line := range strings.Lines(readSection(log, log.Size-n, n)) {
		e, ok := parseLogEntry(line)
		if _, subject, told := strings.Cut(e.what, ": "); ok && told && e.actThatCommitted() == "commit" &&
			e.made.When.After(since) {
			out = append(out, RecentCommit{e.new, subject})
		}
	}
	return out
}

// recentTail is how many bytes of a reflog are read for RecentCommits: dozens of entries.
const recentTail = 16 << 10
