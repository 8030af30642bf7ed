package git

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"iter"
	"os"
)

// indexEntry is a file of the index: the name counts until the next one.
type indexEntry struct {
	stat []byte // what the file was when git last looked
	oid  [oidSize]byte
	name []byte
}

// knows reports whether a file is as git last saw it.
func (e indexEntry) knows(info os.FileInfo) bool {
	mtime := info.ModTime()
	return binary.BigEndian.Uint32(e.stat[indexSize:]) == uint32(info.Size()) &&
		binary.BigEndian.Uint32(e.stat[indexMtime:]) == uint32(mtime.Unix()) &&
		binary.BigEndian.Uint32(e.stat[indexMtime+4:]) == uint32(mtime.Nanosecond())
}

// Where things stand in an entry of git's index, as its format says.
const (
	indexHeader = 12
	indexMtime  = 8
	indexSize   = 36
	indexOID    = 40
	indexFlags  = indexOID + oidSize
	indexName   = indexFlags + 2
	indexLength = 0xfff // in the flags, of the whole name; so much or more
)

// indexEntries reads an index of version 2 to 4, but for what is being merged. libgit2 takes 20 times as
// long, because it keeps what it reads. What can't be read ends it.
func indexEntries(raw []byte) iter.Seq[indexEntry] {
	return func(yield func(indexEntry) bool) {
		if len(raw) < indexHeader || !bytes.HasPrefix(raw, []byte("DIRC")) {
			return
		}
		version, count := binary.BigEndian.Uint32(raw[4:]), binary.BigEndian.Uint32(raw[8:])
		rest := raw[indexHeader:]
		var e indexEntry
		for range count {
			if version < 2 || version > 4 || len(rest) < indexName+2 {
				return
			}
			flags, at := binary.BigEndian.Uint16(rest[indexFlags:]), indexName
			if flags&0x4000 != 0 { // more flags
				at += 2
			}
			e.stat = rest[:indexOID]
			copy(e.oid[:], rest[indexOID:])
			cut := 0
			if version == 4 {
				var n int
				if cut, n = indexCut(rest[at:]); n == 0 || cut > len(e.name) {
					return
				}
				at += n
			}
			end := int(flags & indexLength)
			if version == 4 || end == indexLength || at+end >= len(rest) || rest[at+end] != 0 {
				end = bytes.IndexByte(rest[at:], 0)
			}
			if end < 0 {
				return
			}
			if version == 4 {
				e.name = append(e.name[:len(e.name)-cut], rest[at:at+end]...)
				rest = rest[at+end+1:]
			} else {
				e.name = rest[at : at+end]
				rest = rest[min((at+end+8)&^7, len(rest)):]
			}
			if merging := flags&0x3000 != 0; !merging && !yield(e) {
				return
			}
		}
	}
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

// stagedAs finds in the index under which new name the same content stands of files of the commit.
func (c *Content) stagedAs(files []string, out map[string]string) {
	if len(files) == 0 || c.root == "" {
		return
	}
	wanted, first := map[[oidSize]byte][]string{}, [256]bool{} // a look at the first byte spares most of the map
	for _, f := range files {
		var oid [oidSize]byte
		if _, err := hex.Decode(oid[:], []byte(c.inTree(f))); err == nil {
			wanted[oid], first[oid[0]] = append(wanted[oid], f), true
		}
	}
	for e := range indexEntries(c.rawIndex()) {
		if !first[e.oid[0]] {
			continue
		}
		if of, ok := wanted[e.oid]; ok && c.inTree(string(e.name)) == "" {
			for _, f := range of {
				out[f] = string(e.name)
			}
		}
	}
}
