package search

import (
	"context"
	"runtime"
	"slices"
	"sync"

	"github.com/git-rekal/git-rekal/internal/search/analysis"
	"github.com/git-rekal/git-rekal/internal/search/semantic"
)

// groupSize is how many sessions are read at a time where all pass through, so that they do
// not have to fit into memory.
const groupSize = 500

// stream is the stems of a session's turns, in their order.
type stream struct {
	session int
	stems   []string
	turns   []int // by stem: the index of its turn
	ends    []int // by turn, counted from 0: how many stems there are up to it

	texts []string // of the turns, until they are read
	index []int    // of the turns
}

// analyse reads the texts.
func (s *stream) analyse(a *analysis.Analyzer) {
	for i, text := range s.texts {
		for _, t := range a.Tokens(text) {
			if t.Kind == analysis.Word {
				s.stems = append(s.stems, t.Term)
				s.turns = append(s.turns, s.index[i])
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

// read reads sessions from turns_ft, by their numbers, in the same order.
func (a *adder) read(ctx context.Context, numbers []int) ([]*stream, error) {
	out := make([]*stream, len(numbers))
	ids, byID := make([]string, len(numbers)), make(map[string]*stream, len(numbers))
	for i, n := range numbers {
		ids[i], out[i] = a.id(n), &stream{session: n}
		byID[ids[i]] = out[i]
	}
	if len(ids) == 0 {
		return out, nil
	}
	// The list alone would have the engine read all turns. Sessions with near numbers mostly began
	// at about the same time, hence have near IDs, and their turns lie together.
	rows, err := a.tx.Query(ctx, `SELECT session_id, turn_index, content FROM turns_ft
		WHERE session_id BETWEEN ? AND ? AND session_id IN (SELECT unnest(?::VARCHAR[])) ORDER BY session_id, turn_index`,
		slices.Min(ids), slices.Max(ids), ids)
	if err != nil {
		return nil, err
	}
	defer rows.Close() // read to its end below
	for rows.Next() {
		var id, content string
		var turn int
		if err := rows.Scan(&id, &turn, &content); err != nil {
			return nil, err
		}
		s := byID[id]
		s.texts, s.index = append(s.texts, content), append(s.index, turn)
	}
	atOnce(len(out), func(from, step int) {
		words := analysis.New()
		for i := from; i < len(out); i += step {
			out[i].analyse(words)
		}
	})
	return out, rows.Err()
}

// projected is the windows of a session that are new, and its vector as a whole.
type projected struct {
	semantic.Stretch
	whole semantic.Vector
	sum   []float32 // whole, before it was rounded
}

// projectAll projects streams, each behind the windows that are there of it.
func projectAll(model *semantic.Model, streams []*stream, before map[int][]semantic.Window) []*projected {
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
func (s *stream) project(model *semantic.Model, before []semantic.Window) *projected {
	p := &projected{Stretch: semantic.Stretch{Session: s.session, From: len(before)}, sum: make([]float32, model.Dim)}
	for _, w := range before {
		w.AddTo(p.sum, 1)
	}
	n := len(s.stems)
	for w := len(before); w < semantic.Count(n); w++ {
		from, to := semantic.Span(w, n)
		v := semantic.Quantise(model.Project(s.stems[from:to]))
		v.AddTo(p.sum, 1)
		p.Windows = append(p.Windows, semantic.Window{Turn: s.turns[from], Vector: v})
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
