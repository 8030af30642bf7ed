package lexical

import (
	"slices"

	"github.com/git-rekal/git-rekal/internal/search/block"
)

// List is the postings of one term in one run: in which units it stands, how often, and where.
//
// Its bytes are
//
//	uvarint  number of postings
//	uvarint  how many of them are in titles
//	uvarint  the first unit, from the run's base
//	uvarint  the last unit, from the first
//	uvarint  the length of what follows for the units, which is for each posting
//	         uvarint  units since the posting before × 2, + 1 when the term stands there once
//	         uvarint  else how often
//	         and to the end: for each posting as many uvarints as the term stands there, each
//	         the distance from the position before in that unit
//
// A position counts the unit's words that are not function words. Terms that are no such
// words have none. Because nothing but the first posting depends on what is before, two lists
// are joined by copying bytes.
type List struct {
	base, end   uint32 // the units of the run
	n, titles   int
	first, last uint32
	docs        []byte
	positions   []byte
}

func appendPosting(dst []byte, gap uint32, tf int) []byte {
	if tf == 1 {
		return block.AppendInt(dst, int(gap)<<1|1)
	}
	return block.AppendInt(block.AppendInt(dst, int(gap)<<1), tf)
}

// append appends l's bytes to dst, units counted from base.
func (l *List) append(dst []byte, base int) []byte {
	for _, n := range []int{l.n, l.titles, int(l.first) - base, int(l.last - l.first)} {
		dst = block.AppendInt(dst, n)
	}
	dst = block.AppendBytes(dst, l.docs)
	return append(dst, l.positions...)
}

// decodeList reads what append wrote for a run whose units have the numbers base to end-1. The
// list keeps data.
func decodeList(data []byte, base, end int) (*List, error) {
	r := block.Reader{Data: data}
	l := &List{base: uint32(base), end: uint32(end), n: r.Int(), titles: r.Int()}
	first, span := base+r.Int(), r.Int()
	l.docs = r.Bytes()
	l.first, l.last, l.positions = uint32(first), uint32(first+span), r.Data
	if r.Bad || l.n < 1 || l.n > len(l.docs) || l.titles > l.n || first+span >= end || l.docs[0] > 1 {
		return nil, block.ErrFormat
	}
	return l, nil
}

// join appends the postings of next, all of whose units come later.
func (l *List) join(next *List) {
	if l.n == 0 {
		*l = *next
		return
	}
	// The first posting of a list has no gap, so its first byte is the bit alone.
	l.docs = block.AppendInt(slices.Clip(l.docs), int(next.first-l.last)<<1|int(next.docs[0]))
	l.docs = append(l.docs, next.docs[1:]...)
	l.positions = append(slices.Clip(l.positions), next.positions...)
	l.n, l.titles, l.last, l.end = l.n+next.n, l.titles+next.titles, next.last, next.end
}

// cursor walks the postings of a list.
type cursor struct {
	unit uint32
	tf   int
	bad  bool // the list is damaged

	docs, places block.Reader
	left         int
	end          uint32
	unread       int // positions of postings up to this one
	buf          []uint32
}

func (l *List) cursor() cursor {
	return cursor{
		unit: l.first, docs: block.Reader{Data: l.docs}, places: block.Reader{Data: l.positions}, left: l.n,
		end: l.end,
	}
}

// next moves on to the next posting, and reports whether there is one.
func (c *cursor) next() bool {
	if c.left == 0 {
		return false
	}
	c.left--
	if d := c.docs.Data; len(d) > 0 && d[0]&0x81 == 1 { // by far the most: once, in a unit close by
		c.unit += uint32(d[0] >> 1)
		c.tf, c.docs.Data = 1, d[1:]
		c.unread++
		if c.unit >= c.end {
			c.left, c.bad = 0, true
		}
		return !c.bad
	}
	code := c.docs.Int()
	c.unit += uint32(code >> 1)
	c.tf = 1
	if code&1 == 0 {
		c.tf = c.docs.Int()
	}
	if c.docs.Bad || c.unit >= c.end || c.tf == 0 {
		c.left, c.bad = 0, true
		return false
	}
	c.unread += c.tf
	return true
}

// positions returns those of the posting at hand, valid until the next call.
func (c *cursor) positions() []uint32 {
	data, skip := c.places.Data, c.unread-c.tf
	n := 0
	for ; skip > 0 && n < len(data); n++ {
		if data[n] < 0x80 {
			skip--
		}
	}
	c.places.Data = data[n:]
	c.buf = c.buf[:0]
	place := uint32(0)
	for range min(c.tf, len(c.places.Data)) {
		place += uint32(c.places.Int())
		c.buf = append(c.buf, place)
	}
	if len(c.buf) < c.tf || c.places.Bad {
		c.bad = true
	}
	c.unread = 0
	return c.buf
}

// eachNear counts how often a word of b stands 1 to reach words behind one of a, for each
// unit in which that happens, and calls f with it. Both lists are of one run.
func eachNear(a, b *List, reach uint32, f func(unit uint32, n int)) error {
	if len(a.positions) == 0 || len(b.positions) == 0 {
		return nil
	}
	ca, cb := a.cursor(), b.cursor()
	for more := ca.next() && cb.next(); more; {
		switch {
		case ca.unit < cb.unit:
			more = ca.next()
		case cb.unit < ca.unit:
			more = cb.next()
		default:
			if n := countNear(ca.positions(), cb.positions(), reach); n > 0 {
				f(ca.unit, n)
			}
			more = ca.next() && cb.next()
		}
	}
	if ca.bad || cb.bad {
		return block.ErrFormat
	}
	return nil
}

func countNear(a, b []uint32, reach uint32) int {
	n, from := 0, 0
	for _, p := range a {
		for from < len(b) && b[from] <= p {
			from++
		}
		for k := from; k < len(b) && b[k] <= p+reach; k++ {
			n++
		}
	}
	return n
}

// Decode reads from blocks of a run the postings of the terms that want accepts.
func Decode(h *Header, data []byte, want func(term []byte) bool, f func(term string, l *List)) error {
	e := block.NewEntries(data)
	for e.Next() {
		if !want(e.Key) {
			continue
		}
		l, err := decodeList(e.Value, h.Base, h.Base+h.Units())
		if err != nil {
			return err
		}
		f(string(e.Key), l)
	}
	return e.Err()
}
