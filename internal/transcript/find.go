package transcript

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/fxamacker/cbor/v2"
)

// finder is one call of Locate: what the agents share.
type finder struct {
	env    Env
	places *places
	found  Found
	had    storeMemory // of the last call
	next   storeMemory

	agent     Agent
	editing   []string // names of its tools that edit
	strangers []stranger
	left      int64     // how many bytes may still be read; see Env.Search
	since     time.Time // strangers that changed later are searched; see searchedFor
}

// storeMemory is what is known of an agent's store, so that nothing in it is looked at twice: Found.LocateState holds
// it. Each agent uses some of it.
type storeMemory struct {
	Roots   []string          `cbor:",omitempty"` // the worktrees for which all but Searched was found out
	Shelves []folderMemory    `cbor:",omitempty"` // folders in which transcripts of all repositories lie
	Others  map[string]bool   `cbor:",omitempty"` // IDs of sessions of other repositories
	IDs     map[string]string `cbor:",omitempty"` // of sessions, by the paths of their files
	DBs     []openCodeDB      `cbor:",omitempty"`
	// strangers -> how far they were searched; visited: they concern the repository
	Searched map[string]int64 `cbor:",omitempty"`
	Looked   int64            `cbor:",omitempty"` // the day of the call, counted from 1970
}

func newFinder(env Env, agent Agent, tools toolForms) finder {
	l := finder{
		env: env, agent: agent, editing: tools.editingTools(), places: newPlaces(env.Roots), left: env.Search,
		next: storeMemory{
			Roots: env.Roots, Others: map[string]bool{}, IDs: map[string]string{},
			Searched: map[string]int64{},
		},
	}
	if cbor.Unmarshal(env.LocateState, &l.had) != nil || !slices.Equal(l.had.Roots, env.Roots) {
		l.had = storeMemory{Searched: l.had.Searched, DBs: l.had.DBs, Looked: l.had.Looked}
		for i, db := range l.had.DBs {
			l.had.DBs[i] = openCodeDB{Path: db.Path, Parts: db.Parts}
		}
	}
	if l.had.Searched == nil {
		l.had.Searched = map[string]int64{}
	}
	if !env.Now.IsZero() {
		l.next.Looked = env.Now.Unix() / secondsADay
	}
	if l.since = env.Now.Add(-searchedFor); l.had.Looked > 0 && l.since.Unix() > l.had.Looked*secondsADay {
		l.since = time.Unix(l.had.Looked*secondsADay, 0)
	}
	return l
}

// result is what the call found, sessions before subagents. The error is the context's.
func (l *finder) result(ctx context.Context) (Found, error) {
	l.search(ctx)
	if err := ctx.Err(); err != nil {
		return Found{}, fmt.Errorf("transcript: locate: %w", err)
	}
	slices.SortStableFunc(l.found.Files, func(a, b File) int {
		return cmp.Compare(min(len(a.AgentID), 1),
			min(len(b.AgentID), 1))
	})
	m := l.next
	if len(m.Shelves)+len(m.Others)+len(m.IDs)+len(m.DBs)+len(m.Searched) == 0 && m.Looked == 0 {
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

// list lists a folder.
func (l *finder) list(dir string) []os.DirEntry {
	entries, err := os.ReadDir(dir)
	l.unreadable("list transcripts", err)
	return entries
}

// unreadable records what could not be read, unless it is merely not there, or something else than a folder: agents
// keep other files, too.
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

// takeFile takes a transcript unless it is gone: of a session begun here at once, another one if search finds it.
func (l *finder) takeFile(f File) { l.takeBegun(f, f.Cwd) }

// takeBegun is takeFile for a session that was begun in a folder. It reports whether the transcript may concern this
// repository.
func (l *finder) takeBegun(f File, cwd string) bool { return l.stat(&f) && l.considerBegun(f, cwd) }

// considerBegun is takeBegun for a session that is no file of its own.
func (l *finder) considerBegun(f File, cwd string) bool {
	if cwd == "" || l.places.whereIs(cwd) == inside {
		l.found.Files = append(l.found.Files, f)
		return true
	}
	if !l.isSearched(f, cwd) {
		return false
	}
	l.strangers = append(l.strangers, stranger{f, cwd})
	return true
}

// takeSubagents takes the transcripts in a folder of subagents, of which like says the rest.
func (l *finder) takeSubagents(dir string, like File) {
	for _, e := range l.list(dir) {
		if id, ok := strings.CutSuffix(e.Name(), ".jsonl"); ok {
			like.Path, like.NativeID, like.AgentID = filepath.Join(dir, e.Name()), ledgerName(id), ledgerName(id)
			l.takeFile(like)
		}
	}
}

// isRegular reports whether a path is a file's. What else is there may never open.
func isRegular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// homeFolder is the folder that a variable of the environment names, or else one below the user's home; "" where
// neither is absolute.
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
