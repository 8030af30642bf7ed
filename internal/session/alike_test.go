package session_test

import (
	"testing"

	"github.com/git-rekal/git-rekal/internal/session"
)

// TestOtherwiseRedacted: what differs is what was taken out, and more than the name of the rule.
func TestOtherwiseRedacted(t *testing.T) {
	const one = "use [REDACTED:generic-secret] now"
	for _, tt := range []struct {
		name, other string
		want        bool
	}{
		{"it came back", "use Vexing-Otter-91 now", true},
		{"more was taken out", "[REDACTED:generic-secret] now", true},
		{"two in the place of one", "use [REDACTED:a] or [REDACTED:b] now", true},
		{"the same", one, false},
		{"another rule", "use [REDACTED:vendor-token] now", false},
		{"another text", "use Vexing-Otter-91 later", false},
		{"a torn marker", "use [REDACTED:generic", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := session.OtherwiseRedacted(one, tt.other); got != tt.want {
				t.Errorf("%v, want %v", got, tt.want)
			}
			if got := session.OtherwiseRedacted(tt.other, one); got != tt.want {
				t.Errorf("the other way round: %v, want %v", got, tt.want)
			}
		})
	}
}
