package harness

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// Said is one thing of a session.
type Said struct {
	Who      string // human, assistant, title, or the tool that is called
	Text     string // what is said; of a tool its command, or the file in the worktree
	New, Old string // what Write and Edit leave there, and in place of what
}

// Lines are things of a session, each with who and text in a line.
func Lines(lines ...string) (out []Said) {
	for _, line := range lines {
		who, text, _ := strings.Cut(line, " ")
		out = append(out, Said{Who: who, Text: text})
	}
	return out
}

// Transcript is where Claude Code keeps a session of a folder.
func Transcript(home, dir, id string) string {
	return filepath.Join(home, ".claude", "projects", regexp.MustCompile(`[^0-9A-Za-z]`).ReplaceAllString(dir, "-"),
		id+".jsonl")
}

// Talk writes a session of Claude Code in a folder, or more of it, and returns the transcript's path. A minute lies
// between two things, from start on. What is written has a result, since only what is known to have been done counts.
func (p *Place) Talk(dir, id, branch string, start time.Time, said ...Said) string {
	p.T.Helper()
	dir = p.At(dir)
	path := Transcript(p.Home(), dir, id)
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.T.Fatal(err)
	}
	b, before := bytes.NewBuffer(text), bytes.Count(text, []byte("\n"))
	for i, s := range said {
		name := fmt.Sprint(id, before+i)
		put := func(uuid string, fields map[string]any) {
			rec := map[string]any{
				"sessionId": id, "cwd": dir, "gitBranch": branch, "version": "2.1.37", "isSidechain": false, "uuid": uuid,
				"timestamp": start.Add(time.Duration(before+i) * time.Minute).UTC().Format("2006-01-02T15:04:05.000Z"),
			}
			maps.Copy(rec, fields)
			if err := json.NewEncoder(b).Encode(rec); err != nil {
				p.T.Fatal(err)
			}
		}
		put(name, s.record(dir, "t"+name))
		if s.New != "" {
			put(name+"result", message("user", []any{map[string]any{
				"type": "tool_result", "tool_use_id": "t" + name,
				"content": "ok",
			}}))
		}
	}
	p.Write(path, b.String())
	return path
}

func (s Said) record(dir, id string) map[string]any {
	input := map[string]any{"file_path": filepath.Join(dir, s.Text)}
	switch s.Who {
	case "human":
		return message("user", s.Text)
	case "title":
		return map[string]any{"type": "custom-title", "customTitle": s.Text}
	case "assistant":
		return message("assistant", []any{map[string]any{"type": "text", "text": s.Text}})
	case "Bash":
		input = map[string]any{"command": s.Text}
	case "Write":
		input["content"] = s.New
	case "Edit":
		input["old_string"], input["new_string"] = s.Old, s.New
	}
	return message("assistant", []any{map[string]any{"type": "tool_use", "id": id, "name": s.Who, "input": input}})
}

func message(kind string, content any) map[string]any {
	return map[string]any{"type": kind, "message": map[string]any{
		"role": kind, "model": "claude-opus-4-6",
		"content": content,
	}}
}
