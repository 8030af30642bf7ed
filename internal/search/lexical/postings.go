package lexical

import (
	"github.com/git-rekal/git-rekal/internal/search/block"
)

// List is the postings of one term: in which units it stands, how often, and where.
//
// Its bytes are
//
//	uvarint  number of postings × 2, + 1 when there are positions
//	         for each posting: uvarint units since the one before (the run's base), uvarint tf
//	         with positions, for each posting: uvarint their number, and each as a uvarint
//	         distance from the one before
//
// A position counts the unit's words that are not function words. Terms that are no such
// words have none.
type List struct {
	Units []uint32 // ascending
	TFs   []uint32 // as long as Units

	positions []byte
	placed    int // how many postings positions speaks of
}

// append appends l's bytes to dst, units counted from base.
func (l *List) append(dst []byte, base int) []byte {
	head := len(l.Units) << 1
	if len(l.positions) > 0 {
		head |= 1
	}
	dst = block.AppendInt(dst, head)
	prev := uint32(base)
	for i, u := range l.Units {
		dst = block.AppendInt(dst, int(u-prev))
		dst = block.AppendInt(dst, int(l.TFs[i]))
		prev = u
	}
	return append(dst, l.positions...)
}

// decodeList reads what append wrote for a run whose units have the numbers base to end-1.
func decodeList(data []byte, base, end int) (*List, error) {
	r := block.Reader{Data: data}
	head := r.Int()
	n := head >> 1
	if n > len(data) {
		return nil, block.ErrFormat
	}
	l := &List{Units: make([]uint32, n), TFs: make([]uint32, n)}
	unit := base
	for i := range n {
		d := r.Int()
		if i > 0 && d == 0 {
			return nil, block.ErrFormat
		}
		unit += d
		if unit >= end {
			return nil, block.ErrFormat
		}
		l.Units[i], l.TFs[i] = uint32(unit), uint32(r.Int())
	}
	if head&1 != 0 {
		l.positions, l.placed = r.Data, n
	} else if len(r.Data) > 0 {
		r.Bad = true
	}
	if r.Bad {
		return nil, block.ErrFormat
	}
	return l, nil
}

func appendPositions(dst []byte, positions []uint32) []byte {
	dst = block.AppendInt(dst, len(positions))
	prev := uint32(0)
	for _, p := range positions {
		dst = block.AppendInt(dst, int(p-prev))
		prev = p
	}
	return dst
}

// pad says "no positions" for the postings that nothing was said of.
func (l *List) pad() {
	for ; len(l.positions) > 0 && l.placed < len(l.Units); l.placed++ {
		l.positions = block.AppendInt(l.positions, 0)
	}
}

// join appends the postings of next, all of whose units come later.
func (l *List) join(next *List) {
	if len(next.positions) > 0 {
		// A first position makes the earlier silence of l meaningful.
		for ; l.placed < len(l.Units); l.placed++ {
			l.positions = block.AppendInt(l.positions, 0)
		}
		l.positions = append(l.positions[:len(l.positions):len(l.positions)], next.positions...)
		l.placed += next.placed
	}
	l.Units = append(l.Units, next.Units...)
	l.TFs = append(l.TFs, next.TFs...)
	l.pad()
}

// cursor walks the positions of a list, posting by posting.
type cursor struct {
	r   block.Reader
	buf []uint32
}

// next returns the positions of the next posting, valid until the call after.
func (c *cursor) next() []uint32 {
	c.buf = c.buf[:0]
	p := uint32(0)
	for range c.r.Count() {
		p += uint32(c.r.Int())
		c.buf = append(c.buf, p)
	}
	return c.buf
}

// near counts how often a word of b stands 1 to reach words behind one of a, for each
// unit in which that happens, and calls f with it.
func near(a, b *List, reach uint32, f func(unit uint32, n int)) error {
	ca, cb := cursor{r: block.Reader{Data: a.positions}}, cursor{r: block.Reader{Data: b.positions}}
	j := 0
	for i := 0; i < a.placed && j < b.placed; i++ {
		pa := ca.next()
		for j < b.placed && b.Units[j] < a.Units[i] {
			cb.next()
			j++
		}
		if j == b.placed || b.Units[j] != a.Units[i] {
			continue
		}
		if n := countNear(pa, cb.next(), reach); n > 0 {
			f(a.Units[i], n)
		}
		j++
	}
	if ca.r.Bad || cb.r.Bad {
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

// Merge makes one run of several that follow each other, given the blocks of each.
func Merge(headers []*Header, blocks [][][]byte) (*Header, map[string]*List, error) {
	merged := &Header{Base: headers[0].Base, FirstSession: headers[0].FirstSession}
	lists := make(map[string]*List)
	for i, h := range headers {
		merged.Units = append(merged.Units, h.Units...)
		merged.Sessions = append(merged.Sessions, h.Sessions...)
		err := Lists(h, blocks[i], func(string) bool { return true }, func(term string, l *List) {
			Join(lists, term, l)
		})
		if err != nil {
			return nil, nil, err
		}
	}
	return merged, lists, nil
}

// Lists decodes from a run's blocks the postings of the terms that want accepts.
func Lists(h *Header, blocks [][]byte, want func(term string) bool, f func(term string, l *List)) error {
	for _, data := range blocks {
		err := block.Each(data, func(term string, value []byte) error {
			if !want(term) {
				return nil
			}
			l, err := decodeList(value, h.Base, h.Base+len(h.Units))
			if err == nil {
				f(term, l)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Join appends next to the postings of a term, which may be new.
func Join(lists map[string]*List, term string, next *List) {
	if have := lists[term]; have != nil {
		have.join(next)
		return
	}
	lists[term] = next
}
