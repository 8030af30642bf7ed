package notes

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/git"
)

// readHistory reads what commits took away, the latest first, until all is settled.
func (s *search) readHistory(ctx context.Context) error {
	w := &walk{search: s, byEnd: map[Thing]string{}}
	args := []string{
		"-c", "core.quotePath=false", "log", "-p", "-U0", "-M", "--no-color", "--no-ext-diff", "--no-textconv",
		"--no-show-signature", "--no-prefix", "--diff-filter=a",
		"--format=%x01%H %ct", "--max-count=" + strconv.Itoa(s.Commits), string(s.head),
	}
	if !s.Since.IsZero() {
		args = append(args, "--since=@"+strconv.FormatInt(s.Since.Unix(), 10))
	}
	return s.lines(ctx, args, w.line)
}

// walk is a reading of the history, and where it is.
type walk struct {
	*search
	commit git.OID
	when   time.Time
	file   string // before the commit
	isText bool
	inHunk bool
	from   string // of a rename

	byEnd map[Thing]string // names that the end of a path settled, with that path
}

// line takes in one line of git log -p, and says whether anything is still to be found.
func (w *walk) line(line string) bool {
	switch {
	case strings.HasPrefix(line, "\x01"):
		id, sec, _ := strings.Cut(line[1:], " ")
		at, _ := strconv.ParseInt(sec, 10, 64)
		w.commit, w.when, w.inHunk = git.OID(id), time.Unix(at, 0).UTC(), false
		return len(w.missing)+len(w.words)+len(w.targets)+len(w.local) > 0
	case strings.HasPrefix(line, "diff --git "):
		w.inHunk, w.file, w.from = false, "", ""
	case !w.inHunk && strings.HasPrefix(line, "--- "):
		w.file = line[4:]
		w.isText = provesNothing(strings.ToLower(w.file))
	case !w.inHunk && strings.HasPrefix(line, "+++ "):
		if line == "+++ /dev/null" {
			w.lost(w.file, "")
		}
	case !w.inHunk && strings.HasPrefix(line, "deleted file mode"):
		w.from = "" // an empty file has no names behind it
	case !w.inHunk && strings.HasPrefix(line, "rename from "):
		w.from = strings.TrimPrefix(line, "rename from ")
	case !w.inHunk && strings.HasPrefix(line, "rename to "):
		w.lost(w.from, strings.TrimPrefix(line, "rename to "))
	case strings.HasPrefix(line, "@@ "):
		w.inHunk = true
	case w.inHunk && strings.HasPrefix(line, "-"):
		w.removed(line[1:])
	}
	return true
}

// lost settles the paths that a file was, which a commit took away or gave another name.
func (w *walk) lost(file, now string) {
	w.noteOthers(file)
	for t, lacks := range w.missing {
		if file == t.Name || strings.HasPrefix(file, t.Name+"/") || lacks && (strings.HasSuffix(file, "/"+t.Name) ||
			strings.Contains(file, "/"+t.Name+"/")) {
			if strings.Contains(file, t.Name+"/") { // a folder: the files went one by one
				now = ""
			}
			if now != "" && w.files[now] == "" {
				now = ""
			}
			w.gone[t] = Gone{Thing: t, Commit: w.commit, When: w.when, Now: now}
			if delete(w.missing, t); file != t.Name {
				w.byEnd[t] = file
			}
		}
	}
}

// noteOthers notes of names that were settled by the end of a path which other files of the same commit end so.
func (w *walk) noteOthers(file string) {
	for t, first := range w.byEnd {
		if g := w.gone[t]; g.Commit == w.commit && file != first && strings.HasSuffix(file, "/"+t.Name) {
			g.Now, g.Several = "", true
			w.gone[t] = g
		}
	}
}

// removed settles the words and commands that a line had, which a commit took away.
func (w *walk) removed(line string) {
	if w.isText {
		return
	}
	for word := range w.words {
		if !strings.Contains(line, word) || !holdsWord(line, word) || !proves(line, word) {
			continue
		}
		for _, t := range w.uses[word] {
			if _, known := w.gone[t]; !known {
				w.gone[t] = Gone{Thing: t, Commit: w.commit, When: w.when}
			}
		}
		delete(w.words, word)
	}
	for at, things := range w.local {
		if at.file != w.file || !strings.Contains(line, at.word) || !holdsWord(line, at.word) || !proves(line, at.word) {
			continue
		}
		for _, t := range things {
			if _, known := w.gone[t]; !known {
				w.gone[t] = Gone{Thing: t, Commit: w.commit, When: w.when}
			}
		}
		delete(w.local, at)
	}
	for t, is := range w.targets {
		if is.isIn(w.file) && is.defines(line) {
			w.gone[t] = Gone{Thing: t, Commit: w.commit, When: w.when}
			delete(w.targets, t)
		}
	}
}

// proves reports whether a line that was removed shows that a word was a name of the code. A word that prose has, too,
// must be defined there.
func proves(line, word string) bool {
	if isShapedAsCode(word) || variable.MatchString(word) {
		return true
	}
	before, after, _ := strings.Cut(line, word)
	last := before[strings.LastIndexAny(strings.TrimRight(before, " "), " \t(")+1:]
	defining := []string{
		"func", "def", "class", "type", "const", "var", "let", "fn", "function", "struct", "interface", "enum", "module",
		"package", "trait", "mod", "static",
	}
	after = strings.TrimLeft(after, " ")
	return slices.Contains(defining, strings.TrimSpace(last)) ||
		strings.HasPrefix(after, "(") && strings.Contains(line, "func") ||
		strings.TrimSpace(before) == "" && (strings.HasPrefix(after, "=") || strings.HasPrefix(after, ":")) ||
		strings.HasSuffix(before, `"`) && strings.HasPrefix(after, `"`)
}
