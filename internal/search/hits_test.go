package search

import "testing"

// TestStandsOut: the best session is ahead by its score, or hardly any other is nearer in meaning.
func TestStandsOut(t *testing.T) {
	for name, tt := range map[string]struct {
		next   float64 // the score of the others; the best has 1
		nearer int     // how many of them are nearer
		want   bool
	}{
		"ahead":                            {0.9, 6, true},
		"hardly ahead, and others nearer":  {0.91, 5, false},
		"hardly ahead, and few are nearer": {0.99, 4, true},
		"level, and the nearest":           {1, 0, true},
		"alone":                            {0, 0, true},
	} {
		near := &modelScores{model: map[int]modelScore{0: {nearness: 1}}}
		found := []candidate{{0, 1}}
		for n := 1; n <= 8; n++ {
			m := modelScore{nearness: 0.5}
			if n <= tt.nearer {
				m.nearness = 1.5
			}
			near.model[n] = m
			if tt.next > 0 {
				found = append(found, candidate{n, tt.next})
			}
		}
		if got := standsOut(found[0], found, near); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}
