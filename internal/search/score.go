package search

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

// Results are strong when the best one is an answer and scores at least strongEnough, and theirs are at least
// strongShare of it, or farShare. Of the relevant results among the first ten, 97.6 % and more stay on each set of real
// queries (docs/lab/search.md).
const (
	strongShare  = 0.4
	farShare     = 0.2
	strongEnough = 0.45
)

// modelShare is how much an embedding model counts, minModelShare to 1, beside the best session by words.
func modelShare(best lexicalBest) float64 {
	scarcity := func(x float64) float64 { return min(1, max(0, (plenty-x)/(plenty-scarce))) }
	return minModelShare + (1-minModelShare)*scarcity(best.Score)*scarcity(best.Held)
}

// liftOver makes comparable what embedding models say, which hold all texts to be rather alike: 0 for what is no nearer
// than an ordinary session, 1 for the same text.
func liftOver(cosine, ordinary float64) float64 {
	if ordinary >= 1 {
		return 0
	}
	return max(0, (cosine-ordinary)/(1-ordinary))
}
