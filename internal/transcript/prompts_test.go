package transcript_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/transcript"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// promptsOf are the prompts of a transcript in the repository, which is one session's.
func promptsOf(t *testing.T, agent transcript.Agent, lines ...string) (prompts []string) {
	t.Helper()
	opt := transcript.Options{File: transcript.File{NativeID: "s1", Cwd: root}, Roots: []string{root}}
	for _, s := range read(t, agent, []byte(strings.Join(lines, "\n")+"\n"), opt).Sessions {
		for _, turn := range s.Turns {
			if turn.Role == session.RoleHuman {
				prompts = append(prompts, turn.Content)
			}
		}
	}
	return prompts
}

// TestGeminiPrompts: what the program tells the model is no prompt; a command to the program is none, a path and a
// comment are.
func TestGeminiPrompts(t *testing.T) {
	message := func(text, more string) string {
		return fmt.Sprintf(`{"id":"m","timestamp":"2026-11-20T09:00:01.000Z","type":"user","content":[{"text":%q}]%s}`, text,
			more)
	}
	for _, c := range []struct{ name, line, want string }{
		{"a prompt", message("fix the cart", ""), "fix the cart"},
		{"a text", `{"id":"m","type":"user","content":"fix the cart"}`, "fix the cart"},
		{"a command of the shell", message("I ran the following shell command:\n```sh\ncat a.txt\n```\n\nThis produced the following result:\n```\nOUTPUT\n```", ""), "!cat a.txt"},
		{"the end of plan mode", message("User has manually exited Plan Mode. Switching to Default mode (edits will require confirmation).", ""), ""},
		{
			"a plan that was approved", message("Plan approved. Switching to YOLO mode (all tool calls auto-approved).", ""),
			"",
		},
		{
			"what the editor shows", message("Here is a summary of changes in the user's editor context, in JSON format.", ""),
			"",
		},
		{"a comment", message("// why is this here?", ""), "// why is this here?"},
		{"a longer comment", message("/* why? */", ""), "/* why? */"},
		{"a path", message("/api/cart is slow", ""), "/api/cart is slow"},
		{"a question", message("? is no operator here", ""), "? is no operator here"},
		{"a command to the program", message("/memory show", ""), ""},
		{"help", message("?", ""), ""},
		{
			"a command that the user made", message("You are a reviewer.", `,"displayContent":[{"text":"/review the cart"}]`),
			"/review the cart",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			harness.Equal(t, "prompts", c.want, strings.Join(promptsOf(t, transcript.Gemini{}, c.line), "|"))
		})
	}
}

// TestQwenPrompts: a prompt is what was typed, also while the agent works, and not what a command of the user makes of
// it.
func TestQwenPrompts(t *testing.T) {
	rec := func(kind, more string) string {
		return `{"uuid":"u","sessionId":"s1","timestamp":"2026-11-20T09:00:01.000Z","cwd":"/work/shop","version":"0.24.4","type":"` + kind + `",` + more + `}`
	}
	said := func(text, more string) string {
		return rec("user", fmt.Sprintf(`"message":{"role":"user","parts":[{"text":%q}]}%s`, text, more))
	}
	command := func(phase, raw string) string {
		return rec("system", `"subtype":"slash_command","systemPayload":{"phase":"`+phase+`","rawCommand":"`+raw+`"}`)
	}
	const meanwhile = `,"subtype":"mid_turn_user_message"`
	for _, c := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"a path", []string{said("/api/cart returns the wrong sum", "")}, "/api/cart returns the wrong sum"},
		{
			"a command to the program",
			[]string{command("invocation", "/docs"), said("/docs", ""), command("result", "/docs")},
			"",
		},
		{"meanwhile", []string{said("[User message received during tool execution]: use cents", meanwhile)}, "use cents"},
		{"meanwhile, with what was shown", []string{said("use cents and 3 files",
			meanwhile+`,"systemPayload":{"displayText":"use cents"}`)}, "use cents"},
		{
			"what was shown",
			[]string{said("fix @a.go\npackage a", `,"systemPayload":{"displayText":"fix @a.go"}`)},
			"fix @a.go",
		},
		{
			"a command that the user made",
			[]string{command("invocation", "/review the cart"), said("You are a reviewer.", "")},
			"/review the cart",
		},
		{"a prompt behind a command to the program", []string{
			command("invocation", "/model"), command("result", "/model"),
			said("go on", ""),
		}, "go on"},
		{"a notice", []string{said("a helper is done", `,"subtype":"notification"`)}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			harness.Equal(t, "prompts", c.want, strings.Join(promptsOf(t, transcript.Qwen{}, c.lines...), "|"))
		})
	}
}

// TestCursorPrompts: contents are texts or lists; what stands before a prompt without an element of its own is the
// program's.
func TestCursorPrompts(t *testing.T) {
	text := func(s string) string { return fmt.Sprintf(`{"role":"user","message":{"content":%q}}`, s) }
	block := func(s string) string {
		return fmt.Sprintf(`{"role":"user","message":{"content":[{"type":"text","text":%q}]}}`, s)
	}
	for _, c := range []struct{ name, line, want string }{
		{"a text", text("<user_query>\nround the total\n</user_query>"), "round the total"},
		{"without an element", block("and add a test"), "and add a test"},
		{
			"behind a time", block("<timestamp>Tuesday, Jun 9, 2026, 5:08 AM (UTC-7)</timestamp>\nno security.txt"),
			"no security.txt",
		},
		{
			"behind what the program knows",
			text("<user_info>linux</user_info>\n<rules>\nbe terse\n</rules>\n<open_and_recently_viewed_files>a.go</open_and_recently_viewed_files>\nwhy?"), "why?",
		},
		{"nothing but that", block("<dynamic_tools><tool>x</tool></dynamic_tools>"), ""},
		{"an element that is not closed", block("<attached_files>\na.go"), ""},
		{"HTML", block("<div>why is this grey?</div>"), "<div>why is this grey?</div>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			harness.Equal(t, "prompts", c.want, strings.Join(promptsOf(t, transcript.Cursor{}, c.line), "|"))
		})
	}
}

// TestCursorTimes: newer files say when a prompt was typed.
func TestCursorTimes(t *testing.T) {
	file := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	for said, want := range map[string]time.Time{
		"Tuesday, Jul 28, 2026, 12:06 PM (UTC+2)": time.Date(2026, 7, 28, 10, 6, 0, 0, time.UTC),
		"Friday, Sep 4, 2026, 2:21 AM (UTC+5:30)": time.Date(2026, 9, 3, 20, 51, 0, 0, time.UTC),
		"Tuesday, Jun 9, 2026, 5:08 AM (UTC-10)":  time.Date(2026, 6, 9, 15, 8, 0, 0, time.UTC),
		"Wednesday, Jun 3, 2026, 7:30 PM (UTC)":   time.Date(2026, 6, 3, 19, 30, 0, 0, time.UTC),
		"Sunday, Sep 27, 2026, 9:00 AM":           file,
		"Sunday, Sep 97, 2026, 9:00 AM (UTC+2)":   file,
		"now":                                     file,
	} {
		opt := transcript.Options{
			File:  transcript.File{NativeID: "c", Cwd: root, ModTime: file, Timeless: true},
			Roots: []string{root},
		}
		line := `{"role":"user","message":{"content":[{"type":"text","text":"<timestamp>` + said +
			`</timestamp>\n<user_query>why?</user_query>"}]}}` + "\n" + `{"role":"assistant","message":{"content":"So."}}` + "\n"
		for _, turn := range read(t, transcript.Cursor{}, []byte(line), opt).Sessions[0].Turns {
			if !turn.TS.Equal(want) {
				t.Errorf("%s: %v, want %v", said, turn.TS, want)
			}
		}
	}
}

// TestCopilotTorn: what stands whole behind a torn event on its line is read; what a torn event holds is none.
func TestCopilotTorn(t *testing.T) {
	const start = `{"type":"session.start","data":{"sessionId":"s1","context":{"cwd":"/work/shop"}},"id":"e0","timestamp":"2026-11-20T09:00:00.000Z"}`
	const asked = `{"type":"user.message","data":{"content":"fix it","attachments":[{"type":"file"}]},"id":"e1","timestamp":"2026-11-20T09:00:01.000Z"}`
	for _, c := range []struct{ name, line, want string }{
		{"a torn one before it", asked[:60] + asked, "fix it"},
		{"two torn ones before it", asked[:20] + asked[:60] + asked, "fix it"},
		{"a torn one alone", asked[:len(asked)-4], ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			opt := transcript.Options{File: transcript.File{NativeID: "s1"}, Roots: []string{root}}
			answer := `{"type":"assistant.message","data":{"content":"Done."},"id":"e2","timestamp":"2026-11-20T09:00:02.000Z"}`
			raw := strings.Join([]string{start, c.line, answer}, "\n") + "\n"
			doc := read(t, transcript.Copilot{}, []byte(raw), opt)
			harness.Equal(t, "prompts", c.want, strings.Join(promptsOf(t, transcript.Copilot{}, start, c.line, answer), "|"))
			harness.Equal(t, "malformed", 1, doc.Skipped.Malformed)
		})
	}
}

// TestSpecStoryForms: times in two forms, models without a time, and an output whose code is never closed.
func TestSpecStoryForms(t *testing.T) {
	const head = "<!-- Generated by SpecStory, Markdown v2.1.0 -->\n\n# 2026-11-20 09:00:00Z\n\n<!-- Claude Code Session 5d0cf4a0-0000-4000-8000-000000000001 (2026-11-20 09:00:00Z) -->\n\n"
	const call = "<tool-use data-tool-type=\"shell\" data-tool-name=\"Bash\"><details>\n<summary>Tool use: **Bash**</summary>\n\n`cat a.md`\n\n```text\n# a\n\n````js\n```\n\n</details></tool-use>\n\n---\n\n"
	for _, c := range []struct{ name, text, want string }{
		{"ISO times", "_**User (2026-11-20T09:00:00.111Z)**_\n\nfix it\n\n---\n\n_**Agent (claude-opus-5 2026-11-20T11:00:05.123+02:00)**_\n\nDone.\n", "09:00:00.111 human fix it|09:00:05.123 assistant Done. claude-opus-5"},
		{
			"a model without a time", "_**User**_\n\nfix it\n\n_**Agent (claude-opus-5)**_\n\nDone.\n",
			"09:00:00 human fix it|09:00:00 assistant Done. claude-opus-5",
		},
		{"code that is never closed", "_**User (2026-11-20 09:00:01Z)**_\n\nread it\n\n_**Agent (m 2026-11-20 09:00:02Z)**_\n\n" + call + "_**User (2026-11-20 09:00:03Z)**_\n\nand now?\n", "09:00:01 human read it|09:00:03 human and now? m"},
		{"a subagent", "_**User (2026-11-20 09:00:01Z)**_\n\ngo\n\n_**Agent - sidechain (m 2026-11-20 09:00:02Z)**_\n\nI look.\n\n" + call + "_**Agent (m 2026-11-20 09:00:03Z)**_\n\nDone.\n", "09:00:01 human go|09:00:03 assistant Done. m"},
	} {
		t.Run(c.name, func(t *testing.T) {
			agent, f, ok := transcript.Recognise("a.md", []byte(head+c.text), "", "")
			if !ok {
				t.Fatal("it is not recognised")
			}
			doc, err := agent.Decode(context.Background(), strings.NewReader(head+c.text),
				transcript.Options{File: f, Roots: []string{root}, Inside: true})
			if err != nil {
				t.Fatal(err)
			}
			s := doc.Sessions[0]
			var got []string
			for _, turn := range s.Turns {
				got = append(got, turn.TS.Format("15:04:05.999")+" "+turn.Role+" "+turn.Content)
			}
			harness.Equal(t, "turns", c.want, strings.TrimSpace(strings.Join(got, "|")+" "+s.Model))
		})
	}
}
