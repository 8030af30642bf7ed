package harness

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/git-rekal/git-rekal/internal/session"
)

// Document is a session as a ranking's corpus has it: what was said and, apart, what its tools did. Every field but
// Doc, Role and Text may be missing or null.
type Document struct {
	Doc, Group, Title, Start, Branch string
	Turns                            []struct{ Role, Text string }
	FilesEdited                      []string `json:"files_edited"`
	FilesRead                        []string `json:"files_read"`
	Cmds                             []string
}

// Corpus calls f with each document of a folder's corpus.jsonl, or corpus.jsonl.gz.
func Corpus(dir string, f func(Document)) error {
	path := filepath.Join(dir, "corpus.jsonl")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		path += ".gz"
	}
	return EachLine(path, f)
}

// Session makes a session of a document. Which turn a call stands behind is not known.
func (d Document) Session(source string) session.Session {
	start, err := time.Parse(time.RFC3339, d.Start)
	if err != nil {
		start = time.Unix(0, 0)
	}
	s := session.Session{
		ID: session.NewID(start, source, d.Doc), Source: source, NativeID: d.Doc,
		ActorType: session.ActorHuman, Branch: d.Branch, Title: d.Title, StartedAt: start,
	}
	for i, t := range d.Turns {
		role := session.RoleAssistant
		if t.Role == "user" || t.Role == session.RoleHuman {
			role = session.RoleHuman
		}
		s.Turns = append(s.Turns, session.Turn{Index: i, Role: role, TS: start, Content: t.Text})
	}
	call := func(c session.ToolCall) {
		c.Index, c.Turn = len(s.ToolCalls), -1
		s.ToolCalls = append(s.ToolCalls, c)
	}
	for i := range max(len(d.FilesEdited), len(d.FilesRead), len(d.Cmds)) {
		if i < len(d.FilesRead) {
			call(session.ToolCall{Tool: "Read", Path: d.FilesRead[i]})
		}
		if i < len(d.FilesEdited) {
			call(session.ToolCall{Tool: "Edit", Path: d.FilesEdited[i]})
		}
		if i < len(d.Cmds) {
			call(session.ToolCall{Tool: "Bash", Cmd: d.Cmds[i]})
		}
	}
	return s
}
