package search

import (
	"slices"

	"github.com/git-rekal/git-rekal/internal/search/lexical"
	"github.com/git-rekal/git-rekal/internal/search/query"
)

// fewestWeak is how many come where none is strong, if so many were found: the best one, and five more that may be meant. Others come if their
// scores are near the best one's.
const fewestWeak = 6

// named is what it is worth to be named: about as much as to hold all words of the question.
const named = 1.0

// hits fuses and orders. Only what comes out is made a Hit of: in a large ledger some thousand
// sessions have one of the words.
func (s *Searcher) hits(q query.Query, scored lexical.Scored, near *modelScores, opt Options) []Hit {
	matches := scored.Matches
	var allowed []int
	best := 0.0
	for n, id := range s.index.Sessions {
		if s.index.IsHidden(n) || opt.Allow != nil && !opt.Allow(id) {
			continue
		}
		if opt.Named != nil && opt.Named(id) {
			matches[n].Score += named
			matches[n].Exact = true
		}
		allowed, best = append(allowed, n), max(best, matches[n].Score)
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
	slices.SortFunc(found, s.compare)
	if weak && opt.Short {
		found = found[:1]
	} else if weak {
		n := min(len(found), fewestWeak)
		for n < len(found) && found[n].score >= strongShare*found[0].score {
			n++
		}
		found = found[:n]
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

// hitOf makes a hit of what was found in a session, but for its score.
func hitOf(id string, m lexical.Match, model modelScore, modelShare float64) Hit {
	h := Hit{Session: id, Turn: -1, Passage: MatchedContent, Lexical: m.Score, Embedding: model.passageLift, Memory: m.Kinds[lexical.Memory]}
	if m.Found {
		h.Turn = m.Turn
	}
	switch {
	case modelShare*model.lift > m.Score && model.passage.cosine > 0: // the meaning says more than the words
		h.Turn = model.passage.turn
	case m.Best == lexical.Edited || m.Best == lexical.Paths:
		h.Turn, h.Passage = -1, MatchedFiles
	case m.Best == lexical.Commands:
		h.Turn, h.Passage = -1, MatchedCommand
	}
	h.Matched = matchReasons(m, h.Embedding >= minLift || modelShare*model.lift > m.Score)
	return h
}

// keepStrong keeps the strong candidates. If there are none, all candidates are weak, and stay, unless another index has a strong one. If the
// question consists of names alone, every candidate that holds them is strong. Sessions are measured by the best session, so that a memory
// hides no session. top is the score that sessions are measured by.
func (s *Searcher) keepStrong(q query.Query, found []candidate, scored lexical.Scored, near *modelScores, opt Options) (strong []candidate, weak bool, top float64) {
	if len(found) == 0 {
		return nil, false, opt.pool(Pool{}).Strong
	}
	best := slices.MinFunc(found, s.compare)
	isHeld := func(c candidate) bool { return scored.Matches[c.n].Exact }
	isMemory := func(c candidate) bool { return scored.Matches[c.n].Kinds[lexical.Memory] }
	unheld := q.Anchors && !slices.ContainsFunc(found, isHeld)
	if q.IsOnlyStopWords() || unheld || !s.isAnswer(q, best, found, scored, near, opt.Short) {
		if top = opt.pool(Pool{}).Strong; top > 0 {
			return nil, false, top
		}
		return found, true, 0
	}
	bestSession := 0.0
	for _, c := range found {
		if !isMemory(c) {
			bestSession = max(bestSession, c.score)
		}
	}
	bestSession = opt.pool(Pool{Strong: bestSession}).Strong
	return slices.DeleteFunc(found, func(c candidate) bool {
		bar := bestSession
		if isMemory(c) {
			bar = best.score
		}
		isStrong := bar >= strongEnough && c.score >= strongShare*bar || q.Anchors && isHeld(c)
		return !isStrong
	}), false, bestSession
}

// isAnswer reports whether the best session may be what a question is about. Where words score low, the embedding model decides, if it calls the
// session near or far. Otherwise words do, by the session that they hold to be the best.
func (s *Searcher) isAnswer(q query.Query, best candidate, found []candidate, scored lexical.Scored, near *modelScores, short bool) bool {
	nearness := near.model[best.n].nearness
	switch {
	case scored.Matches[best.n].Exact || short || near.modelShare == minModelShare || nearness == 0:
	case nearness >= nearEnough+nearMissed*scored.Missed:
		return true
	case nearness < farBelow:
		return false
	}
	byWords := candidate{n: -1}
	for _, c := range found {
		c.score = scored.Matches[c.n].Score
		if byWords.n < 0 || s.compare(c, byWords) < 0 {
			byWords = c
		}
	}
	return s.isAnswerByWords(q, byWords, scored, short)
}

// isAnswerByWords reports whether the words of a session may answer: not where words that carry the question stand nowhere, nor where no two
// of its words stand together, unless that session scores high, or holds a name of the question.
func (s *Searcher) isAnswerByWords(q query.Query, c candidate, scored lexical.Scored, short bool) bool {
	m := scored.Matches[c.n]
	together := m.Near || len(q.Pairs) == 0 || c.score >= minScattered(s.index.CountVisible())
	return c.score >= strongEnough && (short || m.Exact || scored.Missed < maxMissedShare && together)
}

// matchReasons names what took part in a hit.
func matchReasons(m lexical.Match, means bool) []string {
	var out []string
	for _, r := range []struct {
		name string
		is   bool
	}{
		// Nothing but function words was asked where no kind has a word to name.
		{MatchedContent, m.Kinds[lexical.Content] || m.Kinds[lexical.Memory] || m.Found && m.Turn >= 0 && m.Kinds == [len(m.Kinds)]bool{}},
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
