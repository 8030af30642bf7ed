package search

import "math"

// Weights of an embedding model's lifts: of a session as a whole, and of its best passage. The model counts in full
// where the best session by words scores up to scarce, and by minModelShare from plenty on: where words answer, they
// decide. A session that shares no word with the question needs lifts of minLift. Chosen on questions in other words
// (docs/lab/search.md).
const (
	sessionWeight = 2.0
	passageWeight = 1.0

	scarce, plenty = 0.5, 0.9
	minModelShare  = 0.02
	minLift        = 0.35

	leastScore = 0.0001 // of a session for which nothing speaks but that no other is nearer
)

// preferred is how many times its score a session counts that the question prefers, for its time (docs/lab/search.md).
const preferred = 1.5

// Results are strong when the best score is at least strongEnough, and theirs are at least strongShare of it, or
// farShare. Where words decide, the score of words alone must be strongEnough, too. Of the relevant results among the
// first ten, 97.6 % and more stay on each set of real queries (docs/lab/search.md).
const (
	strongShare  = 0.4
	farShare     = 0.2
	strongEnough = 0.45
)

// A session in which no two words of a question stand together has to score more: by chance alone, the best of many
// sessions scores more than the best of few. Measured on 30 to 276 sessions; there is no reason to go on beyond. Words
// alone don't answer a question when words that no session has are maxMissedShare of its weight (docs/lab/search.md).
const (
	scattered         = 0.85 // of measuredSessions and more
	scatteredPerNeper = 0.11 // less for every e-th part of them
	measuredSessions  = 276
	maxMissedShare    = 0.35
)

// MeasuredModel is the embedding model whose cosines were measured, so that they tell weak answers from strong ones:
// near, at least nearEnough plus nearMissed times the share of the question's words that stand nowhere; far, below
// nearEnough, unless the score by words is at least beyondDoubt (docs/lab/search.md).
const (
	MeasuredModel = "minilm-l6-v2"

	nearEnough  = 0.87
	nearMissed  = 0.4
	beyondDoubt = 1.2
)

// A session stands out if it scores minLead more than the next one, as a share of its score, or by the cosines of the
// measured model fewer than maxNearer others are nearer. One that does not is the best by chance (docs/lab/search.md).
const (
	minLead   = 0.1
	maxNearer = 5
)

// modelShare is how much an embedding model counts, minModelShare to 1, beside the best session by words.
func modelShare(best lexicalBest) float64 {
	scarcity := func(x float64) float64 { return min(1, max(0, (plenty-x)/(plenty-scarce))) }
	return minModelShare + (1-minModelShare)*scarcity(best.Score)*scarcity(best.Held)
}

// minScattered is the least score of the best of so many sessions, where no two words of the question stand together in
// it.
func minScattered(sessions int) float64 {
	return scattered + scatteredPerNeper*min(0, math.Log(float64(sessions)/measuredSessions))
}

// liftOver makes comparable what embedding models say, which hold all texts to be rather alike: 0 for what is no nearer
// than an ordinary session, 1 for the same text.
func liftOver(cosine, ordinary float64) float64 {
	if ordinary >= 1 {
		return 0
	}
	return max(0, (cosine-ordinary)/(1-ordinary))
}
