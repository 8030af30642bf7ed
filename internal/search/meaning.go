package search

import (
	"context"
	"maps"
	"slices"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/search/lexical"
	"github.com/git-rekal/git-rekal/internal/search/query"
	"github.com/git-rekal/git-rekal/internal/search/semantic"
)

// How many sessions are looked at window by window: those with the best words, and those whose
// vector as a whole is nearest. The rest is told apart by words alone, which puts it behind
// these.
const (
	bestByWords   = 32
	bestByMeaning = 12
)

// meaning is the window of a session that is nearest to the question.
type meaning struct {
	cosine float64
	turn   int
}

// modelMeaning is what an embedding model says of a session.
type modelMeaning struct {
	passage     meaning // the nearest passage
	passageLift float64
	lift        float64 // of the session and of its nearest passage, weighted
	nearness    float64 // their cosines, with the same weights; 0 where the model is not the measured one
}

// meanings is what is known of the sessions that may be among the best, by session number, by the ledger's own model and by an embedding
// model. A session is missing where nothing is known.
type meanings struct {
	lsa        map[int]meaning
	model      map[int]modelMeaning
	modelShare float64 // how much the embedding model counts
}

// signal is a question as one model sees it.
type signal struct {
	windows *windows
	vector  []float32
	wholes  [][]byte // of each run of windows; nil: to be read

	near  []float64 // how near each session as a whole is, by number
	known []int     // the sessions that have a vector
}

// signalsOf are the two signals; one is nil where a model knows nothing of the question.
func signalsOf(s *Searcher, q query.Query, f *fetched, embedding []float32) (out [2]*signal) {
	if len(f.model.Terms) > 0 {
		out[0] = &signal{windows: &s.heads.windows, vector: f.model.Project(q.Stems), wholes: f.wholes}
	}
	if embedding != nil {
		out[1] = &signal{windows: &s.heads.embedded, vector: embedding}
	}
	return out
}

// embed asks for the vector of a question, beside what else is done for it. The function that it
// returns waits for it; the vector is nil where there is none.
func (s *Searcher) embed(ctx context.Context, text string, opt Options) func() []float32 {
	e := s.state.Embedded
	if opt.Embed == nil || e.Dim == 0 {
		return func() []float32 { return nil }
	}
	answer := make(chan []float32, 1)
	go func() {
		v := opt.Embed(ctx, e.Model, text)
		if len(v) != e.Dim {
			v = nil
		}
		semantic.Normalise(v)
		answer <- v
	}()
	return func() []float32 { return <-answer }
}

// meanings looks at the sessions that one of the signals, or the words, hold to be good.
func (s *Searcher) meanings(ctx context.Context, signals [2]*signal, matches []lexical.Match, opt Options) (*meanings, error) {
	wanted := make(map[int]bool)
	s.best(bestByWords, opt, func(n int) float64 { return matches[n].Score }, wanted)
	for _, g := range signals {
		if g == nil {
			continue
		}
		if err := s.near(ctx, g); err != nil {
			return nil, err
		}
		s.best(bestByMeaning, opt, func(n int) float64 { return g.near[n] }, wanted)
	}
	out := &meanings{}
	var err error
	if signals[0] != nil {
		if out.lsa, err = nearest(ctx, s.db, signals[0], wanted); err != nil {
			return nil, err
		}
	}
	if signals[1] != nil {
		out.model, err = s.lifts(ctx, signals[1], wanted)
	}
	return out, err
}

// near compares the question with each session as a whole.
func (s *Searcher) near(ctx context.Context, g *signal) error {
	if g.wholes == nil {
		var err error
		if g.wholes, err = db.ReadSpans(ctx, s.db, g.windows.wholes()); err != nil {
			return err
		}
	}
	g.near = make([]float64, len(s.index.Sessions))
	known := make([]bool, len(g.near))
	err := g.windows.eachWhole(g.wholes, len(g.near), func(n int, v semantic.Vector) { g.near[n], known[n] = v.Dot(g.vector), true })
	for n, is := range known {
		if is && !s.index.Dead(n) {
			g.known = append(g.known, n)
		}
	}
	return err
}

// nearest finds the nearest window of each session.
func nearest(ctx context.Context, r db.Querier, g *signal, wanted map[int]bool) (map[int]meaning, error) {
	stretches, err := g.windows.read(ctx, r, wanted)
	if err != nil {
		return nil, err
	}
	out := make(map[int]meaning, len(stretches))
	for n, stretch := range stretches {
		best := meaning{}
		for _, w := range stretch.Windows {
			if c := w.Dot(g.vector); c > best.cosine {
				best = meaning{c, w.Turn}
			}
		}
		out[n] = best
	}
	return out, nil
}

// ordinary is how many sessions tell how near an ordinary one's best passage is.
const ordinary = 32

// lifts is nearest for an embedding model, whose cosines say little by themselves: how far they are above the median. That of whole sessions
// is taken over all, that of passages over sessions evenly spread over all that have vectors. Filters don't change what is ordinary.
func (s *Searcher) lifts(ctx context.Context, g *signal, wanted map[int]bool) (map[int]modelMeaning, error) {
	sample, read := spread(g.known, ordinary), maps.Clone(wanted)
	for _, n := range sample {
		read[n] = true
	}
	near, err := nearest(ctx, s.db, g, read)
	if err != nil || len(sample) == 0 {
		return nil, err
	}
	ordinaryWhole := median(g.known, func(n int) float64 { return g.near[n] })
	ordinaryPassage := median(sample, func(n int) float64 { return near[n].cosine })
	out := make(map[int]modelMeaning, len(near))
	for n, passage := range near {
		if !wanted[n] {
			continue
		}
		m := modelMeaning{passage: passage, passageLift: lift(passage.cosine, ordinaryPassage)}
		m.lift = sessionWeight*lift(g.near[n], ordinaryWhole) + passageWeight*m.passageLift
		if s.state.Embedded.Model == MeasuredModel {
			m.nearness = sessionWeight*g.near[n] + passageWeight*passage.cosine
		}
		out[n] = m
	}
	return out, nil
}

// median is the middle one of some sessions' values, the lower of two.
func median(sessions []int, value func(n int) float64) float64 {
	values := make([]float64, len(sessions))
	for i, n := range sessions {
		values[i] = value(n)
	}
	slices.Sort(values)
	return values[(len(values)-1)/2]
}

// spread picks up to k of all, evenly.
func spread(all []int, k int) []int {
	k = min(k, len(all))
	out := make([]int, k)
	for i := range out {
		out[i] = all[i*len(all)/k]
	}
	return out
}
