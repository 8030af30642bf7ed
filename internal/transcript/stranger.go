package transcript

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// stranger is the transcript of a session that was begun in another repository, or in none. It concerns this one where
// the session goes there, or edits a file there.
type stranger struct {
	File
	cwd string // where it was begun
}

// unknownFolder stands for where a session was begun that was not begun here.
const unknownFolder = "?"

// searchedFor is how long a transcript is searched after its last change, where Env.Search bounds that; if the last
// call is longer ago, since then.
const (
	searchedFor = 7 * 24 * time.Hour
	secondsADay = 24 * 60 * 60
)

// SearchBudget is an Env.Search for those who only list sessions.
const SearchBudget = 64 << 20

// openingCosts is what opening a transcript counts beside the bytes that are read.
const openingCosts = 16 << 10

// visited stands for how far a transcript was searched in which something was found.
const visited = -1

// isSearched reports whether a transcript is searched whose session was begun in a folder, or was found before.
func (l *finder) isSearched(f File, cwd string) bool {
	return l.env.Search == 0 || f.ModTime.After(l.since) || l.had.Searched[f.Path] == visited || l.places.mayConcern(cwd)
}

// search takes of the strangers those that concern the repository; the latest first, as long as there is something left
// to spend. Of one that grows, each byte is looked at once, another one when it changed.
func (l *finder) search(ctx context.Context) (found []File) {
	slices.SortStableFunc(l.strangers, func(a, b stranger) int { return b.ModTime.Compare(a.ModTime) })
	for _, s := range l.strangers {
		from, end := l.had.Searched[s.Path], s.Size
		if s.ReadWhole {
			end += s.ModTime.UnixNano()
		}
		if from != visited && from != end && (l.env.Search == 0 || l.left > 0) && ctx.Err() == nil {
			if s.ReadWhole || from > end {
				from = 0
			}
			done, err := l.searchIn(ctx, s, from)
			if !isBusy(err) {
				l.unreadable("read transcript", err)
			}
			if from = done; s.ReadWhole && done != visited && err == nil {
				from = end
			}
		}
		l.next.Searched[s.Path] = from
		if from == visited {
			found = append(found, s.File)
		}
	}
	l.strangers, l.found.Files = nil, append(l.found.Files, found...)
	return found
}

// searchIn looks in a stranger, from an offset on, for a record that was made in a worktree, or names one and a tool
// that edits. It returns how far it looked, or visited.
func (l *finder) searchIn(ctx context.Context, s stranger, from int64) (int64, error) {
	in, from, err := l.open(ctx, s.File, from)
	if err != nil {
		return from, err
	}
	defer in.Close()
	lines, names := newLineReader(in), l.rootNames(s.cwd)
	defer func() { l.left -= lines.offset + openingCosts }()
	var last []byte
	for {
		ln, err := lines.next()
		if errors.Is(err, io.EOF) {
			return from + lines.offset, nil
		}
		if err != nil {
			return from + lines.offset, err
		}
		for dir := range textsOf(ln.text, `"cwd":`) {
			if bytes.Equal(dir, last) {
				continue
			}
			cwd := stringOf(dir)
			if l.places.whereIs(cwd) == inside {
				return visited, nil
			}
			last, names = append(last[:0], dir...), l.rootNames(cwd)
		}
		if containsAny(ln.text, names) && containsAny(ln.text, l.editing) {
			return visited, nil
		}
	}
}

// open opens a transcript as Decode gets it, from the beginning of the line on that an offset lies in: it may have
// grown since.
func (l *finder) open(ctx context.Context, f File, offset int64) (in io.ReadCloser, from int64, err error) {
	if opener, ok := l.agent.(Opener); ok && f.ReadWhole {
		in, err = opener.Open(ctx, Options{File: f, Roots: l.env.Roots})
		return in, 0, err
	}
	file, err := os.Open(f.Path)
	if err != nil {
		return nil, offset, err
	}
	if from, err = lineStart(file, offset); err == nil {
		_, err = file.Seek(from, io.SeekStart)
	}
	if err != nil {
		return nil, offset, errors.Join(err, file.Close())
	}
	return file, from, nil
}

// lineStart is where the line begins that an offset lies in.
func lineStart(file io.ReaderAt, offset int64) (int64, error) {
	var piece [4 << 10]byte
	for offset > 0 {
		before := piece[:min(offset, int64(len(piece)))]
		n, err := file.ReadAt(before, offset-int64(len(before)))
		if n < len(before) {
			return 0, err
		}
		if i := bytes.LastIndexByte(before, '\n'); i >= 0 {
			return offset - int64(len(before)) + int64(i) + 1, nil
		}
		offset -= int64(len(before))
	}
	return 0, nil
}

// rootNames is how a session that works in a folder, to which links may lead, may name the worktrees.
func (l *finder) rootNames(cwd string) (names []string) {
	for _, root := range l.places.roots {
		names = append(names, root.spelling)
		if rel, err := filepath.Rel(l.places.resolve(cwd), root.real); err == nil {
			names = append(names, rel, filepath.Join(cwd, rel))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func containsAny(text []byte, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return bytes.Contains(text, []byte(word)) })
}
