package attribution_test

import (
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// TestBefore: git cuts a commit's time to the second, and its clock may lag behind an agent's by a tick.
func TestBefore(t *testing.T) {
	commit := time.Date(2026, 3, 1, 10, 0, 5, 0, time.UTC)
	for after, want := range map[time.Duration]bool{
		-time.Second: false, 0: false, 999 * time.Millisecond: false, 1020 * time.Millisecond: false,
		1200 * time.Millisecond: true, time.Minute: true,
	} {
		if got := attribution.IsCommittedBefore(commit, commit.Add(after)); got != want {
			t.Errorf("a commit made %s before a moment: %v", after, got)
		}
	}
}

// TestEvidence: the strongest evidence decides, and is what is told. Closing words are none.
func TestEvidence(t *testing.T) {
	ask, say := session.Turn{Role: session.RoleHuman}, session.Turn{Role: session.RoleAssistant}
	call := session.ToolCall{Index: 4, Act: session.ActRun, Cmd: "git status"}
	for _, c := range []struct {
		name string
		e    attribution.Evidence
		want string
	}{
		{"nothing", attribution.Evidence{}, ": "},
		{"all", attribution.Evidence{
			session.TieWrote: "a.go:3", session.TieEdited: "call 1", session.TieMade: "shell",
			session.TieNamed: "trailer", session.TieTalked: "prompt",
		}, "wrote: a.go:3"},
		{"no lines", attribution.Evidence{
			session.TieEdited: "call 1", session.TieMade: "shell", session.TieNamed: "trailer",
			session.TieTalked: "prompt",
		}, "edited: call 1"},
		{
			"no edit",
			attribution.Evidence{session.TieMade: "shell", session.TieNamed: "trailer", session.TieTalked: "prompt"},
			"made: shell",
		},
		{"named", attribution.Evidence{session.TieNamed: "trailer", session.TieTalked: "prompt"}, "named: trailer"},
		{"a prompt", attribution.Evidence{session.TieTalked: attribution.ActiveIn(session.Session{Turns: []session.Turn{
			say,
			ask,
		}})}, "talked: prompt"},
		{"a call", attribution.Evidence{session.TieTalked: attribution.ActiveIn(session.Session{
			Turns:     []session.Turn{say},
			ToolCalls: []session.ToolCall{call},
		})}, "talked: call 4"},
		{"closing words", attribution.Evidence{session.TieTalked: attribution.ActiveIn(session.Session{Turns: []session.Turn{say, say}})}, ": "},
	} {
		kind, by := c.e.Tie()
		harness.Equal(t, c.name, c.want, kind.String()+": "+by)
	}
}

// TestCommitRunning: the last call runs git, and nothing says that it has ended.
func TestCommitRunning(t *testing.T) {
	for cmd, want := range map[string]string{
		"git commit -m x": "call 7", "cd a && git -C b commit -am 'x'": "call 7", "git log": "", "echo commit": "", "": "",
	} {
		part := session.Session{
			Turns:     []session.Turn{{Index: 3}},
			ToolCalls: []session.ToolCall{{Index: 7, Turn: 3, Act: session.ActRun, Cmd: cmd}},
		}
		harness.Equal(t, cmd, want, attribution.CommitRunning(part))
		part.Turns = append(part.Turns, session.Turn{Index: 4, Role: session.RoleAssistant})
		harness.Equal(t, cmd+", and words behind it", "", attribution.CommitRunning(part))
	}
}
