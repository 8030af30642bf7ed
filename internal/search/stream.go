package search

import (
	"context"
	"runtime"
	"slices"
	"sync"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/search/analysis"
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

// read reads sessions by their numbers, which ascend, in that order.
func (a *adder) read(ctx context.Context, numbers []int) ([]*stream, error) {
	out := make([]*stream, len(numbers))
	from, size := 0, 0 // the first stream with texts, and how much text there is
	for i, n := range numbers {
		s := &stream{session: n}
		out[i] = s
		err := db.EachText(ctx, a.tx, a.id(n), func(index int, text string) {
			s.texts, s.index = append(s.texts, text), append(s.index, index)
			if size += len(text); size > textBatch {
				a.analyse(out[from : i+1])
				from, size = i, 0
			}
		})
		if err != nil {
			return nil, err
		}
	}
	a.analyse(out[from:])
	return out, nil
}

// analyse reads the texts of streams.
func (a *adder) analyse(streams []*stream) {
	for len(a.words) < runtime.GOMAXPROCS(0) {
		a.words = append(a.words, analysis.Words())
	}
	atOnce(len(streams), func(from, step int) {
		for i := from; i < len(streams); i += step {
			streams[i].analyse(a.words[from])
		}
	})
}

// projectAll projects streams, in their order, each behind the windows that are there of it.
func projectAll(model *semantic.Projector, streams []*stream, before map[int][]semantic.Window) []*projected {
	out := make([]*projected, len(streams))
	atOnce(len(streams), func(from, step int) {
		for i := from; i < len(streams); i += step {
			out[i] = streams[i].project(model, before[streams[i].session])
		}
	})
	return out
}

// project makes the vectors of the windows behind those that are there.
func (s *stream) project(model *semantic.Projector, before []semantic.Window) *projected {
	var fresh []semantic.Window
	n, places := len(s.stems), model.Places(s.stems)
	for w := len(before); w < semantic.Count(n); w++ {
		from, to := semantic.Span(w, n)
		v := semantic.Quantise(model.Project(places[from:to]))
		fresh = append(fresh, semantic.Window{Turn: int(s.turns[from]), Vector: v})
	}
	return project(s.session, model.Dim, before, fresh)
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
