package capture_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/git-rekal/git-rekal/internal/capture"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// scribe writes what one agent would, of one session.
type scribe interface {
	begin(w *world, sec int)
	ask(w *world, sec int, text string)
	say(w *world, sec int, text string)
	// edit adds lines behind others to a file, and its result.
	edit(w *world, sec int, path string, behind, added []string)
	native() string
}

func stampOf(sec int) string { return second(sec).Format("2006-01-02T15:04:05.000Z") }

func quoted(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// diffOf is a unified diff that adds lines.
func diffOf(behind, added []string) string {
	out := fmt.Sprintf("@@ -1,%d +1,%d @@\n", len(behind), len(behind)+len(added))
	for _, l := range behind {
		out += " " + l + "\n"
	}
	for _, l := range added {
		out += "+" + l + "\n"
	}
	return out
}

// appendTo appends lines to a file below the home.
func (w *world) appendTo(name string, lines ...string) {
	w.T.Helper()
	path := filepath.Join(w.Home(), name)
	old, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		w.T.Fatal(err)
	}
	w.Write(path, string(old)+strings.Join(lines, "\n")+"\n")
}

type codexScribe struct{ id string }

func (c codexScribe) native() string { return c.id }
func (c codexScribe) put(w *world, sec int, kind string, payload any) {
	w.appendTo(".codex/sessions/2026/11/20/rollout-2026-11-20T09-00-00-"+c.id+".jsonl",
		fmt.Sprintf(`{"timestamp":%q,"type":%q,"payload":%s}`, stampOf(sec), kind, quoted(payload)))
}

func (c codexScribe) begin(w *world, sec int) {
	c.put(w, sec, "session_meta", map[string]any{"id": c.id, "cwd": w.repo(), "cli_version": "0.140.0", "source": "cli"})
	c.put(w, sec, "turn_context", map[string]any{"cwd": w.repo(), "model": "gpt-5.4"})
}

func (c codexScribe) ask(w *world, sec int, text string) {
	c.put(w, sec, "event_msg", map[string]any{"type": "user_message", "message": text})
}

func (c codexScribe) say(w *world, sec int, text string) {
	c.put(w, sec, "response_item", map[string]any{
		"type": "message", "role": "assistant",
		"content": []any{map[string]any{"type": "output_text", "text": text}},
	})
}

func (c codexScribe) edit(w *world, sec int, path string, behind, added []string) {
	patch := "*** Begin Patch\n*** Update File: " + path + "\n" +
		strings.Replace(diffOf(behind, added), "@@ -1", "@@ 1", 1) + "*** End Patch"
	c.put(w, sec, "response_item", map[string]any{
		"type": "custom_tool_call", "call_id": fmt.Sprint("c", sec),
		"name": "apply_patch", "input": patch,
	})
	c.put(w, sec, "response_item", map[string]any{
		"type": "custom_tool_call_output", "call_id": fmt.Sprint("c", sec),
		"output": "Success. Updated the following files:\nM " + path,
	})
}

type copilotScribe struct{ id string }

func (c copilotScribe) native() string { return c.id }
func (c copilotScribe) put(w *world, sec int, kind string, data any) {
	w.appendTo(".copilot/session-state/"+c.id+"/events.jsonl",
		fmt.Sprintf(`{"type":%q,"data":%s,"timestamp":%q}`, kind, quoted(data), stampOf(sec)))
}

func (c copilotScribe) begin(w *world, sec int) {
	c.put(w, sec, "session.start", map[string]any{
		"sessionId": c.id, "copilotVersion": "1.0.102",
		"context": map[string]any{"cwd": w.repo()},
	})
}

func (c copilotScribe) ask(w *world, sec int, text string) {
	c.put(w, sec, "user.message", map[string]any{"content": text})
}

func (c copilotScribe) say(w *world, sec int, text string) {
	c.put(w, sec, "assistant.message", map[string]any{"content": text, "model": "gpt-5.4"})
}

func (c copilotScribe) edit(w *world, sec int, path string, behind, added []string) {
	file := filepath.Join(w.repo(), path)
	c.put(w, sec, "tool.execution_start", map[string]any{
		"toolCallId": fmt.Sprint("c", sec), "toolName": "edit",
		"arguments": map[string]any{
			"path": file, "old_str": strings.Join(behind, "\n"), "new_str": strings.Join(append(behind, added...), "\n"),
		},
	})
	diff := "\ndiff --git a" + file + " b" + file + "\n--- a" + file + "\n+++ b" + file + "\n" + diffOf(behind, added)
	c.put(w, sec, "tool.execution_complete", map[string]any{
		"toolCallId": fmt.Sprint("c", sec), "success": true,
		"result": map[string]any{"detailedContent": diff},
	})
}

// geminiScribe writes lines, or with a document all of it anew.
type geminiScribe struct {
	id       string
	document bool
	messages *[]any
}

func (c geminiScribe) native() string { return c.id }
func (c geminiScribe) put(w *world, message map[string]any) {
	name := filepath.Join(w.Home(), ".gemini/tmp/repo/chats/session-2026-11-20T09-00-"+c.id[:8]+".json")
	head := map[string]any{"sessionId": c.id, "startTime": stampOf(0), "kind": "main"}
	*c.messages = append(*c.messages, message)
	if !c.document {
		text := quoted(head) + "\n"
		for _, m := range *c.messages {
			text += quoted(m) + "\n"
		}
		w.Write(name+"l", text)
		return
	}
	head["messages"] = *c.messages
	text, err := json.MarshalIndent(head, "", "  ")
	if err != nil {
		w.T.Fatal(err)
	}
	w.Write(name, string(text))
}

func (c geminiScribe) begin(w *world, _ int) {
	w.Write(filepath.Join(w.Home(), ".gemini/tmp/repo/.project_root"), w.repo())
}

func (c geminiScribe) ask(w *world, sec int, text string) {
	c.put(w, map[string]any{
		"id": fmt.Sprint("u", sec), "timestamp": stampOf(sec), "type": "user",
		"content": []any{map[string]any{"text": text}},
	})
}

func (c geminiScribe) say(w *world, sec int, text string) {
	c.put(w, map[string]any{
		"id": fmt.Sprint("g", sec), "timestamp": stampOf(sec), "type": "gemini", "content": text,
		"model": "gpt-5.4",
	})
}

func (c geminiScribe) edit(w *world, sec int, path string, behind, added []string) {
	c.put(w, map[string]any{
		"id": fmt.Sprint("e", sec), "timestamp": stampOf(sec), "type": "gemini", "content": "",
		"model": "gpt-5.4", "toolCalls": []any{map[string]any{
			"id": fmt.Sprint("c", sec), "name": "replace", "status": "success", "timestamp": stampOf(sec),
			"args": map[string]any{
				"file_path": path, "old_string": strings.Join(behind, "\n"),
				"new_string": strings.Join(append(behind, added...), "\n"),
			},
			"resultDisplay": map[string]any{"fileDiff": "Index: " + path + "\n--- " + path + "\n+++ " + path + "\n" +
				diffOf(behind, added)},
		}},
	})
}

type openCodeScribe struct{ name, id string }

// statement is one of SQL with its arguments.
type statement struct {
	text string
	args []any
}

func run(text string, args ...any) statement { return statement{text, args} }

func (c openCodeScribe) native() string { return c.id }
func (c openCodeScribe) do(w *world, statements ...statement) {
	w.T.Helper()
	dir := filepath.Join(w.Home(), ".local", "share", c.name)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		w.T.Fatal(err)
	}
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(dir, c.name+".db")+"?_journal_mode=WAL")
	if err != nil {
		w.T.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s.text, s.args...); err != nil {
			w.T.Fatal(err)
		}
	}
}

func (c openCodeScribe) begin(w *world, sec int) {
	at := second(sec).UnixMilli()
	c.do(w, run(`CREATE TABLE IF NOT EXISTS session (id text PRIMARY KEY, parent_id text, directory text, title text, version text, time_created integer, time_updated integer)`),
		run(`CREATE TABLE IF NOT EXISTS message (id text PRIMARY KEY, session_id text, time_created integer, time_updated integer, data text)`),
		run(`CREATE TABLE IF NOT EXISTS part (id text PRIMARY KEY, message_id text, session_id text, time_created integer, time_updated integer, data text)`),
		run(`INSERT INTO session VALUES (?, NULL, ?, 'New session - 2026', '1.18.33', ?, ?)`, c.id, w.repo(), at, at))
}

// message writes a message of one part.
func (c openCodeScribe) message(w *world, sec int, role string, part map[string]any) {
	at := second(sec).UnixMilli()
	id := fmt.Sprintf("%s_%06d", c.id, sec)
	c.do(w,
		run(`INSERT INTO message VALUES (?, ?, ?, ?, ?)`, "msg_"+id, c.id, at, at,
			quoted(map[string]any{"role": role, "modelID": "gpt-5.4", "time": map[string]any{"created": at, "completed": at}})),
		run(`INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)`, "prt_"+id, "msg_"+id, c.id, at, at, quoted(part)))
}

func (c openCodeScribe) ask(w *world, sec int, text string) {
	c.message(w, sec, "user", map[string]any{"type": "text", "text": text})
}

func (c openCodeScribe) say(w *world, sec int, text string) {
	c.message(w, sec, "assistant", map[string]any{"type": "text", "text": text})
}

func (c openCodeScribe) edit(w *world, sec int, path string, behind, added []string) {
	file := filepath.Join(w.repo(), path)
	c.message(w, sec, "assistant", map[string]any{
		"type": "tool", "tool": "edit", "callID": fmt.Sprint("c", sec),
		"state": map[string]any{
			"status": "completed", "time": map[string]any{"end": second(sec).UnixMilli()},
			"input": map[string]any{"filePath": file, "oldString": "part of a line", "newString": "part"},
			"metadata": map[string]any{"diff": "Index: " + file + "\n===\n--- " + file + "\n+++ " + file + "\n" +
				diffOf(behind, added)},
		},
	})
}

type cursorScribe struct{ id string }

func (c cursorScribe) native() string { return c.id }
func (c cursorScribe) put(w *world, sec int, role string, block map[string]any) {
	name := ".cursor/projects/" + strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.TrimPrefix(w.repo(), "/")) + "/agent-transcripts/" + c.id + "/" + c.id + ".jsonl"
	w.appendTo(name, quoted(map[string]any{"role": role, "message": map[string]any{"content": []any{block}}}))
	if err := os.Chtimes(filepath.Join(w.Home(), name), second(sec), second(sec)); err != nil {
		w.T.Fatal(err)
	}
}

func (c cursorScribe) begin(*world, int) {}

func (c cursorScribe) ask(w *world, sec int, text string) {
	c.put(w, sec, "user", map[string]any{"type": "text", "text": "<user_query>\n" + text + "\n</user_query>"})
}

func (c cursorScribe) say(w *world, sec int, text string) {
	c.put(w, sec, "assistant", map[string]any{"type": "text", "text": text})
}

func (c cursorScribe) edit(w *world, sec int, path string, behind, added []string) {
	c.put(w, sec, "assistant", map[string]any{"type": "tool_use", "name": "StrReplace", "input": map[string]any{
		"path": filepath.Join(w.repo(), path), "old_string": strings.Join(behind, "\n"),
		"new_string": strings.Join(append(behind, added...), "\n"),
	}})
}

type piScribe struct{ id string }

func (c piScribe) native() string { return c.id }
func (c piScribe) put(w *world, lines ...any) {
	for _, l := range lines {
		w.appendTo(".pi/agent/sessions/--repo--/2026-11-20T09-00-00-000Z_"+c.id+".jsonl", quoted(l))
	}
}

func (c piScribe) message(sec int, m map[string]any) any {
	return map[string]any{"type": "message", "timestamp": stampOf(sec), "message": m}
}

func (c piScribe) begin(w *world, sec int) {
	c.put(w, map[string]any{"type": "session", "version": 3, "id": c.id, "timestamp": stampOf(sec), "cwd": w.repo()})
}

func (c piScribe) ask(w *world, sec int, text string) {
	c.put(w, c.message(sec, map[string]any{
		"role":    "user",
		"content": []any{map[string]any{"type": "text", "text": text}},
	}))
}

func (c piScribe) say(w *world, sec int, text string) {
	c.put(w, c.message(sec, map[string]any{
		"role": "assistant", "model": "gpt-5.4",
		"content": []any{map[string]any{"type": "text", "text": text}},
	}))
}

func (c piScribe) edit(w *world, sec int, path string, behind, added []string) {
	id, diff := fmt.Sprint("c", sec), ""
	for i, l := range behind {
		diff += fmt.Sprintf("  %d %s\n", i+1, l)
	}
	for i, l := range added {
		diff += fmt.Sprintf("+ %d %s\n", i+1, l)
	}
	c.put(w, c.message(sec, map[string]any{
		"role": "assistant", "model": "gpt-5.4",
		"content": []any{map[string]any{"type": "toolCall", "id": id, "name": "edit", "arguments": map[string]any{
			"path": filepath.Join(w.repo(), path), "edits": []any{map[string]any{"oldText": "part of a line", "newText": "part"}},
		}}},
	}), c.message(sec, map[string]any{
		"role": "toolResult", "toolCallId": id, "toolName": "edit", "isError": false,
		"details": map[string]any{"diff": diff},
	}))
}

type qwenScribe struct{ id string }

func (c qwenScribe) native() string { return c.id }
func (c qwenScribe) put(w *world, sec int, kind string, more map[string]any) {
	rec := map[string]any{
		"uuid": fmt.Sprint("u", sec, kind), "sessionId": c.id, "timestamp": stampOf(sec), "type": kind,
		"cwd": w.repo(), "version": "0.24.4",
	}
	for k, v := range more {
		rec[k] = v
	}
	w.appendTo(".qwen/projects/-repo/chats/"+c.id+".jsonl", quoted(rec))
}

func (c qwenScribe) parts(part map[string]any) map[string]any {
	return map[string]any{"parts": []any{part}}
}

func (c qwenScribe) begin(*world, int) {}

func (c qwenScribe) ask(w *world, sec int, text string) {
	c.put(w, sec, "user", map[string]any{"provenance": "real_user", "message": c.parts(map[string]any{"text": text})})
}

func (c qwenScribe) say(w *world, sec int, text string) {
	c.put(w, sec, "assistant", map[string]any{"model": "gpt-5.4", "message": c.parts(map[string]any{"text": text})})
}

func (c qwenScribe) edit(w *world, sec int, path string, behind, added []string) {
	id := fmt.Sprint("c", sec)
	c.put(w, sec, "assistant", map[string]any{
		"model": "gpt-5.4",
		"message": c.parts(map[string]any{"functionCall": map[string]any{
			"id": id, "name": "edit", "args": map[string]any{
				"file_path":  filepath.Join(w.repo(), path),
				"old_string": "part of a line", "new_string": "part",
			},
		}}),
	})
	c.put(w, sec, "tool_result", map[string]any{"toolCallResult": map[string]any{
		"callId": id, "status": "success",
		"resultDisplay": map[string]any{"fileDiff": diffOf(behind, added)},
	}})
}

type droidScribe struct{ id string }

func (c droidScribe) native() string { return c.id }
func (c droidScribe) put(w *world, sec int, role string, block map[string]any) {
	w.appendTo(".factory/sessions/-repo/"+c.id+".jsonl",
		quoted(map[string]any{"type": "message", "timestamp": stampOf(sec), "message": map[string]any{
			"role": role, "modelId": "custom:gpt-5.4", "content": []any{block},
		}}))
}

func (c droidScribe) begin(w *world, _ int) {
	w.appendTo(".factory/sessions/-repo/"+c.id+".jsonl",
		quoted(map[string]any{"type": "session_start", "id": c.id, "title": "write two functions", "cwd": w.repo()}))
}

func (c droidScribe) ask(w *world, sec int, text string) {
	c.put(w, sec, "user", map[string]any{"type": "text", "text": text})
}

func (c droidScribe) say(w *world, sec int, text string) {
	c.put(w, sec, "assistant", map[string]any{"type": "text", "text": text})
}

func (c droidScribe) edit(w *world, sec int, path string, behind, added []string) {
	var lines []any
	for _, l := range behind {
		lines = append(lines, map[string]any{"type": "unchanged", "content": l})
	}
	for _, l := range added {
		lines = append(lines, map[string]any{"type": "added", "content": l})
	}
	id := fmt.Sprint("c", sec)
	c.put(w, sec, "assistant", map[string]any{"type": "tool_use", "id": id, "name": "Edit", "input": map[string]any{
		"file_path": filepath.Join(w.repo(), path), "old_str": "part of a line", "new_str": "part",
	}})
	c.put(w, sec, "user", map[string]any{
		"type": "tool_result", "tool_use_id": id, "is_error": false,
		"content": quoted(map[string]any{"success": true, "diffLines": lines}),
	})
}

// clineScribe writes a document anew.
type clineScribe struct {
	id       string
	messages *[]any
}

func (c clineScribe) native() string { return c.id }
func (c clineScribe) put(w *world, sec int, role string, block map[string]any) {
	*c.messages = append(*c.messages, map[string]any{
		"id": fmt.Sprint("m", len(*c.messages)), "role": role, "content": []any{block}, "ts": second(sec).UnixMilli(),
		"modelInfo": map[string]any{"id": "gpt-5.4"},
	})
	w.Write(filepath.Join(w.Home(), ".cline/data/sessions", c.id, c.id+".messages.json"),
		quoted(map[string]any{"version": 1, "sessionId": c.id, "origin": map[string]any{}, "messages": *c.messages}))
}

func (c clineScribe) begin(w *world, sec int) {
	w.Write(filepath.Join(w.Home(), ".cline/data/sessions", c.id, c.id+".json"),
		quoted(map[string]any{"version": 1, "session_id": c.id, "started_at": stampOf(sec), "cwd": w.repo()}))
}

func (c clineScribe) ask(w *world, sec int, text string) {
	c.put(w, sec, "user", map[string]any{"type": "text", "text": `<user_input mode="act">` + text + `</user_input>`})
}

func (c clineScribe) say(w *world, sec int, text string) {
	c.put(w, sec, "assistant", map[string]any{"type": "text", "text": text})
}

func (c clineScribe) edit(w *world, sec int, path string, _, added []string) {
	diff := ""
	for i, l := range added {
		diff += fmt.Sprintf("+%d: %s\n", i+1, l)
	}
	id := fmt.Sprint("c", sec)
	c.put(w, sec, "assistant", map[string]any{"type": "tool_use", "id": id, "name": "editor", "input": map[string]any{
		"path": filepath.Join(w.repo(), path), "old_text": "part of a line", "new_text": "part",
	}})
	c.put(w, sec, "user", map[string]any{
		"type": "tool_result", "tool_use_id": id,
		"content": quoted(map[string]any{"success": true, "result": "Edited\n```diff\n" + diff + "```"}),
	})
}

// continueScribe writes a document anew, without times.
type continueScribe struct {
	id      string
	history *[]any
}

func (c continueScribe) native() string { return c.id }
func (c continueScribe) put(w *world, sec int, m, calls any) {
	*c.history = append(*c.history, map[string]any{"message": m, "toolCallStates": calls})
	path := filepath.Join(w.Home(), ".continue/sessions", c.id+".json")
	w.Write(path, quoted(map[string]any{"sessionId": c.id, "workspaceDirectory": w.repo(), "history": *c.history}))
	if err := os.Chtimes(path, second(sec), second(sec)); err != nil {
		w.T.Fatal(err)
	}
}

func (c continueScribe) begin(w *world, sec int) {
	w.Write(filepath.Join(w.Home(), ".continue/sessions/sessions.json"), quoted([]any{map[string]any{
		"sessionId": c.id, "dateCreated": fmt.Sprint(second(sec).UnixMilli()), "workspaceDirectory": w.repo(),
	}}))
}

func (c continueScribe) ask(w *world, sec int, text string) {
	c.put(w, sec, map[string]any{"role": "user", "content": text}, nil)
}

func (c continueScribe) say(w *world, sec int, text string) {
	c.put(w, sec, map[string]any{"role": "assistant", "content": text}, nil)
}

func (c continueScribe) edit(w *world, sec int, path string, behind, added []string) {
	c.put(w, sec, map[string]any{"role": "assistant", "content": ""}, []any{map[string]any{
		"toolCallId": fmt.Sprint("c", sec), "status": "done",
		"toolCall": map[string]any{"function": map[string]any{"name": "Edit"}}, "parsedArgs": map[string]any{
			"filepath": filepath.Join(w.repo(), path), "old_string": strings.Join(behind, "\n"),
			"new_string": strings.Join(append(behind, added...), "\n"),
		},
	}})
}

type kimiScribe struct{ id string }

func (c kimiScribe) native() string { return c.id }
func (c kimiScribe) put(w *world, sec int, kind, name string, body any) {
	w.appendTo(".kimi-code/sessions/wd_repo/"+c.id+"/agents/main/wire.jsonl",
		quoted(map[string]any{"type": kind, name: body, "time": second(sec).UnixMilli()}))
}

func (c kimiScribe) begin(w *world, sec int) {
	w.Write(filepath.Join(w.Home(), ".kimi-code/sessions/wd_repo", c.id, "state.json"),
		quoted(map[string]any{"id": c.id, "cwd": w.repo()}))
	c.put(w, sec, "llm.request", "model", "gpt-5.4")
}

func (c kimiScribe) ask(w *world, sec int, text string) {
	c.put(w, sec, "context.append_message", "message",
		map[string]any{
			"role": "user", "origin": map[string]any{"kind": "user"},
			"content": []any{map[string]any{"type": "text", "text": text}},
		})
}

func (c kimiScribe) say(w *world, sec int, text string) {
	c.put(w, sec, "context.append_loop_event", "event",
		map[string]any{"type": "content.part", "part": map[string]any{"type": "text", "text": text}})
}

func (c kimiScribe) edit(w *world, sec int, path string, behind, added []string) {
	id := fmt.Sprint("c", sec)
	c.put(w, sec, "context.append_loop_event", "event",
		map[string]any{"type": "tool.call", "toolCallId": id, "name": "Edit", "args": map[string]any{
			"path": filepath.Join(w.repo(), path), "old_string": strings.Join(behind, "\n"),
			"new_string": strings.Join(append(behind, added...), "\n"),
		}})
	c.put(w, sec, "context.append_loop_event", "event",
		map[string]any{"type": "tool.result", "toolCallId": id, "result": map[string]any{"output": "done"}})
}

type grokScribe struct{ id string }

func (c grokScribe) native() string { return c.id }
func (c grokScribe) put(w *world, sec int, kind string, update map[string]any) {
	update["sessionUpdate"] = kind
	w.appendTo(".grok/sessions/"+strings.ReplaceAll(w.repo(), "/", "%2F")+"/"+c.id+"/updates.jsonl", quoted(map[string]any{
		"method": "session/update", "params": map[string]any{
			"sessionId": c.id, "update": update,
			"_meta": map[string]any{"agentTimestampMs": second(sec).UnixMilli()},
		},
	}))
}

func (c grokScribe) begin(*world, int) {}

func (c grokScribe) ask(w *world, sec int, text string) {
	c.put(w, sec, "user_message_chunk", map[string]any{
		"content": map[string]any{"type": "text", "text": text},
		"_meta":   map[string]any{"modelId": "gpt-5.4"},
	})
}

func (c grokScribe) say(w *world, sec int, text string) {
	c.put(w, sec, "agent_message_chunk", map[string]any{"content": map[string]any{"type": "text", "text": text}})
	c.put(w, sec, "turn_completed", map[string]any{"prompt_id": "p"})
}

func (c grokScribe) edit(w *world, sec int, path string, behind, added []string) {
	id := fmt.Sprint("c", sec)
	c.put(w, sec, "tool_call", map[string]any{"toolCallId": id, "title": "search_replace", "rawInput": map[string]any{
		"file_path": filepath.Join(w.repo(), path), "old_string": strings.Join(behind, "\n"),
		"new_string": strings.Join(append(behind, added...), "\n"),
	}})
	c.put(w, sec, "tool_call_update", map[string]any{"toolCallId": id, "status": "completed"})
}

type antigravityScribe struct{ id string }

func (c antigravityScribe) native() string { return c.id }
func (c antigravityScribe) put(w *world, sec int, source, kind string, more map[string]any) {
	more["step_index"], more["source"], more["type"], more["status"], more["created_at"] = sec, source, kind, "DONE",
		second(sec).UTC().Format("2006-01-02T15:04:05Z")
	w.appendTo(".gemini/antigravity-cli/brain/"+c.id+"/.system_generated/logs/transcript_full.jsonl", quoted(more))
}

func (c antigravityScribe) begin(w *world, sec int) {
	w.appendTo(".gemini/antigravity-cli/history.jsonl",
		quoted(map[string]any{"conversationId": c.id, "workspace": w.repo(), "timestamp": second(sec).UnixMilli()}))
}

func (c antigravityScribe) ask(w *world, sec int, text string) {
	c.put(w, sec, "USER_EXPLICIT", "USER_INPUT", map[string]any{
		"content": "<USER_REQUEST>\n" + text +
			"\n</USER_REQUEST>\n<USER_SETTINGS_CHANGE>\nThe user changed setting `Model Selection` from None to gpt-5.4. No need to comment on this change.\n</USER_SETTINGS_CHANGE>",
	})
}

func (c antigravityScribe) say(w *world, sec int, text string) {
	c.put(w, sec, "MODEL", "PLANNER_RESPONSE", map[string]any{"content": text})
}

func (c antigravityScribe) edit(w *world, sec int, path string, behind, added []string) {
	c.put(w, sec, "MODEL", "PLANNER_RESPONSE",
		map[string]any{"tool_calls": []any{map[string]any{"name": "replace_file_content", "args": map[string]any{
			"TargetFile": filepath.Join(w.repo(), path), "TargetContent": strings.Join(behind, "\n"),
			"ReplacementContent": strings.Join(append(behind, added...), "\n"),
		}}}})
	c.put(w, sec, "MODEL", "CODE_ACTION", map[string]any{"content": "done"})
}

// scribes are those of all agents but Claude Code, by source.
func scribes() map[string]scribe {
	return map[string]scribe{
		"codex":                 codexScribe{"019ed836-b1da-78f1-8a0c-e598363d10f4"},
		"copilot-cli":           copilotScribe{"70b173ed-7b83-485a-b71a-5adb0591db07"},
		"gemini-cli":            geminiScribe{"970c70a7-5c8e-4fd8-a146-707379eae099", false, new([]any)},
		"gemini-cli, documents": geminiScribe{"d0ed8c54-d24e-4ca5-b7ff-2f2b943c0d2d", true, new([]any)},
		"opencode":              openCodeScribe{"opencode", "ses_277daa810ffePOBsdfS6gm8uA2"},
		"cursor":                cursorScribe{"3f0d0c1e-0000-4000-8000-000000000000"},
		"kilo":                  openCodeScribe{"kilo", "ses_377daa810ffePOBsdfS6gm8uA2"},
		"pi":                    piScribe{"01a20a05-6cc3-71f4-ae80-8c396b5dee6f"},
		"qwen-code":             qwenScribe{"7b845927-2905-4d9a-958c-46b86292b745"},
		"droid":                 droidScribe{"85f88063-7ee9-43e3-97c6-398fe4fbc479"},
		"continue":              continueScribe{"77686df7-9bd2-4929-a360-7d5af5227502", new([]any)},
		"cline":                 clineScribe{"1795464772276_etj86", new([]any)},
		"kimi-code":             kimiScribe{"session_c7a61b29-8911-473e-bdc8-99df9195acdf"},
		"grok":                  grokScribe{"01a2237f-5194-7283-a645-02413f858001"},
		"antigravity":           antigravityScribe{"7f3658ca-115f-4b51-888a-74dd014893a1"},
	}
}

// TestAgents follows one session of each agent: at each commit what is new is stored and tied, with its lines, and
// nothing twice; nor when the cache is lost, or when one capture reads it all.
func TestAgents(t *testing.T) {
	for name, s := range scribes() {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			id := s.native()
			s.begin(w, 0)
			s.ask(w, 1, "write two functions")
			s.say(w, 2, "The first one.")
			s.edit(w, 3, "a.go", nil, strings.Split(strings.TrimSpace(first), "\n"))
			w.commit(4, "one", "a.go", first)
			w.at(4)
			stored(t, w.capture(), 1, 2, 1)
			s.say(w, 10, "Now the second one.")
			s.edit(w, 11, "a.go", []string{"}"}, strings.Split(strings.TrimSpace(secondly), "\n"))
			w.commit(12, "two", "a.go", first+secondly)
			w.at(12)
			stored(t, w.capture(), 1, 1, 1)
			w.at(13)
			stored(t, w.capture(), 0, 0, 0)
			tool := w.held().sessions[id].ToolCalls[0].Tool + " a.go"
			story := []string{
				"0 human: write two functions", "1 assistant: The first one.", tool,
				"2 assistant: Now the second one.", tool,
			}
			w.tells(id, story...)
			w.lines("one a.go 1-3 "+id, "two a.go 4-6 "+id)
			w.ties("one commit: "+id+"; Aa.go", "two commit: "+id+"; Ma.go")

			w.forget()
			w.at(14)
			stored(t, w.capture(), 0, 0, 0)
			grown := w.held().sessions[id]
			w.startOver()
			w.at(15)
			stored(t, w.capture(), 1, 3, 2)
			w.tells(id, story...)
			if got := w.held().sessions[id]; !strings.HasPrefix(name, got.Source) || got.ActorType != session.ActorHuman ||
				got.Title != "write two functions" {
				t.Errorf("source %q, actor %q, title %q", got.Source, got.ActorType, got.Title)
			}
			if want, got := grown.Model, w.held().sessions[id].Model; got != want ||
				(got == "gpt-5.4") == (name == "cursor" || name == "continue") {
				t.Errorf("the model is %q, and %q as the session grew", got, want)
			}
		})
	}
}

// TestAgentsBeside: of a session that was begun in a clone beside, a commit here gets the edit here, with the prompt
// that led to it, and no more; nor when the cache is lost, or when one capture reads it all. Cursor's records name no
// folder.
func TestAgentsBeside(t *testing.T) {
	for name, s := range scribes() {
		t.Run(name, func(t *testing.T) {
			if name == "cursor" {
				return
			}
			w, theirs := neighbours(t)
			file, err := filepath.Rel(theirs.repo(), filepath.Join(w.repo(), "a.go"))
			if err != nil {
				t.Fatal(err)
			}
			hook := func() capture.Outcome {
				return w.try(func(c *capture.Capturer) (capture.Outcome, error) {
					c.Budget = 1 << 20
					return c.Run(t.Context(), w.via, nil)
				})
			}
			id := s.native()
			s.begin(theirs, 0)
			s.ask(theirs, 1, "theirs: begin")
			s.say(theirs, 2, "Theirs.")
			w.at(2)
			stored(t, hook(), 0, 0, 0)
			s.ask(theirs, 3, "write two functions")
			s.edit(theirs, 4, file, nil, strings.Split(strings.TrimSpace(first), "\n"))
			w.commit(5, "one", "a.go", first)
			w.at(5)
			stored(t, hook(), 1, 2, 1)
			s.say(theirs, 6, "Theirs again.")
			w.at(7)
			stored(t, hook(), 0, 0, 0)
			s.ask(theirs, 10, "the second one")
			s.edit(theirs, 11, file, []string{"}"}, strings.Split(strings.TrimSpace(secondly), "\n"))
			s.say(theirs, 12, "Theirs still.")
			w.commit(13, "two", "a.go", first+secondly)
			w.at(13)
			stored(t, hook(), 1, 2, 1)
			tool := w.held().sessions[id].ToolCalls[0].Tool + " a.go"
			story := []string{
				"0 human: " + session.Elsewhere, "1 human: write two functions", tool,
				"2 assistant: " + session.Elsewhere, "3 human: the second one", tool,
			}
			w.tells(id, story...)
			w.lines("one a.go 1-3 "+id, "two a.go 4-6 "+id)
			w.ties("one commit: "+id+"; Aa.go", "two commit: "+id+"; Ma.go")
			w.forget()
			w.at(14)
			stored(t, hook(), 0, 0, 0)
			w.startOver()
			w.at(15)
			stored(t, hook(), 1, 4, 2)
			w.tells(id, story...)
		})
	}
}

// TestAgentsTogether: the sessions of all agents are stored at one commit, and each is tied to what it edited.
func TestAgentsTogether(t *testing.T) {
	w := newWorld(t)
	sec := 0
	var files []string
	for name, s := range scribes() {
		file := strings.Map(func(r rune) rune {
			if r < 'a' || r > 'z' {
				return -1
			}
			return r
		}, name) + ".go"
		s.begin(w, sec)
		s.ask(w, sec+1, "write "+file)
		s.edit(w, sec+2, file, nil, []string{"package " + file, "// by " + name})
		files = append(files, file, "package "+file+"\n// by "+name+"\n")
		sec += 10
	}
	w.commit(sec, "all", files...)
	w.at(sec)
	stored(t, w.capture(), len(scribes()), len(scribes()), len(scribes()))
	if n := len(w.held().wrote); n != len(scribes()) {
		t.Errorf("the lines of %d files are told, want len(scribes())", n)
	}
	w.at(sec + 1)
	stored(t, w.capture(), 0, 0, 0)
	harness.Equal(t, "sessions", len(scribes()), len(w.held().sessions))
}

// TestLongRealAgentsGrow replays real sessions of Codex and Copilot, with what its subagents did, commit by commit, and
// loses the cache halfway: at the end the ledger holds what one capture of the whole gives.
func TestLongRealAgentsGrow(t *testing.T) {
	for source, place := range map[string]string{
		"codex/019ed50c-2fb3-7002-a384-360bea6e7f04":   ".codex/sessions/2026/06/17/rollout-2026-06-17T07-04-15-019ed50c-2fb3-7002-a384-360bea6e7f04.jsonl",
		"copilot/70b173ed-7b83-485a-b71a-5adb0591db07": ".copilot/session-state/70b173ed-7b83-485a-b71a-5adb0591db07/events.jsonl",
	} {
		t.Run(source, func(t *testing.T) {
			w := newWorld(t)
			raw := harness.Unzipped(t, "agents/"+source+".jsonl.gz")
			root := gjson.GetBytes(raw, "payload.cwd").Str + gjson.GetBytes(raw, "data.context.cwd").Str
			inside := func(text []byte) string {
				return strings.ReplaceAll(string(text), strings.Trim(quoted(root), `"`), w.repo())
			}
			const steps = 8
			for i := range steps {
				w.commit(i, fmt.Sprint("step ", i), "step", fmt.Sprint(i))
				w.Write(filepath.Join(w.Home(), place), inside(raw[:len(raw)*(i+1)/steps]))
				w.capture()
				if i == steps/2 {
					w.forget()
				}
			}
			stored(t, w.capture(), 0, 0, 0)
			grown := w.held().sessions
			w.startOver()
			w.capture()
			once := w.held().sessions
			harness.Equal(t, "sessions", len(once), len(grown))
			for id := range once {
				harness.Equal(t, id, content(once[id]), content(grown[id]))
				harness.Equal(t, "model of "+id, once[id].Model, grown[id].Model)
			}
		})
	}
}
