package lexical

import (
	"math"
	"slices"

	"github.com/git-rekal/git-rekal/internal/search/block"
	"github.com/git-rekal/git-rekal/internal/search/query"
)

// The weights of the recipe (docs/search.md): a session's score is a sum over its best units,
// the session as a whole, and its best units by neighbouring words. Session and pairs weigh
// more than in recipe R, because whole forms add to the units alone. k1 and b are BM25's
// (Robertson and Zaragoza, 2009, section 3.5): how soon repetition saturates, and how much
// length counts.
const (
	unitK1, unitB       = 1.2, 0.6
	sessionK1, sessionB = 4.0, 0.6
	unitDecay           = 0.3 // of each next best unit
	pairDecay           = 0.6
	topUnits            = 6
	topPairs            = 4
	weightUnits         = 0.8
	weightSession       = 0.5
	weightPairs         = 0.4
	pairReach           = 2
)

// Index is what scoring needs besides postings: the units and sessions of all runs.
type Index struct {
	Sessions []string // IDs by session number
	units    []Unit
	live     []bool  // by unit: neither of a removed session nor a title that was replaced
	dead     []bool  // by session
	n        float64 // live units that are no titles
	words    float64 // in those
	stems    float64
	sessions float64 // live sessions
	length   []int   // words of each session, the title's included
	total    float64 // of all live sessions
}

// NewIndex joins the headers of runs that follow each other, without the sessions whose
// numbers are in removed. The error is block.ErrFormat.
func NewIndex(headers []*Header, removed []int) (*Index, error) {
	x := &Index{}
	for _, h := range headers {
		if h.Base != len(x.units) || h.FirstSession != len(x.Sessions) {
			return nil, block.ErrFormat
		}
		x.Sessions = append(x.Sessions, h.Sessions...)
		x.units = append(x.units, h.Units...)
	}
	x.dead = make([]bool, len(x.Sessions))
	for _, s := range removed {
		if s < 0 || s >= len(x.dead) {
			return nil, block.ErrFormat
		}
		x.dead[s] = true
	}
	for _, u := range x.units {
		if u.Session < 0 || int(u.Session) >= len(x.dead) {
			return nil, block.ErrFormat
		}
	}
	x.count()
	return x, nil
}

// count fills in live and the totals.
func (x *Index) count() {
	x.live = make([]bool, len(x.units))
	x.length = make([]int, len(x.Sessions))
	title := make([]int, len(x.Sessions)) // unit of the latest title, + 1
	for i, u := range x.units {
		if x.dead[u.Session] {
			continue
		}
		x.live[i] = true
		x.length[u.Session] += int(u.Len)
		if u.Kind != Title {
			x.n++
			x.words += float64(u.Len)
			x.stems += float64(u.Stems)
			continue
		}
		if old := title[u.Session]; old > 0 {
			x.live[old-1] = false
			x.length[u.Session] -= int(x.units[old-1].Len)
		}
		title[u.Session] = i + 1
	}
	for s, n := range x.length {
		if !x.dead[s] {
			x.sessions++
			x.total += float64(n)
		}
	}
}

// Units returns the units of all runs, by number. They are not to be changed.
func (x *Index) Units() []Unit { return x.units }

// Dead reports whether a session was removed.
func (x *Index) Dead(session int) bool { return x.dead[session] }

// Match is what the words of a question found in one session.
type Match struct {
	Score float64 // 0 and up; about 2 when every term stands in several short turns
	Turn  int     // index of the best turn; -1 when no turn has any of the words
	Kinds [4]bool // by Kind: whether such a unit holds a term that is no function word
	Exact bool    // an exact term was found whole
}

// Score scores the sessions that hold a term of q: one that is no function word, where q has
// such. Lists are the postings of q's terms; a term that is nowhere may be missing. The result is
// by session number, nil for no match.
func (x *Index) Score(q query.Query, lists map[string]*List) ([]*Match, error) {
	s := scorer{
		Index:   x,
		units:   make([]float64, len(x.units)),
		pairs:   make([]float64, len(x.units)),
		session: make([]float64, len(x.Sessions)),
		matches: make([]*Match, len(x.Sessions)),
		tf:      make([]int, len(x.Sessions)),
	}
	norm := 0.0
	for _, t := range q.Terms {
		norm += s.term(t, lists[t.Text])
	}
	for _, p := range q.Pairs {
		if err := s.pair(lists[p.First], lists[p.Second]); err != nil {
			return nil, err
		}
	}
	s.sum(norm, slices.ContainsFunc(q.Terms, func(t query.Term) bool { return !t.Weak }))
	return s.matches, nil
}

// scorer accumulates. Each slot is added to in the order of q.Terms and q.Pairs, so equal
// content gives bit-equal sums.
type scorer struct {
	*Index
	units   []float64 // BM25 of a unit by words
	pairs   []float64 // BM25 of a unit by pairs
	session []float64 // BM25 of a session as a whole
	matches []*Match
	tf      []int // of the term at hand, by session
}

// term adds one term's scores and returns its idf.
func (s *scorer) term(t query.Term, l *List) float64 {
	if l == nil {
		return idf(s.n, 0)
	}
	df := 0
	for _, u := range l.Units {
		if s.live[u] && s.Index.units[u].Kind != Title {
			df++
		}
	}
	weight := idf(s.n, df)
	average := s.words / s.n
	var found []int32
	for i, n := range l.Units {
		u := s.Index.units[n]
		if !s.live[n] {
			continue
		}
		if s.tf[u.Session] == 0 {
			found = append(found, u.Session)
		}
		s.tf[u.Session] += int(l.TFs[i])
		s.note(u, t)
		if u.Kind != Title {
			s.units[n] += weight * bm25(float64(l.TFs[i]), float64(u.Len)/average, unitK1, unitB)
		}
	}
	s.wholes(found)
	return weight
}

// wholes adds the scores of whole sessions for the term at hand, and forgets its counts.
func (s *scorer) wholes(found []int32) {
	weight := idf(s.sessions, len(found))
	average := s.total / s.sessions
	for _, n := range found {
		s.session[n] += weight * bm25(float64(s.tf[n]), float64(s.length[n])/average, sessionK1, sessionB)
		s.tf[n] = 0
	}
}

func (s *scorer) note(u Unit, t query.Term) {
	m := s.matches[u.Session]
	if m == nil {
		m = &Match{Turn: -1}
		s.matches[u.Session] = m
	}
	if !t.Weak {
		m.Kinds[u.Kind] = true
	}
	m.Exact = m.Exact || t.Exact
}

// pair adds one pair's scores.
func (s *scorer) pair(a, b *List) error {
	if a == nil || b == nil {
		return nil
	}
	type hit struct {
		unit uint32
		n    int
	}
	var hits []hit
	err := near(a, b, pairReach, func(unit uint32, n int) {
		if s.live[unit] && s.Index.units[unit].Kind != Title {
			hits = append(hits, hit{unit, n})
		}
	})
	weight := idf(s.n, len(hits))
	average := s.stems / s.n
	for _, h := range hits {
		s.pairs[h.unit] += weight * bm25(float64(h.n), float64(s.Index.units[h.unit].Stems)/average, unitK1, unitB)
	}
	return err
}

// sum makes the matches' scores of what was accumulated. Named says that function words alone
// make no match.
func (s *scorer) sum(norm float64, named bool) {
	type best struct {
		units [topUnits]float64
		pairs [topPairs]float64
		turn  float64 // the best content turn's score
	}
	bests := make([]best, len(s.Sessions))
	for i, v := range s.units {
		if v == 0 {
			continue
		}
		u := s.Index.units[i]
		b, m := &bests[u.Session], s.matches[u.Session]
		insert(b.units[:], v)
		insert(b.pairs[:], s.pairs[i])
		v += s.pairs[i]
		if u.Kind == Content && (v > b.turn || v == b.turn && int(u.Turn) < m.Turn) {
			b.turn, m.Turn = v, int(u.Turn)
		}
	}
	for i, m := range s.matches {
		if m == nil {
			continue
		}
		if named && m.Kinds == [4]bool{} {
			s.matches[i] = nil
			continue
		}
		b := &bests[i]
		m.Score = (weightUnits*decayed(b.units[:], unitDecay) +
			weightSession*s.session[i] +
			weightPairs*decayed(b.pairs[:], pairDecay)) / norm
	}
}

// insert puts v into top, which is descending, where it belongs.
func insert(top []float64, v float64) {
	last := len(top) - 1
	if v <= top[last] {
		return
	}
	i := last
	for ; i > 0 && top[i-1] < v; i-- {
		top[i] = top[i-1]
	}
	top[i] = v
}

func decayed(top []float64, decay float64) float64 {
	sum, w := 0.0, 1.0
	for _, v := range top {
		sum += w * v
		w *= decay
	}
	return sum
}

// idf is the weight of what df of n hold; it is never negative.
func idf(n float64, df int) float64 {
	return math.Log(1 + (n-float64(df)+0.5)/(float64(df)+0.5))
}

// bm25 is the share of a term's weight that tf occurrences earn in a text of length times
// the average.
func bm25(tf, length, k1, b float64) float64 {
	return tf * (k1 + 1) / (tf + k1*(1-b+b*length))
}
