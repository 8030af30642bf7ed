package search

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/search/analysis"
	"github.com/git-rekal/git-rekal/internal/search/block"
	"github.com/git-rekal/git-rekal/internal/search/semantic"
)

// groupSize is how many sessions are read at a time where all pass through, so that they do
// not have to fit into memory.
const groupSize = 500

// stemBytes is how many bytes of text there are for each stem, or a few more.
const stemBytes = 8

// stream is the stems of a session's turns, in their order.
type stream struct {
	session int
	stems   []string
	turns   []int32 // by stem: the index of its turn
	ends    []int   // by turn, counted from 0: how many stems there are up to it

	texts []string // of the turns, until they are read
	index []int    // of the turns
}

// analyse reads the texts.
func (s *stream) analyse(a *analysis.Analyzer) {
	size := 0
	for _, text := range s.texts {
		size += len(text)
	}
	s.stems, s.turns = slices.Grow(s.stems, size/stemBytes), slices.Grow(s.turns, size/stemBytes)
	for i, text := range s.texts {
		for _, t := range a.Tokens(text) {
			if t.Kind == analysis.Word {
				s.stems = append(s.stems, t.Term)
				s.turns = append(s.turns, int32(s.index[i]))
			}
		}
		s.ends = append(s.ends, len(s.stems))
	}
	s.texts, s.index = nil, nil
}

// after is how many stems the first n turns have.
func (s *stream) after(n int) int {
	if n == 0 || len(s.ends) == 0 {
		return 0
	}
	return s.ends[min(n, len(s.ends))-1]
}

// textBatch is how much text is read at a time, in bytes, so that it does not have to fit into memory.
const textBatch = 8 << 20

// read reads sessions, by their numbers, in the same order.
func (a *adder) read(ctx context.Context, numbers []int) ([]*stream, error) {
	out := make([]*stream, len(numbers))
	byNumber := make(map[int]*stream, len(numbers))
	for i, n := range numbers {
		out[i] = &stream{session: n}
		byNumber[n] = out[i]
	}
	parts := a.now.told(byNumber)
	for len(parts) > 0 {
		n, size := 1, parts[0].bytes()
		for n < len(parts) && size+parts[n].bytes() <= textBatch {
			size += parts[n].bytes()
			n++
		}
		if err := a.readParts(ctx, parts[:n]); err != nil {
			return nil, err
		}
		parts = parts[n:]
	}
	return out, nil
}

// told is turns of a session that lie together in a run.
type told struct {
	stream      *stream
	span        db.Span
	unit, turns int // the first turn's unit, and how many there are
	turn        int // the index of the first
}

func (t told) bytes() int64 { return t.span.To - t.span.From }

// told lists what there is of sessions, by session and in the order of the turns.
func (h *headers) told(wanted map[int]*stream) []told {
	var out []told
	for r, run := range h.runs {
		unit := run.Base
		for _, p := range run.Parts {
			if s := wanted[int(p.Session)]; s != nil && p.Kind.Turn() {
				out = append(out, h.texts[r].told(s, unit, int(p.Units), int(p.Turn))...)
			}
			unit += int(p.Units)
		}
	}
	slices.SortStableFunc(out, func(a, b told) int {
		return cmp.Or(cmp.Compare(a.stream.session, b.stream.session), cmp.Compare(a.turn, b.turn))
	})
	return out
}

// told lists where the texts of turns are, a part for each run of texts.
func (t texts) told(s *stream, unit, turns, turn int) []told {
	var out []told
	for i := max(0, t.at(unit)); i < len(t) && turns > 0; i++ {
		n := turns
		if i+1 < len(t) {
			next, _ := unitOf([]byte(t[i+1].fence.Keys[0]))
			n = min(n, next-unit)
		}
		span := t[i : i+1].span(unit)
		span.To = t[i : i+1].span(unit + n - 1).To
		out = append(out, told{s, span, unit, n, turn})
		unit, turns, turn = unit+n, turns-n, turn+n
	}
	return out
}

// readParts reads parts that fit into a batch together, or a single one.
func (a *adder) readParts(ctx context.Context, parts []told) error {
	if len(parts) == 1 {
		return parts[0].read(source(ctx, a.tx, parts[0].span), func() { a.analyse(parts) })
	}
	spans := make([]db.Span, len(parts))
	for i, p := range parts {
		spans[i] = p.span
	}
	data, err := db.ReadSpans(ctx, a.tx, spans)
	if err != nil {
		return err
	}
	for i, p := range parts {
		if err := p.read(once(data[i]), func() {}); err != nil {
			return err
		}
	}
	a.analyse(parts)
	return nil
}

// read adds the texts to the stream. It calls full where these are a batch, and at the end.
func (t told) read(more func() ([]byte, error), full func()) error {
	size, found := 0, 0
	entries := block.NextEntries(more)
	for entries.Next() {
		unit, ok := unitOf(entries.Key)
		if !ok {
			return block.ErrFormat
		}
		if unit < t.unit || unit >= t.unit+t.turns {
			continue
		}
		turn, err := decodeText(entries.Value, t.turn+unit-t.unit)
		if err != nil {
			return err
		}
		t.stream.texts, t.stream.index = append(t.stream.texts, turn.Content), append(t.stream.index, turn.Index)
		found++
		if size += len(turn.Content); size > textBatch {
			full()
			size = 0
		}
	}
	full()
	if found != t.turns && entries.Err() == nil {
		return block.ErrFormat
	}
	return entries.Err()
}

// analyse reads the texts of the streams of parts, which follow each other by stream.
func (a *adder) analyse(parts []told) {
	var streams []*stream
	for _, p := range parts {
		if n := len(streams); n == 0 || streams[n-1] != p.stream {
			streams = append(streams, p.stream)
		}
	}
	for len(a.words) < runtime.GOMAXPROCS(0) {
		a.words = append(a.words, analysis.Words())
	}
	atOnce(len(streams), func(from, step int) {
		for i := from; i < len(streams); i += step {
			streams[i].analyse(a.words[from])
		}
	})
}

// projected is the windows of a session that are new, and its vector as a whole.
type projected struct {
	semantic.Stretch
	whole semantic.Vector
	sum   []float32 // whole, before it was rounded
}

// projectAll projects streams, each behind the windows that are there of it.
func projectAll(model *semantic.Projector, streams []*stream, before map[int][]semantic.Window) []*projected {
	out := make([]*projected, len(streams))
	atOnce(len(streams), func(from, step int) {
		for i := from; i < len(streams); i += step {
			out[i] = streams[i].project(model, before[streams[i].session])
		}
	})
	slices.SortFunc(out, func(a, b *projected) int { return a.Session - b.Session })
	return out
}

// project makes the vectors of the windows behind those that are there, and of the whole session:
// the sum of its windows', made length 1.
func (s *stream) project(model *semantic.Projector, before []semantic.Window) *projected {
	p := &projected{Stretch: semantic.Stretch{Session: s.session, From: len(before)}, sum: make([]float32, model.Dim)}
	for _, w := range before {
		w.AddTo(p.sum, 1)
	}
	n, places := len(s.stems), model.Places(s.stems)
	for w := len(before); w < semantic.Count(n); w++ {
		from, to := semantic.Span(w, n)
		v := semantic.Quantise(model.Project(places[from:to]))
		v.AddTo(p.sum, 1)
		p.Windows = append(p.Windows, semantic.Window{Turn: int(s.turns[from]), Vector: v})
	}
	semantic.Normalise(p.sum)
	p.whole = semantic.Quantise(p.sum)
	return p
}

// atOnce shares n pieces of work among the processors: do does every step-th, from one on.
func atOnce(n int, do func(from, step int)) {
	step := min(n, runtime.GOMAXPROCS(0))
	var all sync.WaitGroup
	for from := range step {
		all.Go(func() { do(from, step) })
	}
	all.Wait()
}
