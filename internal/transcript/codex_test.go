package transcript_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/transcript"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// The records of Codex, at a second of 2026-11-20T09:00.
func codexRecord(sec int, kind, payload string) string {
	return fmt.Sprintf(`{"timestamp":"2026-11-20T09:00:%02d.000Z","type":%q,"payload":%s}`, sec, kind, payload)
}

func codexItem(sec int, payload string) string  { return codexRecord(sec, "response_item", payload) }
func codexEvent(sec int, payload string) string { return codexRecord(sec, "event_msg", payload) }

const codexMeta = `{"id":"019ed836-b1da-78f1-8a0c-e598363d10f4","cwd":"/work/shop","cli_version":"0.140.0","source":"cli"`

func readCodex(t *testing.T, lines ...string) transcript.Part {
	t.Helper()
	opt := transcript.Options{File: transcript.File{NativeID: "019ed836-b1da-78f1-8a0c-e598363d10f4"}, Roots: []string{root}}
	doc := read(t, transcript.Codex{}, []byte(strings.Join(lines, "\n")+"\n"), opt)
	if len(doc.Sessions) != 1 {
		t.Fatalf("%d sessions, skipped %+v", len(doc.Sessions), doc.Skipped)
	}
	return doc.Sessions[0]
}

// TestCodexForms reads the same edit as versions write it: what is called, and what its result says.
func TestCodexForms(t *testing.T) {
	const patch = `*** Begin Patch\n*** Update File: cart.go\n@@\n-one\n+two\n*** End Patch`
	shell := func(args string) string {
		return codexItem(2, `{"type":"function_call","name":"shell","call_id":"c","arguments":`+args+`}`)
	}
	const success = `"Success. Updated the following files:\nM cart.go"`
	done := codexItem(3, `{"type":"function_call_output","call_id":"c","output":`+success+`}`)
	edit := []transcript.Hunk{{Old: []string{"one"}, New: []string{"two"}}}
	exact := []transcript.Hunk{{Old: []string{"zero", "one"}, New: []string{"zero", "two"}}}
	for _, c := range []struct {
		name   string
		lines  []string
		call   string // tool, what it does, path, command
		hunks  []transcript.Hunk
		failed bool
	}{
		{"a custom tool", []string{codexItem(2, `{"type":"custom_tool_call","call_id":"c","name":"apply_patch","input":"`+patch+`"}`), done}, "apply_patch edit cart.go ", edit, false},
		{"a function", []string{codexItem(2, `{"type":"function_call","call_id":"c","name":"apply_patch","arguments":"{\"input\":\"`+strings.ReplaceAll(patch, `\n`, `\\n`)+`\"}"}`), done}, "apply_patch edit cart.go ", edit, false},
		{"in the shell", []string{shell(`"{\"command\":[\"bash\",\"-lc\",\"apply_patch <<'EOF'\\n` + strings.ReplaceAll(patch, `\n`, `\\n`) + `\\nEOF\"]}"`), done}, "shell edit cart.go apply_patch <<'EOF'", edit, false},
		{
			"what the event says",
			[]string{
				codexItem(2, `{"type":"custom_tool_call","call_id":"c","name":"apply_patch","input":"`+patch+`"}`),
				codexEvent(3, `{"type":"patch_apply_end","call_id":"c","success":true,"changes":{"/work/shop/cart.go":{"type":"update","unified_diff":"@@ -1,2 +1,2 @@\n zero\n-one\n+two\n"}}}`), done,
			},
			"apply_patch edit cart.go ", exact, false,
		},
		{
			"what an older event says",
			[]string{
				codexItem(2, `{"type":"custom_tool_call","call_id":"c","name":"apply_patch","input":"`+patch+`"}`),
				codexEvent(3, `{"type":"patch_apply_end","call_id":"c","success":true,"changes":{"/work/shop/cart.go":{"update":{"unified_diff":"@@ -1,2 +1,2 @@\n zero\n-one\n+two\n"}}}}`),
			},
			"apply_patch edit cart.go ", exact, false,
		},
		{
			"an item of 0.169",
			[]string{
				codexItem(2, `{"type":"custom_tool_call","call_id":"c","name":"apply_patch","input":"`+patch+`"}`),
				codexEvent(3, `{"type":"item_completed","item":{"type":"FileChange","id":"c","status":"completed","changes":{"/work/shop/cart.go":{"type":"update","unified_diff":"@@ -1,2 +1,2 @@\n zero\n-one\n+two\n"}}}}`), done,
			},
			"apply_patch edit cart.go ", exact, false,
		},
		{
			"one that a person refused",
			[]string{
				codexItem(2, `{"type":"custom_tool_call","call_id":"c","name":"apply_patch","input":"`+patch+`"}`),
				codexItem(3, `{"type":"custom_tool_call_output","call_id":"c","output":"patch rejected by user"}`),
			},
			"apply_patch edit cart.go ", nil, true,
		},
		{"a shell command", []string{shell(`"{\"command\":[\"git\",\"status\"]}"`)}, "shell run  git status", nil, false},
		{
			"a call of the model's own shell",
			[]string{codexItem(2, `{"type":"local_shell_call","call_id":"c","action":{"type":"exec","command":["bash","-lc","ls -l"]}}`)},
			"local_shell run  ls -l", nil, false,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			lines := append([]string{codexRecord(0, "session_meta", codexMeta+"}"), codexEvent(1, `{"type":"user_message","message":"go"}`)}, c.lines...)
			s := readCodex(t, lines...)
			if len(s.ToolCalls) != 1 {
				t.Fatalf("calls %+v", s.ToolCalls)
			}
			call := s.ToolCalls[0]
			cmd, _, _ := strings.Cut(call.Cmd, "\n")
			harness.Equal(t, "call", c.call, strings.Join([]string{call.Tool, call.Act, call.Path, cmd}, " "))
			var hunks []transcript.Hunk
			for _, e := range s.Edits {
				hunks = append(hunks, e.Hunks...)
			}
			harness.Equal(t, "edits", c.hunks, hunks)
			if call.Failed != c.failed {
				t.Errorf("failed: %v", call.Failed)
			}
		})
	}
}

// TestCodexPrompts: prompts are what events repeat; without events, what is no note of the program.
func TestCodexPrompts(t *testing.T) {
	user := func(sec int, text string) string {
		return fmt.Sprintf(`{"type":"message","role":"user","content":[{"type":"input_text","text":%q}],"timestamp":"2026-11-20T09:00:%02d.000Z"}`, text, sec)
	}
	for _, c := range []struct {
		name  string
		lines []string
		want  []string
	}{
		{
			"with events",
			[]string{codexRecord(0, "session_meta", codexMeta+"}"), codexItem(1, user(1, "<subagent_notification>x")), codexItem(1, user(1, "injected by a hook")), codexItem(2, user(2, "go")), codexEvent(2, `{"type":"user_message","message":"go"}`), codexItem(3, `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"yes"}]}`)},
			[]string{"human go", "assistant yes"},
		},
		{
			"without events",
			[]string{codexRecord(0, "session_meta", codexMeta+"}"), codexItem(1, user(1, "# AGENTS.md instructions for /work/shop")), codexItem(2, user(2, "go")), codexItem(3, `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"yes"}]}`)},
			[]string{"human go", "assistant yes"},
		},
		{
			"before there was anything around records",
			[]string{
				`{"id":"019ed836-b1da-78f1-8a0c-e598363d10f4","timestamp":"2026-11-20T09:00:00.000Z","instructions":null}`, `{"record_type":"state"}`,
				user(1, "<environment_context>\n<cwd>/work/shop</cwd>\n</environment_context>"), user(2, "go"),
				`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"yes"}]}`,
			},
			[]string{"human go", "assistant yes"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, turn := range readCodex(t, c.lines...).Turns {
				got = append(got, turn.Role+" "+turn.Content)
			}
			harness.Equal(t, "turns", c.want, got)
		})
	}
}

// TestCodexCopies: a fork, and a subagent that was given what its parent knows, begin with a copy under new times; it is left out.
func TestCodexCopies(t *testing.T) {
	const older, newer = "019ed830-0000-7000-8000-000000000000", "019ed837-0000-7000-8000-000000000000"
	turn := func(sec int, id, prompt string) []string {
		return []string{
			codexEvent(sec, `{"type":"task_started","turn_id":"`+id+`"}`), codexRecord(sec, "turn_context", `{"turn_id":"`+id+`","cwd":"/work/shop"}`),
			codexEvent(sec, `{"type":"user_message","message":"`+prompt+`"}`),
		}
	}
	copied := append([]string{codexRecord(0, "session_meta", `{"id":"`+older+`","cwd":"/work/other"}`)}, turn(0, older, "what was said there")...)
	for name, more := range map[string]string{"forked_from_id": "fork", "parent_thread_id": "subagent"} {
		t.Run(more, func(t *testing.T) {
			lines := append([]string{codexRecord(0, "session_meta", codexMeta+`,"`+name+`":"`+older+`"}`)}, copied...)
			s := readCodex(t, append(lines, turn(5, newer, "and now")...)...)
			if len(s.Turns) != 1 || s.Turns[0].Content != "and now" {
				t.Errorf("turns %+v", s.Turns)
			}
			if sub := more == "subagent"; (s.ParentNative == older) != sub || (s.ForkNative == older) == sub || (s.ActorType == session.ActorAgent) != sub {
				t.Errorf("parent %q, fork of %q, actor %q", s.ParentNative, s.ForkNative, s.ActorType)
			}
		})
	}
}
