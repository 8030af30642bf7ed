package session_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/session"
)

// TestUndoneSpans reads "p" as a prompt, "a" as an answer, "e" as a part elsewhere, and a digit as a mark that takes so
// many prompts back.
func TestUndoneSpans(t *testing.T) {
	for _, tt := range []struct {
		name, turns string
		want        []session.Span
	}{
		{"nothing", "papa", nil},
		{"the last prompt with its answers", "papaa1", []session.Span{{2, 5}}},
		{"two prompts at once", "papapa2pa", []session.Span{{2, 6}}},
		{"one after the other reaches further back", "papapa11pa", []session.Span{{2, 7}}},
		{"what was asked instead holds", "papa1pa", []session.Span{{2, 4}}},
		{"and is taken back, too", "papa1pa1", []session.Span{{2, 4}, {5, 7}}},
		{"what is undone holds no more", "pa1pa2", []session.Span{{0, 2}, {3, 5}}},
		{"more than there are", "pa9p", []session.Span{{0, 2}}},
		{"a part elsewhere is no prompt", "pape1", []session.Span{{2, 4}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var turns []session.Turn
			for i, c := range tt.turns {
				u := session.Turn{Index: i, Role: session.RoleHuman, Content: "said"}
				switch {
				case c == 'a':
					u.Role = session.RoleAssistant
				case c == 'e':
					u.Content = session.Elsewhere
				case c != 'p':
					u.Content = session.UndoneMark(strings.IndexRune("0123456789", c))
				}
				turns = append(turns, u)
			}
			if diff := cmp.Diff(tt.want, session.UndoneSpans(turns)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
