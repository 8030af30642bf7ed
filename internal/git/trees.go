package git

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	git2 "github.com/libgit2/git2go/v34"
)

// ErrMalformed is an object that is not what it should be, or that costs more to read than
// its reader allows.
var ErrMalformed = errors.New("malformed or too large")

// maxTree is the size in bytes of the largest tree object that is read: a folder of some
// 130,000 entries.
const maxTree = 8 << 20

// Trees reads trees that somebody else may have made, within bounds: a few objects can
// describe more files than any machine holds. It reads the objects by itself, entry by
// entry, because libgit2 reads them whole and without bound.
//
// What two comparisons that follow each other both need is read once.
type Trees struct {
	repo      *Repo
	odb       *git2.Odb
	left      int // bytes of trees that may still be looked at
	now, last map[OID]string
	named     map[OID]map[string]treeEntry
}

// Trees is a reader that may look at so many bytes of trees.
func (r *Repo) Trees(bytes int) (*Trees, error) {
	odb, err := r.r.Odb()
	if err != nil {
		return nil, fmt.Errorf("git: object database: %w", err)
	}
	return &Trees{repo: r, odb: odb, left: bytes, now: map[OID]string{}, named: map[OID]map[string]treeEntry{}}, nil
}

// Close releases the reader.
func (t *Trees) Close() { t.odb.Free() }

// Allow lets the reader look at more bytes.
func (t *Trees) Allow(bytes int) { t.left += bytes }

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
	t.now, t.last = map[OID]string{}, t.now
	o, err := t.folder(older, folder)
	if err != nil {
		return nil, err
	}
	n, err := t.folder(newer, folder)
	if err != nil {
		return nil, err
	}
	d := difference{trees: t, limit: limit}
	if err := d.descend(o, n, folder+"/", depth); err != nil {
		return nil, err
	}
	return d.out, nil
}

// All lists the files of a tree at any depth, in its order, with the bounds of Added. A link or another repository counts as a file.
func (t *Trees) All(tree OID, limit int) ([]Entry, error) {
	t.now, t.last = map[OID]string{}, t.now
	d := difference{trees: t, limit: limit}
	err := d.descend("", tree, "", -1)
	return d.out, err
}

// Last is the name that comes last of those that lie exactly depth folders below a folder
// of a tree and that pass, "" when there is none. Only names that pass are looked into, with
// their path below the folder.
func (t *Trees) Last(tree OID, folder string, depth int, pass func(path string) bool) (string, error) {
	t.now, t.last = map[OID]string{}, t.now
	top, err := t.folder(tree, folder)
	if err != nil {
		return "", err
	}
	return t.lastBelow(top, "", depth, pass)
}

func (t *Trees) lastBelow(tree OID, prefix string, depth int, pass func(string) bool) (string, error) {
	all, err := t.entries(tree)
	if err != nil {
		return "", err
	}
	var names []treeEntry
	for all.next() {
		if e := all.entry; pass(prefix+e.name) && (depth == 0 && e.isFile() || depth > 0 && e.isDir()) {
			names = append(names, e)
		}
	}
	for i := len(names) - 1; i >= 0 && all.err == nil; i-- {
		path := prefix + names[i].name
		if depth > 0 {
			path, err = t.lastBelow(names[i].id(), path+"/", depth-1, pass)
		}
		if path != "" || err != nil {
			return path, err
		}
	}
	return "", all.err
}

// File is the blob of that name at the top of a tree, "" when there is none.
func (t *Trees) File(tree OID, name string) (OID, error) {
	return t.child(tree, name, treeEntry.isFile)
}

// Holds reports whether a file lies at a slash-separated path of a tree.
func (t *Trees) Holds(tree OID, path string) (bool, error) {
	t.now, t.last = map[OID]string{}, t.now
	for tree != "" {
		name, rest, below := strings.Cut(path, "/")
		if !below {
			blob, err := t.File(tree, name)
			return blob != "", err
		}
		sub, err := t.folder(tree, name)
		if err != nil {
			return false, err
		}
		tree, path = sub, rest
	}
	return false, nil
}

// folder is the tree of that name at the top of a tree, "" when there is none.
func (t *Trees) folder(tree OID, name string) (OID, error) {
	return t.child(tree, name, treeEntry.isDir)
}

func (t *Trees) child(tree OID, name string, fits func(treeEntry) bool) (OID, error) {
	all, err := t.entries(tree)
	if err != nil {
		return "", err
	}
	for all.next() {
		if all.entry.name == name && fits(all.entry) {
			return all.entry.id(), nil
		}
	}
	return "", all.err
}

// difference is one comparison under way.
type difference struct {
	trees *Trees
	limit int
	out   []Entry
}

func (d *difference) descend(older, newer OID, prefix string, depth int) error {
	if older == newer {
		return nil
	}
	o, err := d.trees.entries(older)
	if err != nil {
		return err
	}
	n, err := d.trees.entries(newer)
	if err != nil {
		return err
	}
	known := o.next()
	for n.next() {
		for known && compareEntries(o.entry, n.entry) < 0 {
			known = o.next()
		}
		var before treeEntry
		if known && compareEntries(o.entry, n.entry) == 0 {
			before = o.entry
		}
		if err := d.entry(before, n.entry, prefix, depth); err != nil {
			return err
		}
	}
	return errors.Join(o.err, n.err)
}

func (d *difference) entry(before, e treeEntry, prefix string, depth int) error {
	switch {
	case depth != 0 && e.isDir():
		return d.descend(before.id(), e.id(), prefix+e.name+"/", depth-1)
	case depth > 0 || depth == 0 && !e.isFile() || before.name != "":
		return nil
	case len(d.out) == d.limit:
		return fmt.Errorf("git: more than %d new files below %q: %w", d.limit, prefix, ErrMalformed)
	}
	d.out = append(d.out, Entry{Path: prefix + e.name, OID: e.id()})
	return nil
}

// anyDepth is below every folder.
const anyDepth = -1

// news are the files of the newer tree that have no namesake in the older one, wherever they lie. libgit2 would read all
// trees of both; this reads those of the folders that differ.
func (t *Trees) news(older, newer OID) ([]Entry, error) {
	d := difference{trees: t, limit: math.MaxInt}
	err := d.descend(older, newer, "", anyDepth)
	return d.out, err
}

// entries reads a tree object; "" is the empty tree. A look at what was read before costs as
// much: a tree that names one folder a thousand times must not be cheap.
func (t *Trees) entries(id OID) (treeEntries, error) {
	if id == "" {
		return treeEntries{}, nil
	}
	raw, ok := t.now[id]
	if !ok {
		raw, ok = t.last[id]
	}
	if !ok {
		var err error
		if raw, err = t.read(id); err != nil {
			return treeEntries{}, err
		}
	}
	if len(raw) > t.left {
		return treeEntries{}, fmt.Errorf("git: tree %s: %w", id, ErrMalformed)
	}
	t.left -= len(raw)
	t.now[id] = raw
	return treeEntries{tree: id, rest: raw}, nil
}

// Names lists what a tree holds, sorted.
func (t *Trees) Names(tree OID) ([]string, error) {
	names, err := t.names(tree)
	return slices.Sorted(maps.Keys(names)), err
}

// names are the entries of a tree by their names, for who asks for several.
func (t *Trees) names(id OID) (map[string]treeEntry, error) {
	out, ok := t.named[id]
	if ok {
		return out, nil
	}
	all, err := t.entries(id)
	if err != nil {
		return nil, err
	}
	out = make(map[string]treeEntry, len(all.rest)/40)
	for all.next() {
		out[all.entry.name] = all.entry
	}
	t.named[id] = out
	return out, all.err
}

func (t *Trees) read(id OID) (string, error) {
	o, err := toOid(id)
	if err != nil {
		return "", err
	}
	size, kind, err := t.odb.ReadHeader(o)
	switch {
	case git2.IsErrorCode(err, git2.ErrorCodeNotFound):
		return "", fmt.Errorf("git: tree %s: %w", id, ErrNotFound)
	case err != nil:
		return "", fmt.Errorf("git: tree %s: %w", id, err)
	case kind != git2.ObjectTree:
		return "", fmt.Errorf("git: %s is no tree: %w", id, ErrMalformed)
	case size > maxTree || size > uint64(max(t.left, 0)):
		return "", fmt.Errorf("git: tree %s has %d bytes: %w", id, size, ErrMalformed)
	}
	obj, err := t.odb.Read(o)
	if err != nil {
		return "", fmt.Errorf("git: tree %s: %w", id, err)
	}
	defer obj.Free()
	return string(obj.Data()), nil
}

// treeEntry is one entry of a tree object, as it stands there.
type treeEntry struct{ mode, name, oid string }

func (e treeEntry) isDir() bool  { return e.mode == "40000" || e.mode == "040000" }
func (e treeEntry) isFile() bool { return strings.HasPrefix(e.mode, "100") }

func (e treeEntry) id() OID { return OID(hex.EncodeToString([]byte(e.oid))) }

// compareEntries is git's order: by bytes, a folder as if its name ended in a slash.
func compareEntries(a, b treeEntry) int {
	n := min(len(a.name), len(b.name))
	return cmp.Or(strings.Compare(a.name[:n], b.name[:n]), cmp.Compare(a.after(n), b.after(n)))
}

func (e treeEntry) after(n int) byte {
	switch {
	case n < len(e.name):
		return e.name[n]
	case e.isDir():
		return '/'
	}
	return 0
}

// treeEntries walks through a tree object. A tree whose entries are cut off, nameless or out
// of order ends the walk with an error: git writes no such thing.
type treeEntries struct {
	tree  OID
	rest  string
	entry treeEntry
	err   error
}

// oidSize is the length in bytes of an OID in a tree object (SHA-1).
const oidSize = 20

func (t *treeEntries) next() bool {
	if t.rest == "" || t.err != nil {
		return false
	}
	mode, rest, _ := strings.Cut(t.rest, " ")
	name, rest, ok := strings.Cut(rest, "\x00")
	e := treeEntry{mode: mode, name: name}
	if !ok || name == "" || len(rest) < oidSize || t.entry.name != "" && compareEntries(t.entry, e) >= 0 {
		t.err = fmt.Errorf("git: tree %s is malformed: %w", t.tree, ErrMalformed)
		return false
	}
	e.oid, t.rest = rest[:oidSize], rest[oidSize:]
	t.entry = e
	return true
}
