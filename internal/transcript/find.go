package transcript

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// finder is one call of Locate: what the agents share.
type finder struct {
	env    Env
	places *places
	found  Found
}

func newFinder(env Env) finder { return finder{env: env, places: newPlaces(env.Roots)} }

// list lists a folder.
func (l *finder) list(dir string) []os.DirEntry {
	entries, err := os.ReadDir(dir)
	l.unreadable("list transcripts", err)
	return entries
}

// unreadable records what could not be read, unless it is merely not there, or something else than a folder: agents keep other files, too.
func (l *finder) unreadable(step string, err error) {
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		l.found.Unreadable = append(l.found.Unreadable, fmt.Errorf("transcript: %s: %w", step, err))
	}
}

// look fills in what the file system tells of a transcript; it reports whether that is a file.
func (l *finder) look(f *File) bool {
	info, err := os.Stat(f.Path)
	if err != nil {
		l.unreadable("look at transcript", err)
		return false
	}
	f.Size, f.ModTime = info.Size(), info.ModTime()
	return info.Mode().IsRegular()
}

// take adds a transcript that was made here, unless it is gone.
func (l *finder) take(f File) {
	if l.look(&f) {
		l.found.Files = append(l.found.Files, f)
	}
}

// takeSubagents takes the transcripts in a folder of subagents, of which like says the rest.
func (l *finder) takeSubagents(dir string, like File) {
	for _, e := range l.list(dir) {
		if id, ok := strings.CutSuffix(e.Name(), ".jsonl"); ok {
			like.Path, like.NativeID, like.AgentID = filepath.Join(dir, e.Name()), name(id), name(id)
			l.take(like)
		}
	}
}

// subagentsLast puts sessions before subagents.
func subagentsLast(files []File) {
	slices.SortStableFunc(files, func(a, b File) int { return cmp.Compare(min(len(a.AgentID), 1), min(len(b.AgentID), 1)) })
}

// isRegular reports whether a path is a file's. What else is there may never open.
func isRegular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// homeFolder is the folder that a variable of the environment names, or else one below the user's home; "" where neither is absolute.
func (e Env) homeFolder(variable string, below ...string) string {
	dir := e.getenv(variable)
	if dir == "" && e.Home != "" {
		dir = filepath.Join(append([]string{e.Home}, below...)...)
	}
	if !filepath.IsAbs(dir) {
		return ""
	}
	return filepath.Clean(dir)
}
