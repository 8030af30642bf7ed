package search

import (
	"cmp"
	"slices"

	"github.com/git-rekal/git-rekal/internal/search/lexical"
	"github.com/git-rekal/git-rekal/internal/search/query"
)

// Bounds of what is asked of a text that is longer than a question: a log, a stack trace, a file. They were tried on
// 110 outputs of 15 to 400 lines, of failed commands in 41 real sessions, among 60. The right answer is the session
// that ran the command. The bounds were chosen on 77 of them; the other 33 were looked at once. 38 texts come from
// other projects, and should be weak.
//
//	                             first of 77   among ten   weak   first of 33   among ten   weak   weak of 38
//	all terms                             40          55     28            16          24      9           36
//	the rarest 100, full at 40            45          68      9            15          28      2           30
//	the rarest 150, full at 60            46          70      6            14          28      2           24
//	all terms, full at 60                 41          71      0                                             4
const (
	maxGist  = 100 // terms; a text that has more of them is no question
	fullGist = 40  // of them, the rarest, whose weight makes a whole score: no session says all of a log
	whole    = 1.5 // how much rarer an identifier, a path or an error code counts than a word
)

// rarestTerms leaves of a long text the terms that tell most: the rarest of those that stand somewhere. A question
// stays as it is.
func (s *Searcher) rarestTerms(q query.Query, f lexical.Lists) (_ query.Query, long bool) {
	if len(q.Terms) <= maxGist {
		return q, false
	}
	rarity := map[string]float64{}
	var known []string
	for _, t := range q.Terms {
		r := s.index.Rarity(f[t.Text])
		if t.Exact {
			r *= whole
		}
		if r > 0 && !t.Weak {
			rarity[t.Text], known = r, append(known, t.Text)
		}
	}
	slices.SortStableFunc(known, func(a, b string) int { return cmp.Compare(rarity[b], rarity[a]) })
	for _, t := range known[min(len(known), maxGist):] {
		delete(rarity, t)
	}
	return q.KeepTerms(func(term string) bool { return rarity[term] > 0 }, fullGist), true
}
