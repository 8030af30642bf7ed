package session_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/session"
)

// TestTyped: what programs write in a prompt's place is nobody's; what a person typed among it stays.
func TestTyped(t *testing.T) {
	const claude, codex, gemini = "claude-code", "codex", "gemini-cli"
	for _, c := range []struct{ source, text, want string }{
		{claude, "fix the clock", "fix the clock"},
		{claude, `{"task_id":"b1f","tool_use_id":"toolu_1","description":"Run the tests","task_type":"local_bash"}`, ""},
		{claude, `{"task_id":"t1","description":"Build","task_type":"local_bash"}`, ""},
		{claude, `{"task_id":"b1f4f1d","tool_use_id":"toolu_01ABC","descr…`, ""}, // a title
		{claude, `{"task_id":7} is what the server sends; why?`, `{"task_id":7} is what the server sends; why?`},
		{claude, "<task-notification>\n<task-id>b1f</task-id>", ""},
		{claude, "<channel source=\"bus\" sender=\"x\">go on</channel>", ""},
		{claude, "Stop hook feedback:\n- [lint]: no", ""},
		{claude, "This session is being continued from a previous conversation that ran out of context.", ""},
		{claude, "Base directory for this skill: /home/dev/.claude/skills/x", ""},
		{claude, "<command-message>review</command-message>\n<command-name>/review</command-name>", ""},
		{claude, "<command-name>/review</command-name><command-args>the parser</command-args>", "the parser"},
		{claude, "<command-name>/model</command-name>\n<command-message>model</command-message>\n<command-args>opus</command-args>", ""},
		{claude, "<bash-input>git status</bash-input>", "!git status"},
		{claude, "<bash-stdout>clean</bash-stdout>", ""},
		{claude, "<system-reminder>be terse</system-reminder>why is it slow?", "why is it slow?"},
		{
			claude, "use three\n\nNote: The user's next message may contain a correction or preference. Pay close attention.",
			"use three",
		},
		{
			claude, "[Workflow harness — computed task] It was not typed. The computed task text follows:\n  write it",
			"write it",
		},
		{claude, "[Workflow harness — done]", ""},
		{"kimi-code", "<git-context>\nWorking directory: /work\n</git-context>\n\ncount the files", "count the files"},
		{codex, "<environment_context>\n  <cwd>/work</cwd>", ""},
		{codex, "<subagent_notification>\n{}</subagent_notification>", ""},
		{codex, "\n# Files mentioned by the user:\n\n## a.png\n\n## My request for Codex:\nmake it blue\n", "make it blue"},
		{codex, "Generate a file named AGENTS.md that serves as a contributor guide for this repository.\nYour", "/init"},
		{codex, "use a <skill> tag in the page", "use a <skill> tag in the page"},
		{gemini, "I ran the following shell command:\n```sh\nls -l\n```\n\nThis produced the following result:\n```\ntotal 0\n```", "!ls -l"},
		{
			gemini, "I ran the following shell command:\n```sh\nls\n```\nand wonder why",
			"I ran the following shell command:\n```sh\nls\n```\nand wonder why",
		},
		{"qwen-code", "<hook_context>x</hook_context>go on", "go on"},
		// The words of one agent's program are another agent's person's.
		{claude, "# AGENTS.md instructions\nShorten these.", "# AGENTS.md instructions\nShorten these."},
		{codex, "Base directory for this skill: is it right?", "Base directory for this skill: is it right?"},
		{
			"pi", "<system-reminder>what is this tag?</system-reminder>",
			"<system-reminder>what is this tag?</system-reminder>",
		},
		{"aider", "<task-notification> is the tag", "<task-notification> is the tag"},
		{session.Imported, "<task-notification>\n<task-id>b1f</task-id>", ""},
	} {
		if got := session.TypedByPerson(c.source, c.text); got != c.want {
			t.Errorf("%s: %q: %q, want %q", c.source, c.text, got, c.want)
		}
		if again := session.TypedByPerson(c.source, c.want); again != c.want {
			t.Errorf("%s: %q, read again: %q", c.source, c.want, again)
		}
	}
}

// TestRespeak: what an older version stored as a person's is the agent's, and gives no title.
func TestRespeak(t *testing.T) {
	notice := `{"task_id":"b1f","tool_use_id":"toolu_1","description":"Run"}`
	s := session.Session{Source: "claude-code", Title: `{"task_id":"b1f","tool_use_id":"too…`, Turns: []session.Turn{
		{Index: 0, Role: session.RoleHuman, Content: notice},
		{Index: 1, Role: session.RoleHuman, Content: "Fix the clock"},
		{Index: 2, Role: session.RoleAssistant, Content: "Done."},
	}}
	s.CorrectSpeakers()
	want := session.Session{Source: "claude-code", Title: "Fix the clock", Turns: []session.Turn{
		{Index: 0, Role: session.RoleAssistant, Content: notice},
		{Index: 1, Role: session.RoleHuman, Content: "Fix the clock"},
		{Index: 2, Role: session.RoleAssistant, Content: "Done."},
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
