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
	opt := transcript.Options{
		File:  transcript.File{NativeID: "019ed836-b1da-78f1-8a0c-e598363d10f4"},
		Roots: []string{root},
	}
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
		{
			"a custom tool",
			[]string{codexItem(2,
				`{"type":"custom_tool_call","call_id":"c","name":"apply_patch","input":"`+patch+`"}`), done},
			"apply_patch edit cart.go ", edit, false,
		},
		{"a function", []string{codexItem(2,
			`{"type":"function_call","call_id":"c","name":"apply_patch","arguments":"{\"input\":\"`+strings.ReplaceAll(patch,
				`\n`, `\\n`)+`\"}"}`), done}, "apply_patch edit cart.go ", edit, false},
		{
			"in the shell",
			[]string{shell(`"{\"command\":[\"bash\",\"-lc\",\"apply_patch <<'EOF'\\n` +
				strings.ReplaceAll(patch, `\n`, `\\n`) + `\\nEOF\"]}"`), done},
			"shell edit cart.go apply_patch <<'EOF'", edit,
			false,
		},
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
			lines := append([]string{
				codexRecord(0, "session_meta", codexMeta+"}"),
				codexEvent(1, `{"type":"user_message","message":"go"}`),
			}, c.lines...)
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
			[]string{
				codexRecord(0, "session_meta", codexMeta+"}"), codexItem(1, user(1, "<subagent_notification>x")),
				codexItem(1, user(1, "injected by a hook")), codexItem(2, user(2, "go")),
				codexEvent(2, `{"type":"user_message","message":"go"}`),
				codexItem(3, `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"yes"}]}`),
			},
			[]string{"human go", "assistant yes"},
		},
		{
			"without events",
			[]string{
				codexRecord(0, "session_meta", codexMeta+"}"),
				codexItem(1, user(1, "# AGENTS.md instructions for /work/shop")), codexItem(2, user(2, "go")),
				codexItem(3, `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"yes"}]}`),
			},
			[]string{"human go", "assistant yes"},
		},
		{
			"before there was anything around records",
			[]string{
				`{"id":"019ed836-b1da-78f1-8a0c-e598363d10f4","timestamp":"2026-11-20T09:00:00.000Z","instructions":null}`,
				`{"record_type":"state"}`,
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

// TestCodexCopies: a fork, and a subagent that was given what its parent knows, begin with a copy under new times; it
// is left out.
func TestCodexCopies(t *testing.T) {
	const older, newer = "019ed830-0000-7000-8000-000000000000", "019ed837-0000-7000-8000-000000000000"
	turn := func(sec int, id, prompt string) []string {
		return []string{
			codexEvent(sec, `{"type":"task_started","turn_id":"`+id+`"}`),
			codexRecord(sec, "turn_context", `{"turn_id":"`+id+`","cwd":"/work/shop"}`),
			codexEvent(sec, `{"type":"user_message","message":"`+prompt+`"}`),
		}
	}
	copied := append([]string{codexRecord(0, "session_meta", `{"id":"`+older+`","cwd":"/work/other"}`)},
		turn(0, older, "what was said there")...)
	for name, more := range map[string]string{"forked_from_id": "fork", "parent_thread_id": "subagent"} {
		t.Run(more, func(t *testing.T) {
			lines := append([]string{codexRecord(0, "session_meta", codexMeta+`,"`+name+`":"`+older+`"}`)}, copied...)
			s := readCodex(t, append(lines, turn(5, newer, "and now")...)...)
			if len(s.Turns) != 1 || s.Turns[0].Content != "and now" {
				t.Errorf("turns %+v", s.Turns)
			}
			if sub := more == "subagent"; (s.ParentNative == older) != sub || (s.ForkNative == older) == sub ||
				(s.ActorType == session.ActorAgent) != sub {
				t.Errorf("parent %q, fork of %q, actor %q", s.ParentNative, s.ForkNative, s.ActorType)
			}
		})
	}
}

// TestCodexScripts: what a script of code mode called stands as calls of their own, by its events or (in older
// versions) by its text.
func TestCodexScripts(t *testing.T) {
	exec := func(id, script string) string {
		return codexItem(2, fmt.Sprintf(`{"type":"custom_tool_call","name":"exec","call_id":%q,"input":%q}`, id, script))
	}
	output := func(id, text string) string {
		return codexItem(4, fmt.Sprintf(`{"type":"custom_tool_call_output","call_id":%q,"output":[{"type":"input_text","text":"Script completed\nOutput:\n"},{"type":"input_text","text":%q}]}`, id, text))
	}
	item := func(body string) string { return codexEvent(3, `{"type":"item_completed","item":{`+body+`}}`) }
	asked := item(`"type":"UserMessage","id":"u","content":[{"type":"text","text":"go"}]`)
	old := codexEvent(1, `{"type":"user_message","message":"go"}`)
	const command = `"type":"CommandExecution","id":"exec-1","command":["/bin/bash","-lc","make test"],"cwd":"file:///work/shop","status":"failed","exit_code":2,"aggregated_output":"no"`
	const change = `"type":"FileChange","id":"exec-2","status":"completed","changes":{"/work/shop/cart.go":{"type":"update","unified_diff":"@@ -1 +1 @@\n-one\n+two\n"},"/work/shop/old.go":{"type":"update","move_path":"/work/shop/new.go","unified_diff":"@@ -1 +1 @@\n-a\n+b\n"}}`
	for _, c := range []struct {
		name  string
		lines []string
		calls []string // tool, what it does, path, command, failed, status
		edits int
	}{
		{
			"a command",
			[]string{asked, exec("s", "await tools.exec_command(x)"), item(command), output("s", "no")},
			[]string{"exec_command run  make test true 2"},
			0,
		},
		{"one that ends behind the script", []string{
			asked, exec("s", "await tools.exec_command(x)"), output("s", ""),
			item(command),
		}, []string{"exec_command run  make test true 2"}, 0},
		{
			"edits and a move",
			[]string{asked, exec("s", "await tools.apply_patch(x)"), item(change), output("s", "{}")},
			[]string{
				"apply_patch edit cart.go  false 0", "apply_patch edit old.go  false 0",
				"apply_patch edit new.go  false 0",
			},
			2,
		},
		{
			"an edit that failed",
			[]string{asked, exec("s", "x"), item(strings.Replace(change, "completed", "failed", 1)), output("s", "{}")},
			[]string{"apply_patch edit cart.go  true 0", "apply_patch edit old.go  true 0", "apply_patch edit new.go  true 0"},
			0,
		},
		{
			"a server's tool, and a command beside it",
			[]string{
				asked, exec("s", "x"),
				item(`"type":"McpToolCall","id":"exec-3","server":"git-rekal","tool":"recall","status":"completed"`), item(command),
				output("s", ""),
			},
			[]string{"mcp__git_rekal.recall    false 0", "exec_command run  make test true 2"},
			0,
		},
		{"nothing but a text", []string{asked, exec("s", "text(1+1)"), output("s", "2")}, []string{"exec    false 0"}, 0},
		{"one that was given up", []string{
			asked, exec("s", "await tools.exec_command({cmd: 'ls'})"),
			codexEvent(4, `{"type":"turn_aborted"}`),
		}, nil, 0},
		{
			"the text of an older one",
			[]string{old, exec("s", "const cmd = 'go ' + `test`;\n// tools.exec_command({cmd: 'no'})\nconst r = await tools.exec_command({ cmd, workdir: \"/work/shop\" });\nawait tools[\"exec_command\"]({\"cmd\": \"a\\u0062\"})"), output("s", "")},
			[]string{"exec_command run  go test false 0", "exec_command run  ab false 0"},
			0,
		},
		{
			"a patch of an older one, which its event tells",
			[]string{
				old, exec("s", "tools.apply_patch('*** Begin Patch\\n*** Update File: cart.go\\n@@\\n-one\\n+two\\n*** End Patch'); tools.exec_command({cmd: 'ls'})"),
				codexEvent(3, `{"type":"patch_apply_end","call_id":"exec-2","success":true,"changes":{"/work/shop/cart.go":{"type":"update","unified_diff":"@@ -1 +1 @@\n-one\n+two\n"}}}`), output("s", ""),
			},
			[]string{"apply_patch edit cart.go  false 0", "exec_command run  ls false 0"},
			1,
		},
		{
			"a patch of which nothing tells",
			[]string{old, exec("s", "const patch = \"*** Begin Patch\\n*** Update File: cart.go\\n@@\\n-one\\n+two\\n*** End Patch\";\nawait tools.apply_patch(patch)"), output("s", "{}")},
			[]string{"apply_patch edit cart.go  false 0"},
			1,
		},
		{
			"an older one that can't be told",
			[]string{
				old,
				exec("s", "for (const c of list) await tools.exec_command({cmd: c + 1})"), output("s", ""),
			},
			[]string{"exec_command run   false 0"},
			0,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := readCodex(t, append([]string{codexRecord(0, "session_meta", codexMeta+"}")}, c.lines...)...)
			var calls []string
			for _, u := range s.ToolCalls {
				calls = append(calls, fmt.Sprintf("%s %s %s %s %v %d", u.Tool, u.Act, u.Path, u.Cmd, u.Failed, u.Exit))
			}
			harness.Equal(t, "calls", c.calls, calls)
			harness.Equal(t, "edits", c.edits, len(s.Edits))
		})
	}
}

// TestCodexBriefs: what a subagent of newer versions is told only the model reads; what it answers is none of its
// parent's words.
func TestCodexBriefs(t *testing.T) {
	const sub = `,"thread_source":"subagent","parent_thread_id":"019ed836-0000-7000-8000-000000000000"}`
	message := func(head, more string) string {
		return codexItem(1, `{"type":"agent_message","author":"/root","recipient":"/root/writer","content":[{"type":"input_text","text":"Message Type: `+head+`\nPayload:\n`+more+`]}`)
	}
	answer := codexItem(2, `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]}`)
	for _, c := range []struct{ name, meta, line, first string }{
		{
			"encrypted", sub, message("NEW_TASK", `"},{"type":"encrypted_content","encrypted_content":"gAAA"}`),
			"/root/writer: brief not readable",
		},
		{"readable", sub, message("NEW_TASK", `write it"}`), "write it"},
		{"of the parent", "}", message("FINAL_ANSWER", `it is written"}`), "Done."},
		{"a result, told to a subagent", sub, message("FINAL_ANSWER", `it is written"}`), "Done."},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := readCodex(t, codexRecord(0, "session_meta", codexMeta+c.meta), c.line, answer)
			harness.Equal(t, "first turn", c.first, s.Turns[0].Content)
		})
	}
}
