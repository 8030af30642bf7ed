package search

import (
	"cmp"
	"slices"

	"github.com/git-rekal/git-rekal/internal/search/fusion"
	"github.com/git-rekal/git-rekal/internal/search/lexical"
	"github.com/git-rekal/git-rekal/internal/search/query"
)

// named is what it is worth to be named: about as much as to hold all words of the question.
const named = 1.0

// hits fuses and orders.
func (s *Searcher) hits(q query.Query, matches []lexical.Match, near *meanings, opt Options) []Hit {
	var out []Hit
	for n, id := range s.index.Sessions {
		if s.index.Dead(n) || opt.Allow != nil && !opt.Allow(id) {
			continue
		}
		h := hitOf(id, matches[n], near.of(n), opt.Named != nil && opt.Named(id))
		if h.Read = q.Read; h.Score > 0 {
			out = append(out, h)
		}
	}
	slices.SortFunc(out, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Session, b.Session))
	})
	if !opt.Weak {
		out = strong(q, out)
	}
	if opt.K > 0 && len(out) > opt.K {
		out = out[:opt.K]
	}
	return out
}

// hitOf makes a hit of what was found in a session; its score is 0 when that is nothing.
func hitOf(id string, m lexical.Match, near closeness, isNamed bool) Hit {
	h := Hit{Session: id, Turn: -1, Passage: MatchedContent, Semantic: near.lsa.cosine, Embedding: near.passage.cosine}
	if m.Found {
		h.Lexical, h.Turn = m.Score, m.Turn
	}
	if isNamed {
		h.Lexical += named
		m.Exact = true
	}
	if near.embedded {
		h.Score = fusion.Embedded(h.Lexical, h.Semantic, h.Embedding)
	} else {
		h.Score = fusion.Score(h.Lexical, h.Semantic)
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

// strong leaves the strong ones of hits, which are in order: or the best weak one, when there are
// none. A question of nothing but function words has no strong answer. Nor has one of nothing but
// names (an error code, a symbol, a file) of which none stands anywhere: that words like its
// parts do says little. All that hold what such a question names are strong.
func strong(q query.Query, hits []Hit) []Hit {
	if len(hits) == 0 {
		return nil
	}
	best := hits[0].Score
	holds := func(h Hit) bool { return slices.Contains(h.Matched, MatchedTerms) }
	if q.Weak() || !fusion.Strong(best, best) || q.Anchors && !slices.ContainsFunc(hits, holds) {
		hits[0].Weak = true
		return hits[:1]
	}
	return slices.DeleteFunc(hits, func(h Hit) bool {
		isStrong := fusion.Strong(h.Score, best) || q.Anchors && holds(h)
		return !isStrong
	})
}

// reasons names what took part in a hit.
func reasons(m lexical.Match, cosine float64) []string {
	var out []string
	for _, r := range []struct {
		name string
		is   bool
	}{
		// Nothing but function words was asked where no kind has a word to name.
		{MatchedContent, m.Kinds[lexical.Content] || m.Found && m.Turn >= 0 && m.Kinds == [len(m.Kinds)]bool{}},
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
