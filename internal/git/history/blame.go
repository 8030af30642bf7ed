// Package history tells how things came about: which commit brought a line (git blame), what a commit changed, in lines
// and as a patch-id, the former content of a file, and which commits were made lately and by what act.
//
// In: a repository, commits and paths. Out: values of its own. It writes and fetches nothing.
package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/advice"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/worktree"
)

// blamePatience is how long git may look for the commits of a file's lines. It takes about as
// long as the file is, times the commits that changed it.
const blamePatience = 20 * time.Second

// Errors of BlameFile.
var (
	ErrBinary   = errors.New("binary file")
	ErrTooLarge = git.ErrTooLarge
	ErrTooLong  = advice.New("takes too long",
		"the file is long and changed often; ask for fewer lines, as PATH:FIRST,LAST")
)

// maxBlamed is the size in bytes of the largest file whose lines are looked for.
const maxBlamed = 16 << 20

// RangeError is a range of lines that a file has not.
type RangeError struct {
	File  string
	Lines int // how many it has
}

func (e *RangeError) Error() string {
	switch e.Lines {
	case 0:
		return fmt.Sprintf("%q is empty", e.File)
	case 1:
		return fmt.Sprintf("%q has only 1 line", e.File)
	}
	return fmt.Sprintf("%q has only %d lines", e.File, e.Lines)
}

// Origin says where a line comes from: the commit that added it, the file's path in that commit, and the line's number
// there. A line that is not committed has no origin.
type Origin struct {
	Commit git.OID
	Path   string
	Line   int
	Cut    bool // that commit or one before it: there a shallow clone ends
}

// Blame is where some lines of a file come from.
type Blame struct {
	From, To int      // the lines, from 1 on; both count
	Origins  []Origin // one a line
	Text     []string // the lines themselves
}

// BlameFile looks for the commits that brought lines of a file, as it stands in a commit, or with "" as
// it is in the working tree. From 0 asks for all lines. Renames of the file are followed, and a line is not
// another one because its white space is. It returns
// ErrNotFound, ErrBinary, ErrTooLarge or a RangeError for a file that can't be asked, and
// ErrTooLong for one that changed too often.
func BlameFile(ctx context.Context, r *git.Repo, commit git.OID, file string, from, to int) (Blame, error) {
	return blameText(ctx, r, commit, file, nil, from, to, nil)
}

// manyBlamed is for how many files it is worth to index the history first.
const manyBlamed = 100

// BlameFiles is BlameFile of all lines of many files of a commit, but for blank ones, on all cores. It hands on where
// the lines of each file come from, one file at a time, in any order: nothing for a file that BlameFile refuses. Once
// ctx ends, or each fails, it returns that error.
func BlameFiles(ctx context.Context, r *git.Repo, commit git.OID, files []string,
	each func(file string, origins []Origin) error,
) error {
	c, err := worktree.Open(r, commit)
	if err != nil {
		return err
	}
	defer c.Close()
	if len(files) >= manyBlamed {
		if indexed, release, err := r.IndexPaths(ctx, commit); err == nil { // else it takes longer
			defer release()
			r = indexed
		}
	}
	b, err := newBlamer(r)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	type blamed struct {
		file    string
		origins []Origin
	}
	results := make(chan blamed, len(files))
	for next, running := 0, 0; next < len(files) || running > 0; {
		if next == len(files) || running == runtime.GOMAXPROCS(0) {
			done := <-results
			if err := ctx.Err(); err != nil { // what git was stopped at is not known
				return err
			}
			if err := each(done.file, done.origins); err != nil {
				return err
			}
			running--
			continue
		}
		one := blamed{file: files[next]}
		lines, _ := linesOfFile(c, one.file)
		next, running = next+1, running+1
		go func() {
			if len(lines) > 0 {
				found, err := b.run(ctx, nil, []string{string(commit)}, one.file, nil, nil)
				for i := 0; i < len(lines) && err == nil; i++ {
					if !IsBlank(lines[i]) {
						one.origins = append(one.origins, found[i+1])
					}
				}
			}
			results <- one
		}()
	}
	return ctx.Err()
}

// BlameUnsaved is BlameFile of a file of the working tree that somebody is editing: text is what it is to become. What
// keep has of it is not asked for again; it may be nil.
func BlameUnsaved(ctx context.Context, r *git.Repo, file, text string, from, to int, keep *Blames) (Blame, error) {
	return blameText(ctx, r, "", file, []byte(text), from, to, keep)
}

func blameText(ctx context.Context, r *git.Repo, commit git.OID, file string, unsaved []byte, from, to int,
	keep *Blames,
) (Blame, error) {
	c, err := worktree.Open(r, commit)
	if err != nil {
		return Blame{}, err
	}
	defer c.Close()
	now, err := textToBlame(c, file)
	if err != nil {
		return Blame{}, err
	}
	committed := false
	if stored, inHead, ok := c.StoredText(file); ok && (unsaved == nil || bytes.Equal(unsaved, stored)) {
		now, unsaved, committed = stored, stored, inHead
	} else if unsaved != nil {
		now = unsaved
	}
	text := textLines(now)
	if from == 0 {
		from, to = 1, len(text)
	}
	if from > len(text) || to > len(text) {
		return Blame{}, &RangeError{file, len(text)}
	}
	out := Blame{From: from, To: to, Origins: make([]Origin, to-from+1), Text: text[from-1 : to]}
	if c.Commit() == "" || len(text) == 0 {
		return out, nil
	}
	var options, revs []string
	switch {
	case committed: // git would take the text for what lies in the working tree, and decode it
		revs, unsaved = []string{string(c.Commit())}, nil
	case !c.IsOfCommit():
		options, err = c.Options()
	case unsaved == nil: // else git takes HEAD, as it is a bare repository's
		revs = []string{string(c.Commit())}
	}
	if err != nil {
		return Blame{}, err
	}
	var key blameKey
	if keep != nil {
		key = newBlameKey(r, c.Commit(), file, now, options)
	}
	b, err := newBlamer(r)
	if err != nil {
		return Blame{}, err
	}
	origins, err := keep.origins(key, from, to, len(text), func(from, to int) (map[int]Origin, error) {
		return b.run(ctx, options, revs, file, unsaved, [][2]int{{from, to}})
	})
	if errors.Is(err, git.ErrNotFound) { // it was never added
		return out, nil
	}
	for i := range out.Origins {
		out.Origins[i] = origins[from+i]
	}
	return out, err
}

// linesOfFile are the lines of a file.
func linesOfFile(c *worktree.Content, file string) ([]string, error) {
	text, err := textToBlame(c, file)
	if err != nil {
		return nil, err
	}
	return textLines(text), nil
}

func textLines(text []byte) (out []string) {
	for l := range strings.Lines(string(text)) {
		out = append(out, strings.TrimRight(l, "\r\n"))
	}
	return out
}

// textToBlame is the content of a file whose lines can be looked for.
func textToBlame(c *worktree.Content, file string) ([]byte, error) {
	text, err := c.Text(file)
	if stored, _, ok := c.StoredText(file); ok {
		text = stored
	}
	switch {
	case err != nil:
		return nil, err
	case len(text) > maxBlamed:
		return nil, fmt.Errorf("git: %q: %w", file, ErrTooLarge)
	case bytes.IndexByte(text, 0) >= 0:
		return nil, fmt.Errorf("git: %q: %w", file, ErrBinary)
	}
	return text, nil
}

// mapUnchangedLines fills in which line of a text each line of another one is.
func mapUnchangedLines(before, now []byte, spaces git.Spaces, out []int) error {
	text, err := git.Hunks(before, now, 0, spaces)
	if err != nil {
		return err
	}
	next, shift := 0, 0
	upTo := func(end int) {
		for ; next < min(end, len(out)); next++ {
			out[next] = next + 1 + shift
		}
	}
	for l := range strings.Lines(text) {
		var h hunk
		if !strings.HasPrefix(l, "@@ ") || !h.parseHead(l) {
			continue
		}
		if h.newLines == 0 {
			h.new++ // it names the line before
		}
		upTo(h.new - 1)
		next += h.newLines
		shift += h.oldLines - h.newLines
	}
	upTo(len(out))
	return nil
}

// hunk is the head of a part of a diff.
type hunk struct{ oldLines, new, newLines int }

// parseHead reads "@@ -1,2 +3,4 @@ …", in which ",1" may be left out.
func (h *hunk) parseHead(line string) bool {
	f := strings.Fields(line)
	if len(f) < 3 {
		return false
	}
	var err [3]error
	_, lines, ok := strings.Cut(f[1], ",")
	if h.oldLines = 1; ok {
		h.oldLines, err[0] = strconv.Atoi(lines)
	}
	at, lines, ok := strings.Cut(strings.TrimPrefix(f[2], "+"), ",")
	if h.newLines = 1; ok {
		h.newLines, err[1] = strconv.Atoi(lines)
	}
	h.new, err[2] = strconv.Atoi(at)
	return errors.Join(err[:]...) == nil
}
