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

// TestCountRedacted: what is taken out and what is back are told apart, also in one text.
func TestCountRedacted(t *testing.T) {
	for _, tt := range []struct {
		name, before, now string
		taken, back       int
	}{
		{"taken out", "use Vexing-Otter-91 now", "use [REDACTED:a] now", 1, 0},
		{"two", "use Vexing-Otter-91 or Grim-Walrus-77 now", "use [REDACTED:a] or [REDACTED:b] now", 2, 0},
		{"more of it", "use [REDACTED:a]-91 now", "use [REDACTED:a] now", 1, 0},
		{"private", "use this now", "use [private] now", 1, 0},
		{"both", "use Vexing-Otter-91 or [REDACTED:b] now", "use [REDACTED:a] or Grim-Walrus-77 now", 1, 1},
		{"signs alone", "use == now", "use [REDACTED:a] now", 1, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if taken, back := session.CountRedacted(tt.before, tt.now); taken != tt.taken || back != tt.back {
				t.Errorf("%d taken out, %d back, want %d and %d", taken, back, tt.taken, tt.back)
			}
			if taken, back := session.CountRedacted(tt.now, tt.before); taken != tt.back || back != tt.taken {
				t.Errorf("the other way round: %d taken out, %d back", taken, back)
			}
		})
	}
}
