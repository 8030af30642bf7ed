package transcript

import (
	"context"
	"hash/fnv"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// folderMemory is what is known of one folder in which an agent keeps the transcripts of all repositories side by side.
// Which one a transcript belongs to stands in its first lines, and never changes: so each is looked into once, and a
// folder is listed again only when something was added. A transcript of another repository that rests is a stat call: 3
// µs.
type folderMemory struct {
	Dir    string
	At     int64             // modification time of the folder when it was listed, in nanoseconds; 0: list it again
	Subs   []string          // names of folders with more
	Ours   []string          // names of entries whose transcript may concern the repository
	Begun  map[string]string `cbor:",omitempty"` // of those whose session was begun elsewhere: the folder
	Open   []string          // names of entries of which that could not be told yet
	Others []uint64          // of entries that were begun elsewhere and rest: the hashes of their names, sorted
}

// folderLayout is how an agent lays its transcripts out. A folder that stands for no transcript may hold more of them.
type folderLayout struct {
	file func(dir, name string) File // what an entry stands for; without a path: nothing
	made func(head []byte) string    // the working folder that the first lines tell; "" when they don't
}

// folderWalk is one call of Locate.
type folderWalk struct {
	*finder
	folderLayout
	known map[string]folderMemory
}

// settled is how old a folder's modification time must be for it to say that nothing was added since: file systems
// count time in steps, and what is added within the same one changes nothing. FAT's, 2 s, is the longest.
const settled = 2 * time.Second

// locate looks through some folders and all that lie in them.
func (s folderLayout) locate(ctx context.Context, l finder, dirs ...string) (Found, error) {
	l.walkShelves(ctx, s, maxShelf, dirs...)
	return l.result(ctx)
}

// walkShelves looks through folders and, so deep, the folders below them; 1 is these alone. It skips a path that is not
// absolute.
func (l *finder) walkShelves(ctx context.Context, s folderLayout, depth int, dirs ...string) {
	all := folderWalk{finder: l, folderLayout: s, known: map[string]folderMemory{}}
	for _, k := range l.had.Shelves {
		all.known[k.Dir] = k
	}
	for _, dir := range dirs {
		if filepath.IsAbs(dir) {
			all.walk(ctx, dir, depth)
		}
	}
}

// maxShelf is how deep folders are looked into: Codex has years, months and days.
const maxShelf = 4

func (l *folderWalk) walk(ctx context.Context, dir string, depth int) {
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() || depth == 0 || ctx.Err() != nil {
		l.unreadable("list transcripts", err)
		return
	}
	k, ok := l.known[dir]
	if at := info.ModTime(); !ok || k.At != at.UnixNano() {
		k = l.relist(dir, k)
		if k.At = at.UnixNano(); l.env.Now.Sub(at) < settled {
			k.At = 0
		}
	}
	if l.reopen(&k); len(k.Open) > 0 {
		l.decideFolders(&k)
	}
	k.Ours = slices.DeleteFunc(k.Ours, func(name string) bool {
		cwd, elsewhere := k.Begun[name]
		over := !l.takeBegun(l.file(dir, name), cwd) && elsewhere
		if over {
			delete(k.Begun, name)
			k.Others = append(k.Others, hashOf(name))
		}
		return over
	})
	slices.Sort(k.Others)
	l.next.Shelves = append(l.next.Shelves, k)
	for _, sub := range k.Subs {
		l.walk(ctx, filepath.Join(dir, sub), depth-1)
	}
}

// relist reads a folder anew. What was told of an entry stands.
func (l *folderWalk) relist(dir string, had folderMemory) folderMemory {
	k := folderMemory{Dir: dir, Begun: had.Begun}
	for _, e := range l.list(dir) {
		name := e.Name()
		sum := hashOf(name)
		_, other := slices.BinarySearch(had.Others, sum)
		switch {
		case other:
			k.Others = append(k.Others, sum)
		case slices.Contains(had.Ours, name):
			k.Ours = append(k.Ours, name)
		case l.file(dir, name).Path != "":
			k.Open = append(k.Open, name)
		case e.IsDir():
			k.Subs = append(k.Subs, name)
		}
	}
	slices.Sort(k.Others)
	maps.DeleteFunc(k.Begun, func(name, _ string) bool { return !slices.Contains(k.Ours, name) })
	return k
}

// reopen has transcripts of other repositories that rested, and changed since the last call, looked into again.
func (l *folderWalk) reopen(k *folderMemory) {
	if len(k.Others) == 0 {
		return
	}
	for _, e := range l.list(k.Dir) {
		at, other := slices.BinarySearch(k.Others, hashOf(e.Name()))
		if !other {
			continue
		}
		f := File{Path: filepath.Join(k.Dir, e.Name())}
		if !e.Type().IsRegular() {
			f = l.file(k.Dir, e.Name())
		}
		if f.Path != "" && l.stat(&f) && f.ModTime.After(l.since) {
			k.Open, k.Others = append(k.Open, e.Name()), slices.Delete(k.Others, at, at+1)
		}
	}
}

// decideFolders looks into the transcripts of which nothing is known yet.
func (l *folderWalk) decideFolders(k *folderMemory) {
	var open []string
	for _, name := range k.Open {
		cwd, told := "", false
		if l.env.Search == 0 || l.left > 0 {
			cwd, told = l.folderIn(l.file(k.Dir, name))
		}
		switch {
		case !told:
			open = append(open, name)
		default:
			if k.Ours = append(k.Ours, name); cwd != "" && l.places.whereIs(cwd) != inside {
				if k.Begun == nil {
					k.Begun = map[string]string{}
				}
				k.Begun[name] = cwd
			}
		}
	}
	k.Open = open
}

// headLines is how many lines are looked at for a working folder: the oldest of Codex name it in their third.
const headLines = 8

// folderIn reads the first lines of a transcript. known is set when a folder was named, or that many lines name none.
func (l *folderWalk) folderIn(f File) (cwd string, known bool) {
	if !isRegular(f.Path) {
		return "", false
	}
	in, err := OpenUncompressed(f.Path)
	if err != nil {
		l.unreadable("read transcript", err)
		return "", false
	}
	defer in.Close()
	lines := newLineReader(in)
	defer func() { l.left -= lines.offset }()
	for range headLines {
		ln, err := lines.next()
		if err != nil {
			return "", false
		}
		if cwd := l.made(ln.text); cwd != "" {
			return cwd, true
		}
	}
	return "", true
}

func hashOf(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	return h.Sum64()
}
