package transcript

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"github.com/tidwall/gjson"

	"github.com/git-rekal/git-rekal/internal/session"
)

// Version 2 of OpenCode keeps sessions in session_v2 and messages whole in session_message. The tables of version 1
// stay beside them, frozen: a session that went on stands in both, its later messages in the new ones alone. A message
// is written as lines like one of version 1.

// has reports whether a database has a table.
func (r *rows) has(ctx context.Context, table string) (ok bool, err error) {
	_, err = r.each(ctx, func(scan func(...any) error) error { return scan(&ok) },
		`SELECT count(*) > 0 FROM sqlite_master WHERE name = ?`, table)
	return ok, err
}

// sessionRows is a query for all sessions of a database: one session may have a row in each table.
func (r *rows) sessionRows(ctx context.Context) (string, error) {
	v1, err := r.has(ctx, "session")
	v2, err2 := r.has(ctx, "session_v2")
	if err = errors.Join(err, err2); err != nil {
		return "", err
	}
	const query = "SELECT id, coalesce(parent_id, '') AS parent_id, directory, coalesce(title, '') AS title, version, time_updated FROM "
	switch {
	case v1 && v2:
		return query + "session UNION ALL " + query + "session_v2", nil
	case v2:
		return query + "session_v2", nil
	}
	return query + "session", nil // which names the table in an error
}

const openCodeMessagesV2 = `SELECT id, type, time_created, data FROM session_message
	WHERE session_id = ?1 AND (time_created, id) > (?2, ?3) AND octet_length(data) <= ?4 AND json_valid(data) ORDER BY time_created, id`

// writeMessagesV2 writes the messages of a session that were made after those of version 1.
func writeMessagesV2(ctx context.Context, db *rows, id string, after int64, outputs bool, out *bytes.Buffer) error {
	ok, err := db.has(ctx, "session_message")
	at, last := after, "\U0010FFFF" // behind every ID
	for more := ok; more && err == nil; {
		more, err = db.each(ctx, func(scan func(...any) error) error {
			var kind string
			var data []byte
			if scan(&last, &kind, &at, &data) != nil {
				return nil
			}
			return writeMessageV2(last, kind, at, gjson.ParseBytes(data), outputs, out)
		}, openCodeMessagesV2, id, at, last, MaxLine)
	}
	return err
}

// openCodeSpeakers are who speaks in a message of version 2, by its type; "" for the program.
//
//nolint:gochecknoglobals // a table
var openCodeSpeakers = map[string]string{
	"user": "user", "shell": "user", "assistant": session.RoleAssistant,
	"synthetic": "", "system": "", "agent-switched": "", "model-switched": "", "skill": "", "compaction": "",
}

// writeMessageV2 writes one message with what it holds.
func writeMessageV2(id, kind string, created int64, m gjson.Result, outputs bool, out *bytes.Buffer) error {
	role, known := openCodeSpeakers[kind]
	if !known {
		return openCodeRow{Unknown: kind}.write(out)
	}
	if role == "" {
		return nil
	}
	row := &openCodeMessage{
		ID: id, Created: cmp.Or(m.Get("time.created").Int(), created), Role: role, Model: m.Get("model.id").Str,
		Cost: m.Get("cost").Num,
		Done: m.Get("time.completed").Exists() || m.Get("error").Exists() || m.Get("finish").Exists(),
	}
	if tokens := m.Get("tokens"); tokens.IsObject() {
		row.Tokens = json.RawMessage(tokens.Raw)
	}
	err := openCodeRow{Message: row}.write(out)
	for _, part := range partsV2(kind, m, outputs) {
		if raw, bad := json.Marshal(part); err == nil && bad == nil {
			err = openCodeRow{Part: raw}.write(out)
		}
	}
	return err
}

// partsV2 are what a message holds, as partRow has the parts of one of version 1.
func partsV2(kind string, m gjson.Result, outputs bool) (parts []map[string]any) {
	switch kind {
	case "user":
		return []map[string]any{{"type": "text", "text": m.Get("text").Str}}
	case "shell":
		return []map[string]any{{"type": "text", "text": session.WithTypedMark("!", m.Get("command").Str)}}
	}
	pieces := m.Get("content").Array()
	for i, p := range pieces {
		switch p.Get("type").Str {
		case "text":
			part := map[string]any{"type": "text", "text": p.Get("text").Str}
			if i+1 < len(pieces) { // what follows shows that it is whole
				part["end"] = 1
			}
			if !p.Get("synthetic").Bool() && !p.Get("ignored").Bool() {
				parts = append(parts, part)
			}
		case "tool":
			parts = append(parts, toolV2(p, outputs))
		}
	}
	if files := m.Get("snapshot.files"); files.IsArray() {
		parts = append(parts, map[string]any{"type": "patch", "files": json.RawMessage(files.Raw)})
	}
	return parts
}

// toolV2 is a call.
func toolV2(p gjson.Result, outputs bool) map[string]any {
	state := p.Get("state")
	told := state.Get("structured")
	status := state.Get("status").Str
	if status == "streaming" {
		status = "pending"
	}
	part := map[string]any{"type": "tool", "tool": p.Get("name").Str, "callID": p.Get("id").Str, "status": status}
	for name, v := range map[string]gjson.Result{
		"input": state.Get("input"), "ended": p.Get("time.completed"),
		"diff": firstOf(told, "diff", "filediff.patch", "patch"), "exit": firstOf(told, "exit", "exitCode"),
	} {
		if v.Exists() {
			part[name] = json.RawMessage(v.Raw)
		}
	}
	name := p.Get("name").Str
	if outputs && openCodeTools.acts[name] == session.ActRun || commitsByTool(name, state.Get("input")) {
		part["output"] = joinTexts(state.Get("content"))
	}
	return part
}

// firstOf is the first of some members that is there.
func firstOf(of gjson.Result, members ...string) (v gjson.Result) {
	for _, m := range members {
		if v = of.Get(m); v.Exists() {
			return v
		}
	}
	return v
}
