package transcript

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/git-rekal/git-rekal/internal/session"
)

// sessionRow and messageRow are what is kept of a session's and of a message's document.
func sessionRow(s gjson.Result) *openCodeSession {
	return &openCodeSession{
		ID: s.Get("id").Str, Parent: s.Get("parentID").Str, Directory: s.Get("directory").Str,
		Title: s.Get("title").Str, Version: s.Get("version").Str,
	}
}

func messageRow(m gjson.Result) *openCodeMessage {
	out := &openCodeMessage{
		ID: m.Get("id").Str, Created: m.Get("time.created").Int(), Role: m.Get("role").Str,
		Summary: m.Get("summary").Type == gjson.True, Model: m.Get("modelID").Str,
		Done: m.Get("time.completed").Exists() || m.Get("error").Exists() || m.Get("finish").Exists(),
		Cost: m.Get("cost").Num,
	}
	if tokens := m.Get("tokens"); tokens.IsObject() {
		out.Tokens = json.RawMessage(tokens.Raw)
	}
	return out
}

// partRow is what is kept of a part, and no more: no whole files, nor outputs, unless somebody asks for those of
// commands or git answers.
func partRow(part []byte, outputs bool) json.RawMessage {
	p := pickMembers(part, "type", "text", "synthetic", "ignored", "command", "tool", "callID", "files", "time", "state")
	state, when := pickMembers(p["state"], "status", "input", "output", "time", "metadata"),
		pickMembers(p["time"], "start", "end")
	about := pickMembers(state["metadata"], "diff", "filediff", "exit")
	row := map[string]json.RawMessage{
		"type": p["type"], "synthetic": p["synthetic"], "ignored": p["ignored"], "command": p["command"], "files": p["files"],
		"start": when["start"], "end": when["end"], "tool": p["tool"], "callID": p["callID"],
		"status": state["status"], "input": state["input"], "ended": pickMembers(state["time"], "end")["end"],
		"diff": about["diff"],
	}
	if row["diff"] == nil {
		row["diff"] = pickMembers(about["filediff"], "patch")["patch"]
	}
	if stringOf(p["type"]) == "text" {
		row["text"] = p["text"]
	}
	if openCodeTools.acts[stringOf(p["tool"])] == session.ActRun {
		row["exit"] = about["exit"]
		if outputs || commitsByTool(stringOf(p["tool"]), gjson.ParseBytes(state["input"])) {
			row["output"] = state["output"]
		}
	}
	maps.DeleteFunc(row, func(_ string, value json.RawMessage) bool { return value == nil })
	raw, err := json.Marshal(row)
	if err != nil {
		return json.RawMessage("{}")
	}
	return raw
}

// commitsByTool reports whether a call has git make a commit.
func commitsByTool(tool string, input gjson.Result) bool {
	u := openCodeTools.parse("", tool, input)
	return session.ToolCall{Act: u.act, Cmd: u.cmd}.MakesCommit()
}

// pickMembers are those members of an object that have one of some names.
func pickMembers(object []byte, names ...string) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	eachMember(object, func(key, value []byte) {
		if i := slices.Index(names, string(key)); i >= 0 {
			out[names[i]] = value
		}
	})
	return out
}

func (OpenCode) recognises(rec gjson.Result) (File, bool) {
	id := ledgerNameOf(rec.Get("info.id"))
	return File{NativeID: id}, strings.HasPrefix(id, "ses_")
}

// lines makes rows of what "opencode export" prints: {"info": …, "messages": [{"info": …, "parts": […]}, …]}.
func (OpenCode) lines(raw []byte) []byte {
	var out bytes.Buffer
	doc := gjson.ParseBytes(raw)
	if !gjson.ValidBytes(raw) || !doc.Get("info").IsObject() {
		return []byte("not an export\n")
	}
	err := openCodeRow{Session: sessionRow(doc.Get("info"))}.write(&out)
	doc.Get("messages").ForEach(func(_, m gjson.Result) bool {
		err = openCodeRow{Message: messageRow(m.Get("info"))}.write(&out)
		m.Get("parts").ForEach(func(_, p gjson.Result) bool {
			err = openCodeRow{Part: partRow([]byte(p.Raw), false)}.write(&out)
			return err == nil
		})
		return err == nil
	})
	return out.Bytes()
}
