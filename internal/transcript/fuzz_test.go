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
func FuzzDecode(f *testing.F) { fuzzAgents(f, "FuzzDecode", transcript.Agents()...) }

// The same with one agent, so that each decoder is searched for itself.

func FuzzCodex(f *testing.F)    { fuzzAgents(f, "FuzzCodex", transcript.Codex{}) }
func FuzzCopilot(f *testing.F)  { fuzzAgents(f, "FuzzCopilot", transcript.Copilot{}) }
func FuzzGemini(f *testing.F)   { fuzzAgents(f, "FuzzGemini", transcript.Gemini{}) }
func FuzzOpenCode(f *testing.F) { fuzzAgents(f, "FuzzOpenCode", transcript.OpenCode{}) }
func FuzzCursor(f *testing.F)   { fuzzAgents(f, "FuzzCursor", transcript.Cursor{}) }

func FuzzPi(f *testing.F)       { fuzzAgents(f, "FuzzPi", transcript.Pi{}) }
func FuzzQwen(f *testing.F)     { fuzzAgents(f, "FuzzQwen", transcript.Qwen{}) }
func FuzzDroid(f *testing.F)    { fuzzAgents(f, "FuzzDroid", transcript.Droid{}) }
func FuzzContinue(f *testing.F) { fuzzAgents(f, "FuzzContinue", transcript.Continue{}) }
func FuzzKimi(f *testing.F)     { fuzzAgents(f, "FuzzKimi", transcript.Kimi{}) }
func FuzzGrok(f *testing.F)     { fuzzAgents(f, "FuzzGrok", transcript.Grok{}) }
func FuzzAntigravity(f *testing.F) {
	fuzzAgents(f, "FuzzAntigravity", transcript.Antigravity{})
}
func FuzzCline(f *testing.F) { fuzzAgents(f, "FuzzCline", transcript.Cline{}) }

func fuzzAgents(f *testing.F, target string, agents ...transcript.Agent) {
	if seeds, err := filepath.Glob("testdata/fuzz/" + target + "/*"); err != nil || len(seeds) == 0 {
		f.Fatalf("no committed seeds: %v", err)
	}
	samples := samples()
	for _, agent := range agents {
		f.Add(samples[agent.Name()].text())
	}
	dir, err := os.Getwd()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, agent := range agents {
			opt := samples[agent.Name()].opt
			opt.Roots = []string{root, dir}
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

// FuzzDocument opens anything as a document: what Decode is given are lines.
func FuzzDocument(f *testing.F) {
	if seeds, err := filepath.Glob("testdata/fuzz/FuzzDocument/*"); err != nil || len(seeds) == 0 {
		f.Fatalf("no committed seeds: %v", err)
	}
	path := filepath.Join(f.TempDir(), "session.json")
	f.Fuzz(func(t *testing.T, raw []byte) {
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		in, err := transcript.Gemini{}.Open(context.Background(), transcript.Options{File: transcript.File{Path: path}})
		if err != nil {
			t.Fatal(err)
		}
		opt := transcript.Options{File: transcript.File{NativeID: "s", Cwd: root, ReadWhole: true}, Roots: []string{root}}
		doc, err := transcript.Gemini{}.Decode(context.Background(), in, opt)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range doc.Sessions {
			check(t, p)
		}
	})
}

func check(t *testing.T, p transcript.Part) {
	for i, turn := range p.Turns {
		if turn.Index != i || turn.Content == "" || !utf8.ValidString(turn.Content) {
			t.Fatalf("turn %d: %+v", i, turn)
		}
	}
	checkEdits(t, p.Edits)
	last := -1
	for i, c := range p.ToolCalls {
		if c.Index != i || c.Turn < last || c.Turn >= len(p.Turns) || !utf8.ValidString(c.Tool+c.Path+c.Cmd) {
			t.Fatalf("tool call %d: %+v", i, c)
		}
		last = c.Turn
	}
	for _, c := range p.ToolCalls {
		if c.Path != "" && !filepath.IsAbs(c.Path) && !session.IsPathInTree(c.Path) || controls(c.Tool) {
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

func checkEdits(t *testing.T, edits []transcript.Edit) {
	for _, e := range edits {
		if !session.IsPathInTree(e.Path) || !utf8.ValidString(e.Path) || len(e.Hunks) == 0 ||
			e.FullContent && len(e.Hunks) != 1 {
			t.Fatalf("edit %+v", e)
		}
	}
}

func controls(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}
