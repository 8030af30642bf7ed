package search

import (
	"slices"

	"github.com/git-rekal/git-rekal/internal/search/lexical"
	"github.com/git-rekal/git-rekal/internal/search/query"
)

// fewestWeak is how many come where none is strong, if so many were found: the best one, and five more that may be
// meant. Others come if their scores are near the best one's.
const fewestWeak = 6

// named is what it is worth to be named: about as much as to hold all words of the question.
const named = 1.0

// hits fuses and orders. Only what comes out is made a Hit of: in a large ledger some thousand
// sessions have one of the words.
func (s *Searcher) hits(q query.Query, scored lexical.Scored, near *modelScores, opt Options) []Hit {
	matches := scored.Matches
	var allowed []int
	best := lexicalBest{}
	for n, id := range s.index.Sessions {
		if s.index.IsHidden(n) || opt.Allow != nil && !opt.Allow(id) {
			continue
		}
		if opt.Named != nil && opt.Named(id) {
			matches[n].Score += named
			matches[n].Exact = true
		}
		allowed, best = append(allowed, n), best.best(lexicalBest{matches[n].Score, matches[n].Held})
	}
	near.modelShare = modelShare(opt.pool(Pool{Lexical: best}).Lexical)
	var found []candidate
	for _, n := range allowed {
		if score := near.score(n, matches[n]); score > 0 {
			found = append(found, candidate{n, score})
		}
	}
	weak, bar := false, 0.0
	if !opt.Weak {
		found, weak, bar = s.keepStrong(q, found, scored, near, opt)
	}
	s.prefer(found, opt.Prefer)
	slices.SortFunc(found, s.compare)
	if weak && opt.Short {
		found = found[:min(1, len(found))]
	} else if weak {
		found = s.nearestWeak(found, allowed, near, opt.strongShare())
	}
	if opt.K > 0 && len(found) > opt.K {
		found = found[:opt.K]
	}
	out := make([]Hit, len(found))
	for i, c := range found {
		out[i] = hitOf(s.index.Sessions[c.n], matches[c.n], near.model[c.n], near.modelShare)
		out[i].Score, out[i].Read, out[i].Weak, out[i].Best = c.score, q.Read, weak, bar
	}
	return out
}

// score is what a session is ordered by; 0 when nothing was found in it.
func (m *modelScores) score(n int, match lexical.Match) float64 {
	score, lift := max(match.Score, 0), m.model[n].lift
	if score == 0 && lift < minLift {
		return 0
	}
	return score + m.modelShare*lift
}

// prefer lifts the sessions that are preferred. It comes behind the judgement, so that it makes no answer strong, and
// drops none.
func (s *Searcher) prefer(found []candidate, isPreferred func(string) bool) {
	for i, c := range found {
		if isPreferred != nil && isPreferred(s.index.Sessions[c.n]) {
			found[i].score *= preferred
		}
	}
}

// nearestWeak are the best of the weak candidates. If they are fewer than fewestWeak, the nearest others join them,
// which share no word with the question: better than nothing.
func (s *Searcher) nearestWeak(found []candidate, allowed []int, near *modelScores, share float64) []candidate {
	n := min(len(found), fewestWeak)
	for n < len(found) && found[n].score >= share*found[0].score {
		n++
	}
	var others []candidate
	for _, i := range allowed {
		isFound := slices.ContainsFunc(found, func(c candidate) bool { return c.n == i })
		if model, ok := near.model[i]; ok && !isFound {
			others = append(others, candidate{i, leastScore + minModelShare*max(0, model.passage.cosine)})
		}
	}
	slices.SortFunc(others, s.compare)
	return append(found[:n], others[:min(len(others), max(0, fewestWeak-n))]...)
}

// strongShare is the share of the best score that others need.
func (o Options) strongShare() float64 {
	if o.Far {
		return farShare
	}
	return strongShare
}

// hitOf makes a hit of what was found in a session, but for its score.
func hitOf(id string, m lexical.Match, model modelScore, modelShare float64) Hit {
	h := Hit{
		Session: id, Turn: -1, Next: -1, Passage: MatchedContent, Lexical: m.Score, Embedding: model.passageLift,
		Memory: m.Kinds[lexical.Memory],
	}
	if m.Found {
		h.Turn, h.Next = m.Turn, m.Next
	}
	isNear := modelShare*model.lift > m.Score || m.Score == 0 // the meaning says more than the words
	switch {
	case isNear && model.passage.cosine > 0:
		h.Turn, h.Next = model.passage.turn, h.Turn
	case m.Best == lexical.Edited || m.Best == lexical.Paths:
		h.Turn, h.Passage = -1, MatchedFiles
	case m.Best == lexical.Commands:
		h.Turn, h.Passage = -1, MatchedCommand
	}
	h.Matched = matchReasons(m, h.Embedding >= minLift || isNear)
	return h
}

// keepStrong keeps the strong candidates. If there are none, all candidates are weak, and stay, unless another index
// has a strong one. bar is the score that sessions are measured by, that of the best one in any index.
func (s *Searcher) keepStrong(q query.Query, found []candidate, scored lexical.Scored, near *modelScores,
	opt Options,
) (kept []candidate, weak bool, bar float64) {
	isAnswered := s.isAnswered(q, found, scored, near, opt)
	best := s.bestScores(found, scored)
	isStrong := func(c candidate) bool {
		m, bar := scored.Matches[c.n], best.session
		if m.Kinds[lexical.Memory] {
			bar = best.any
		}
		return isAnswered && (bar >= strongEnough && c.score >= opt.strongShare()*bar || q.Anchors && m.Exact)
	}
	own := Pool{}
	has := slices.ContainsFunc(found, isStrong)
	if has {
		own.Strong = best.session
	}
	best.session = opt.pool(own).Strong
	if !has && best.session == 0 {
		return found, true, 0
	}
	return slices.DeleteFunc(found, func(c candidate) bool { return !isStrong(c) }), false, best.session
}

// bestScores are those of candidates. Sessions are measured by the best session, so that a memory hides no session.
type bestScores struct{ session, any float64 }

func (s *Searcher) bestScores(found []candidate, scored lexical.Scored) (best bestScores) {
	for _, c := range found {
		best.any = max(best.any, c.score)
		if !scored.Matches[c.n].Kinds[lexical.Memory] {
			best.session = max(best.session, c.score)
		}
	}
	return best
}

// matchReasons names what took part in a hit.
func matchReasons(m lexical.Match, means bool) []string {
	var out []string
	for _, r := range []struct {
		name string
		is   bool
	}{
		// Nothing but function words was asked where no kind has a word to name.
		{MatchedContent, m.Kinds[lexical.Content] || m.Kinds[lexical.Memory] ||
			m.Found && m.Turn >= 0 && m.Kinds == [len(m.Kinds)]bool{}},
		{MatchedTitle, m.Kinds[lexical.Title]},
		{MatchedFiles, m.Kinds[lexical.Edited] || m.Kinds[lexical.Paths]},
		{MatchedCommand, m.Kinds[lexical.Commands]},
		{MatchedTerms, m.Exact},
		{MatchedNgram, m.Like},
		{MatchedSemantic, means},
	} {
		if r.is {
			out = append(out, r.name)
		}
	}
	return out
}
