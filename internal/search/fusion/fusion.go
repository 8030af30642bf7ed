// Package fusion makes one score of what words and meaning say of a session.
package fusion

import "math"

// weight is that of the cosine beside the lexical score: flat from 0.1 to 0.5 (docs/lab/search.md).
// A cosine of floor and more is a reason to name, and enough for a session that shares no
// word with the question: one to thirty of 276 real sessions reach it on typical questions.
const (
	weight = 0.25
	floor  = 0.35
)

// A result is strong when its score is at least share of the best one's, and the best one's at
// least enough. Of the relevant among the first ten, 97.6 % and more stay on each set of real
// queries (docs/lab/search.md).
const (
	share  = 0.4
	enough = 0.45
)

// A session in which no two words of a question stand together has to score more: by chance alone, the best of many sessions
// scores more than the best of few. Measured on 30 to 276 sessions; there is no reason to go on beyond. Words
// that stand nowhere carry a question when they have so much of its words' weight (docs/lab/search.md).
const (
	scattered = 0.85 // of measured sessions and more
	perNeper  = 0.11 // less for every e-th part of them
	measured  = 276
	carries   = 0.35
)

// Score is the sum of the two signals: lexical is 0 and up, about 1 for a full match; cosine
// is -1 to 1. It is 0 for what is no answer.
func Score(lexical, cosine float64) float64 {
	if lexical <= 0 && !Means(cosine) {
		return 0
	}
	return max(lexical, 0) + weight*max(cosine, 0)
}

// Strong reports whether a score is that of an answer, where best is the best one's.
func Strong(score, best float64) bool { return best >= enough && Near(score, best) }

// Near reports whether a score is not far below the best one's.
func Near(score, best float64) bool { return score >= share*best }

// Scattered reports whether a score, the best of so many sessions, is that of an answer in which no two words of the
// question stand together.
func Scattered(score float64, sessions int) bool {
	return score >= scattered+perNeper*min(0, math.Log(float64(sessions)/measured))
}

// Carries reports whether words with such a share, 0 to 1, of the weight of a question's words carry it.
func Carries(share float64) bool { return share >= carries }

// Means reports whether a cosine is large enough to be a reason of its own.
func Means(cosine float64) bool { return cosine >= floor }

// The weights of the schema page say how the signals stand to each other: words and LSA as 0.4 to
// 0.6; with an embedding model words, LSA and model as 0.3 to 0.2 to 0.5. Ours is smaller for
// LSA by measurement, so the three keep their proportions to it. Without the weights of a
// model at hand, these were not measured.
const (
	lsaBeside  = weight * (0.2 / 0.3) / (0.6 / 0.4)
	liftWeight = weight * (0.5 / 0.3) / (0.6 / 0.4)
)

// Embedded is the score of a session that has vectors of an embedding model: lift is how much
// nearer the model finds it than an ordinary session, 1 at most.
func Embedded(lexical, cosine, lift float64) float64 {
	if lexical <= 0 && !Means(cosine) && !Means(lift) {
		return 0
	}
	return max(lexical, 0) + lsaBeside*max(cosine, 0) + liftWeight*max(lift, 0)
}

// Lift turns the cosines of an embedding model, which hold all text to be rather alike, into what
// LSA's say: 0 for what is as near as an ordinary session, 1 for the same text.
func Lift(cosine, ordinary float64) float64 {
	if ordinary >= 1 {
		return 0
	}
	return (cosine - ordinary) / (1 - ordinary)
}
