// Package block packs sorted keys and values into blocks of bytes, the unit that search stores and reads. A Fence holds
// the first key of each block, so a query reads only the blocks of its own terms.
//
// A block is a sequence of entries, each
//
//	uvarint  how many bytes the key shares with the key before it
//	uvarint  how many bytes follow, and those bytes
//	uvarint  the value's length, and the value
//
// Decoding never trusts its input: malformed bytes give ErrFormat and never a panic.
package block

import (
	"encoding/binary"
	"errors"
	"slices"
	"sort"
	"unsafe"
)

// ErrFormat says that bytes were not written by this package, or by a package that builds on it.
var ErrFormat = errors.New("search: malformed block")

// target is the size in bytes beyond which a block is closed: a question reads one block for each of
// its terms, so larger ones read more than they need, and smaller ones make the fence, which every
// question reads, longer.
const target = 8 << 10

// Fence says where which key is: the first key of each block, in order, and where the block
// ends. The first one begins at 0.
type Fence struct {
	Keys []string
	Ends []int64
}

// Find returns where the block is that key is in if it is anywhere; nothing when it is in none.
func (f *Fence) Find(key string) (from, to int64) {
	i := sort.Search(len(f.Keys), func(i int) bool { return f.Keys[i] > key }) - 1
	if i < 0 {
		return 0, 0
	}
	if i > 0 {
		from = f.Ends[i-1]
	}
	return from, f.Ends[i]
}

// End is where the last block ends.
func (f *Fence) End() int64 {
	if len(f.Ends) == 0 {
		return 0
	}
	return f.Ends[len(f.Ends)-1]
}

// Writer packs entries. The zero value is ready.
type Writer struct {
	Fence Fence

	done []byte // closed blocks
	buf  []byte
	last string
}

// Add adds an entry. Keys come in ascending order, each once.
func (w *Writer) Add(key string, value []byte) {
	if len(w.buf) == 0 {
		w.Fence.Keys = append(w.Fence.Keys, key)
		w.last = ""
	}
	n := sharedPrefix(w.last, key)
	w.buf = binary.AppendUvarint(w.buf, uint64(n))
	w.buf = AppendBytes(w.buf, []byte(key[n:]))
	w.buf = AppendBytes(w.buf, value)
	w.last = key
	if len(w.buf) >= target {
		w.Flush()
	}
}

// Flush closes the last block.
func (w *Writer) Flush() {
	if len(w.buf) > 0 {
		w.Fence.Ends = append(w.Fence.Ends, w.Fence.End()+int64(len(w.buf)))
		if cap(w.done)-len(w.done) < len(w.buf) {
			w.done = slices.Grow(w.done, len(w.done)+len(w.buf)) // twice as much, where append would take a quarter more
		}
		w.done = append(w.done, w.buf...)
		w.buf = w.buf[:0]
	}
}

// Take returns the blocks that were closed since the last Take; it is valid until the next Add
// or Flush. The fence goes on.
func (w *Writer) Take() []byte {
	out := w.done
	w.done = w.done[:0]
	return out
}

func sharedPrefix(a, b string) int {
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
	Value []byte // part of what was given

	r    Reader
	more func() ([]byte, error) // the next piece; nothing at the end
	err  error
}

// NewEntries walks blocks.
func NewEntries(blocks []byte) *Entries {
	return &Entries{r: Reader{Data: blocks}, more: func() ([]byte, error) { return nil, nil }}
}

// NextEntries walks the blocks that more returns, call by call, until it returns nothing. They may be cut anywhere.
func NextEntries(more func() ([]byte, error)) *Entries { return &Entries{more: more} }

// Next moves on, and reports whether there is an entry.
func (e *Entries) Next() bool {
	for e.err == nil {
		r := e.r
		n, suffix, value := r.Int(), r.Bytes(), r.Bytes()
		if !r.Bad && n <= len(e.Key) { // a block's first key shares nothing
			e.r, e.Key, e.Value = r, append(e.Key[:n], suffix...), value
			return true
		}
		var next []byte
		if next, e.err = e.more(); len(next) == 0 {
			e.r.Bad = len(e.r.Data) > 0
			return false
		}
		// What was read keeps the old bytes.
		e.r.Data = append(e.r.Data[:len(e.r.Data):len(e.r.Data)], next...)
	}
	return false
}

// Err says what ended a walk before its time: ErrFormat, or more's error.
func (e *Entries) Err() error {
	if e.err != nil {
		return e.err
	}
	return e.r.Err()
}

// Merge walks several at once, in the order of keys. Values are what each has under a key: nil for nothing.
func Merge(walks []*Entries, use func(key string, values [][]byte) error) error {
	live := make([]bool, len(walks))
	for i, e := range walks {
		live[i] = e.Next()
	}
	values := make([][]byte, len(walks))
	for {
		least := -1
		for i, e := range walks {
			if live[i] && (least < 0 || string(e.Key) < string(walks[least].Key)) {
				least = i
			}
		}
		if least < 0 {
			break
		}
		key := string(walks[least].Key)
		for i, e := range walks {
			values[i] = nil
			if live[i] && string(e.Key) == key {
				values[i] = e.Value
				live[i] = e.Next()
			}
		}
		if err := use(key, values); err != nil {
			return err
		}
	}
	for _, e := range walks {
		if err := e.Err(); err != nil {
			return err
		}
	}
	return nil
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

// Text is Bytes as a text, which also copies nothing: nobody may write to Data from then on.
func (r *Reader) Text() string {
	b := r.Bytes()
	return unsafe.String(unsafe.SliceData(b), len(b))
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
	dst = AppendInt(dst, len(f.Keys))
	last := int64(0)
	for i, key := range f.Keys {
		dst = AppendBytes(dst, []byte(key))
		dst = AppendInt(dst, int(f.Ends[i]-last))
		last = f.Ends[i]
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

// Fence reads what AppendFence wrote, and keeps Data.
func (r *Reader) Fence() Fence {
	n := r.Count()
	f := Fence{Keys: make([]string, n), Ends: make([]int64, n)}
	end := int64(0)
	for i := range n {
		f.Keys[i] = r.Text()
		end += int64(r.Int())
		f.Ends[i] = end
	}
	return f
}
