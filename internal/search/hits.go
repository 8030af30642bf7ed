package search

import (
	"slices"

	"github.com/git-rekal/git-rekal/internal/search/fusion"
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
func (s *Searcher) hits(q query.Query, scored lexical.Scored, near *meanings, opt Options) []Hit {
	matches := scored.Matches
	var found []candidate
	for n, id := range s.index.Sessions {
		if s.index.Dead(n) || opt.Allow != nil && !opt.Allow(id) {
			continue
		}
		if opt.Named != nil && opt.Named(id) {
			matches[n].Score += named
			matches[n].Exact = true
		}
		if score := scoreOf(matches[n], near.of(n)); score > 0 {
			found = append(found, candidate{n, score})
		}
	}
	weak := false
	if !opt.Weak {
		found, weak = s.strong(q, found, scored, opt.Short)
	}
	slices.SortFunc(found, s.compare)
	if weak && opt.Short {
		found = found[:1]
	} else if weak {
		n := min(len(found), fewestWeak)
		for n < len(found) && fusion.Near(found[n].score, found[0].score) {
			n++
		}
		found = found[:n]
	}
	if opt.K > 0 && len(found) > opt.K {
		found = found[:opt.K]
	}
	out := make([]Hit, len(found))
	for i, c := range found {
		out[i] = hitOf(s.index.Sessions[c.n], matches[c.n], near.of(c.n))
		out[i].Score, out[i].Read, out[i].Weak = c.score, q.Read, weak
	}
	return out
}

// scoreOf is what a session is ordered by; 0 when nothing was found in it.
func scoreOf(m lexical.Match, near closeness) float64 {
	if near.embedded {
		return fusion.Embedded(m.Score, near.lsa.cosine, near.passage.cosine)
	}
	return fusion.Score(m.Score, near.lsa.cosine)
}

// hitOf makes a hit of what was found in a session, but for its score.
func hitOf(id string, m lexical.Match, near closeness) Hit {
	h := Hit{Session: id, Turn: -1, Passage: MatchedContent, Lexical: m.Score, Semantic: near.lsa.cosine, Embedding: near.passage.cosine, Memory: m.Kinds[lexical.Memory]}
	if m.Found {
		h.Turn = m.Turn
	}
	switch {
	case m.Best == lexical.Edited || m.Best == lexical.Paths:
		h.Turn, h.Passage = -1, MatchedFiles
	case m.Best == lexical.Commands:
		h.Turn, h.Passage = -1, MatchedCommand
	case h.Turn < 0 && fusion.Means(h.Embedding):
		h.Turn = near.passage.turn
	case h.Turn < 0 && fusion.Means(h.Semantic):
		h.Turn = near.lsa.turn
	}
	h.Matched = reasons(m, max(h.Semantic, h.Embedding))
	return h
}

// strong leaves the strong ones of what was found. Where there are none, all are weak, and stay. All that hold what a question of nothing but names is about are strong. Memories hide no session: these
// are measured by the best of theirs.
func (s *Searcher) strong(q query.Query, found []candidate, scored lexical.Scored, short bool) (strong []candidate, weak bool) {
	if len(found) == 0 {
		return nil, false
	}
	best := slices.MinFunc(found, s.compare)
	isHeld := func(c candidate) bool { return scored.Matches[c.n].Exact }
	isMemory := func(c candidate) bool { return scored.Matches[c.n].Kinds[lexical.Memory] }
	unheld := q.Anchors && !slices.ContainsFunc(found, isHeld)
	if q.Weak() || unheld || !short && !isHeld(best) && !s.answers(q, best, scored) || !fusion.Strong(best.score, best.score) {
		return found, true
	}
	bestSession := 0.0
	for _, c := range found {
		if !isMemory(c) {
			bestSession = max(bestSession, c.score)
		}
	}
	return slices.DeleteFunc(found, func(c candidate) bool {
		bar := bestSession
		if isMemory(c) {
			bar = best.score
		}
		isStrong := fusion.Strong(c.score, bar) || q.Anchors && isHeld(c)
		return !isStrong
	}), false
}

// answers reports whether the best session may be what a question is about, one that holds no name of it: not where words that carry it
// stand nowhere, nor where no two of its words stand together, unless that session scores high.
func (s *Searcher) answers(q query.Query, best candidate, scored lexical.Scored) bool {
	together := scored.Matches[best.n].Near || len(q.Pairs) == 0
	return !fusion.Carries(scored.Missed) && (together || fusion.Scattered(best.score, s.index.Live()))
}

// reasons names what took part in a hit.
func reasons(m lexical.Match, cosine float64) []string {
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
		{MatchedSemantic, fusion.Means(cosine)},
	} {
		if r.is {
			out = append(out, r.name)
		}
	}
	return out
}
