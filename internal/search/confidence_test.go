package search

import (
	"math"
	"testing"

	"github.com/git-rekal/git-rekal/internal/search/lexical"
	"github.com/git-rekal/git-rekal/internal/search/query"
)

// TestPartOfRivals: what matters is how many of the best others score how near to the best, in whatever order they
// come.
func TestPartOfRivals(t *testing.T) {
	level := make([]candidate, 40)
	for i := range level {
		level[i].score = 2
	}
	for name, tt := range map[string]struct {
		found []candidate
		want  float64
	}{
		"alone":                   {[]candidate{{0, 3}}, 1},
		"one of two":              {[]candidate{{0, 3}, {1, 3}}, 1. / 2},
		"twice as good":           {[]candidate{{1, 1}, {0, 2}}, 1 / 1.125},
		"no more rivals than few": {level, 1. / rivals},
	} {
		if got := partOfRivals(bestScoresOf(tt.found)); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

// TestConfidence: each sign speaks for the best session, or against it, and those of words count as little as words do.
func TestConfidence(t *testing.T) {
	type signs struct {
		score, next, nearness, modelShare, missed float64
		together                                  bool
	}
	confidenceOf := func(x signs) float64 {
		near := &modelScores{model: map[int]modelScore{0: {nearness: x.nearness}}, modelShare: x.modelShare}
		scored := lexical.Scored{Matches: []lexical.Match{{Score: x.score, Near: x.together}, {}}, Missed: x.missed}
		part := partOfRivals([]float64{x.score, x.next})
		asked := query.Query{Pairs: []query.Pair{{First: "a", Second: "b"}}}
		return confidence(asked, candidate{0, x.score}, part, scored, near)
	}
	base := signs{score: 0.7, next: 0.6, nearness: 1, missed: 0.1}
	for name, tt := range map[string]struct {
		change func(*signs)
		sign   float64
	}{
		"more words":         {func(x *signs) { x.score, x.next = 0.8, x.next*8/7 }, 1},
		"together":           {func(x *signs) { x.together = true }, 1},
		"nearer":             {func(x *signs) { x.nearness = 1.1 }, 1},
		"a better rival":     {func(x *signs) { x.next = 0.7 }, -1},
		"more unknown words": {func(x *signs) { x.missed = 0.2 }, -1},
		"meaning decides": {func(x *signs) {
			x.modelShare, x.score, x.next, x.together = 1, 0.5, 0.5, true
		}, 0},
		"as near as anything is unknown": {func(x *signs) { x.nearness = 0 }, 1},
	} {
		changed := base
		tt.change(&changed)
		want := confidenceOf(base)
		if tt.sign == 0 { // nothing but what meaning says
			want = base.nearness - nearEnough - missedNear*base.missed
		}
		got := confidenceOf(changed)
		isSame := math.Abs(got-want) < 1e-9
		if isSame != (tt.sign == 0) || (got-want)*tt.sign < 0 {
			t.Errorf("%s: %v, beside %v", name, got, want)
		}
	}
}
