package worktree

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/git"
)

// index is git's index as it lies there, of version 2 to 4. libgit2 takes 20 times as long to read one, and
// refuses some that git writes.
type index struct {
	raw     []byte
	oid     int        // the size of an OID in bytes
	at      []uint32   // where the entries begin, in the order of their names
	names   [][]byte   // of version 4, which leaves out what the name before begins with
	folders *folderSum // the root; nil: not known
	written time.Time
	whole   bool // false: it can't be read to its end, or stands in several files
}

// indexEntry is a file of the index, or in a sparse one a folder, whose name ends in a slash.
type indexEntry struct {
	raw   []byte // from where it begins
	name  []byte
	flags int // where they stand
}

// folderSum is what the index says of a folder as a whole.
type folderSum struct {
	entries int // of the index, below the folder; negative: something changed there
	tree    git.OID
	below   map[string]*folderSum
}

// Where things stand in git's index, as its format says.
const (
	indexHeader   = 12
	indexMtime    = 8
	indexSize     = 36
	indexOID      = 40
	indexLeast    = indexOID + 20 + 2 // of an entry without a name
	indexLength   = 0xfff             // in the flags, of the whole name; so much or more
	indexMerging  = 0x3000            // in the flags
	indexMore     = 0x4000            // in the flags: there are more, of which:
	indexLeftOut  = 0x4000            // a sparse checkout, or the user, wants no such file
	indexIntended = 0x2000            // it was named, and not added yet
)

func (e indexEntry) oid() git.OID { return git.OID(hex.EncodeToString(e.raw[indexOID:e.flags])) }

func (e indexEntry) isFolder() bool { return bytes.HasSuffix(e.name, []byte("/")) }

func (e indexEntry) flag(mask uint16) bool {
	return binary.BigEndian.Uint16(e.raw[e.flags:])&mask != 0
}

func (e indexEntry) more(mask uint16) bool {
	return e.flag(indexMore) && binary.BigEndian.Uint16(e.raw[e.flags+2:])&mask != 0
}

// index reads it once, and only where nothing else will do. In a new repository there is none, which is an
// empty one.
func (c *Content) index() *index {
	if c.read != nil {
		return c.read
	}
	c.read = &index{}
	name := filepath.Join(c.repo.Layout().GitDir, "index")
	info, err := os.Stat(name)
	if err == nil {
		var raw []byte
		if raw, err = os.ReadFile(name); err == nil {
			c.read = readIndex(raw, c.repo.Hash().Size)
			c.read.written = info.ModTime()
		}
	}
	c.read.whole = c.read.whole || errors.Is(err, fs.ErrNotExist)
	return c.read
}

// readIndex reads as much as can be read.
func readIndex(raw []byte, oid int) *index {
	x := &index{raw: raw, oid: oid}
	if len(raw) < indexHeader+oid || !bytes.HasPrefix(raw, []byte("DIRC")) {
		return x
	}
	version, count := binary.BigEndian.Uint32(raw[4:]), int(binary.BigEndian.Uint32(raw[8:]))
	x.at = make([]uint32, 0, min(count, len(raw)/indexLeast))
	at, end := indexHeader, len(raw)-oid
	for len(x.at) < count {
		size := x.measure(raw[at:end], version)
		if size == 0 {
			return x
		}
		x.at = append(x.at, uint32(at))
		at += size
	}
	x.whole = x.extensions(raw[at:end])
	return x
}

// measure is how long the next entry is; 0 for none.
func (x *index) measure(rest []byte, version uint32) int {
	if version < 2 || version > 4 || len(rest) < x.flags()+4 {
		return 0
	}
	name := rest[x.nameAt(rest):]
	if version == 4 {
		return x.measureCut(rest)
	}
	n := x.nameLength(rest, name)
	if n < 0 {
		return 0
	}
	return min((len(rest)-len(name)+n+8)&^7, len(rest))
}

// measureCut also keeps the name, of an entry that leaves out a part of it.
func (x *index) measureCut(rest []byte) int {
	var before []byte
	if n := len(x.names); n > 0 {
		before = x.names[n-1]
	}
	at := x.nameAt(rest)
	cut, n := indexCut(rest[at:])
	at += n
	end := bytes.IndexByte(rest[at:], 0)
	if n == 0 || cut > len(before) || end < 0 {
		return 0
	}
	x.names = append(x.names, slices.Concat(before[:len(before)-cut], rest[at:at+end]))
	return at + end + 1
}

// nameAt is where the name of an entry stands.
func (x *index) nameAt(entry []byte) int {
	if entry[x.flags()]&(indexMore>>8) != 0 {
		return x.flags() + 4
	}
	return x.flags() + 2
}

// flags is where they stand in an entry.
func (x *index) flags() int { return indexOID + x.oid }

// nameLength is how long the name of an entry is; negative where it has no end.
func (x *index) nameLength(entry, name []byte) int {
	n := int(binary.BigEndian.Uint16(entry[x.flags():]) & indexLength)
	if n == indexLength || n >= len(name) || name[n] != 0 {
		return bytes.IndexByte(name, 0)
	}
	return n
}

func (x *index) len() int { return len(x.at) }

func (x *index) entry(i int) indexEntry {
	raw := x.raw[x.at[i]:]
	if x.names != nil {
		return indexEntry{raw, x.names[i], x.flags()}
	}
	name := raw[x.nameAt(raw):]
	return indexEntry{raw, name[:x.nameLength(raw, name)], x.flags()}
}

// indexCut reads how much of the name before is left out, and how many bytes say so; 0 for none.
func indexCut(raw []byte) (cut, n int) {
	for i, b := range raw[:min(len(raw), 5)] {
		if i > 0 {
			cut++
		}
		if cut = cut<<7 + int(b&0x7f); b < 0x80 {
			return cut, i + 1
		}
	}
	return 0, 0
}

// extensions reads what stands behind the entries. It reports whether nothing there changes what they say: names that begin with a
// small letter may, and all but that of sparse folders do.
func (x *index) extensions(rest []byte) bool {
	for len(rest) >= 8 {
		name, size := string(rest[:4]), int(binary.BigEndian.Uint32(rest[4:]))
		if rest = rest[8:]; size > len(rest) {
			return false
		}
		if name[0] >= 'a' && name != "sdir" {
			return false
		}
		if name == "TREE" {
			x.folders, _, _ = readSums(rest[:size], x.oid)
		}
		rest = rest[size:]
	}
	return true
}

// readSums reads a folder and those below it.
func readSums(raw []byte, oid int) (sum *folderSum, name string, rest []byte) {
	head, rest, ok := bytes.Cut(raw, []byte("\n"))
	path, numbers, ok2 := bytes.Cut(head, []byte("\x00"))
	entries, below, ok3 := strings.Cut(string(numbers), " ")
	sum = &folderSum{}
	var err, err2 error
	sum.entries, err = strconv.Atoi(entries)
	n, err2 := strconv.Atoi(below)
	if !ok || !ok2 || !ok3 || err != nil || err2 != nil {
		return nil, "", nil
	}
	if sum.entries >= 0 {
		if len(rest) < oid {
			return nil, "", nil
		}
		sum.tree, rest = git.OID(hex.EncodeToString(rest[:oid])), rest[oid:]
	}
	for range n {
		var sub *folderSum
		var name string
		if sub, name, rest = readSums(rest, oid); sub == nil {
			return nil, "", nil
		}
		if sum.below == nil {
			sum.below = map[string]*folderSum{}
		}
		sum.below[name] = sub
	}
	return sum, string(path), rest
}

func (s *folderSum) sub(name string) *folderSum {
	if s == nil {
		return nil
	}
	return s.below[name]
}

// find is the entry of a file, or of the folder above it where a sparse index has no more.
func (x *index) find(file string) (indexEntry, bool) {
	n := sort.Search(x.len(), func(i int) bool { return string(x.entry(i).name) >= file })
	if n < x.len() {
		if e := x.entry(n); string(e.name) == file {
			return e, true
		}
	}
	if n > 0 {
		if e := x.entry(n - 1); e.isFolder() && strings.HasPrefix(file, string(e.name)) {
			return e, true
		}
	}
	return indexEntry{}, false
}

// known is what the index says of a file that is as git last saw it; "" for any other. Who changed in the
// moment in which the index was written may have changed again.
func (x *index) known(file string, info os.FileInfo) git.OID {
	e, ok := x.find(file)
	if mtime := info.ModTime(); !ok || e.isFolder() || e.flag(indexMerging) || !mtime.Before(x.written) ||
		binary.BigEndian.Uint32(e.raw[indexSize:]) != uint32(info.Size()) ||
		binary.BigEndian.Uint32(e.raw[indexMtime:]) != uint32(mtime.Unix()) ||
		binary.BigEndian.Uint32(e.raw[indexMtime+4:]) != uint32(mtime.Nanosecond()) {
		return ""
	}
	return e.oid()
}
