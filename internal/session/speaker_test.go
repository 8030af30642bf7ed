package session_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/session"
)

// TestTyped: what programs write in a prompt's place is nobody's; what a person typed among it stays.
func TestTyped(t *testing.T) {
	for text, want := range map[string]string{
		"fix the clock": "fix the clock",
		`{"task_id":"b1f","tool_use_id":"toolu_1","description":"Run the tests","task_type":"local_bash"}`: "",
		`{"task_id":"t1","description":"Build","task_type":"local_bash"}`:                                  "",
		`{"task_id":"b1f4f1d","tool_use_id":"toolu_01ABC","descr…`:                                         "", // a title
		`{"task_id":7} is what the server sends; why?`:                                                     `{"task_id":7} is what the server sends; why?`,
		"<task-notification>\n<task-id>b1f</task-id>":                                                      "",
		"<channel source=\"bus\" sender=\"x\">go on</channel>":                                             "",
		"Stop hook feedback:\n- [lint]: no":                                                                "",
		"This session is being continued from a previous conversation that ran out of context.":            "",
		"Base directory for this skill: /home/dev/.claude/skills/x":                                        "",
		"<environment_context>\n  <cwd>/work</cwd>":                                                        "",
		"<subagent_notification>\n{}</subagent_notification>":                                              "",
		"<command-message>review</command-message>\n<command-name>/review</command-name>":                  "",
		"<command-name>/review</command-name><command-args>the parser</command-args>":                      "the parser",
		"<bash-input>git status</bash-input>":                                                              "!git status",
		"<bash-stdout>clean</bash-stdout>":                                                                 "",
		"<system-reminder>be terse</system-reminder>why is it slow?":                                       "why is it slow?",
		"\n# Files mentioned by the user:\n\n## a.png\n\n## My request for Codex:\nmake it blue\n":         "make it blue",
		"Generate a file named AGENTS.md that serves as a contributor guide for this repository.\nYour":    "/init",
		"use a <skill> tag in the page":                                                                    "use a <skill> tag in the page",
	} {
		if got := session.TypedByPerson(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		if again := session.TypedByPerson(want); again != want {
			t.Errorf("%q, read again: %q", want, again)
		}
	}
}

// TestRespeak: what an older version stored as a person's is the agent's, and gives no title.
func TestRespeak(t *testing.T) {
	notice := `{"task_id":"b1f","tool_use_id":"toolu_1","description":"Run"}`
	s := session.Session{Title: `{"task_id":"b1f","tool_use_id":"too…`, Turns: []session.Turn{
		{Index: 0, Role: session.RoleHuman, Content: notice}, {Index: 1, Role: session.RoleHuman, Content: "Fix the clock"}, {Index: 2, Role: session.RoleAssistant, Content: "Done."},
	}}
	s.CorrectSpeakers()
	want := session.Session{Title: "Fix the clock", Turns: []session.Turn{
		{Index: 0, Role: session.RoleAssistant, Content: notice}, {Index: 1, Role: session.RoleHuman, Content: "Fix the clock"}, {Index: 2, Role: session.RoleAssistant, Content: "Done."},
	}}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	s.Turns = s.Turns[1:]
	s.Title = ""
	if s.CorrectSpeakers(); s.Title != "" {
		t.Errorf("a part without a title got %q", s.Title)
	}
}
