package transcript

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/fxamacker/cbor/v2"

	"github.com/git-rekal/git-rekal/internal/session"
)

// finder is one call of Locate: what the agents share.
type finder struct {
	env    Env
	places *places
	found  Found
	had    storeMemory // of the last call
	next   storeMemory
}

// storeMemory is what is known of an agent's store, so that nothing in it is looked at twice: Found.LocateState holds it. Each agent uses some of it.
type storeMemory struct {
	Roots    []string          `cbor:",omitempty"` // the worktrees for which all but Searched was found out
	Shelves  []shelf           `cbor:",omitempty"` // folders in which transcripts of all repositories lie
	Others   map[string]bool   `cbor:",omitempty"` // IDs of sessions, or folders, of other repositories
	IDs      map[string]string `cbor:",omitempty"` // of sessions, by the paths of their files
	DBs      []openCodeDB      `cbor:",omitempty"`
	Searched map[string]int64  `cbor:",omitempty"` // transcripts among other projects' -> how many bytes were searched for records made here; visited: there is one
}

func newFinder(env Env) finder {
	l := finder{env: env, places: newPlaces(env.Roots), next: storeMemory{Roots: env.Roots, Others: map[string]bool{}, IDs: map[string]string{}, Searched: map[string]int64{}}}
	if cbor.Unmarshal(env.LocateState, &l.had) != nil || !slices.Equal(l.had.Roots, env.Roots) {
		l.had = storeMemory{Searched: l.had.Searched}
	}
	return l
}

// result is what the call found, sessions before subagents. The error is the context's.
func (l *finder) result(ctx context.Context) (Found, error) {
	if err := ctx.Err(); err != nil {
		return Found{}, fmt.Errorf("transcript: locate: %w", err)
	}
	slices.SortStableFunc(l.found.Files, func(a, b File) int { return cmp.Compare(min(len(a.AgentID), 1), min(len(b.AgentID), 1)) })
	m := l.next
	if len(m.Shelves)+len(m.Others)+len(m.IDs)+len(m.DBs)+len(m.Searched) == 0 {
		return l.found, nil
	}
	var err error
	if l.found.LocateState, err = m.encode(); err != nil {
		return Found{}, fmt.Errorf("transcript: remember what was found: %w", err)
	}
	return l.found, nil
}

// encode writes it, the same for the same content.
func (m storeMemory) encode() ([]byte, error) {
	options := cbor.CoreDetEncOptions()
	options.Time = cbor.TimeRFC3339Nano
	mode, err := options.EncMode()
	if err != nil {
		return nil, err
	}
	return mode.Marshal(m)
}

// others reports whether a session or folder is known to be another repository's, which never changes, or decides it now.
func (l *finder) others(id, cwd string) bool {
	if l.had.Others[id] || !l.places.concerns(cwd) {
		l.next.Others[id] = true
	}
	return l.next.Others[id]
}

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

// stat fills in what the file system tells of a transcript; it reports whether that is a file.
func (l *finder) stat(f *File) bool {
	info, err := os.Stat(f.Path)
	if err != nil {
		l.unreadable("look at transcript", err)
		return false
	}
	f.Size, f.ModTime = info.Size(), info.ModTime()
	return info.Mode().IsRegular()
}

// take adds a transcript that was made here, unless it is gone.
func (l *finder) take(f File) { l.takeBegun(f, f.Cwd) }

// takeBegun is take of one whose session was begun in a folder: above this repository, only where it speaks of that.
func (l *finder) takeBegun(f File, cwd string) {
	if l.stat(&f) && (cwd == "" || l.places.whereIs(cwd) == inside || l.mentions(f)) {
		l.found.Files = append(l.found.Files, f)
	}
}

// mentions reports whether a transcript holds the name of a worktree's folder. Of one that grows, each byte is looked at once.
func (l *finder) mentions(f File) bool {
	from := l.had.Searched[f.Path]
	if from > f.Size || f.ReadWhole && from >= 0 {
		from = 0
	}
	if from >= 0 && from < f.Size {
		found, err := l.searchNames(f, from)
		l.unreadable("read transcript", err)
		if from = f.Size; found {
			from = visited
		}
	}
	l.next.Searched[f.Path] = from
	return from == visited
}

// searchNames looks for the names of the worktrees' folders in a transcript from an offset on, or a little before it.
func (l *finder) searchNames(f File, from int64) (bool, error) {
	if !isRegular(f.Path) {
		return false, nil
	}
	in, err := OpenCopy(f.Path)
	if err != nil {
		return false, err
	}
	defer in.Close()
	if _, err := io.CopyN(io.Discard, in, max(0, from-session.MaxPath)); err != nil {
		return false, err
	}
	lines := newLineReader(in)
	for {
		ln, err := lines.next()
		if err != nil {
			return false, nil //nolint:nilerr // that was the end
		}
		for _, root := range l.places.roots {
			if bytes.Contains(ln.text, []byte(filepath.Base(root.spelling))) {
				return true, nil
			}
		}
	}
}

// takeSubagents takes the transcripts in a folder of subagents, of which like says the rest.
func (l *finder) takeSubagents(dir string, like File) {
	for _, e := range l.list(dir) {
		if id, ok := strings.CutSuffix(e.Name(), ".jsonl"); ok {
			like.Path, like.NativeID, like.AgentID = filepath.Join(dir, e.Name()), ledgerName(id), ledgerName(id)
			l.take(like)
		}
	}
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
