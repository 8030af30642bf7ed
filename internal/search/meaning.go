package search

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/search/lexical"
	"github.com/git-rekal/git-rekal/internal/search/semantic"
)

// How many sessions are looked at passage by passage: those with the best words, and those whose
// vector as a whole is nearest. The rest is told apart by words alone, which puts it behind
// these.
const (
	bestByWords   = 32
	bestByMeaning = 12
)

// passageMatch is the passage of a session that is nearest to the question.
type passageMatch struct {
	cosine float64
	turn   int
}

// modelScore is what an embedding model says of a session.
type modelScore struct {
	passage     passageMatch // the nearest passage
	passageLift float64
	lift        float64 // of the session and of its nearest passage, weighted
	nearness    float64 // their cosines, with the same weights; 0 where the model is not the measured one
}

// modelScores is what an embedding model says of the sessions that may be among the best, by session number. A session
// is missing where nothing is known.
type modelScores struct {
	model      map[int]modelScore
	modelShare float64 // how much the embedding model counts
}

// sessionNearness is how near all sessions are to a question.
type sessionNearness struct {
	vector []float32 // of the question
	near   []float64 // how near each session as a whole is, by number
	known  []int     // the sessions that have a vector
}

// rank orders the sessions that have a vector, by how near they are; 0 for the others.
func (g *sessionNearness) rank(n int) float64 {
	if _, known := slices.BinarySearch(g.known, n); !known {
		return 0
	}
	return 2 + g.near[n]
}

// embed asks for the vector of a question in the background. The function that it returns waits for the vector, which
// is nil if there is none.
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

// scoreByModel looks at the sessions that the model, or the words, hold to be good. The vector is nil where the model
// says nothing.
func (s *Searcher) scoreByModel(ctx context.Context, vector []float32, matches []lexical.Match,
	opt Options,
) (*modelScores, error) {
	out := &modelScores{}
	if vector == nil {
		opt.pool(Pool{})
		return out, nil
	}
	g, err := s.nearSessions(ctx, vector)
	if err != nil {
		return nil, err
	}
	wanted := make(map[int]bool)
	s.addBest(bestByWords, opt, func(n int) float64 { return matches[n].Score }, wanted)
	s.addBest(bestByMeaning, opt, g.rank, wanted)
	out.model, err = s.scoreAboveMedian(ctx, g, wanted, opt)
	return out, err
}

// nearSessions compares the question with each session as a whole.
func (s *Searcher) nearSessions(ctx context.Context, vector []float32) (*sessionNearness, error) {
	g := &sessionNearness{vector: vector, near: make([]float64, len(s.index.Sessions))}
	wholes, err := db.ReadSpans(ctx, s.db, s.heads.embedded.wholes())
	if err != nil {
		return nil, err
	}
	known := make([]bool, len(g.near))
	err = s.heads.embedded.eachWhole(wholes, len(g.near),
		func(n int, v semantic.Vector) { g.near[n], known[n] = v.Dot(vector), true })
	for n, is := range known {
		if is && !s.index.IsHidden(n) {
			g.known = append(g.known, n)
		}
	}
	return g, err
}

// nearestPassages finds the nearest passage of each session.
func (s *Searcher) nearestPassages(ctx context.Context, g *sessionNearness,
	wanted map[int]bool,
) (map[int]passageMatch, error) {
	stretches, err := s.heads.embedded.read(ctx, s.db, wanted)
	if err != nil {
		return nil, err
	}
	out := make(map[int]passageMatch, len(stretches))
	for n, stretch := range stretches {
		best := passageMatch{}
		for _, w := range stretch.Passages {
			if c := w.Dot(g.vector); c > best.cosine {
				best = passageMatch{c, w.Turn}
			}
		}
		out[n] = best
	}
	return out, nil
}

// ordinary is how many sessions tell how near an ordinary one's best passage is.
const ordinary = 32

// scoreAboveMedian makes comparable what nearestPassages finds, because the cosines of an embedding model say little by
// themselves: how far they are above the median. That of whole sessions is taken over all, that of passages over
// sessions evenly spread over all that have vectors; of several indexes both are taken over such sessions of each.
// Filters don't change what is ordinary.
func (s *Searcher) scoreAboveMedian(ctx context.Context, g *sessionNearness, wanted map[int]bool,
	opt Options,
) (map[int]modelScore, error) {
	sample, read := pickEvenly(g.known, ordinary), maps.Clone(wanted)
	for _, n := range sample {
		read[n] = true
	}
	near, err := s.nearestPassages(ctx, g, read)
	if err != nil {
		return nil, err
	}
	var own Pool
	for _, n := range sample {
		own.Ordinary = append(own.Ordinary, Nearness{g.near[n], near[n].cosine, float64(len(g.known)) / float64(len(sample))})
	}
	all, out := opt.pool(own).Ordinary, make(map[int]modelScore, len(near))
	if len(all) == 0 {
		return out, nil
	}
	wholes := all
	if opt.Pool == nil {
		wholes = nil
		for _, n := range g.known {
			wholes = append(wholes, Nearness{Whole: g.near[n], Sessions: 1})
		}
	}
	ordinaryWhole := median(wholes, func(o Nearness) float64 { return o.Whole })
	ordinaryPassage := median(all, func(o Nearness) float64 { return o.Passage })
	for n, passage := range near {
		if !wanted[n] {
			continue
		}
		m := modelScore{passage: passage, passageLift: liftOver(passage.cosine, ordinaryPassage)}
		m.lift = sessionWeight*liftOver(g.near[n], ordinaryWhole) + passageWeight*m.passageLift
		if s.state.Embedded.Model == MeasuredModel {
			m.nearness = sessionWeight*g.near[n] + passageWeight*passage.cosine
		}
		out[n] = m
	}
	return out, nil
}

// median is the middle one of sessions' values, the lower of two.
func median(all []Nearness, value func(Nearness) float64) float64 {
	all = slices.SortedFunc(slices.Values(all), func(a, b Nearness) int { return cmp.Compare(value(a), value(b)) })
	total := 0.0
	for _, o := range all {
		total += o.Sessions
	}
	i := 0
	for below := all[0].Sessions; below < total/2; below += all[i].Sessions {
		i++
	}
	return value(all[i])
}

// pickEvenly picks up to k of all, evenly.
func pickEvenly(all []int, k int) []int {
	k = min(k, len(all))
	out := make([]int, k)
	for i := range out {
		out[i] = all[i*len(all)/k]
	}
	return out
}
