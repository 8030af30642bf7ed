package lexical

import (
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/search/analysis"
	"github.com/git-rekal/git-rekal/internal/search/block"
)

// Builder collects the units of a new run.
type Builder struct {
	Header
	builders []*postingsBuilder // by token ID; nil for a term that no unit has
	terms    int
}

// postingsBuilder is the postings of one term while units are being added.
type postingsBuilder struct {
	term         string
	list         List
	unit         uint32 // of the open posting
	tf           int    // of the open posting; 0 when there is none
	lastPosition uint32 // in the open posting
	inTitle      bool   // the unit of the open posting is a title
	docs         []byte
	positions    []byte
}

// NewBuilder starts a run whose first unit has number base and whose first new session has
// number firstSession.
func NewBuilder(base, firstSession int) *Builder {
	return &Builder{Header: Header{Base: base, FirstSession: firstSession}}
}

// Add adds a unit of a session, by its number, with its tokens, all of one Analyzer that New made.
func (b *Builder) Add(session, turn int, kind Kind, tokens []analysis.Token) {
	unit := uint32(b.Base + b.Units())
	words, stems := 0, 0
	for _, t := range tokens {
		l := b.postingsOf(t)
		if l.tf == 0 || l.unit != unit {
			l.close()
			l.unit, l.lastPosition, l.inTitle = unit, 0, kind == Title
		}
		l.tf++
		switch t.Kind {
		case analysis.Word:
			l.positions = block.AppendInt(l.positions, stems-int(l.lastPosition))
			l.lastPosition = uint32(stems)
			stems++
			words++
		case analysis.Stop:
			words++
		}
	}
	b.add(session, turn, kind, words, stems)
}

func (b *Builder) postingsOf(t analysis.Token) *postingsBuilder {
	if more := t.ID + 1 - len(b.builders); more > 0 {
		b.builders = append(b.builders, make([]*postingsBuilder, more)...)
	}
	l := b.builders[t.ID]
	if l == nil {
		l = &postingsBuilder{term: t.Term}
		b.builders[t.ID] = l
		b.terms++
	}
	return l
}

// Terms is how many different terms there are.
func (b *Builder) Terms() int { return b.terms }

// close ends the open posting.
func (l *postingsBuilder) close() {
	if l.tf == 0 {
		return
	}
	if l.list.n == 0 {
		l.list.first, l.list.last = l.unit, l.unit
	}
	l.docs = appendPosting(l.docs, l.unit-l.list.last, l.tf)
	l.list.last = l.unit
	l.list.n++
	if l.inTitle {
		l.list.titles++
	}
	l.tf = 0
}

// Write calls put with the postings of each term, in the order of terms. Nothing can be added behind it.
func (b *Builder) Write(put func(term string, postings []byte)) {
	var buf []byte
	b.builders = slices.DeleteFunc(b.builders, func(l *postingsBuilder) bool { return l == nil })
	slices.SortFunc(b.builders, func(l, m *postingsBuilder) int { return strings.Compare(l.term, m.term) })
	for _, l := range b.builders {
		l.close()
		l.list.docs, l.list.positions = l.docs, l.positions
		buf = l.list.append(buf[:0], b.Base)
		put(l.term, buf)
	}
}

// Merge makes one run of several that follow each other, given the headers and the entries
// of each: it returns the header, and calls put for each term.
func Merge(headers []*Header, entries []*block.Entries, put func(term string, postings []byte)) (*Header, error) {
	var buf []byte
	err := block.Merge(entries, func(term string, values [][]byte) error {
		var joined List
		for i, v := range values {
			if v == nil {
				continue
			}
			next, err := decodeList(v, headers[i].Base, headers[i].Base+headers[i].Units())
			if err != nil {
				return err
			}
			joined.join(next)
		}
		buf = joined.append(buf[:0], headers[0].Base)
		put(term, buf)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return joinHeaders(headers), nil
}

func joinHeaders(headers []*Header) *Header {
	out := &Header{Base: headers[0].Base, FirstSession: headers[0].FirstSession}
	for _, h := range headers {
		out.Sessions = append(out.Sessions, h.Sessions...)
		out.Words = append(out.Words, h.Words...)
		out.Stems = append(out.Stems, h.Stems...)
		for _, p := range h.Parts {
			if n := len(out.Parts); n > 0 && out.Parts[n-1].continuedBy(int(p.Session), int(p.Turn), p.Kind) {
				last := &out.Parts[n-1]
				last.Units, last.Words, last.Stems = last.Units+p.Units, last.Words+p.Words, last.Stems+p.Stems
				continue
			}
			out.Parts = append(out.Parts, p)
		}
	}
	return out
}
