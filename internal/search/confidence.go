package search

import (
	"cmp"
	"math"
	"slices"

	"github.com/git-rekal/git-rekal/internal/search/lexical"
	"github.com/git-rekal/git-rekal/internal/search/query"
)

// MeasuredModel is the embedding model whose cosines were measured, so that they tell weak answers from strong ones.
const MeasuredModel = "minilm-l6-v2"

// The weights of confidence, rounded, of nine sets of questions from four sources, and of seven about what is not
// there (docs/lab/search.md).
const (
	nearEnough      = 0.87 // nearness of what answers, where meaning decides
	unknownNearness = 1.12 // what counts where the model is not the measured one, or there is none
	missedNear      = 0.4  // what unknown words take from nearness, and missedWords from words
	missedWords     = 2.0
	wordsEnough     = 0.3 // less is asked of words than of nearness
	fullLexical     = 0.8 // more words than that say nothing more
	togetherWorth   = 0.5 // two words of the question that stand together
	rivals          = 15  // so many of the best sessions share the question
	rivalry         = 3   // the power of their scores
)

// isAnswered reports whether a candidate may be what a question is about.
func (s *Searcher) isAnswered(q query.Query, found []candidate, scored lexical.Scored, near *modelScores, opt Options,
) bool {
	part := partOfRivals(opt.pool(Pool{Rivals: bestScoresOf(found)}).Rivals)
	isHeld := func(c candidate) bool { return scored.Matches[c.n].Exact }
	if len(found) == 0 || q.IsOnlyStopWords() || q.Anchors && !slices.ContainsFunc(found, isHeld) {
		return false
	}
	best := slices.MinFunc(found, s.compare)
	if m := scored.Matches[best.n]; m.Exact || opt.Short {
		return m.Score >= strongEnough
	}
	return confidence(q, best, part, scored, near) >= 0
}

// confidence is how much speaks for the best session beyond what must: that it is near in meaning and, where words
// decide, that it takes a large part of the scores of all that answer, holds much of the question, and holds words of
// it together. Words that stand nowhere speak against it.
func confidence(q query.Query, best candidate, part float64, scored lexical.Scored, near *modelScores) float64 {
	m, nearness, byWords := scored.Matches[best.n], near.model[best.n].nearness, 1-near.modelShare
	if nearness == 0 {
		nearness, byWords = unknownNearness, 1
	}
	words := wordsEnough + min(m.Score, fullLexical) - missedWords*scored.Missed
	isOneWord := len(q.Pairs) == 0 // such a question asks for all that hold it, which are no rivals
	if !isOneWord {
		words += math.Log(part)
	}
	if m.Near || isOneWord {
		words += togetherWorth
	}
	return nearness - nearEnough - missedNear*scored.Missed + byWords*byWords*words
}

// bestScoresOf are the scores of the best candidates, best first, as many as are rivals.
func bestScoresOf(found []candidate) []float64 {
	scores := make([]float64, 0, rivals+1)
	for _, c := range found {
		at, _ := slices.BinarySearchFunc(scores, c.score, func(a, b float64) int { return cmp.Compare(b, a) })
		scores = slices.Insert(scores, at, c.score)
		scores = scores[:min(len(scores), rivals)]
	}
	return scores
}

// partOfRivals is the part that the best score has of the best ones, of all indexes, up to 1: a question that many
// sessions answer about as well is answered by none.
func partOfRivals(scores []float64) float64 {
	scores = slices.Clone(scores) // others look at them, too
	slices.SortFunc(scores, func(a, b float64) int { return cmp.Compare(b, a) })
	sum := 0.0
	for _, score := range scores[:min(len(scores), rivals)] {
		sum += math.Pow(score/scores[0], rivalry)
	}
	return 1 / max(1, sum)
}
