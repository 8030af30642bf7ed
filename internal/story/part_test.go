package story

import (
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/session"
)

// TestBounds: a part begins behind the commit before, or with the prompt before an earlier edit that its commit holds.
func TestBounds(t *testing.T) {
	at := func(second int) time.Time { return time.Unix(int64(second), 0) }
	var turns []session.Turn
	for i := range 6 {
		turns = append(turns, session.Turn{
			Index: i, TS: at(10 * i),
			Role: map[int]string{0: session.RoleHuman, 1: session.RoleAssistant}[i%2],
		})
	}
	ties := []attribution.Tie{{SHA: "a", Turn: -1}, {SHA: "b", Turn: -1}}
	for name, tt := range map[string]struct{ tie, edited, from, to int }{
		"the first commit":         {tie: 0, edited: 5, from: 0, to: 4},
		"the second":               {tie: 1, edited: 45, from: 4, to: 6},
		"with an edit from before": {tie: 1, edited: 21, from: 2, to: 6},
	} {
		done := func(t attribution.Tie) (first, end time.Time) {
			return at(tt.edited), at(map[string]int{"a": 25, "b": 47}[t.SHA])
		}
		from, to := (&sessionPart{ties: ties[tt.tie : tt.tie+1]}).turnRange(done, ties, turns)
		if from != tt.from || to != tt.to {
			t.Errorf("%s: %d to %d, want %d to %d", name, from, to, tt.from, tt.to)
		}
	}
}
