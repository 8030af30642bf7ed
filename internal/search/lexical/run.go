// Package lexical holds the words of sessions and scores sessions by them.
//
// It builds runs: immutable sets of postings over a range of units. A unit is scored as one: a turn, or the paths,
// commands or title of one part of a session. A run is a header and blocks of bytes, which the caller stores. Runs
// merge without reading text again.
//
// Promises: scores do not depend on how units are spread over runs, because every statistic is a sum of integers and
// every score a sum in a fixed order.
package lexical

import (
	"github.com/git-rekal/git-rekal/internal/search/block"
)

// Kind says what the text of a unit is.
type Kind uint8

// The kinds of units.
const (
	Content  Kind = iota // a turn
	Edited               // the paths that a part's tool calls wrote, each once
	Paths                // the other paths of its tool calls, each once
	Commands             // the commands of a part's tool calls, each once
	Title                // the session's title; a later one replaces it
	Memory               // the title and text of a memory, the only unit that it has beside its title
	kinds    = iota
)

// IsTurn reports whether a unit is what was said: a turn, or a memory.
func (k Kind) IsTurn() bool { return k == Content || k == Memory }

// Part is units of one session and one kind that follow each other.
type Part struct {
	Session int32 // the session's number; see Header.Sessions
	Kind    Kind
	Turn    int32 // the index of the first unit's turn, the others count on; -1 where Kind is none of turns
	Units   int32 // how many, at least 1
	Words   int32 // of all of them
	Stems   int32 // those of the words that are not function words
}

// Header is all of a run but its postings.
type Header struct {
	Base         int      // the first unit's number; units are numbered in order of arrival
	FirstSession int      // the number of Sessions[0]
	Sessions     []string // IDs of the sessions that first appear in this run
	Parts        []Part   // of all units, in their order
	Words        []byte   // the norm of each unit; see norm
	Stems        []byte   // as Words
	Fence        block.Fence
}

// Units is how many there are.
func (h *Header) Units() int { return len(h.Words) }

// Append appends h's bytes to dst.
func (h *Header) Append(dst []byte) []byte {
	for _, n := range []int{h.Base, h.FirstSession, len(h.Sessions)} {
		dst = block.AppendInt(dst, n)
	}
	for _, s := range h.Sessions {
		dst = block.AppendBytes(dst, []byte(s))
	}
	dst = block.AppendInt(dst, len(h.Parts))
	for _, p := range h.Parts {
		for _, n := range []int32{p.Session, int32(p.Kind), p.Turn + 1, p.Units, p.Words, p.Stems} {
			dst = block.AppendInt(dst, int(n))
		}
	}
	dst = block.AppendBytes(dst, h.Words)
	dst = block.AppendBytes(dst, h.Stems)
	return block.AppendFence(dst, h.Fence)
}

// DecodeHeader reads what Append wrote, and keeps data; the error is block.ErrFormat.
func DecodeHeader(data []byte) (*Header, error) {
	r := block.Reader{Data: data}
	h := &Header{Base: r.Int(), FirstSession: r.Int()}
	h.Sessions = make([]string, r.Count())
	for i := range h.Sessions {
		h.Sessions[i] = r.Text()
	}
	h.Parts = make([]Part, r.Count())
	units := 0
	for i := range h.Parts {
		p := Part{
			Session: int32(r.Int()), Kind: Kind(r.Int()), Turn: int32(r.Int()) - 1, Units: int32(r.Int()),
			Words: int32(r.Int()), Stems: int32(r.Int()),
		}
		if p.Kind >= kinds || p.Units == 0 {
			r.Bad = true
		}
		units += int(p.Units)
		h.Parts[i] = p
	}
	h.Words, h.Stems = r.Bytes(), r.Bytes()
	h.Fence = r.Fence()
	if r.Bad || len(r.Data) > 0 || len(h.Words) != units || len(h.Stems) != units {
		return nil, block.ErrFormat
	}
	return h, nil
}

// add counts a unit.
func (h *Header) add(session, turn int, kind Kind, words, stems int) {
	last := len(h.Parts) - 1
	if last < 0 || !h.Parts[last].continuedBy(session, turn, kind) {
		h.Parts = append(h.Parts, Part{Session: int32(session), Kind: kind, Turn: int32(turn)})
		last++
	}
	p := &h.Parts[last]
	p.Units++
	p.Words += int32(words)
	p.Stems += int32(stems)
	h.Words = append(h.Words, norm(words))
	h.Stems = append(h.Stems, norm(stems))
}

func (p *Part) continuedBy(session, turn int, kind Kind) bool {
	return kind == Content && p.Kind == kind && int(p.Session) == session && int(p.Turn+p.Units) == turn
}

// Writer makes the bytes of a run of its header and its postings, term by term: postings,
// vocabulary, header.
type Writer struct {
	Header     *Header
	terms      block.Writer
	vocabulary block.Writer
}

// Put adds the postings of the next term, in the order of terms.
func (w *Writer) Put(term string, postings []byte) {
	w.terms.Add(term, postings)
	if isStem(term) {
		w.vocabulary.Add(term, nil)
	}
}

// isStem reports whether a term belongs into the vocabulary, in which a misspelt word finds similar
// ones: whole forms, function words, numbers and terms of up to two bytes don't.
func isStem(term string) bool {
	return len(term) > 2 && term[0] > '9' && term[0] != '=' && term[0] != '~'
}

// Take returns the bytes of postings since the last Take; they are valid until the next Put.
func (w *Writer) Take() []byte { return w.terms.Take() }

// Finish returns the last bytes before the header, and the header.
func (w *Writer) Finish() (rest, header []byte) {
	w.terms.Flush()
	w.vocabulary.Flush()
	w.Header.Fence = w.terms.Fence
	return append(w.terms.Take(), w.vocabulary.Take()...), w.Header.Append(nil)
}
