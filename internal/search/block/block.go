// Package block packs sorted keys and their values into blocks of bytes, the unit that
// search stores and reads. A Fence, the first key of each block, says which block a key is
// in, so a query reads only the blocks of its own terms.
//
// A block is a sequence of entries, each
//
//	uvarint  how many bytes the key shares with the key before it
//	uvarint  how many bytes follow, and those bytes
//	uvarint  the value's length, and the value
//
// Decoding never trusts its input: bytes that are no block give ErrFormat and never a panic.
package block

import (
	"encoding/binary"
	"errors"
	"sort"
)

// ErrFormat says that bytes are not what this package, or one that builds on it, wrote.
var ErrFormat = errors.New("search: malformed block")

// Target is the size in bytes beyond which a block is closed: a question reads one block for
// each of its terms, so larger ones read more than they need, and smaller ones make the fence,
// which every question reads, longer.
const Target = 16 << 10

// Fence holds the first key of each block, in order.
type Fence []string

// Find returns the block that key is in if it is anywhere, and -1 when it is in none.
func (f Fence) Find(key string) int {
	return sort.Search(len(f), func(i int) bool { return f[i] > key }) - 1
}

// Writer packs entries. The zero value is ready.
type Writer struct {
	Fence  Fence
	blocks [][]byte
	buf    []byte
	last   string
}

// Add adds an entry. Keys come in ascending order, each once.
func (w *Writer) Add(key string, value []byte) {
	if len(w.buf) == 0 {
		w.Fence = append(w.Fence, key)
		w.last = ""
	}
	n := shared(w.last, key)
	w.buf = binary.AppendUvarint(w.buf, uint64(n))
	w.buf = AppendBytes(w.buf, []byte(key[n:]))
	w.buf = AppendBytes(w.buf, value)
	w.last = key
	if len(w.buf) >= Target {
		w.Flush()
	}
}

// Flush closes the last block.
func (w *Writer) Flush() {
	if len(w.buf) > 0 {
		w.blocks = append(w.blocks, w.buf)
		w.buf = nil
	}
}

// Take returns the blocks that were closed since the last Take. The fence goes on.
func (w *Writer) Take() [][]byte {
	out := w.blocks
	w.blocks = nil
	return out
}

func shared(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// Entries walks the entries of blocks that follow each other, in key order:
//
//	for e.Next() { use(e.Key, e.Value) }
//	return e.Err()
type Entries struct {
	Key   []byte // valid until the next call of Next
	Value []byte // part of a block

	r      Reader
	blocks [][]byte
	more   func() ([][]byte, error)
	err    error
}

// NewEntries walks blocks.
func NewEntries(blocks ...[]byte) *Entries { return &Entries{blocks: blocks} }

// Stream walks the blocks that more returns, call by call, until it returns none.
func Stream(more func() ([][]byte, error)) *Entries { return &Entries{more: more} }

// Next moves on, and reports whether there is an entry.
func (e *Entries) Next() bool {
	for len(e.r.Data) == 0 {
		if len(e.blocks) == 0 && e.more != nil && e.err == nil {
			e.blocks, e.err = e.more()
		}
		if len(e.blocks) == 0 || e.r.Bad || e.err != nil {
			return false
		}
		e.r.Data, e.blocks, e.Key = e.blocks[0], e.blocks[1:], e.Key[:0]
	}
	n := e.r.Int()
	suffix := e.r.Bytes()
	e.Value = e.r.Bytes()
	if n > len(e.Key) {
		e.r.Bad = true
	}
	if e.r.Bad {
		return false
	}
	e.Key = append(e.Key[:n], suffix...)
	return true
}

// Err says what ended the walk before its time: ErrFormat, or more's error.
func (e *Entries) Err() error {
	if e.err != nil {
		return e.err
	}
	return e.r.Err()
}

// AppendBytes appends b with its length before it.
func AppendBytes(dst, b []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(b)))
	return append(dst, b...)
}

// AppendInt appends a number from 0 to 2^31-1.
func AppendInt(dst []byte, n int) []byte {
	return binary.AppendUvarint(dst, uint64(n))
}

// Reader takes numbers and byte strings off the front of Data. After a failure Bad is set and
// every read gives zero values.
type Reader struct {
	Data []byte
	Bad  bool
}

// Int reads what AppendInt wrote.
func (r *Reader) Int() int {
	if len(r.Data) > 0 && r.Data[0] < 0x80 && !r.Bad { // by far the most
		n := int(r.Data[0])
		r.Data = r.Data[1:]
		return n
	}
	v, n := binary.Uvarint(r.Data)
	if n <= 0 || v > 1<<31-1 || r.Bad {
		r.Bad = true
		return 0
	}
	r.Data = r.Data[n:]
	return int(v)
}

// Count reads a number of things that take at least one byte each, so that a hostile one
// allocates no more than the input's own size.
func (r *Reader) Count() int {
	n := r.Int()
	if n > len(r.Data) {
		r.Bad = true
		return 0
	}
	return n
}

// Bytes reads what AppendBytes wrote, without copying it.
func (r *Reader) Bytes() []byte {
	n := r.Count()
	if r.Bad {
		return nil
	}
	b := r.Data[:n:n]
	r.Data = r.Data[n:]
	return b
}

// Err is ErrFormat after a failure.
func (r *Reader) Err() error {
	if r.Bad {
		return ErrFormat
	}
	return nil
}

// AppendFence appends f's bytes.
func AppendFence(dst []byte, f Fence) []byte {
	dst = AppendInt(dst, len(f))
	for _, key := range f {
		dst = AppendBytes(dst, []byte(key))
	}
	return dst
}

// DecodeFence reads what AppendFence wrote.
func DecodeFence(data []byte) (Fence, error) {
	r := Reader{Data: data}
	f := r.Fence()
	if len(r.Data) > 0 {
		r.Bad = true
	}
	return f, r.Err()
}

// Fence reads what AppendFence wrote.
func (r *Reader) Fence() Fence {
	f := make(Fence, r.Count())
	for i := range f {
		f[i] = string(r.Bytes())
	}
	return f
}
