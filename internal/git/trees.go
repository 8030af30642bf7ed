package git

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// ErrMalformed is an object that is not what it should be, or that costs more to read than
// its reader allows.
var ErrMalformed = errors.New("malformed or too large")

// maxTree is the size in bytes of the largest tree object that is read: a folder of some
// 130,000 entries.
const maxTree = 8 << 20

// Trees reads trees. It reads within bounds, because somebody else may have made the trees: a few objects can
// describe more files than any machine holds.
//
// A tree that two successive comparisons need is read once.
type Trees struct {
	repo              *Repo
	bounded           bool
	left              int // bytes of trees that may still be looked at, where it is bounded
	current, previous map[OID]string
	named             map[OID]map[string]TreeEntry
}

// Trees is a reader that may look at so many bytes of trees.
func (r *Repo) Trees(bytes int) *Trees {
	return &Trees{repo: r, bounded: true, left: bytes, current: map[OID]string{}, named: map[OID]map[string]TreeEntry{}}
}

// unboundedTrees is a reader of trees of the user's own, however large.
func (r *Repo) unboundedTrees() *Trees { return &Trees{repo: r} }

// AllowMore lets the reader look at more bytes.
func (t *Trees) AllowMore(bytes int) { t.left += bytes }

// Entry is a file in a tree.
type Entry struct {
	Path string
	OID  OID
}

// Added lists the files that lie exactly depth folders below a folder of the newer tree and
// have no namesake in the older one, in the order of the tree. It reads only folders in which
// the two differ. An older tree of "" is empty. More than limit files, or trees that can't be
// read within the bounds, are ErrMalformed; an object that is not here is ErrNotFound.
func (t *Trees) Added(older, newer OID, folder string, depth, limit int) ([]Entry, error) {
	t.current, t.previous = map[OID]string{}, t.current
	o, err := t.folder(older, folder)
	if err != nil {
		return nil, err
	}
	n, err := t.folder(newer, folder)
	if err != nil {
		return nil, err
	}
	return t.added(o, n, folder+"/", depth, limit)
}

// All lists the files of a tree at any depth, in its order, with the bounds of Added. A link or another repository
// counts as a file.
func (t *Trees) All(tree OID, limit int) ([]Entry, error) {
	t.current, t.previous = map[OID]string{}, t.current
	return t.added("", tree, "", anyDepth, limit)
}

// anyDepth is below every folder.
const anyDepth = -1

func (t *Trees) added(older, newer OID, prefix string, depth, limit int) (out []Entry, err error) {
	above := strings.Count(prefix, "/")
	err = t.eachDifference(older, newer, prefix, func(path string, before, after TreeEntry) (into bool, err error) {
		below := depth - strings.Count(path, "/") + above // how many folders deeper files are looked for
		switch {
		case after.Name == "":
			return false, nil
		case after.IsDir() && (depth == anyDepth || below > 0):
			return true, nil
		case depth != anyDepth && (below > 0 || !after.IsFile()), before.Name != "":
			return false, nil
		case len(out) == limit:
			return false, fmt.Errorf("git: more than %d new files below %q: %w", limit, prefix, ErrMalformed)
		}
		out = append(out, Entry{Path: path, OID: after.ID()})
		return false, nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// eachDifference hands on what is not the same in two trees, with the zero entry where one has nothing. The answer is
// whether to look into a folder: trees list in one order, so under one name both have a folder, or none has.
func (t *Trees) eachDifference(older, newer OID, prefix string,
	each func(path string, before, after TreeEntry) (into bool, err error),
) error {
	if older == newer {
		return nil
	}
	return mergeEntries(t.entries(older), t.entries(newer), func(before, after TreeEntry) error {
		if before == after {
			return nil
		}
		path := prefix + cmp.Or(before.Name, after.Name)
		into, err := each(path, before, after)
		if err != nil || !into {
			return err
		}
		return t.eachDifference(before.ID(), after.ID(), path+"/", each)
	})
}

// EachDifference hands on what is not the same in two trees of the user's own, however large, with the zero entry where
// one has nothing; a tree of "" is empty. The answer is whether to look into a folder.
func (r *Repo) EachDifference(older, newer OID, each func(path string, before, after TreeEntry) (into bool,
	err error),
) error {
	return r.unboundedTrees().eachDifference(older, newer, "", each)
}

// File is the file at a slash-separated path of a tree; "" where there is none.
func (t *Trees) File(tree OID, path string) (OID, error) {
	t.current, t.previous = map[OID]string{}, t.current
	e, err := t.entryAt(tree, path)
	if !e.IsFile() {
		return "", err
	}
	return e.ID(), err
}

// folder is one at the top of a tree; "" where there is none.
func (t *Trees) folder(tree OID, name string) (OID, error) {
	e, err := t.entryAt(tree, name)
	if !e.IsDir() {
		return "", err
	}
	return e.ID(), err
}

// entryAt is the entry at a path of a tree; the zero one where there is none.
func (t *Trees) entryAt(tree OID, path string) (TreeEntry, error) {
	name, rest, below := strings.Cut(path, "/")
	all := t.entries(tree)
	for all.next() {
		switch e := all.entry; {
		case e.Name != name || below && !e.IsDir():
		case below:
			return t.entryAt(e.ID(), rest)
		default:
			return e, nil
		}
	}
	return TreeEntry{}, all.err
}

// entries reads a tree object; "" is the empty tree. A look at what was read before costs as
// much: a tree that names one folder a thousand times must not be cheap.
func (t *Trees) entries(id OID) treeEntries {
	if id == "" {
		return treeEntries{}
	}
	raw, ok := t.current[id]
	if !ok {
		raw, ok = t.previous[id]
	}
	var err error
	if !ok {
		raw, err = t.read(id)
	} else if t.bounded && len(raw) > t.left {
		err = fmt.Errorf("git: tree %s: %w", id, ErrMalformed)
	}
	if err != nil {
		return treeEntries{err: err}
	}
	if t.bounded { // nobody asks an unbounded reader twice
		t.left -= len(raw)
		t.current[id] = raw
	}
	return treeEntries{tree: id, size: t.repo.format.OIDSize, rest: raw}
}

// EntriesByName are the entries of a tree by their names, for who asks for several. The map is the reader's.
func (t *Trees) EntriesByName(id OID) (map[string]TreeEntry, error) {
	out, ok := t.named[id]
	if ok {
		return out, nil
	}
	all := t.entries(id)
	out = make(map[string]TreeEntry, len(all.rest)/40)
	for all.next() {
		out[all.entry.Name] = all.entry
	}
	if all.err == nil {
		t.named[id] = out
	}
	return out, all.err
}

// read reads a tree that is within the bounds.
func (t *Trees) read(id OID) (string, error) {
	if t.bounded {
		_, size, err := t.repo.store.header(id)
		switch {
		case err != nil:
			return "", fmt.Errorf("git: tree %s: %w", id, err)
		case size > maxTree || size > uint64(max(t.left, 0)):
			return "", fmt.Errorf("git: tree %s has %d bytes: %w", id, size, ErrMalformed)
		}
	}
	raw, err := t.repo.read(id, kindTree)
	return string(raw), err
}

// EntryAt is the entry at a slash-separated path of a tree of the user's own; the zero one where there is none, or a
// tree on the way can't be read.
func (r *Repo) EntryAt(tree OID, path string) TreeEntry {
	e, _ := r.unboundedTrees().entryAt(tree, path)
	return e
}

// FileAt is the blob of a file in a commit of the user's own; "" where there is none.
func (r *Repo) FileAt(commit OID, path string) (OID, error) {
	c, err := r.Commit(commit)
	if err != nil {
		return "", err
	}
	e, err := r.unboundedTrees().entryAt(c.Tree, path)
	return e.ID(), err
}

// TreeEntry is one entry of a tree object.
type TreeEntry struct {
	Mode string // as it stands there, without zeros in front: "100644"
	Name string
	oid  string // its bytes
}

// newEntry is an entry for an object that is here.
func newEntry(mode, name string, id OID) TreeEntry {
	raw, _ := hex.DecodeString(string(id)) // an object that is here has a name
	return TreeEntry{mode, name, string(raw)}
}

// ID names the object; "" for the zero entry.
func (e TreeEntry) ID() OID { return OID(hex.EncodeToString([]byte(e.oid))) }

// Modes of entries.
const (
	modeFile = "100644"
	modeDir  = "40000"
	modeLink = "160000" // another repository
)

// IsDir reports whether it is a folder.
func (e TreeEntry) IsDir() bool { return e.Mode == modeDir }

// IsFile reports whether it is a file with a content of its own, and no link.
func (e TreeEntry) IsFile() bool { return strings.HasPrefix(e.Mode, "100") }

// IsRepository reports whether it is a commit of another repository: a submodule.
func (e TreeEntry) IsRepository() bool { return e.Mode == modeLink }

// String is the entry as trees hold it.
func (e TreeEntry) String() string { return e.Mode + " " + e.Name + "\x00" + e.oid }

// compareEntries is git's order: by bytes, a folder as if its name ended in a slash.
func compareEntries(a, b TreeEntry) int {
	n := min(len(a.Name), len(b.Name))
	return cmp.Or(strings.Compare(a.Name[:n], b.Name[:n]), cmp.Compare(a.byteAfter(n), b.byteAfter(n)))
}

func (e TreeEntry) byteAfter(n int) byte {
	switch {
	case n < len(e.Name):
		return e.Name[n]
	case e.IsDir():
		return '/'
	}
	return 0
}

// treeEntries walks through a tree object. A tree whose entries are cut off, nameless or out
// of order ends the walk with an error: git writes no such thing.
type treeEntries struct {
	tree  OID
	size  int // of an OID
	rest  string
	entry TreeEntry
	err   error
}

func (t *treeEntries) next() bool {
	if t.rest == "" || t.err != nil {
		return false
	}
	mode, rest, _ := strings.Cut(t.rest, " ")
	name, rest, ok := strings.Cut(rest, "\x00")
	e := TreeEntry{Mode: strings.TrimLeft(mode, "0"), Name: name}
	if !ok || name == "" || len(rest) < t.size || t.entry.Name != "" && compareEntries(t.entry, e) >= 0 {
		t.err = fmt.Errorf("git: tree %s is malformed: %w", t.tree, ErrMalformed)
		return false
	}
	e.oid, t.rest = rest[:t.size], rest[t.size:]
	t.entry = e
	return true
}

// mergeEntries hands on what stands under each name in two trees, in their order; the zero entry where one has none.
func mergeEntries(older, newer treeEntries, each func(before, after TreeEntry) error) error {
	old, now := older.next(), newer.next()
	for (old || now) && older.err == nil && newer.err == nil {
		order := -1 // only in the older one
		if !old {
			order = 1
		} else if now {
			order = compareEntries(older.entry, newer.entry)
		}
		var before, after TreeEntry
		if order <= 0 {
			before = older.entry
			old = older.next()
		}
		if order >= 0 {
			after = newer.entry
			now = newer.next()
		}
		if err := each(before, after); err != nil {
			return err
		}
	}
	return errors.Join(older.err, newer.err)
}
