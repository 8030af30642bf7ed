package search_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// ownParts reads the project's own corpus: 32 short sessions, of some four turns each.
func ownParts(tb testing.TB) []session.Session {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join(harness.Root(tb), "tests/testdata/ranking/corpus.jsonl"))
	if err != nil {
		tb.Fatal(err)
	}
	return decodeParts(tb, bytes.NewReader(text))
}

// realParts reads the shared corpus of 276 real sessions, or skips the test.
func realParts(tb testing.TB) []session.Session {
	tb.Helper()
	f, err := os.Open(harness.Data(tb, "ranking/corpus.jsonl.gz"))
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	return decodeParts(tb, z)
}

func decodeParts(tb testing.TB, r io.Reader) (out []session.Session) {
	tb.Helper()
	for dec := json.NewDecoder(r); ; {
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
			s.ToolCalls = append(s.ToolCalls, session.ToolCall{Index: len(s.ToolCalls), Tool: "Edit", Act: session.ActEdit, Path: p})
		}
		for _, c := range d.Cmds {
			s.ToolCalls = append(s.ToolCalls, session.ToolCall{Index: len(s.ToolCalls), Tool: "Bash", Cmd: c})
		}
		out = append(out, s)
	}
}
