// Package lexical holds the words of sessions and scores sessions by them.
//
// It builds runs: immutable sets of postings over a range of units, where a unit is what is
// scored as one (a turn, or the paths, commands or title of one part of a session). A run is
// a header and blocks of bytes; storing them is the caller's business. Runs merge into one
// without looking at text again, and scores do not depend on how units are spread over runs:
// every statistic is a sum of integers over all of them, every score a sum in a fixed order.
package lexical

import (
	"slices"

	"github.com/git-rekal/git-rekal/internal/search/analysis"
	"github.com/git-rekal/git-rekal/internal/search/block"
)

// Kind says what the text of a unit is.
type Kind uint8

// The kinds of units.
const (
	Content  Kind = iota // a turn
	Paths                // the paths of a part's tool calls, each once
	Commands             // the commands of a part's tool calls, each once
	Title                // the session's title; a later one replaces it
)

// Unit is what is scored as one.
type Unit struct {
	Session int32 // the session's number; see Header.Sessions
	Turn    int32 // the turn's index within the session; -1 where Kind is not Content
	Len     int32 // words
	Stems   int32 // words that are not function words
	Kind    Kind
}

// Header is all of a run but its postings.
type Header struct {
	Base         int      // the first unit's number; units are numbered in order of arrival
	FirstSession int      // the number of Sessions[0]
	Sessions     []string // IDs of the sessions that first appear in this run
	Units        []Unit
	Fence        block.Fence
}

// AppendHeader appends h's bytes to dst.
func AppendHeader(dst []byte, h *Header) []byte {
	dst = block.AppendInt(dst, h.Base)
	dst = block.AppendInt(dst, h.FirstSession)
	dst = block.AppendInt(dst, len(h.Sessions))
	for _, s := range h.Sessions {
		dst = block.AppendBytes(dst, []byte(s))
	}
	dst = block.AppendInt(dst, len(h.Units))
	var prev Unit
	for _, u := range h.Units {
		dst = appendUnit(dst, prev, u)
		prev = u
	}
	return block.AppendFence(dst, h.Fence)
}

// A unit's first byte: its kind, and whether it says more than "the next turn of the session
// before", which is what nearly all are.
const (
	unitKind = 3
	unitFull = 4
)

func appendUnit(dst []byte, prev, u Unit) []byte {
	if u.Session == prev.Session && u.Turn == prev.Turn+1 && u.Kind == prev.Kind {
		dst = append(dst, byte(u.Kind))
	} else {
		dst = append(dst, byte(u.Kind)|unitFull)
		dst = block.AppendInt(dst, int(u.Session))
		dst = block.AppendInt(dst, int(u.Turn)+1)
	}
	dst = block.AppendInt(dst, int(u.Len))
	return block.AppendInt(dst, int(u.Stems))
}

// DecodeHeader reads what AppendHeader wrote; the error is block.ErrFormat.
func DecodeHeader(data []byte) (*Header, error) {
	r := block.Reader{Data: data}
	h := &Header{Base: r.Int(), FirstSession: r.Int()}
	h.Sessions = make([]string, r.Count())
	for i := range h.Sessions {
		h.Sessions[i] = string(r.Bytes())
	}
	h.Units = make([]Unit, r.Count())
	var prev Unit
	for i := range h.Units {
		prev = readUnit(&r, prev)
		h.Units[i] = prev
	}
	h.Fence = r.Fence()
	if r.Bad || len(r.Data) > 0 {
		return nil, block.ErrFormat
	}
	return h, nil
}

func readUnit(r *block.Reader, prev Unit) Unit {
	head := r.Int()
	if head > unitKind|unitFull {
		r.Bad = true
	}
	u := Unit{Session: prev.Session, Turn: prev.Turn + 1, Kind: Kind(head & unitKind)}
	if head&unitFull != 0 {
		u.Session = int32(r.Int())
		u.Turn = int32(r.Int()) - 1
	} else if u.Kind != prev.Kind {
		r.Bad = true
	}
	u.Len, u.Stems = int32(r.Int()), int32(r.Int())
	return u
}

// Builder collects the units of a new run.
type Builder struct {
	Header
	lists map[string]*building
}

// building is the postings of one term while units are being added.
type building struct {
	List
	open []uint32 // positions in the last unit
}

// NewBuilder starts a run whose first unit has number base and whose first new session has
// number firstSession.
func NewBuilder(base, firstSession int) *Builder {
	return &Builder{
		Header: Header{Base: base, FirstSession: firstSession},
		lists:  make(map[string]*building),
	}
}

// Add adds a unit with its tokens; it counts Len and Stems itself.
func (b *Builder) Add(u Unit, tokens []analysis.Token) {
	unit := uint32(b.Base + len(b.Units))
	for _, t := range tokens {
		l := b.lists[t.Term]
		if l == nil {
			l = &building{}
			b.lists[t.Term] = l
		}
		if n := len(l.Units); n == 0 || l.Units[n-1] != unit {
			l.close()
			l.Units = append(l.Units, unit)
			l.TFs = append(l.TFs, 0)
		}
		l.TFs[len(l.TFs)-1]++
		switch t.Kind {
		case analysis.Word:
			l.open = append(l.open, uint32(u.Stems))
			u.Stems++
			u.Len++
		case analysis.Stop:
			u.Len++
		}
	}
	b.Units = append(b.Units, u)
}

// close writes the positions of the last unit.
func (l *building) close() {
	if len(l.open) > 0 || len(l.positions) > 0 {
		for n := len(l.Units) - 1; l.placed < n; l.placed++ {
			l.positions = block.AppendInt(l.positions, 0)
		}
	}
	if len(l.open) == 0 {
		return
	}
	l.positions = appendPositions(l.positions, l.open)
	l.placed++
	l.open = l.open[:0]
}

// Lists returns the postings of all terms, by term.
func (b *Builder) Lists() map[string]*List {
	out := make(map[string]*List, len(b.lists))
	for term, l := range b.lists {
		l.close()
		l.pad()
		out[term] = &l.List
	}
	return out
}

// Pack sets the header's fence and returns the blocks of postings.
func Pack(h *Header, lists map[string]*List) [][]byte {
	terms := make([]string, 0, len(lists))
	for term := range lists {
		terms = append(terms, term)
	}
	slices.Sort(terms)
	var w block.Writer
	var buf []byte
	for _, term := range terms {
		buf = lists[term].append(buf[:0], h.Base)
		w.Add(term, buf)
	}
	w.Flush()
	h.Fence = w.Fence
	return w.Blocks
}
