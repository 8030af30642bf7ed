package transcript

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/git-rekal/git-rekal/internal/session"
)

// Before 1.2 OpenCode kept a file for each session, message and part:
//
//	<data>/storage/session/<project>/<session ID>.json
//	<data>/storage/message/<session ID>/<message ID>.json
//	<data>/storage/part/<message ID>/<part ID>.json
//
// They stay where they are when they are taken into the database; then that one counts.

// openCodeFiles lists the sessions that were kept so, but for those that a database has.
func (l *finder) openCodeFiles(ctx context.Context, store string) {
	inDB := l.found.Files
	l.shelve(ctx, shelving{
		file: func(dir, entry string) File {
			id, ok := strings.CutSuffix(entry, ".json")
			if !ok || !strings.HasPrefix(id, "ses_") || slices.ContainsFunc(inDB, func(f File) bool { return f.NativeID == id }) {
				return File{}
			}
			return File{Path: filepath.Join(dir, entry), NativeID: ledgerName(id), ReadWhole: true}
		},
		made: openCodeFolder,
	}, filepath.Join(store, "session"))
	for i := range l.found.Files[len(inDB):] {
		l.found.Files[len(inDB)+i].follow(store)
	}
}

// openCodeFolder is the folder that a line of a session's document names.
func openCodeFolder(line []byte) string {
	for dir := range textsOf(line, `"directory":`) {
		return stringOf(dir)
	}
	return ""
}

// follow finds when anything of a session was last written: a message, or a part of the last one.
func (f *File) follow(store string) {
	dir := filepath.Join(store, "message", f.NativeID)
	messages, err := os.ReadDir(dir)
	if err != nil || len(messages) == 0 {
		return
	}
	f.Size += int64(len(messages))
	last := messages[len(messages)-1].Name()
	for _, path := range []string{dir, filepath.Join(dir, last), filepath.Join(store, "part", strings.TrimSuffix(last, ".json"))} {
		if info, err := os.Stat(path); err == nil && info.ModTime().After(f.ModTime) {
			f.ModTime = info.ModTime()
		}
	}
}

// openFiles gives such a session as the lines of rows. A document that is broken costs that message or part.
func openFiles(ctx context.Context, opt Options) (io.ReadCloser, error) {
	f := opt.File
	store := filepath.Dir(filepath.Dir(filepath.Dir(f.Path)))
	info, err := readJSON(f.Path)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = openCodeRow{Session: sessionRow(info)}.write(&out)
	for m := range documents(filepath.Join(store, "message", f.NativeID)) {
		if err = errors.Join(err, ctx.Err()); err != nil {
			return nil, fmt.Errorf("session %s: %w", f.NativeID, err)
		}
		id := m.Get("id").Str
		err = openCodeRow{Message: messageRow(m)}.write(&out)
		if id != filepath.Base(id) {
			continue // it names no folder
		}
		for p := range documents(filepath.Join(store, "part", id)) {
			err = errors.Join(err, openCodeRow{Part: partRow([]byte(p.Raw), opt.Outputs)}.write(&out))
		}
	}
	return io.NopCloser(&out), err
}

// sessionRow and messageRow are what is kept of a session's and of a message's document.
func sessionRow(s gjson.Result) *openCodeSession {
	return &openCodeSession{
		ID: s.Get("id").Str, Parent: s.Get("parentID").Str, Directory: s.Get("directory").Str,
		Title: s.Get("title").Str, Version: s.Get("version").Str,
	}
}

func messageRow(m gjson.Result) *openCodeMessage {
	out := &openCodeMessage{
		ID: m.Get("id").Str, Created: m.Get("time.created").Int(), Role: m.Get("role").Str, Summary: m.Get("summary").Type == gjson.True, Model: m.Get("modelID").Str,
		Done: m.Get("time.completed").Exists() || m.Get("error").Exists() || m.Get("finish").Exists(),
		Cost: m.Get("cost").Num,
	}
	if tokens := m.Get("tokens"); tokens.IsObject() {
		out.Tokens = json.RawMessage(tokens.Raw)
	}
	return out
}

// partRow is what is kept of a part, and no more: no whole files, nor outputs, unless somebody asks for those of commands.
func partRow(part []byte, outputs bool) json.RawMessage {
	p := membersOf(part, "type", "text", "synthetic", "ignored", "command", "tool", "callID", "files", "time", "state")
	state, when := membersOf(p["state"], "status", "input", "output", "time", "metadata"), membersOf(p["time"], "start", "end")
	about := membersOf(state["metadata"], "diff", "filediff", "exit")
	row := map[string]json.RawMessage{
		"type": p["type"], "synthetic": p["synthetic"], "ignored": p["ignored"], "command": p["command"], "files": p["files"],
		"start": when["start"], "end": when["end"], "tool": p["tool"], "callID": p["callID"],
		"status": state["status"], "input": state["input"], "ended": membersOf(state["time"], "end")["end"], "diff": about["diff"],
	}
	if row["diff"] == nil {
		row["diff"] = membersOf(about["filediff"], "patch")["patch"]
	}
	if stringOf(p["type"]) == "text" {
		row["text"] = p["text"]
	}
	if outputs && openCodeTools.acts[stringOf(p["tool"])] == session.ActRun {
		row["output"], row["exit"] = state["output"], about["exit"]
	}
	maps.DeleteFunc(row, func(_ string, value json.RawMessage) bool { return value == nil })
	raw, err := json.Marshal(row)
	if err != nil {
		return json.RawMessage("{}")
	}
	return raw
}

// membersOf are those members of an object that have one of some names.
func membersOf(object []byte, names ...string) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	eachMember(object, func(key, value []byte) {
		if i := slices.Index(names, string(key)); i >= 0 {
			out[names[i]] = value
		}
	})
	return out
}

// documents are the JSON files of a folder in the order of their names, which is that of time.
func documents(dir string) func(yield func(gjson.Result) bool) {
	return func(yield func(gjson.Result) bool) {
		entries, _ := os.ReadDir(dir) // where there is no folder there are none
		for _, e := range entries {
			if !strings.HasSuffix(e.Name(), ".json") {
				continue
			}
			if doc, err := readJSON(filepath.Join(dir, e.Name())); err == nil && !yield(doc) {
				return
			}
		}
	}
}

// readJSON reads a document of at most MaxLine bytes.
func readJSON(path string) (gjson.Result, error) {
	raw, err := readBounded(path, MaxLine)
	if err != nil {
		return gjson.Result{}, err
	}
	doc, ok := parseObject(bytes.TrimSpace(raw))
	if !ok {
		return gjson.Result{}, fmt.Errorf("read %q: no JSON object", path)
	}
	return doc, nil
}

func (OpenCode) recognises(rec gjson.Result) (File, bool) {
	id := ledgerNameOf(rec.Get("info.id"))
	if id == "" && rec.Get("directory").Exists() { // one of these files
		id = ledgerNameOf(rec.Get("id"))
	}
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
