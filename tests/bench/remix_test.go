package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/session"
)

func testSources() []source {
	var out []source
	for i := range 30 {
		name := "topic" + string(rune('a'+i))
		s := source{subject: name + " more thing to do"}
		for i := range 12 {
			s.Turns = append(s.Turns, session.Turn{Role: session.RoleAssistant, Content: strings.Repeat(name+" line\n", i+1)})
			s.ToolCalls = append(s.ToolCalls, session.ToolCall{
				Turn: i, Tool: "Edit", Act: session.ActEdit,
				Path: "src/" + name + ".go",
			}, session.ToolCall{Turn: i, Tool: "Bash", Cmd: "go test"})
		}
		out = append(out, s)
	}
	return out
}

// TestSteps checks that a step is the same each time, that turns and calls are numbered as
// they must be, and that a session that goes on does so with the next step.
func TestSteps(t *testing.T) {
	r := newRemix(testSources(), 8)
	next := map[string][2]int{} // by session: the turn and the call that follow
	continued := 0
	for n := range 40 {
		made := r.step(3, n)
		if diff := cmp.Diff(made, r.step(3, n), cmp.AllowUnexported(step{})); diff != "" {
			t.Fatalf("step %d twice (-first +second):\n%s", n, diff)
		}
		for _, s := range made.sessions {
			at := next[s.ID]
			if at[0] > 0 {
				continued++
			}
			if s.FirstTurn != at[0] || s.FirstTool != at[1] {
				t.Errorf("step %d: session %s goes on at %d, %d, want %v", n, s.ID, s.FirstTurn, s.FirstTool, at)
			}
			for i, turn := range s.Turns {
				if turn.Index != at[0]+i {
					t.Errorf("turn %d at %d", turn.Index, at[0]+i)
				}
			}
			for i, c := range s.ToolCalls {
				if c.Index != at[1]+i || c.Turn < s.FirstTurn || c.Turn >= s.FirstTurn+len(s.Turns) {
					t.Errorf("call %d behind turn %d at %d", c.Index, c.Turn, at[1]+i)
				}
			}
			next[s.ID] = [2]int{at[0] + len(s.Turns), at[1] + len(s.ToolCalls)}
		}
	}
	if len(next) != 40 || continued == 0 {
		t.Errorf("%d sessions, %d continued", len(next), continued)
	}
}
