package published

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/replace"
)

// words say in which files of a tree a word stands. The cache is one file:
//
//	rekal-words 1 <tree> <rows> <files> <bytes of names>\n
//	rows      8 bytes each, little endian, sorted: 32 bits of the word's hash, then the file's number in the low 32
//	offsets   4 bytes for each file: where its path begins among the names
//	names     paths, each ended by a newline
//
// Of a word that stands in many files, maxHolders are kept.
type words struct {
	tree        git.OID
	rows, names int
	count       int // of files
	from        io.ReaderAt
	data        []byte // all of it, where it was just made
	head        int64  // bytes of the first line
}

const (
	wordsFile  = "words"
	wordsHead  = "rekal-words 1 "
	maxHead    = 200
	maxHolders = 16
	// minToken and maxToken are how long a word is that is kept, in bytes.
	minToken, maxToken = 3, 200
)

// index reads the words of files.
func (t *tree) index(ctx context.Context, files []git.Entry) (*words, error) {
	files = slices.DeleteFunc(slices.Clone(files), func(f git.Entry) bool { return !printable(f.Path) })
	var rows []uint64
	type holders struct{ last, n int32 } // the number of the last one and one more, how many
	of := map[uint32]holders{}
	full := make([]uint32, 1<<18) // hashes of words that need not be looked up, which most are
	for n, f := range files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		take := func(token string) {
			h := hashOf(token)
			if full[h%uint32(len(full))] == h {
				return
			}
			if was := of[h]; was.n < maxHolders && was.last <= int32(n) {
				of[h] = holders{int32(n) + 1, was.n + 1}
				rows = append(rows, uint64(h)<<32|uint64(n))
			} else if was.n == maxHolders {
				full[h%uint32(len(full))] = h
			}
		}
		tokens(f.Path, take)
		tokens(textOf(t.repo, f.OID), take)
	}
	slices.Sort(rows)
	return layOutWords(t.root, rows, files), nil
}

// layOutWords lays the words of a tree out as the cache holds them.
func layOutWords(tree git.OID, rows []uint64, files []git.Entry) *words {
	var names, offsets []byte
	for _, f := range files {
		offsets = binary.LittleEndian.AppendUint32(offsets, uint32(len(names)))
		names = append(append(names, f.Path...), '\n')
	}
	head := fmt.Sprintf("%s%s %d %d %d\n", wordsHead, tree, len(rows), len(files), len(names))
	data := []byte(head)
	for _, r := range rows {
		data = binary.LittleEndian.AppendUint64(data, r)
	}
	data = append(append(data, offsets...), names...)
	return &words{
		tree: tree, rows: len(rows), names: len(names), count: len(files), from: bytes.NewReader(data),
		data: data, head: int64(len(head)),
	}
}

// hashOf is FNV-1a.
func hashOf(token string) uint32 {
	h := uint32(2166136261)
	for i := range len(token) {
		h = (h ^ uint32(token[i])) * 16777619
	}
	return h
}

// save keeps words that were just made for later processes. Who can't write reads them again.
func (w *words) save(dir string) {
	if w == nil || w.data == nil {
		return
	}
	_ = replace.File(filepath.Join(dir, wordsFile), w.data)
}

// openWords opens the cache; it returns nil if there is none, or if it can't be read. The garbage collector closes the
// file.
func openWords(dir string, oid int) *words {
	f, err := os.Open(filepath.Join(dir, wordsFile))
	if err != nil {
		return nil
	}
	info, err := f.Stat()
	if err == nil {
		if w := readHead(f, info.Size(), oid); w != nil {
			return w
		}
	}
	_ = f.Close()
	return nil
}

// readHead reads the head of a cache; it returns nil if the file is no cache, or is cut off.
func readHead(from io.ReaderAt, size int64, oid int) *words {
	begin := make([]byte, maxHead)
	n, _ := from.ReadAt(begin, 0) // mostly the file is longer
	line, _, ended := strings.Cut(string(begin[:n]), "\n")
	w := &words{from: from, head: int64(len(line) + 1)}
	_, err := fmt.Sscanf(line, wordsHead+"%s %d %d %d", &w.tree, &w.rows, &w.count, &w.names)
	if err != nil || !ended || len(w.tree) != 2*oid || !git.IsOID(string(w.tree)) ||
		min(w.rows, w.count, w.names) < 0 || int64(max(w.rows, w.count, w.names)) > size ||
		w.head+int64(8*w.rows+4*w.count+w.names) != size {
		return nil
	}
	return w
}

// filesPerhapsHolding are the files in which a candidate may stand: the files with its rarest word. If all its words
// are in many files, only some of these files are known.
func (w *words) filesPerhapsHolding(v string) (paths []string) {
	var least []uint32
	var all []uint32
	for _, token := range tokensOf(v) {
		holders := w.filesWithHash(hashOf(token))
		if len(holders) == 0 {
			return nil
		}
		if least == nil || len(holders) < len(least) {
			least = holders
		}
		all = append(all, holders...)
	}
	if len(least) < maxHolders {
		all = least
	}
	for _, n := range all {
		if name := w.pathOfNumber(n); name != "" && !slices.Contains(paths, name) {
			paths = append(paths, name)
		}
	}
	return paths
}

// filesWithHash are the numbers of the files that hold a word.
func (w *words) filesWithHash(h uint32) (out []uint32) {
	at := sort.Search(w.rows, func(i int) bool { return w.hashAndFile(i) >= uint64(h)<<32 })
	for ; at < w.rows && len(out) < maxHolders; at++ {
		r := w.hashAndFile(at)
		if uint32(r>>32) != h {
			break
		}
		out = append(out, uint32(r))
	}
	return out
}

func (w *words) hashAndFile(i int) uint64 {
	return binary.LittleEndian.Uint64(w.bytes(w.head+int64(8*i), 8))
}

// pathOfNumber is the path of a file; "" for a number that no file has.
func (w *words) pathOfNumber(n uint32) string {
	if int(n) >= w.count {
		return ""
	}
	offsets := w.head + int64(8*w.rows)
	at := int64(binary.LittleEndian.Uint32(w.bytes(offsets+4*int64(n), 4)))
	name, _, _ := strings.Cut(string(w.bytes(offsets+int64(4*w.count)+at, maxName)), "\n")
	return name
}

// maxName is how long a path is that is read back, in bytes.
const maxName = 4096

// bytes are n bytes of the file from an offset on; zeros beyond its end.
func (w *words) bytes(at int64, n int) []byte {
	out := make([]byte, n)
	_, _ = w.from.ReadAt(out, at) // what can't be read is nobody's name
	return out
}
