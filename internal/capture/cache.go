package capture

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/internal/session"
)

// cacheFile lies in .rekal/. It holds nothing that the ledger and the transcripts do not
// say: without it, or when it is of other tips, the state is read from the ledgers.
const cacheFile = "capture.cache"

// cacheVersion changes with what state.code writes; a cache of another version is dropped.
const cacheVersion = 15

// sumSize is the checksum's in front of the cache, in bytes.
const sumSize = 4

func readCache(path string) *state {
	b, err := os.ReadFile(path)
	if err != nil || len(b) < sumSize || binary.BigEndian.Uint32(b) != crc32.ChecksumIEEE(b[sumSize:]) {
		return newState()
	}
	st := newState()
	c := &coder{text: string(b[sumSize:]), reads: true}
	if st.code(c); c.bad || len(c.text) > 0 {
		return newState()
	}
	return st
}

func (st *state) save(dir string) error { return st.saveAs(filepath.Join(dir, cacheFile)) }

// saveAs writes the state beside its name and renames it, so that a reader never sees half
// of it.
func (st *state) saveAs(path string) error {
	c := &coder{out: make([]byte, sumSize)}
	st.code(c)
	binary.BigEndian.PutUint32(c.out, crc32.ChecksumIEEE(c.out[sumSize:]))
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if errors.Is(err, fs.ErrNotExist) {
		return nil // a clean took the folder away
	}
	if err != nil {
		return fmt.Errorf("capture: write the cache: %w", err)
	}
	_, err = f.Write(c.out)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return fmt.Errorf("capture: write the cache: %w", err)
	}
	return nil
}

// code writes the state, or reads it: each value in its turn. A hook does both, and a general codec took 17 ms for 700 sessions.
func (st *state) code(c *coder) {
	version := cacheVersion
	if integer(c, &version); version != cacheVersion {
		c.bad = true
		return
	}
	table(c, &st.Tips, word, word)
	table(c, &st.Sessions, word, func(c *coder, k **ledgerSession) {
		if c.reads {
			*k = &ledgerSession{}
		}
		(*k).code(c)
	})
	table(c, &st.Recorded, integer, flag)
	table(c, &st.Rewrites, integer, integers)
	integers(c, &st.Wrote)
	list(c, &st.Examined, word)
	table(c, &st.Memories, word, words)
	table(c, &st.Marks, word, func(c *coder, t *session.Tally) { list(c, &t.Purges, integer); list(c, &t.Restores, integer) })
	table(c, &st.Latest, word, word)
	table(c, &st.Files, word, func(c *coder, s *stamp) { integer(c, &s.Size); integer(c, &s.ModTime) })
	table(c, &st.Searched, word, integer)
	table(c, &st.Others, word, flag)
	table(c, &st.Known, word, data)
	table(c, &st.Reflogs, word, func(c *coder, m *history.ReflogMark) { integer(c, &m.Size); word(c, &m.Last) })
}

func (k *ledgerSession) code(c *coder) {
	for _, s := range []*string{&k.ID, &k.Source, &k.NativeID, &k.Parent, &k.ForkedFrom, &k.ActorType, &k.Cursor, &k.Hash, &k.Title} {
		word(c, s)
	}
	for _, t := range []*time.Time{&k.First, &k.Last, &k.Scrubbed} {
		moment(c, t)
	}
	list(c, &k.Silent, moment)
	integer(c, &k.Turns)
	integer(c, &k.Tools)
	flag(c, &k.Apart)
	integer(c, &k.Bytes)
	integer(c, &k.Kept)
	flag(c, &k.Said)
	data(c, &k.Resume)
	data(c, &k.Tail)
	list(c, &k.Segments, word)
	table(c, &k.Pending, word, moment)
}

// coder writes values one behind the other, or reads them. What it reads has a checksum, so that only a mistake of ours is bad.
type coder struct {
	out   []byte
	text  string // what is left to be read
	reads bool
	bad   bool
}

// take takes n bytes.
func (c *coder) take(n uint64) string {
	if n > uint64(len(c.text)) {
		c.bad, n = true, uint64(len(c.text))
	}
	out := c.text[:n]
	c.text = c.text[n:]
	return out
}

func integer[T ~int | ~int64 | ~uint64](c *coder, v *T) {
	if !c.reads {
		c.out = binary.AppendUvarint(c.out, uint64(*v))
		return
	}
	n, size := binary.Uvarint([]byte(c.text[:min(len(c.text), binary.MaxVarintLen64)]))
	if size <= 0 {
		c.bad = true
		return
	}
	*v, c.text = T(n), c.text[size:]
}

func flag(c *coder, v *bool) {
	n := 0
	if *v {
		n = 1
	}
	integer(c, &n)
	*v = n == 1
}

func word[T ~string](c *coder, v *T) {
	n := len(*v)
	integer(c, &n)
	if c.reads {
		*v = T(c.take(uint64(n)))
		return
	}
	c.out = append(c.out, *v...)
}

func data(c *coder, v *[]byte) {
	s := string(*v)
	if word(c, &s); c.reads && s != "" {
		*v = []byte(s)
	}
}

// count writes how many values follow, or reads it: each takes a byte at least.
func (c *coder) count(n int) int {
	if integer(c, &n); c.reads && (n < 0 || n > len(c.text)) {
		c.bad, n = true, 0
	}
	return n
}

// moment keeps a time to the nanosecond, in UTC; the zero time is itself.
func moment(c *coder, t *time.Time) {
	sec, ns := t.Unix(), t.Nanosecond()
	integer(c, &sec)
	if integer(c, &ns); c.reads {
		*t = time.Unix(sec, int64(ns)).UTC()
	}
}

func words(c *coder, v *[]string) { list(c, v, word) }

func integers(c *coder, v *[]uint64) { list(c, v, integer) }

func list[T any](c *coder, l *[]T, each func(*coder, *T)) {
	n := c.count(len(*l))
	if c.reads {
		*l = slices.Grow(*l, n)
		for range n {
			var v T
			if each(c, &v); c.bad {
				return
			}
			*l = append(*l, v)
		}
		return
	}
	for i := range *l {
		each(c, &(*l)[i])
	}
}

func table[K comparable, V any](c *coder, m *map[K]V, key func(*coder, *K), value func(*coder, *V)) {
	n := c.count(len(*m))
	if c.reads {
		if n > 0 && *m == nil {
			*m = map[K]V{}
		}
		for range n {
			var k K
			var v V
			key(c, &k)
			if value(c, &v); c.bad {
				return
			}
			(*m)[k] = v
		}
		return
	}
	for k, v := range *m {
		key(c, &k)
		value(c, &v)
	}
}
