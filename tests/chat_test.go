package tests

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// A .chat fixture says what happened in a session; chat writes it down as Claude Code does:
//
//	branch: main
//	10:00 human why do tokens expire early?
//	10:01 assistant The clock is local time.
//	10:02 Edit src/jwt.go
//	10:03 Bash go test ./...
//	10:04 title Fix JWT expiry
//
// Headers (session, branch, entrypoint; all optional) come first; the session's ID is otherwise the file's name. A time
// is of 2026-03-04, UTC, or "-90m": that long before now. Behind it stand who or what, and its text, in which \n is a
// new line. Any word but human, assistant, title, failed and running is a tool with its path (or command, for Bash);
// "failed Edit src/jwt.go" is a call that failed, "running Bash git commit" one that has no result yet. The fixture of
// a subagent is named SESSION/subagents/agent-ID.chat.
//
// What it writes begins with what it writes for the first lines alone, as a transcript does
// that grows.
func chat(stem, text, cwd, now string, limit int) (string, error) {
	start, err := time.Parse(time.RFC3339, now)
	if err != nil {
		return "", err
	}
	w := chatWriter{now: start, cwd: cwd, env: map[string]any{
		"parentUuid": nil, "isSidechain": false, "userType": "external", "cwd": cwd,
		"sessionId": filepath.Base(stem), "version": "2.1.37", "gitBranch": "main",
	}}
	if id, ok := strings.CutPrefix(filepath.Base(stem), "agent-"); ok {
		w.env["isSidechain"], w.env["agentId"] = true, id
		w.env["sessionId"], _, _ = strings.Cut(stem, "/")
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if key, value, ok := strings.Cut(line, ": "); ok && headers[key] != "" {
			w.env[headers[key]] = value
			continue
		}
		if line == "" || w.entries == limit {
			continue
		}
		if err := w.entry(line); err != nil {
			return "", fmt.Errorf("%s: %q: %w", stem, line, err)
		}
	}
	return w.out.String(), nil
}

var headers = map[string]string{"session": "sessionId", "branch": "gitBranch", "entrypoint": "entrypoint"}

// chatWriter writes one transcript.
type chatWriter struct {
	now     time.Time
	cwd     string
	env     map[string]any // what every record carries
	entries int
	records int
	out     strings.Builder
}

func (w *chatWriter) entry(line string) error {
	when, rest, _ := strings.Cut(line, " ")
	who, text, ok := strings.Cut(rest, " ")
	if !ok {
		return fmt.Errorf("neither time nor speaker")
	}
	ts, err := w.time(when)
	if err != nil {
		return err
	}
	w.entries++
	text = strings.ReplaceAll(text, `\n`, "\n")
	switch who {
	case "human":
		return w.record(ts, "user", map[string]any{"role": "user", "content": text}, nil)
	case "assistant":
		return w.assistant(ts, map[string]any{"type": "text", "text": text})
	case "title":
		return w.write(map[string]any{"type": "custom-title", "customTitle": text, "sessionId": w.env["sessionId"]})
	case "failed", "running":
		tool, input, _ := strings.Cut(text, " ")
		return w.tool(ts, tool, input, who)
	}
	return w.tool(ts, who, text, "")
}

func (w *chatWriter) time(s string) (time.Time, error) {
	if ago, err := time.ParseDuration(s); err == nil {
		return w.now.Add(ago), nil
	}
	return time.Parse("2006-01-02 15:04", "2026-03-04 "+s)
}

func (w *chatWriter) assistant(ts time.Time, block map[string]any) error {
	return w.record(ts, "assistant", map[string]any{
		"id": fmt.Sprintf("msg_%d", w.records), "type": "message", "role": "assistant",
		"model": "claude-opus-4-6", "content": []any{block},
		"usage": map[string]any{"input_tokens": 3, "output_tokens": 7},
	}, nil)
}

// tool writes a call and its result, if it has one. A Task's call is named after its text, so that a
// subagent's .meta.json can name it.
func (w *chatWriter) tool(ts time.Time, name, text, state string) error {
	id := fmt.Sprintf("toolu_%d", w.records)
	path := text
	if !filepath.IsAbs(path) {
		path = filepath.Join(w.cwd, text)
	}
	input := map[string]any{"file_path": path}
	switch name {
	case "Bash":
		input = map[string]any{"command": text, "description": "run it"}
	case "Edit":
		input["old_string"], input["new_string"] = "what was", "what is"
	case "Write":
		input["content"] = "the whole file"
	case "Task":
		id = "toolu_" + text
		input = map[string]any{"description": text, "prompt": text, "subagent_type": "general-purpose"}
	}
	err := w.assistant(ts, map[string]any{"type": "tool_use", "id": id, "name": name, "input": input})
	if err != nil || state == "running" {
		return err
	}
	result := map[string]any{
		"tool_use_id": id, "type": "tool_result", "content": "output of the tool, never stored",
		"is_error": state == "failed",
	}
	return w.record(ts, "user", map[string]any{"role": "user", "content": []any{result}},
		map[string]any{"toolUseResult": map[string]any{"stdout": "output of the tool, never stored"}})
}

func (w *chatWriter) record(ts time.Time, kind string, message, more map[string]any) error {
	rec := map[string]any{"type": kind, "message": message, "timestamp": ts.Format("2006-01-02T15:04:05.000Z")}
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %v", w.records, message))
	rec["uuid"] = fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
	for _, fields := range []map[string]any{w.env, more} {
		for k, v := range fields {
			rec[k] = v
		}
	}
	return w.write(rec)
}

func (w *chatWriter) write(rec map[string]any) error {
	b, err := json.Marshal(rec)
	w.out.Write(append(b, '\n'))
	w.records++
	return err
}
