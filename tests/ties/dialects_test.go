package ties

import (
	"fmt"
	"path/filepath"
	"strings"
)

// dialect is how an agent other than Claude Code writes a session down: the records of each thing, in lines that carry
// their times.
type dialect struct {
	name   string
	path   func(a *author, id string) string
	begins func(k *talk, branch string) []fields
	turn   func(k *talk, role, words string) fields
	edits  func(k *talk, id string, e edited) []fields // a call with its result
	runs   func(k *talk, id, command string) fields
	ran    func(k *talk, id, command string) fields
	env    func(id string) []string // of its shell
}

// edited is what a call did to a file, or would have done.
type edited struct {
	path   string
	added  bool     // the file is new
	lines  []string // of hunks, each with "@@" before it: " ", "-" or "+" and the line
	failed bool
}

func (e edited) diff() string { return strings.Join(e.lines, "\n") + "\n" }

// dialects are those that histories speak besides Claude Code's.
var dialects = []*dialect{nil, &codex, nil, &copilot, nil, &gemini}

// turns makes every other session one of another agent. Nothing is drawn for it, so a seed's history is the same in all
// dialects.
func (a *author) turns(k *talk) *talk {
	d := dialects[a.talked%len(dialects)]
	if d == nil {
		return k
	}
	k.dialect, k.path, k.name = d, d.path(a, k.id), k.name+" ("+d.name+")"
	a.must(k.writes(a, d.begins(k, a.branch)...))
	return k
}

// writes adds records of the moment.
func (k *talk) writes(a *author, records ...fields) error {
	for _, rec := range records {
		rec["timestamp"] = a.now.UTC().Format("2006-01-02T15:04:05.000Z")
		if err := k.write(rec, a.now); err != nil {
			return err
		}
	}
	return nil
}

// next is the moment and the ID of the next record.
func (a *author) next(k *talk) string {
	a.tick()
	k.records++
	return uuid(k.rng)
}

// does is a call of a tool that Claude Code's records tell, told by another agent.
func (a *author) does(k *talk, input fields, do func() (said string, failed bool, result any)) {
	a.T.Helper()
	id := a.next(k)
	command, isRun := input["command"].(string)
	if isRun {
		a.must(k.writes(a, k.dialect.runs(k, id, command)))
	}
	_, failed, result := do()
	a.next(k)
	if isRun {
		a.must(k.writes(a, k.dialect.ran(k, id, command)))
		return
	}
	path, _ := input["file_path"].(string)
	e := edited{path: path, failed: failed}
	told, _ := result.(fields)
	hunks, _ := told["structuredPatch"].([]hunk)
	for _, h := range hunks {
		e.lines = append(append(e.lines, fmt.Sprintf("@@ -%d,%d +%d,%d @@", h.OldStart, h.OldLines, h.NewStart, h.NewLines)),
			h.raw...)
	}
	if e.added = told["type"] == "create"; e.added {
		e.lines = signed("+", input["content"])
	}
	if failed {
		e.lines = append([]string{"@@ -1 +1 @@"}, append(signed("-", input["old_string"]),
			signed("+", input["new_string"])...)...)
	}
	a.must(k.writes(a, k.dialect.edits(k, id, e)...))
}

// signed are the lines of a text behind a sign.
func signed(sign string, of any) (out []string) {
	s, _ := of.(string)
	for l := range strings.Lines(s) {
		out = append(out, sign+strings.TrimSuffix(l, "\n"))
	}
	return out
}

var codex = dialect{
	name: "codex",
	path: func(a *author, id string) string {
		return filepath.Join(a.Home(), ".codex", "sessions", a.now.Format("2006/01/02"),
			"rollout-"+a.now.Format("2006-01-02T15-04-05")+"-"+id+".jsonl")
	},
	begins: func(k *talk, branch string) []fields {
		return []fields{
			{"type": "session_meta", "payload": fields{
				"id": k.id, "cwd": k.cwd, "cli_version": "0.140.0", "source": "cli",
				"git": fields{"branch": branch},
			}},
			{"type": "turn_context", "payload": fields{"cwd": k.cwd, "model": "gpt-5.4"}},
		}
	},
	turn: func(_ *talk, role, words string) fields {
		if role == "user" {
			return fields{"type": "event_msg", "payload": fields{"type": "user_message", "message": words}}
		}
		return fields{"type": "response_item", "payload": fields{
			"type": "message", "role": role,
			"content": []any{fields{"type": "output_text", "text": words}},
		}}
	},
	edits: func(k *talk, id string, e edited) []fields {
		path, op, said := strings.TrimPrefix(e.path, k.cwd+"/"), "Update", "Success. Updated the following files:\nM "
		if e.added {
			op = "Add"
		}
		if e.failed {
			said = "apply_patch verification failed: Failed to find expected lines in "
		}
		patch := "*** Begin Patch\n*** " + op + " File: " + path + "\n" + e.diff() + "*** End Patch"
		return []fields{
			{"type": "response_item", "payload": fields{
				"type": "custom_tool_call", "call_id": id, "name": "apply_patch",
				"input": patch,
			}},
			{"type": "response_item", "payload": fields{
				"type": "custom_tool_call_output", "call_id": id,
				"output": said + path,
			}},
		}
	},
	runs: func(k *talk, id, command string) fields {
		return fields{"type": "response_item", "payload": fields{
			"type": "function_call", "call_id": id, "name": "exec_command",
			"arguments": fmt.Sprintf(`{"cmd":%q,"workdir":%q}`, command, k.cwd),
		}}
	},
	ran: func(_ *talk, id, _ string) fields {
		return fields{"type": "response_item", "payload": fields{
			"type": "function_call_output", "call_id": id,
			"output": "Process exited with code 0",
		}}
	},
	env: func(id string) []string { return []string{"CODEX_THREAD_ID=" + id} },
}

var copilot = dialect{
	name: "copilot-cli",
	path: func(a *author, id string) string {
		return filepath.Join(a.Home(), ".copilot", "session-state", id, "events.jsonl")
	},
	begins: func(k *talk, branch string) []fields {
		return []fields{{"type": "session.start", "data": fields{
			"sessionId": k.id, "copilotVersion": "1.0.102",
			"context": fields{"cwd": k.cwd, "branch": branch},
		}}}
	},
	turn: func(_ *talk, role, words string) fields {
		return fields{"type": role + ".message", "data": fields{"content": words}}
	},
	edits: func(_ *talk, id string, e edited) []fields {
		args, tool := fields{"path": e.path, "old_str": "part of a line", "new_str": "part"}, "edit"
		if e.added {
			args, tool = fields{"path": e.path, "file_text": strings.ReplaceAll(e.diff()[1:], "\n+", "\n")}, "create"
		}
		result := fields{"toolCallId": id, "success": !e.failed}
		if !e.failed && !e.added {
			result["result"] = fields{"detailedContent": "\ndiff --git a" + e.path + " b" + e.path + "\n--- a" + e.path +
				"\n+++ b" + e.path + "\n" + e.diff()}
		}
		return []fields{
			{"type": "tool.execution_start", "data": fields{"toolCallId": id, "toolName": tool, "arguments": args}},
			{"type": "tool.execution_complete", "data": result},
		}
	},
	runs: func(_ *talk, id, command string) fields {
		return fields{"type": "tool.execution_start", "data": fields{
			"toolCallId": id, "toolName": "bash",
			"arguments": fields{"command": command},
		}}
	},
	ran: func(_ *talk, id, _ string) fields {
		return fields{"type": "tool.execution_complete", "data": fields{"toolCallId": id, "success": true}}
	},
	env: func(id string) []string { return []string{"COPILOT_CLI=1", "COPILOT_AGENT_SESSION_ID=" + id} },
}

var gemini = dialect{
	name: "gemini-cli",
	path: func(a *author, id string) string {
		project := filepath.Join(a.Home(), ".gemini", "tmp", "repo")
		a.Write(filepath.Join(project, ".project_root"), a.dir)
		return filepath.Join(project, "chats", "session-"+a.now.Format("2006-01-02T15-04-")+id[:8]+".jsonl")
	},
	begins: func(k *talk, _ string) []fields {
		return []fields{{"sessionId": k.id, "startTime": "2026-01-01T00:00:00.000Z", "kind": "main"}}
	},
	turn: func(k *talk, role, words string) fields {
		kind := map[string]string{"user": "user", "assistant": "gemini"}[role]
		return fields{
			"id": fmt.Sprintf("turn%d", k.records), "type": kind, "content": []any{fields{"text": words}},
			"model": "gemini-2.5-pro",
		}
	},
	edits: func(_ *talk, id string, e edited) []fields {
		call := fields{
			"id": id, "name": "replace", "status": "success",
			"args": fields{"file_path": e.path, "old_string": "x", "new_string": "y"},
		}
		switch {
		case e.failed:
			call["status"] = "error"
		case e.added:
			call["name"], call["args"] = "write_file", fields{
				"file_path": e.path,
				"content":   strings.ReplaceAll(e.diff()[1:], "\n+", "\n"),
			}
		default:
			call["resultDisplay"] = fields{"fileDiff": "Index: f\n===\n--- f\tCurrent\n+++ f\tProposed\n" + e.diff()}
		}
		return []fields{{"id": "of " + id, "type": "gemini", "content": "", "toolCalls": []any{call}}}
	},
	runs: func(_ *talk, id, _ string) fields {
		return fields{"id": "of " + id, "type": "gemini", "content": ""} // it is written again when the call is over
	},
	ran: func(_ *talk, id, command string) fields {
		return fields{"id": "of " + id, "type": "gemini", "content": "", "toolCalls": []any{
			fields{"id": id, "name": "run_shell_command", "args": fields{"command": command}, "status": "success"},
		}}
	},
	env: func(string) []string { // it switches hooks off for the git that it runs
		return []string{"GEMINI_CLI=1", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.hooksPath", "GIT_CONFIG_VALUE_0="}
	},
}
