package lexical

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"github.com/git-rekal/git-rekal/internal/search/block"
	"github.com/git-rekal/git-rekal/internal/search/query"
)

// The weights of the recipe (docs/lab/search.md): a session's score is a sum over its best units,
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
	weightEdited        = 0.4 // what a session changed says more of it than what it read
	weightTitle         = 2   // a word of the title counts as often in the session as a whole
	pairReach           = 2
)

// minLikeness is how like a typed word another must be to count as the same, mistyped: one slip in five characters.
// A less like word may answer, but the typed word is Unknown.
const minLikeness = 0.8

// maxMissed is how much of the weight of all words may stand nowhere, so that a session holds anything of the question:
// what is left says little.
const maxMissed = 0.7

// heldAdvantage is how many times as much as its BM25 the weight of a word counts where the best turn is chosen: one
// that holds all words once tells more than one that repeats some (docs/lab/search.md, "The turn that is shown").
const heldAdvantage = 3

// turnAdvantage is how many times the best turn's score a path or command needs to be shown instead: a turn tells a
// reader more.
const turnAdvantage = 2

// Match is what the words of a question found in one session.
type Match struct {
	Found bool
	Score float64     // 0 and up; about 2 when every term stands in several short turns
	Turn  int         // index of the best turn; -1 when no turn has any of the words
	Next  int         // index of the next best turn; -1 when no other turn has any
	Best  Kind        // of the unit that answers best: Content unless another scores much higher
	Kinds [kinds]bool // by Kind: whether such a unit holds a term that is no function word
	Exact bool        // an exact term was found whole
	Like  bool        // a word was found that is like one of the question
	Near  bool        // two neighbours of the question stand together
	// 0 to 1: the share of the weight of the question's words that it holds, without function words and those that
	// stand nowhere; 0 where these are most
	Held float64
}

// Scored is what the words of a question found.
type Scored struct {
	Matches []Match  // by session number
	Unknown []string // words, as they were typed, that stand nowhere, nor does one that is like them
	Missed  float64  // 0 to 1: the share of Unknown in the weight of all words
}

// Lists are the postings of a question's terms: by term, then by run, nil where a run has none.
type Lists map[string][]*List

// Put sets the postings of a term in one of so many runs.
func (l Lists) Put(term string, run, runs int, postings *List) {
	if l[term] == nil {
		l[term] = make([]*List, runs)
	}
	l[term][run] = postings
}

// Score scores the sessions that hold a term of q; function words count only if q has no other terms. others are the
// counts of all indexes that are searched together, by which terms are weighed; nil if this index is searched alone.
func (x *Index) Score(q query.Query, lists Lists, others *Counts) (Scored, error) {
	s := scorer{
		Index:   x,
		others:  others,
		units:   x.newUnitScores(q, lists),
		held:    x.newUnitScores(q, lists),
		session: make([]float64, len(x.Sessions)),
		Scored:  Scored{Matches: make([]Match, len(x.Sessions))},
		tf:      make([]int, len(x.Sessions)),
		norms:   normTable(mean(x.words, x.n), unitK1, unitB),
	}
	if len(q.Pairs) > 0 {
		s.pairs, s.pairNorms = x.newUnitScores(q, lists), normTable(mean(x.stems, x.n), unitK1, unitB)
	}
	paired := make(chan error, 1)
	go func() { paired <- s.addPairs(q.Pairs, lists) }() // they touch nothing that terms touch
	norm, err := s.addTerms(q, lists)
	if err := cmp.Or(<-paired, err); err != nil {
		return Scored{}, err
	}
	s.setScores(norm, !q.IsOnlyStopWords())
	return s.Scored, nil
}

// newUnitScores makes a score of zero for each unit. Where most of this memory will be added to, it is written to at
// first: what is read before it is written to costs two page faults.
func (x *Index) newUnitScores(q query.Query, lists Lists) []float32 {
	const page = 1 << 10
	out, postings := make([]float32, x.units), 0
	for _, t := range q.Terms {
		for _, l := range lists[t.Text] {
			if l != nil {
				postings += l.n
			}
		}
	}
	if postings > len(out)/page {
		clear(out)
	}
	return out
}

// scorer accumulates. Each slot is added to in the order of q.Terms and q.Pairs, so equal
// content gives bit-equal sums.
type scorer struct {
	*Index
	others  *Counts
	units   []float32 // BM25 of a unit by words
	held    []float32 // the weights of the words that a unit holds, each once
	pairs   []float32 // BM25 of a unit by pairs; nil without pairs
	session []float64 // BM25 of a session as a whole
	tf      []int     // of the term at hand, by session
	known   float64   // the weight of the words that stand somewhere
	Scored

	norms, pairNorms *[256]float32
}

func (s *scorer) addPairs(pairs []query.Pair, lists Lists) error {
	for _, p := range pairs {
		if err := s.addPair(lists[p.First], lists[p.Second]); err != nil {
			return err
		}
	}
	return nil
}

// mean is the average length of n texts; 1 where nothing has a length (hashes are no words), so that
// lengths can be divided by it.
func mean(total, n float64) float64 {
	if total == 0 {
		return 1
	}
	return total / n
}

// normTable is what a unit's length adds to how often a term stands there, by norm.
func normTable(average, k1, b float64) *[256]float32 {
	var t [256]float32
	for c := range t {
		t[c] = float32(k1 * (1 - b + b*normLength(byte(c))/average))
	}
	return &t
}

// A term that so large a share of the units hold, and so many, is not looked at where a question
// has rarer ones: it takes long to read and moves nothing (docs/lab/search.md).
const (
	commonShare = 0.3
	commonUnits = 20_000
)

func (s *scorer) isCommon(df int) bool { return df > commonUnits && float64(df) > commonShare*s.n }

// addTerms adds the scores of all terms, and returns the sum of their idf, or of the highest q.Full of them.
func (s *scorer) addTerms(q query.Query, lists Lists) (norm float64, err error) {
	terms := q.Terms
	dfs, err := s.countTerms(terms, lists)
	if err != nil {
		return 0, err
	}
	rare := false
	weights := make([]float64, len(terms))
	for i, t := range terms {
		weights[i] = s.unitWeight(t.Text, dfs[i])
		norm += weights[i]
		rare = rare || !t.Weak && dfs[i] > 0 && !s.isCommon(dfs[i])
	}
	if q.Full > 0 && len(terms) > q.Full {
		norm = 0
		for i, weight := range slices.Backward(slices.Sorted(slices.Values(weights))) {
			if i < len(terms)-q.Full {
				break
			}
			norm += weight
		}
	}
	for i, t := range terms {
		if rare && s.isCommon(dfs[i]) {
			continue
		}
		if err := s.addTerm(t, lists[t.Text], weights[i]); err != nil {
			return 0, err
		}
	}
	return norm, nil
}

// unitWeight is the idf of a term that so many units hold.
func (s *scorer) unitWeight(term string, df int) float64 {
	if all, ok := s.others.countOf(term); ok {
		return idf(s.others.Units, all.Units)
	}
	return idf(s.n, df)
}

// countTerms returns how many units hold each term (df), and sets Unknown and Missed.
func (s *scorer) countTerms(terms []query.Term, lists Lists) (dfs []int, err error) {
	dfs = make([]int, len(terms))
	all, missed := 0.0, 0.0
	for i, t := range terms {
		titles := 0
		if dfs[i], titles, err = s.df(lists[t.Text]); err != nil {
			return nil, err
		}
		if t.Word == "" {
			continue
		}
		weight := s.unitWeight(t.Text, dfs[i])
		elsewhere, _ := s.others.countOf(t.Text)
		if dfs[i]+titles+elsewhere.Sessions > 0 && isRead(t) {
			all += weight
			continue
		}
		all, missed = all+idf(s.n, 0), missed+idf(s.n, 0)
		s.Unknown = append(s.Unknown, t.Word)
	}
	if missed > 0 {
		s.Missed = missed / all
	}
	return dfs, nil
}

// isRead reports whether a term is what was typed, or so like it that it counts as the same.
func isRead(t query.Term) bool { return t.Like == 0 || t.Like >= minLikeness }

// addTerm adds one term's scores.
func (s *scorer) addTerm(t query.Term, lists []*List, weight float64) (err error) {
	earned := 1.0
	if t.Like > 0 {
		earned = t.Like
	}
	var found []int32
	for run, l := range lists {
		if l == nil {
			continue
		}
		if found, err = s.addList(run, l, t, float32(earned*weight*(unitK1+1)), found); err != nil {
			return err
		}
	}
	s.addToSessions(t.Text, found, earned)
	elsewhere, _ := s.others.countOf(t.Text)
	if t.Word != "" && !t.Weak && isRead(t) && len(found)+elsewhere.Sessions > 0 {
		s.known += weight
		for _, n := range found {
			s.Matches[n].Held += weight
		}
	}
	return nil
}

// Rarity is the idf of a term by its postings, with those of what is hidden; 0 for a term that stands nowhere.
func (x *Index) Rarity(lists []*List) float64 {
	df := 0
	for _, l := range lists {
		if l != nil {
			df += l.n - l.titles
		}
	}
	if df == 0 {
		return 0
	}
	return idf(x.n, df)
}

// df is how many live units hold a term, and how many live titles; titles are no units.
func (s *scorer) df(lists []*List) (units, titles int, err error) {
	for run, l := range lists {
		if l == nil {
			continue
		}
		units, titles = units+l.n-l.titles, titles+l.titles
		if !s.hides {
			continue
		}
		at, c := s.partCursor(run), l.cursor()
		for c.next() {
			switch p := at.find(c.unit); {
			case !s.isOut(run, at.at):
			case p.Kind == Title:
				titles--
			default:
				units--
			}
		}
		if c.bad {
			return 0, 0, block.ErrFormat
		}
	}
	return units, titles, nil
}

// partCursor walks the parts of a run beside its postings.
func (x *Index) partCursor(run int) partCursor {
	return partCursor{parts: x.runs[run].Parts, first: x.first[run], at: -1}
}

type partCursor struct {
	parts []Part
	first []uint32
	at    int // the part at hand; -1 before the first
	end   uint32
}

// find returns the part of a unit; units only grow.
func (c *partCursor) find(unit uint32) *Part {
	for unit >= c.end || c.at < 0 {
		c.at++
		c.end = c.first[c.at+1]
	}
	return &c.parts[c.at]
}

// addList adds the scores of one term in one run, and appends to found the sessions that have it
// and that were not found yet.
func (s *scorer) addList(run int, l *List, t query.Term, weight float32, found []int32) ([]int32, error) {
	at, c := s.partCursor(run), l.cursor()
	words, base := s.runs[run].Words, uint32(s.runs[run].Base)
	var p *Part
	part, times, counts, ranks, isWord := -1, 1, false, false, t.Word != "" && !t.Weak
	for c.next() {
		if p = at.find(c.unit); at.at != part {
			part = at.at
			counts = !s.isOut(run, part) && !s.replaced[run][part]
			ranks = counts && p.Kind != Title
			times = weightOfKind(p.Kind)
			if counts {
				s.noteMatch(p, t)
				if s.tf[p.Session] == 0 {
					found = append(found, p.Session)
				}
			}
		}
		if counts {
			s.tf[p.Session] += times * c.tf
		}
		if ranks {
			tf := float32(c.tf)
			if s.units[c.unit] += weight * tf / (tf + s.norms[words[c.unit-base]]); isWord {
				s.held[c.unit] += weight
			}
		}
	}
	if c.bad {
		return nil, block.ErrFormat
	}
	return found, nil
}

// addToSessions adds earned (0 to 1) times the term's score to each of the sessions found, taken as a whole, and clears
// tf.
func (s *scorer) addToSessions(term string, found []int32, earned float64) {
	weight := earned * idf(s.sessions, len(found))
	if all, ok := s.others.countOf(term); ok {
		weight = earned * idf(s.others.Sessions, all.Sessions)
	}
	average := mean(s.total, s.sessions)
	for _, n := range found {
		s.session[n] += weight * bm25(float64(s.tf[n]), float64(s.length[n])/average, sessionK1, sessionB)
		s.tf[n] = 0
	}
}

// noteMatch notes in the match of a session which part holds a term, and what kind of term.
func (s *scorer) noteMatch(p *Part, t query.Term) {
	m := &s.Matches[p.Session]
	if !m.Found {
		m.Found, m.Turn, m.Next = true, -1, -1
	}
	if !t.Weak {
		m.Kinds[p.Kind] = true
	}
	m.Exact = m.Exact || t.Exact
	m.Like = m.Like || t.Like > 0
}

// addPair adds one pair's scores.
func (s *scorer) addPair(a, b []*List) error {
	type hit struct {
		unit, n uint32
		norm    byte
	}
	var hits []hit
	for run := range min(len(a), len(b)) {
		if a[run] == nil || b[run] == nil {
			continue
		}
		at, h := s.partCursor(run), s.runs[run]
		err := eachNear(a[run], b[run], pairReach, func(unit uint32, n int) {
			if p := at.find(unit); p.Kind != Title && !s.isOut(run, at.at) {
				hits = append(hits, hit{unit, uint32(n), h.Stems[unit-uint32(h.Base)]})
			}
		})
		if err != nil {
			return err
		}
	}
	weight := float32(idf(s.n, len(hits)) * (unitK1 + 1))
	for _, h := range hits {
		tf := float32(h.n)
		s.pairs[h.unit] += weight * tf / (tf + s.pairNorms[h.norm])
	}
	return nil
}

// bestUnits are the best scores of a session's units.
type bestUnits struct {
	units      [topUnits]float32
	pairs      [topPairs]float32
	edited     float32
	turnScore  float64 // the best turn's score
	otherScore float64 // the best other unit's
	bestTells  float64 // how much the turn that is shown tells of the question
	nextTells  float64 // and the next one
}

// setScores makes the matches' scores of the sums. With notOnlyStops, function words alone make no match.
func (s *scorer) setScores(norm float64, notOnlyStops bool) {
	bests := make([]bestUnits, len(s.Sessions))
	half := int32(len(bests) / 2)
	var beside sync.WaitGroup
	beside.Go(func() { s.takeBests(bests, 0, half) })
	s.takeBests(bests, half, int32(len(bests)))
	beside.Wait()
	for i := range s.Matches {
		m := &s.Matches[i]
		if !m.Found {
			continue
		}
		if notOnlyStops && m.Kinds == [kinds]bool{} {
			*m = Match{}
			continue
		}
		b := &bests[i]
		m.Near = b.pairs[0] > 0
		if s.known == 0 || s.Missed > maxMissed {
			m.Held = 0
		} else {
			m.Held /= s.known
		}
		if turnAdvantage*b.turnScore >= b.otherScore {
			m.Best = Content
		}
		m.Score = (weightUnits*decayedSum(b.units[:], unitDecay) +
			weightSession*s.session[i] +
			weightPairs*decayedSum(b.pairs[:], pairDecay) +
			weightEdited*float64(b.edited)) / norm
	}
}

// takeBests takes the best units of the sessions from one number up to another.
func (s *scorer) takeBests(bests []bestUnits, from, to int32) {
	for run, h := range s.runs {
		for i, p := range h.Parts {
			if from <= p.Session && p.Session < to && s.Matches[p.Session].Found && p.Kind != Title {
				s.addBest(p, s.first[run][i], &bests[p.Session])
			}
		}
	}
}

// addBest takes the best units of a part, which begin with firstUnit, into b.
func (s *scorer) addBest(p Part, firstUnit uint32, b *bestUnits) {
	m := &s.Matches[p.Session]
	for i, unit := range s.units[firstUnit : firstUnit+uint32(p.Units)] {
		if unit == 0 {
			continue
		}
		v := float64(unit)
		keepBest(b.units[:], unit, p.Kind)
		if p.Kind == Edited {
			b.edited = max(b.edited, unit)
		}
		if s.pairs != nil {
			pair := s.pairs[firstUnit+uint32(i)]
			keepBest(b.pairs[:], pair, p.Kind)
			v += float64(pair)
		}
		switch {
		case p.Kind.IsTurn():
			b.turnScore = max(b.turnScore, v)
			b.takeTurn(m, int(p.Turn)+i, v+heldAdvantage*float64(s.held[firstUnit+uint32(i)]))
		case v > b.otherScore:
			b.otherScore, m.Best = v, p.Kind
		}
	}
}

// takeTurn keeps the best two turns to be shown.
func (b *bestUnits) takeTurn(m *Match, turn int, tells float64) {
	switch {
	case tells > b.bestTells || tells == b.bestTells && turn < m.Turn:
		b.nextTells, m.Next = b.bestTells, m.Turn
		b.bestTells, m.Turn = tells, turn
	case tells > b.nextTells:
		b.nextTells, m.Next = tells, turn
	}
}

// keepBest puts a unit's score among the best. A session comes back to its subject in turn after turn, a memory names
// it once, so a memory's score counts in each place of top.
//
// Checked with 21 questions about ten memories among 60 real sessions, which chose no weight. With the title in the
// session as a whole only, 7 found theirs first and 6 not at all (mean reciprocal rank .45). With the title in the
// unit, too, 13 (.73). With this, and where a memory hides no session, 16 (.85), and the others within the first eight.
func keepBest(top []float32, v float32, kind Kind) {
	if kind == Memory {
		for i := range top {
			top[i] = v
		}
		return
	}
	insertDescending(top, v)
}

// insertDescending puts v into top, which is descending, where it belongs.
func insertDescending(top []float32, v float32) {
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

func decayedSum(top []float32, decay float64) float64 {
	sum, w := 0.0, 1.0
	for _, v := range top {
		sum += w * float64(v)
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
