package transcript_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/transcript"
)

// FuzzDecode feeds every agent anything: it must not panic, keep what it promises of
// its output, and be done with whole bytes of the input only.
func FuzzDecode(f *testing.F) {
	if seeds, err := filepath.Glob("testdata/fuzz/FuzzDecode/*"); err != nil || len(seeds) == 0 {
		f.Fatalf("no committed seeds: %v", err)
	}
	for _, s := range samples() {
		f.Add(s.text())
	}
	dir, err := os.Getwd()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, agent := range transcript.Agents() {
			opt := transcript.Options{File: transcript.File{NativeID: sid}, Roots: []string{root, dir}}
			doc, err := agent.Decode(context.Background(), bytes.NewReader(raw), opt)
			if err != nil {
				t.Fatal(err)
			}
			if doc.Bytes < 0 || doc.Bytes > int64(len(raw)) {
				t.Fatalf("done with %d of %d bytes", doc.Bytes, len(raw))
			}
			for _, p := range doc.Sessions {
				check(t, p)
			}
		}
	})
}

func check(t *testing.T, p transcript.Part) {
	for i, turn := range p.Turns {
		if turn.Index != i || turn.Content == "" || !utf8.ValidString(turn.Content) {
			t.Fatalf("turn %d: %+v", i, turn)
		}
	}
	last := -1
	for i, c := range p.ToolCalls {
		if c.Index != i || c.Turn < last || c.Turn >= len(p.Turns) || !utf8.ValidString(c.Tool+c.Path+c.Cmd) {
			t.Fatalf("tool call %d: %+v", i, c)
		}
		last = c.Turn
	}
	for _, c := range p.ToolCalls {
		if c.Path != "" && !filepath.IsAbs(c.Path) && !session.InTree(c.Path) || controls(c.Tool) {
			t.Fatalf("no segment could hold tool %q, path %q", c.Tool, c.Path)
		}
	}
	if controls(p.NativeID) || controls(p.ParentNative) || controls(p.AgentID) || controls(p.Branch) || controls(p.Title) {
		t.Fatalf("no segment could hold %q, %q, %q, %q, %q", p.NativeID, p.ParentNative, p.AgentID, p.Branch, p.Title)
	}
	if !utf8.ValidString(p.Title + p.Branch + p.NativeID) {
		t.Fatalf("title %q, branch %q, native ID %q", p.Title, p.Branch, p.NativeID)
	}
}

func controls(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}
