package search_test

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/session"
)

// realParts reads the shared corpus of real sessions, or skips the test.
func realParts(tb testing.TB) []session.Session {
	tb.Helper()
	f, err := os.Open("../../../shared/data/ranking/corpus.jsonl.gz")
	if err != nil {
		tb.Skip("no shared data")
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	var out []session.Session
	for dec := json.NewDecoder(z); ; {
		var d struct {
			Doc, Start, Title string
			Turns             []struct{ Role, Text string }
			FilesEdited       []string `json:"files_edited"`
			Cmds              []string
		}
		if err := dec.Decode(&d); errors.Is(err, io.EOF) {
			return out
		} else if err != nil {
			tb.Fatal(err)
		}
		start, err := time.Parse(time.RFC3339, d.Start)
		if err != nil {
			tb.Fatal(err)
		}
		s := session.Session{ID: session.NewID(start, "test", d.Doc), Title: d.Title}
		for i, t := range d.Turns {
			s.Turns = append(s.Turns, session.Turn{Index: i, Role: session.RoleHuman, TS: start, Content: t.Text})
		}
		for _, p := range d.FilesEdited {
			s.ToolCalls = append(s.ToolCalls, session.ToolCall{Index: len(s.ToolCalls), Tool: "Edit", Path: p})
		}
		for _, c := range d.Cmds {
			s.ToolCalls = append(s.ToolCalls, session.ToolCall{Index: len(s.ToolCalls), Tool: "Bash", Cmd: c})
		}
		out = append(out, s)
	}
}
