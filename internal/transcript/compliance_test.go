package transcript_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/transcript"
)

// samples are what the suite runs on: for each agent a transcript made in root, with
// prompts, answers and tool calls, and what to tell Decode about it. A new agent adds
// itself here, and nothing else.
func samples() map[string]sample {
	return map[string]sample{
		"claude-code": {
			model: "claude-opus-4-6",
			opt:   transcript.Options{File: transcript.File{NativeID: sid}, Roots: []string{root}},
			lines: []string{
				`{"type":"summary","summary":"Cart","leafUuid":"u1"}`,
				user(1, `"fix the \"cart\" ümläut"`, `"uuid":"u1"`),
				rec("assistant", 2, `"message":{"model":"claude-haiku-4-5","role":"assistant","content":[{"type":"text","text":"On it."}]}`),
				assistant(2, `[{"type":"tool_use","id":"t1","name":"Edit","input":{"file_path":"/work/shop/cart.go"}}]`),
				user(3, `[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":"no"}]`),
				`not a record`,
				queue("enqueue", 4, `"content":"tests too"`),
				queue("remove", 5, ""),
				rec("assistant", 6, `"message":{"model":"claude-opus-4-6","role":"assistant","content":[{"type":"text","text":"Done."}]}`),
				rec("assistant", 6, `"message":{"model":"<synthetic>","role":"assistant","content":[{"type":"text","text":"API Error"}]}`),
				queue("enqueue", 7, `"content":"thanks"`),
				queue("dequeue", 7, ""),
				user(7, `"thanks"`),
				`{"type":"user","message":{"content":"nobody says when"}}`,
			},
		},
		"codex":       codexSample(),
		"copilot-cli": copilotSample(),
		"gemini-cli":  geminiSample(),
		"opencode":    openCodeSample(),
		"cursor":      cursorSample(),
		"kilo":        openCodeSample(),
		"pi":          piSample(),
		"qwen-code":   qwenSample(),
		"droid":       droidSample(),
		"cline":       clineSample(),
		"continue":    continueSample(),
		"kimi-code":   kimiSample(),
		"grok":        grokSample(),
		"antigravity": antigravitySample(),
	}
}

// codexSample is a rollout with an edit, one that failed, and a question.
func codexSample() sample {
	rec := func(sec int, kind, payload string) string {
		return fmt.Sprintf(`{"timestamp":"2026-11-20T09:00:%02d.000Z","type":%q,"payload":%s}`, sec, kind, payload)
	}
	item := func(sec int, payload string) string { return rec(sec, "response_item", payload) }
	message := func(sec int, role, text string) string {
		return item(sec, fmt.Sprintf(`{"type":"message","role":%q,"content":[{"type":"input_text","text":%q}]}`, role, text))
	}
	const id = "019ed836-b1da-78f1-8a0c-e598363d10f4"
	return sample{
		head:  true,
		model: "gpt-5.5",
		opt:   transcript.Options{File: transcript.File{NativeID: id}, Roots: []string{root}},
		lines: []string{
			rec(0, "session_meta", `{"id":"`+id+`","cwd":"/work/shop","cli_version":"0.140.0","source":"cli","base_instructions":{"text":"long"},"git":{"branch":"main"}}`),
			message(1, "developer", "<permissions instructions>"),
			message(1, "user", "# AGENTS.md instructions for /work/shop"),
			rec(1, "turn_context", `{"turn_id":"019ed837-0000-7000-8000-000000000000","cwd":"/work/shop/sub","model":"gpt-5.4"}`),
			message(2, "user", "fix the cart"),
			rec(2, "event_msg", `{"type":"user_message","message":"# Files mentioned by the user:\ncart.go\n## My request for Codex:\nfix the \"cart\" ümläut"}`),
			`not a record`,
			item(3, `{"type":"reasoning","summary":[{"type":"summary_text","text":"thinking"}]}`),
			rec(3, "event_msg", `{"type":"agent_message","message":"On it."}`),
			message(3, "assistant", "On it."),
			item(4, `{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"ls\"}","call_id":"c1"}`),
			item(5, `{"type":"custom_tool_call","call_id":"c2","name":"apply_patch","input":"*** Begin Patch\n*** Update File: ../cart.go\n@@\n-one\n+two\n*** Add File: /work/shop/new.go\n+package shop\n*** End Patch"}`),
			item(6, `{"type":"function_call_output","call_id":"c1","output":"Process exited with code 0"}`),
			item(6, `{"type":"custom_tool_call_output","call_id":"c2","output":"Success. Updated the following files:\nM cart.go"}`),
			item(7, `{"type":"custom_tool_call","call_id":"c3","name":"apply_patch","input":"*** Begin Patch\n*** Delete File: gone.go\n*** End Patch"}`),
			item(8, `{"type":"custom_tool_call_output","call_id":"c3","output":"apply_patch verification failed: no such file"}`),
			item(8, `{"type":"function_call","name":"request_user_input","arguments":"{\"questions\":[{\"id\":\"q\",\"question\":\"Which?\"}]}","call_id":"c4"}`),
			item(9, `{"type":"function_call_output","call_id":"c4","output":"{\"answers\":{\"q\":{\"answers\":[\"This.\"]}}}"}`),
			item(9, `{"type":"custom_tool_call","call_id":"s1","name":"exec","input":"await tools.exec_command({cmd: 'make'}); await tools.apply_patch(patch)"}`),
			rec(9, "event_msg", `{"type":"item_completed","item":{"type":"CommandExecution","id":"exec-1","command":["/bin/bash","-lc","make"],"status":"failed","exit_code":2,"aggregated_output":"no"}}`),
			rec(9, "event_msg", `{"type":"item_completed","item":{"type":"FileChange","id":"exec-2","status":"completed","changes":{"/work/shop/sub/x.go":{"type":"add","content":"x\n"}}}}`),
			item(9, `{"type":"custom_tool_call_output","call_id":"s1","output":[{"type":"input_text","text":"Script completed\nOutput:\n"}]}`),
			rec(9, "compacted", `{"message":"","replacement_history":[{"type":"message","role":"user","content":[]}]}`),
			rec(9, "turn_context", `{"turn_id":"019ed838-0000-7000-8000-000000000000","cwd":"/work/shop/sub","model":"gpt-5.5"}`),
			message(9, "assistant", "Done."),
			rec(9, "event_msg", `{"type":"task_complete","last_agent_message":"Done."}`),
		},
	}
}

// copilotSample is a session with an edit, one that failed, a question and a subagent.
func copilotSample() sample {
	rec := func(sec int, kind, data string, extra ...string) string {
		return fmt.Sprintf(`{"type":%q,"data":%s,"id":"e%d","timestamp":"2026-11-20T09:00:%02d.000Z","parentId":null%s}`,
			kind, data, sec, sec, strings.Join(extra, ""))
	}
	const child = `,"agentId":"toolu_1"`
	return sample{
		head:  true,
		model: "gpt-5.4",
		opt:   transcript.Options{File: transcript.File{NativeID: "70b173ed"}, Roots: []string{root}},
		lines: []string{
			rec(0, "session.start", `{"sessionId":"70b173ed","copilotVersion":"1.0.74","context":{"cwd":"/work/shop","gitRoot":"/work/shop","branch":"main"}}`),
			rec(0, "session.model_change", `{"newModel":"claude-sonnet-4.6"}`),
			rec(1, "user.message", `{"content":"fix the \"cart\" ümläut","transformedContent":"<current_datetime>now</current_datetime>\n\nfix"}`),
			rec(1, "user.message", `{"content":"<system_reminder>","source":"system"}`),
			`not a record`,
			rec(2, "assistant.message", `{"content":"On it.","reasoningText":"thinking","toolRequests":[]}`),
			rec(2, "hook.start", `{"input":{"prompt":"fix"}}`),
			rec(3, "tool.execution_start", `{"toolCallId":"c1","toolName":"edit","arguments":{"path":"/work/shop/cart.go","old_str":"one","new_str":"two"}}`),
			rec(3, "tool.execution_start", `{"toolCallId":"c2","toolName":"bash","arguments":{"command":"go test"}}`),
			rec(4, "tool.execution_complete", `{"toolCallId":"c2","success":true,"shellExecution":{"exitCode":1}}`),
			rec(4, "tool.execution_complete",
				`{"toolCallId":"c1","success":true,"result":{"detailedContent":"\ndiff --git a/work/shop/cart.go b/work/shop/cart.go\n--- a/work/shop/cart.go\n+++ b/work/shop/cart.go\n@@ -1 +1 @@\n-one\n+two\n"}}`),
			rec(5, "tool.execution_start", `{"toolCallId":"c3","toolName":"apply_patch","arguments":"*** Begin Patch\n*** Update File: a.go\n@@\n-a\n+b\n*** Update File: b.go\n@@\n-c\n+d\n*** End Patch"}`),
			rec(5, "tool.execution_complete", `{"toolCallId":"c3","success":false,"error":{"code":"denied"}}`),
			rec(5, "tool.execution_start", `{"toolCallId":"c4","toolName":"ask_user","arguments":{"question":"Which?"}}`),
			rec(6, "tool.execution_complete", `{"toolCallId":"c4","success":true,"result":{"content":"User selected: This."}}`),
			rec(6, "tool.execution_start", `{"toolCallId":"toolu_1","toolName":"task","arguments":{"prompt":"look"}}`),
			rec(6, "user.message", `{"content":"look","source":"agent-70b173ed"}`, child),
			rec(7, "assistant.message", `{"content":"I look.","model":"claude-haiku-4.5"}`, child),
			rec(7, "tool.execution_start", `{"toolCallId":"c5","toolName":"view","arguments":{"path":"/work/shop/cart.go"}}`,
				child),
			rec(8, "tool.execution_complete", `{"toolCallId":"c5","success":true}`, child),
			rec(8, "assistant.message", `{"content":"Done.","model":"gpt-5.4"}`),
			rec(9, "session.shutdown", `{}`),
		},
	}
}

// geminiSample is a session with a list that brings its context, a message that is written twice, an edit, one that
// failed, and a resume that says everything again.
func geminiSample() sample {
	message := func(id, kind string, sec int, content, more string) string {
		return fmt.Sprintf(`{"id":%q,"timestamp":"2026-11-20T09:00:%02d.000Z","type":%q,"content":%s%s}`, id, sec, kind,
			content, more)
	}
	const start = `{"sessionId":"970c70a7-5c8e","projectHash":"40fc","startTime":"2026-11-20T09:00:00.000Z","kind":"main"}`
	calls := `,"toolCalls":[{"id":"c1","name":"replace","args":{"file_path":"cart.go","old_string":"one","new_string":"two"},"status":"success","timestamp":"2026-11-20T09:00:03.500Z","resultDisplay":{"fileDiff":"Index: cart.go\n--- cart.go\n+++ cart.go\n@@ -1 +1 @@\n-one\n+two\n"}},` +
		`{"id":"c2","name":"write_file","args":{"file_path":"/work/shop/no.go","content":"x"},"status":"cancelled"},` +
		`{"id":"c3","name":"run_shell_command","args":{"command":"go test"},"status":"success"}]`
	return sample{
		model: "gemini-2.5-flash",
		opt: transcript.Options{
			File:  transcript.File{NativeID: "970c70a7-5c8e", Cwd: root, ReadWhole: true},
			Roots: []string{root},
		},
		lines: []string{
			start,
			`{"$set":{"messages":[` + message("m0", "user", 0, `[{"text":"<session_context>\nlinux"}]`, "") + `]}}`,
			message("m1", "user", 1, `[{"text":"fix the \"cart\" ümläut @cart.go"},{"text":"\n--- Content from referenced files ---"},{"text":"package"}]`, ""),
			`not a record`,
			`{"$set":{"lastUpdated":"2026-11-20T09:00:01.000Z"}}`,
			message("m2", "gemini", 2, `"On it."`, `,"model":"gemini-2.5-pro","thoughts":[{"subject":"thinking"}]`),
			message("m2", "gemini", 2, `"On it."`, `,"model":"gemini-2.5-pro"`+calls),
			message("m3", "user", 4, `[{"functionResponse":{"id":"c1"}}]`, ""),
			message("m4", "info", 4, `"update available"`, ""),
			message("m5", "gemini", 5, `[{"text":"Done."}]`, `,"model":"gemini-2.5-flash"`),
			start,
			`{"$set":{"messages":[` + message("m1", "user", 6, `[{"text":"fix it"}]`, "") + "," +
				message("m2", "gemini", 6, `[{"text":"**Thinking** On it."}]`, `,"model":"gemini-2.5-pro"`) + "," +
				message("m9", "user", 6, `[{"text":"what happened so far"}]`, "") + `]}}`,
			`{"$rewindTo":"m5"}`,
			message("m6", "user", 7, `[{"text":"<hook_context>&lt;git-rekal&gt; From earlier sessions\n</hook_context>\n\nthanks"}]`, ""),
			message("m7", "user", 7, `"/quit"`, ""),
		},
	}
}

// openCodeSample is the rows of a session with an edit, one that failed, and what the program said in between.
func openCodeSample() sample {
	ms := func(sec int) int64 { return time.Date(2026, 11, 20, 9, 0, sec, 0, time.UTC).UnixMilli() }
	message := func(id, role string, sec int, more string) string {
		return fmt.Sprintf(`{"message":{"id":%q,"created":%d,"role":%q%s}}`, id, ms(sec), role, more)
	}
	tool := func(id, tool, status, input, more string) string {
		return fmt.Sprintf(`{"part":{"type":"tool","tool":%q,"callID":%q,"status":%q,"input":%s%s}}`, tool, id, status, input,
			more)
	}
	return sample{
		model: "gpt-5.4",
		opt:   transcript.Options{File: transcript.File{NativeID: "ses_1", ReadWhole: true}, Roots: []string{root}},
		lines: []string{
			`{"session":{"id":"ses_1","directory":"/work/shop","title":"New session - 2026-11-20","version":"1.18.33"}}`,
			message("m1", "user", 1, ""),
			`{"part":{"type":"text","text":"fix the \"cart\" ümläut"}}`,
			`{"part":{"type":"text","text":"Called the Read tool","synthetic":1}}`,
			`not a record`,
			message("m2", "assistant", 2, `,"done":true,"model":"gpt-5.3-codex"`),
			fmt.Sprintf(`{"part":{"type":"text","text":"On it.","start":%d,"end":%d}}`, ms(2), ms(2)+5),
			tool("c1", "edit", "completed", `{"filePath":"/work/shop/cart.go","oldString":"one","newString":"two"}`,
				`,"diff":"Index: /work/shop/cart.go\n===\n--- /work/shop/cart.go\n+++ /work/shop/cart.go\n@@ -1,1 +1,1 @@\n-one\n+two\n"`),
			tool("c2", "write", "error", `{"filePath":"/work/shop/no.go","content":"x"}`, ""),
			tool("c3", "apply_patch", "completed",
				`{"patchText":"*** Begin Patch\n*** Update File: a.go\n@@\n-a\n+b\n*** Add File: b.go\n+c\n*** End Patch"}`, ""),
			tool("c4", "bash", "running", `{"command":"go test"}`, ""),
			message("m3", "user", 3, ""),
			message("m4", "assistant", 4, `,"done":true,"summary":true,"model":"small"`),
			`{"part":{"type":"text","text":"what happened so far","end":1}}`,
			message("m5", "assistant", 5, `,"model":"gpt-5.4"`),
			`{"part":{"type":"text","text":"Done.","end":1}}`,
		},
	}
}

// cursorSample is a session with what Cursor puts around a prompt, and an edit.
func cursorSample() sample {
	message := func(role, blocks string) string {
		return fmt.Sprintf(`{"role":%q,"message":{"content":[%s]}}`, role, blocks)
	}
	return sample{
		timeless: true,
		opt: transcript.Options{
			File:  transcript.File{NativeID: "c1", Cwd: root, ModTime: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)},
			Roots: []string{root},
		},
		lines: []string{
			message("user", `{"type":"text","text":"<external_links>much</external_links>\n<user_query>\nfix the \"cart\" ümläut\n</user_query>"}`),
			`not a record`,
			message("assistant", `{"type":"text","text":"On it.\n\n[REDACTED]"},{"type":"tool_use","name":"Read","input":{"path":"/work/shop/cart.go"}}`),
			message("assistant", `{"type":"text","text":"[REDACTED]"},{"type":"tool_use","name":"StrReplace","input":{"path":"/work/shop/cart.go","old_string":"one","new_string":"two"}}`),
			message("assistant", `{"type":"tool_use","name":"Shell","input":{"command":"go test","working_directory":"/work/shop"}}`),
			`{"type":"turn_ended","status":"ok"}`,
			message("user", `{"type":"text","text":"<user_info>linux</user_info>"}`),
			message("assistant", `{"type":"text","text":"Done."}`),
		},
	}
}

// piSample is a session with an edit, one that failed, and a command of the person.
func piSample() sample {
	message := func(sec int, body string) string {
		return fmt.Sprintf(`{"type":"message","id":"m%d","parentId":null,"timestamp":"2026-11-20T09:00:%02d.000Z","message":%s}`, sec, sec, body)
	}
	result := func(sec int, id, more string) string {
		return message(sec, fmt.Sprintf(`{"role":"toolResult","toolCallId":%q,"toolName":"x",%s}`, id, more))
	}
	return sample{
		head:  true,
		model: "glm-5",
		opt:   transcript.Options{File: transcript.File{NativeID: "01a2"}, Roots: []string{root}},
		lines: []string{
			`{"type":"session","version":3,"id":"01a2","timestamp":"2026-11-20T09:00:00.000Z","cwd":"/work/shop"}`,
			`{"type":"model_change","id":"x","timestamp":"2026-11-20T09:00:00.000Z","modelId":"glm-4"}`,
			message(1, `{"role":"user","content":[{"type":"text","text":"fix the \"cart\" ümläut"}]}`),
			`not a record`,
			message(2, `{"role":"assistant","model":"glm-5","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"On it."},{"type":"toolCall","id":"c1","name":"edit","arguments":{"path":"/work/shop/cart.go","edits":[{"oldText":"one","newText":"two"}]}},{"type":"toolCall","id":"c2","name":"bash","arguments":{"command":"go test"}}]}`),
			result(3, "c1", `"content":[{"type":"text","text":"ok"}],"details":{"diff":"  1 a\n- 2 one\n+ 2 two\n    ..."},"isError":false`),
			result(3, "c2", `"content":[{"type":"text","text":"no\n\nCommand exited with code 1"}],"isError":true`),
			message(4, `{"role":"assistant","model":"glm-5","content":[{"type":"toolCall","id":"c3","name":"write","arguments":{"path":"no.go","content":"x"}}]}`),
			result(5, "c3", `"content":[],"isError":true`),
			message(6, `{"role":"bashExecution","command":"ls","output":"cart.go"}`),
			`{"type":"compaction","id":"y","timestamp":"2026-11-20T09:00:07.000Z","summary":"what happened so far"}`,
			message(8, `{"role":"assistant","model":"glm-5","content":[{"type":"text","text":"Done."}]}`),
		},
	}
}

// qwenSample is a session with an edit, one that failed, and what the program notes for itself.
func qwenSample() sample {
	rec := func(sec int, kind, more string) string {
		return fmt.Sprintf(`{"uuid":"u%d","sessionId":"s1","timestamp":"2026-11-20T09:00:%02d.000Z","type":%q,"cwd":"/work/shop","version":"0.24.4","gitBranch":"main",%s}`, sec, sec, kind, more)
	}
	parts := func(role, list string) string { return fmt.Sprintf(`"message":{"role":%q,"parts":[%s]}`, role, list) }
	result := func(sec int, id, status, shown string) string {
		return rec(sec, "tool_result", parts("user",
			`{"functionResponse":{"id":"`+id+`"}}`)+`,"toolCallResult":{"callId":"`+id+`","status":"`+status+`","resultDisplay":`+shown+`}`)
	}
	return sample{
		model: "qwen3-coder",
		opt:   transcript.Options{File: transcript.File{NativeID: "s1"}, Roots: []string{root}},
		lines: []string{
			rec(1, "user", `"provenance":"real_user",`+parts("user",
				`{"text":"fix the \"cart\" ümläut"},{"text":"<qwen:user-prompt-submit-context>\nsaid a hook\n</qwen:user-prompt-submit-context>"},{"text":"\n--- Content from referenced files ---"},{"text":"package"}`)),
			rec(1, "user", `"provenance":"system","subtype":"notification",`+parts("user", `{"text":"a helper is done"}`)),
			`not a record`,
			rec(2, "system", `"provenance":"system","subtype":"ui_telemetry","systemPayload":{}`),
			rec(2, "assistant", `"model":"qwen3-coder",`+parts("model",
				`{"text":"thinking","thought":true},{"text":"On it."},{"functionCall":{"id":"c1","name":"edit","args":{"file_path":"/work/shop/cart.go","old_string":"one","new_string":"two"}}},{"functionCall":{"id":"c2","name":"run_shell_command","args":{"command":"go test"}}}`)),
			result(3, "c1", "success", `{"fileDiff":"Index: cart.go\n--- cart.go\n+++ cart.go\n@@ -1 +1 @@\n-one\n+two\n"}`),
			result(3, "c2", "success", `{"type":"shell_result","exitCode":1,"output":"no"}`),
			rec(4, "assistant", `"model":"qwen3-coder",`+parts("model",
				`{"functionCall":{"id":"c3","name":"write_file","args":{"file_path":"no.go","content":"x"}}}`)),
			result(5, "c3", "error", `"not read"`),
			rec(6, "assistant", `"model":"qwen3-coder",`+parts("model", `{"text":"Done."}`)),
		},
	}
}

// droidSample is a session with what the program puts before a prompt, an edit, and one that failed.
func droidSample() sample {
	message := func(sec int, role, more, blocks string) string {
		return fmt.Sprintf(`{"type":"message","id":"m%d","timestamp":"2026-11-20T09:00:%02d.000Z","message":{"role":%q%s,"content":[%s]}}`, sec, sec, role, more, blocks)
	}
	const model = `,"modelId":"custom:glm-5"`
	return sample{
		head:  true,
		model: "glm-5",
		opt:   transcript.Options{File: transcript.File{NativeID: "d1"}, Roots: []string{root}},
		lines: []string{
			`{"type":"session_start","id":"d1","title":"fix","version":2,"cwd":"/work/shop"}`,
			message(1, "user", `,"visibility":"llm_only"`, `{"type":"text","text":"<system-reminder>tools</system-reminder>"}`),
			message(1, "user", "", `{"type":"text","text":"<system-reminder>today</system-reminder>"},{"type":"text","text":"fix the \"cart\" ümläut"}`),
			`not a record`,
			message(2, "assistant", model, `{"type":"thinking","thinking":"hm"},{"type":"text","text":"On it."},{"type":"tool_use","id":"c1","name":"Edit","input":{"file_path":"/work/shop/cart.go","old_str":"one","new_str":"two"}},{"type":"tool_use","id":"c2","name":"Execute","input":{"command":"go test"}}`),
			message(3, "user", "", `{"type":"tool_result","tool_use_id":"c1","is_error":false,"content":"{\"success\":true,\"diffLines\":[{\"type\":\"removed\",\"content\":\"one\"},{\"type\":\"added\",\"content\":\"two\"}]}"},{"type":"tool_result","tool_use_id":"c2","is_error":true,"content":"Error: Command failed (exit code: 1)\nno"}`),
			message(4, "assistant", model, `{"type":"tool_use","id":"c3","name":"Create","input":{"file_path":"no.go","content":"x"}}`),
			message(5, "user", "", `{"type":"tool_result","tool_use_id":"c3","is_error":true,"content":"Error: no"}`),
			message(6, "assistant", model, `{"type":"text","text":"Done."}`),
			`{"type":"agent_turn_outcome","reason":"completed"}`,
		},
	}
}

// clineSample is a session with an edit, one that failed, and what the program puts around a prompt.
func clineSample() sample {
	message := func(sec int, role, blocks string) string {
		return fmt.Sprintf(`{"id":"m%d","role":%q,"content":[%s],"ts":%d,"modelInfo":{"id":"glm-5"}}`, sec, role, blocks,
			time.Date(2026, 11, 20, 9, 0, sec, 0, time.UTC).UnixMilli())
	}
	return sample{
		model: "glm-5",
		opt:   transcript.Options{File: transcript.File{NativeID: "17_x", Cwd: root, ReadWhole: true}, Roots: []string{root}},
		lines: []string{
			`{"version":1,"session_id":"17_x","started_at":"2026-11-20T09:00:00.000Z","cwd":"/work/shop","metadata":{"git":{"branch":"main"}}}`,
			`{"version":1,"sessionId":"17_x","agent":"lead","system_prompt":"You are"}`,
			message(1, "user", `{"type":"text","text":"<user_input mode=\"act\">fix the \"cart\" ümläut</user_input>"}`),
			`not a record`,
			message(2, "assistant", `{"type":"text","text":"On it."},{"type":"tool_use","id":"c1","name":"editor","input":{"path":"/work/shop/cart.go","old_text":"one","new_text":"two"}},{"type":"tool_use","id":"c2","name":"run_commands","input":{"commands":["go test"]}},{"type":"tool_use","id":"c4","name":"read_files","input":{"files":[{"path":"/work/shop/a.go"},{"path":"/work/shop/b.go"}]}}`),
			message(3, "user", `{"type":"tool_result","tool_use_id":"c1","content":"{\"result\":\"Edited cart.go\\n`+"```diff"+`\\n-1: one\\n+1: two\\n`+"```"+`\",\"success\":true}"},{"type":"tool_result","tool_use_id":"c2","content":[{"query":"go test","result":"[Command exited with code 1]\n\nno","success":false}]}`),
			message(4, "assistant", `{"type":"tool_use","id":"c3","name":"editor","input":{"path":"no.go","new_text":"x"}}`),
			message(5, "user", `{"type":"tool_result","tool_use_id":"c3","content":"{\"error\":\"no\",\"success\":false}"}`),
			message(6, "assistant", `{"type":"text","text":"Done."}`),
		},
	}
}

// continueSample is a session with an edit, one that failed, and a command.
func continueSample() sample {
	call := func(id, name, status, args string) string {
		return fmt.Sprintf(`{"toolCallId":%q,"toolCall":{"function":{"name":%q}},"status":%q,"parsedArgs":%s,"output":[{"content":"no"}]}`, id, name, status, args)
	}
	return sample{
		opt: transcript.Options{File: transcript.File{NativeID: "77", Cwd: root, ReadWhole: true}, Roots: []string{root}},
		lines: []string{
			fmt.Sprintf(`{"sessionId":"77","title":"Untitled Session","dateCreated":"%d","workspaceDirectory":"/work/shop","messageCount":4}`, time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC).UnixMilli()),
			`{"sessionId":"77","title":"Untitled Session","workspaceDirectory":"/work/shop","usage":{}}`,
			`{"message":{"role":"user","content":"fix the \"cart\" ümläut"},"contextItems":[]}`,
			`not a record`,
			`{"message":{"role":"assistant","content":"On it."},"toolCallStates":[` +
				call("c1", "Edit", "done", `{"filepath":"/work/shop/cart.go","old_string":"one","new_string":"two"}`) + "," +
				call("c2", "Bash", "done", `{"command":"go test"}`) + `]}`,
			`{"message":{"role":"assistant","content":""},"toolCallStates":[` +
				call("c3", "Write", "errored", `{"filepath":"no.go","content":"x"}`) + "," +
				call("c4", "Bash", "calling", `{"command":"sleep 9"}`) + `]}`,
			`{"message":{"role":"assistant","content":"Done."}}`,
		},
	}
}

// kimiSample is a wire with an edit, one that failed, and what the program tells the model.
func kimiSample() sample {
	rec := func(sec int, kind, more string) string {
		return fmt.Sprintf(`{"type":%q,"agentId":"main",%s,"time":%d}`, kind, more,
			time.Date(2026, 11, 20, 9, 0, sec, 0, time.UTC).UnixMilli())
	}
	message := func(sec int, kind, text string) string {
		return rec(sec, "context.append_message",
			fmt.Sprintf(`"message":{"role":"user","content":[{"type":"text","text":%q}],"origin":{"kind":%q}}`, text, kind))
	}
	event := func(sec int, body string) string { return rec(sec, "context.append_loop_event", `"event":{`+body+`}`) }
	call := func(sec int, id, name, args string) string {
		return event(sec, fmt.Sprintf(`"type":"tool.call","toolCallId":%q,"name":%q,"args":%s`, id, name, args))
	}
	result := func(sec int, id, more string) string {
		return event(sec, fmt.Sprintf(`"type":"tool.result","toolCallId":%q,"result":{%s}`, id, more))
	}
	return sample{
		model: "kimi-k3",
		opt:   transcript.Options{File: transcript.File{NativeID: "session_1", Cwd: root}, Roots: []string{root}},
		lines: []string{
			`{"type":"metadata","protocol_version":"1.5","created_at":1795000000000}`,
			rec(0, "profile.bind", `"environmentDisclosure":{"cwd":"/work/shop"}`),
			rec(1, "turn.prompt", `"input":[{"type":"text","text":"fix the cart"}]`),
			message(1, "user", "fix the \"cart\" ümläut"),
			message(1, "injection", "<system-reminder>today</system-reminder>"),
			`not a record`,
			rec(1, "llm.request", `"model":"kimi-k3"`),
			event(2, `"type":"content.part","part":{"type":"think","think":"hm"}`),
			event(2, `"type":"content.part","part":{"type":"text","text":"On it."}`),
			call(3, "c1", "Edit", `{"path":"/work/shop/cart.go","old_string":"one","new_string":"two"}`),
			result(3, "c1", `"output":"Replaced 1 occurrence"`),
			event(3, `"type":"step.end","uuid":"s1","usage":{"inputOther":9,"output":3}`),
			call(4, "c2", "Bash", `{"command":"go test"}`),
			result(4, "c2", `"output":"no\nCommand failed with exit code: 1.","isError":true`),
			call(5, "c3", "Write", `{"path":"no.go","content":"x"}`),
			result(5, "c3", `"output":"no","isError":true`),
			event(6, `"type":"content.part","part":{"type":"text","text":"Done."}`),
			rec(6, "turn.ended", `"turnId":0`),
		},
	}
}

// grokSample is a session whose texts come in pieces, with an edit and one that failed.
func grokSample() sample {
	update := func(sec int, kind, more string) string {
		at := time.Date(2026, 11, 20, 9, 0, sec, 0, time.UTC).UnixMilli()
		return fmt.Sprintf(`{"timestamp":%d,"method":"session/update","params":{"sessionId":"g1","update":{"sessionUpdate":%q,%s},"_meta":{"agentTimestampMs":%d}}}`, at/1000, kind, more, at)
	}
	piece := func(sec int, kind, text string) string {
		return update(sec, kind+"_chunk", fmt.Sprintf(`"content":{"type":"text","text":%q},"_meta":{"modelId":"grok-5"}`,
			text))
	}
	call := func(sec int, id, name, input string) string {
		return update(sec, "tool_call",
			fmt.Sprintf(`"toolCallId":%q,"title":"x","rawInput":%s,"_meta":{"x.ai/tool":{"name":%q}}`, id, input, name))
	}
	result := func(sec int, id, status, more string) string {
		return update(sec, "tool_call_update", fmt.Sprintf(`"toolCallId":%q,"status":%q%s`, id, status, more))
	}
	return sample{
		model: "grok-5",
		opt:   transcript.Options{File: transcript.File{NativeID: "g1", Cwd: root}, Roots: []string{root}},
		lines: []string{
			piece(1, "user_message", "fix the \"cart\" "),
			piece(1, "user_message", "ümläut"),
			`not a record`,
			piece(2, "agent_thought", "hm"),
			piece(2, "agent_message", "On "),
			piece(2, "agent_message", "it."),
			call(3, "c1", "search_replace", `{"file_path":"/work/shop/cart.go","old_string":"one","new_string":"two"}`),
			update(3, "tool_call_update", `"toolCallId":"c1","kind":"edit"`),
			result(3, "c1", "completed", ""),
			call(4, "c2", "run_terminal_command", `{"command":"go test"}`),
			result(4, "c2", "completed", `,"content":[{"type":"content","content":{"type":"text","text":"no"}}],"rawOutput":{"exit_code":1}`),
			call(5, "c3", "write", `{"file_path":"no.go","content":"x"}`),
			result(5, "c3", "failed", ""),
			piece(6, "agent_message", "Done."),
			update(6, "turn_completed", `"prompt_id":"p1","usage":{"inputTokens":9,"outputTokens":3}`),
		},
	}
}

// antigravitySample is a session with a question, an edit, two that failed, and a command that failed.
func antigravitySample() sample {
	steps := 0
	step := func(sec int, source, kind, more string) string {
		steps++
		return fmt.Sprintf(`{"step_index":%d,"source":%q,"type":%q,"status":"DONE","created_at":"2026-11-20T09:00:%02dZ"%s}`,
			steps, source, kind, sec, more)
	}
	said := func(sec int, source, kind, text string) string {
		return step(sec, source, kind, fmt.Sprintf(`,"content":%q`, text))
	}
	calls := func(sec int, calls string) string {
		return step(sec, "MODEL", "PLANNER_RESPONSE", `,"tool_calls":[`+calls+`]`)
	}
	const head = "Created At: 2026-11-20T09:00:03Z\nCompleted At: 2026-11-20T09:00:03Z\n"
	return sample{
		model: "Gemini 3.6 Flash (High)",
		opt:   transcript.Options{File: transcript.File{NativeID: "a1", Cwd: root}, Roots: []string{root}},
		lines: []string{
			said(1, "USER_EXPLICIT", "USER_INPUT",
				"<USER_REQUEST>\nfix the \"cart\" ümläut\n</USER_REQUEST>\n<USER_SETTINGS_CHANGE>\nThe user changed setting `Model Selection` from None to Gemini 3.6 Flash (High). No need to comment on this change.\n</USER_SETTINGS_CHANGE>"),
			step(1, "SYSTEM", "CONVERSATION_HISTORY", ""),
			`not a record`,
			said(2, "MODEL", "PLANNER_RESPONSE", "On it."),
			calls(3, `{"name":"replace_file_content","args":{"TargetFile":"/work/shop/cart.go","TargetContent":"one","ReplacementContent":"two"}},{"name":"run_command","args":{"CommandLine":"go test","Cwd":"/work/shop"}}`),
			said(3, "MODEL", "CODE_ACTION", head+"The following changes were made"),
			said(4, "MODEL", "RUN_COMMAND",
				head+"\n\t\t\t\tThe command failed with exit code: 1\n\t\t\t\tOutput:\n\t\t\t\tno\n"),
			calls(5, `{"name":"write_to_file","args":{"TargetFile":"\"no.go\"","CodeContent":"\"x\"","Overwrite":"false"}}`),
			strings.Replace(said(5, "MODEL", "CODE_ACTION", head+"Encountered error in step execution: no"), "DONE", "ERROR", 1),
			calls(5, `{"name":"write_to_file","args":{"TargetFile":"no.go"}}`),
			said(5, "SYSTEM", "ERROR_MESSAGE", "There was a problem parsing the tool call."),
			calls(5, `{"name":"ask_question","args":{"questions":[{"question":"Tests too?","options":["yes","no"]}]}}`),
			said(5, "MODEL", "ASK_QUESTION", head+"A1: yes"),
			said(6, "MODEL", "PLANNER_RESPONSE", "Done."),
		},
	}
}

type sample struct {
	opt   transcript.Options
	lines []string
	head  bool   // the first record says what holds for all
	model string // that spoke last

	timeless bool // records have no times, so a later read has later ones
}

// flat is what several reads tell together.
func (s sample) flat(docs ...transcript.Document) map[string][]string {
	all := flatten(docs...)
	for _, lines := range all {
		for i, l := range lines {
			if _, rest, ok := strings.Cut(l, " UTC "); ok && s.timeless {
				lines[i] = rest
			}
		}
	}
	return all
}

func (s sample) text() []byte { return []byte(strings.Join(s.lines, "\n") + "\n") }

// TestNames: each agent can be asked for by its name.
func TestNames(t *testing.T) {
	var names []string
	for _, a := range transcript.Agents() {
		names = append(names, a.Name())
	}
	if diff := cmp.Diff(session.Agents(), append(names, session.Imported)); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

// TestAgents is the compliance suite: what every agent's decoder promises.
func TestAgents(t *testing.T) {
	samples := samples()
	for _, agent := range transcript.Agents() {
		s, ok := samples[agent.Name()]
		if !ok {
			t.Errorf("%s has no sample", agent.Name())
			continue
		}
		t.Run(agent.Name(), func(t *testing.T) {
			t.Run("shape", func(t *testing.T) { shape(t, agent, s) })
			t.Run("every boundary", func(t *testing.T) { boundaries(t, agent, s) })
			t.Run("small reads", func(t *testing.T) { smallReads(t, agent, s) })
			t.Run("line ends", func(t *testing.T) { lineEnds(t, agent, s) })
			t.Run("nothing and garbage", func(t *testing.T) { garbage(t, agent, s) })
			t.Run("another repository", func(t *testing.T) { elsewhere(t, agent, s) })
			t.Run("a folder above", func(t *testing.T) { above(t, agent, s) })
			t.Run("a clone beside", func(t *testing.T) { beside(t, agent, s) })
			t.Run("one long line", func(t *testing.T) { longLine(t, agent, s) })
			t.Run("no store", func(t *testing.T) { noStore(t, agent) })
		})
	}
}

func read(t *testing.T, agent transcript.Agent, raw []byte, opt transcript.Options) transcript.Document {
	t.Helper()
	doc, err := agent.Decode(context.Background(), bytes.NewReader(raw), opt)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func shape(t *testing.T, agent transcript.Agent, s sample) {
	doc := read(t, agent, s.text(), s.opt)
	if len(doc.Sessions) == 0 || doc.Bytes != int64(len(s.text())) {
		t.Fatalf("%d sessions, %d bytes of %d", len(doc.Sessions), doc.Bytes, len(s.text()))
	}
	for _, p := range doc.Sessions {
		if p.Source != agent.Name() || p.NativeID == "" || p.ActorType == "" || p.Title == "" ||
			strings.ContainsAny(p.Title, "\n\t") {
			t.Errorf("source %q, native ID %q, actor %q, title %q", p.Source, p.NativeID, p.ActorType, p.Title)
		}
		if p.NativeID == s.opt.File.NativeID && p.Model != s.model {
			t.Errorf("the model is %q, want %q", p.Model, s.model)
		}
		if p.ID != "" || p.Parent != "" || p.Hash != "" || p.Bytes != 0 || p.FirstTurn != 0 || p.FirstTool != 0 {
			t.Errorf("fields of the caller are set: %+v", p.Session)
		}
		roles := map[string]int{}
		for i, turn := range p.Turns {
			roles[turn.Role]++
			if turn.Index != i || turn.TS.IsZero() || turn.TS.UnixNano()%1e6 != 0 || strings.TrimSpace(turn.Content) == "" {
				t.Errorf("turn %d: %+v", i, turn)
			}
		}
		if roles[session.RoleHuman] == 0 || roles[session.RoleAssistant] == 0 || len(roles) != 2 ||
			!p.StartedAt.Equal(p.Turns[0].TS) {
			t.Errorf("roles %v, started at %v", roles, p.StartedAt)
		}
		for i, c := range p.ToolCalls {
			if c.Index != i || c.Turn < -1 || c.Turn >= len(p.Turns) || c.Tool == "" {
				t.Errorf("tool call %d: %+v", i, c)
			}
		}
	}
}

// step is how many bytes lie between two places where a read is stopped: all lines are stopped in every part of theirs.
const step = 5

// boundaries reads a growing file twice, stopped all along, the second time from
// where the first was done: together that is the whole.
func boundaries(t *testing.T, agent transcript.Agent, s sample) {
	raw := s.text()
	if s.opt.File.ReadWhole {
		rewritten(t, agent, raw, s.opt)
		return
	}
	want := s.flat(read(t, agent, raw, s.opt))
	for n := 0; n < len(raw); n += step {
		first := read(t, agent, raw[:n], s.opt)
		if first.Bytes > int64(n) {
			t.Fatalf("at %d: done with %d bytes", n, first.Bytes)
		}
		opt := s.opt
		if opt.Inside = len(first.Sessions) > 0; opt.Inside {
			opt.Head = []byte(s.lines[0])
		} else if s.head {
			first.Bytes = 0 // as capture does with what it does not know
		}
		for _, p := range first.Sessions {
			for _, turn := range p.Turns {
				opt.Last = turn.TS
			}
		}
		got := s.flat(first, read(t, agent, raw[first.Bytes:], opt))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("stopped at byte %d of %d, done with %d (-want +got)\n%s", n, len(raw), first.Bytes, diff)
		}
	}
}

// rewritten reads what is read whole as it stood at every byte, each time from the start: what is stored of it, known
// turns and calls left out, is the whole.
func rewritten(t *testing.T, agent transcript.Agent, raw []byte, opt transcript.Options) {
	want := flatten(read(t, agent, raw, opt))
	stored := map[string]*session.Session{}
	for n := len(raw) % step; n <= len(raw); n += step {
		for _, p := range read(t, agent, raw[:n], opt).Sessions {
			if stored[p.NativeID] == nil {
				stored[p.NativeID] = &session.Session{}
			}
			stored[p.NativeID].Absorb(p.Session, session.Whole)
		}
	}
	var doc transcript.Document
	for _, s := range stored {
		doc.Sessions = append(doc.Sessions, transcript.Part{Session: *s})
	}
	if diff := cmp.Diff(want, flatten(doc)); diff != "" {
		t.Fatalf("(-want +got)\n%s", diff)
	}
}

// flatten joins what several reads tell, without the paths: a failure that is told in a
// later read than its call can't take the path back.
func flatten(docs ...transcript.Document) map[string][]string {
	all := map[string][]string{}
	for _, doc := range docs {
		for _, p := range doc.Sessions {
			for _, turn := range p.Turns {
				all[p.NativeID] = append(all[p.NativeID], turn.TS.String()+" "+turn.Role+" "+turn.Content)
			}
			for _, c := range p.ToolCalls {
				all[p.NativeID+" tools"] = append(all[p.NativeID+" tools"], c.Tool+" "+c.Cmd)
			}
			if p.Model != "" {
				all[p.NativeID+" model"] = []string{p.Model}
			}
			for _, c := range p.Commits {
				if c.OID == "" { // only a read that holds both the command and its result knows it
					continue
				}
				all[p.NativeID+" commits"] = append(all[p.NativeID+" commits"], c.OID+" "+c.At.String()+" "+c.Subject)
			}
			for _, o := range p.Outputs {
				all[p.NativeID+" outputs"] = append(all[p.NativeID+" outputs"], o.Call+" "+o.At.String()+" "+o.Command+"\n"+o.Text)
			}
		}
	}
	return all
}

func smallReads(t *testing.T, agent transcript.Agent, s sample) {
	want := read(t, agent, s.text(), s.opt)
	got, err := agent.Decode(context.Background(), iotest.OneByteReader(bytes.NewReader(s.text())), s.opt)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func lineEnds(t *testing.T, agent transcript.Agent, s sample) {
	want := read(t, agent, s.text(), s.opt)
	for name, raw := range map[string][]byte{
		"CRLF":        bytes.ReplaceAll(s.text(), []byte("\n"), []byte("\r\n")),
		"blank lines": bytes.ReplaceAll(s.text(), []byte("\n"), []byte("\n\n \n")),
		"no last end": bytes.TrimSuffix(s.text(), []byte("\n")),
	} {
		got := read(t, agent, raw, s.opt)
		if got.Bytes != int64(len(raw)) {
			t.Errorf("%s: done with %d of %d bytes", name, got.Bytes, len(raw))
		}
		got.Bytes = want.Bytes
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

func garbage(t *testing.T, agent transcript.Agent, s sample) {
	for name, tt := range map[string]struct {
		raw       string
		malformed int
		done      int
	}{
		"empty":        {"", 0, 0},
		"blank":        {"\n\n", 0, 2},
		"text":         {"hello\n", 1, 6},
		"torn":         {"{\"type\":\"user\",", 0, 0},
		"scalars":      {"1\nnull\n\"x\"\n[]\n{}x\n", 5, 18},
		"only NUL":     {strings.Repeat("\x00", 9) + "\n", 0, 10},
		"binary":       {"\xff\xfe\x00\x80\n", 1, 5},
		"deep nesting": {strings.Repeat(`{"a":`, 1<<20) + "\n", 1, 5<<20 + 1},
	} {
		doc := read(t, agent, []byte(tt.raw), s.opt)
		if len(doc.Sessions) != 0 || doc.Bytes != int64(tt.done) || doc.Skipped.Malformed != tt.malformed {
			t.Errorf("%s: %d sessions, %d bytes, %d malformed; want 0, %d, %d", name, len(doc.Sessions), doc.Bytes,
				doc.Skipped.Malformed, tt.done, tt.malformed)
		}
	}
}

func elsewhere(t *testing.T, agent transcript.Agent, s sample) {
	opt := s.opt
	opt.Roots = []string{"/work/shop-two"}
	if doc := read(t, agent, s.text(), opt); len(doc.Sessions) != 0 || doc.Bytes != int64(len(s.text())) {
		t.Errorf("%d sessions, done with %d of %d bytes", len(doc.Sessions), doc.Bytes, len(s.text()))
	}
}

// above begins the session in the folder above a repository.
func above(t *testing.T, agent transcript.Agent, s sample) { outOf(t, agent, s, root+"/in", "in") }

// beside begins it in another repository.
func beside(t *testing.T, agent transcript.Agent, s sample) {
	s.opt.OtherRepos = map[string]bool{root: true}
	outOf(t, agent, s, root+"-two", "../shop-two")
}

// outOf begins the session outside of a repository: of it, the edit there is taken with its prompt, and nothing else,
// wherever reads end.
func outOf(t *testing.T, agent transcript.Agent, s sample, repo, rel string) {
	if agent.Name() == "cursor" { // whose records name no folder
		return
	}
	s.lines, s.opt.Roots, s.head = slices.Clone(s.lines), []string{repo}, true // capture reads anew what it does not know
	for i, l := range s.lines {
		for from, to := range map[string]string{
			root + "/cart.go": repo + "/cart.go", root + "/new.go": repo + "/new.go",
			root + "/sub": root, `"file_path":"cart.go"`: `"file_path":"` + rel + `/cart.go"`,
		} {
			l = strings.ReplaceAll(l, from, to)
		}
		s.lines[i] = l
	}
	doc := read(t, agent, s.text(), s.opt)
	if len(doc.Sessions) != 1 {
		t.Fatalf("%d sessions", len(doc.Sessions))
	}
	said := doc.Sessions[0]
	for i, turn := range said.Turns {
		if i == 0 && !strings.Contains(turn.Content, `fix the "cart"`) || i > 0 && turn.Content != session.Elsewhere {
			t.Errorf("turn %d is %q", i, turn.Content)
		}
	}
	if len(said.ToolCalls) != 1 || said.ToolCalls[0].Path != "cart.go" && said.ToolCalls[0].Path != "new.go" {
		t.Errorf("the calls are %+v", said.ToolCalls)
	}
	boundaries(t, agent, s)
}

func longLine(t *testing.T, agent transcript.Agent, s sample) {
	want := read(t, agent, s.text(), s.opt)
	long := `{"type":"user","message":{"content":"` + strings.Repeat("x", transcript.MaxLine) + `"}}`
	raw := []byte(strings.Join(slices.Insert(slices.Clone(s.lines), 3, long), "\n") + "\n")
	got := read(t, agent, raw, s.opt)
	if got.Skipped.Oversized != 1 || got.Bytes != int64(len(raw)) {
		t.Errorf("%d oversized, done with %d of %d bytes", got.Skipped.Oversized, got.Bytes, len(raw))
	}
	if diff := cmp.Diff(want.Sessions, got.Sessions); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func noStore(t *testing.T, agent transcript.Agent) {
	found, err := agent.Locate(context.Background(), transcript.Env{Home: t.TempDir(), Roots: []string{root}})
	if err != nil || len(found.Files) != 0 || len(found.Unreadable) != 0 {
		t.Errorf("found %v, %v", found, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := agent.Decode(ctx, strings.NewReader("{}\n"), transcript.Options{}); err == nil {
		t.Error("a cancelled context is no error")
	}
}
