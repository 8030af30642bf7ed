package transcript_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/transcript"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// here is where the repository lies now.
const here = "/nowhere/here"

// imported reads a copy of a transcript in a repository that has some files and lies somewhere else now.
func imported(t *testing.T, path string, raw []byte, made time.Time,
	has map[string]bool,
) (transcript.Agent, transcript.Document) {
	t.Helper()
	stem, _, _ := strings.Cut(filepath.Base(path), ".")
	agent, f, ok := transcript.Recognise(path, raw, "", stem)
	if !ok {
		t.Fatalf("%s is not recognised", path)
	}
	f.ModTime = made
	k := transcript.Kept{
		Agent: agent, Copies: []transcript.Copy{{File: f, Text: func() ([]byte, error) { return raw, nil }}},
		Has: func(path string) bool { return has[path] },
	}
	return agent, readFile(t, k, f, []string{here})
}

// named are the files of the repository that some sessions name.
func named(doc transcript.Document) map[string]bool {
	out := map[string]bool{}
	for _, s := range doc.Sessions {
		for _, c := range s.ToolCalls {
			out[c.Path] = !filepath.IsAbs(c.Path)
		}
	}
	return out
}

// TestLongRealImports: a copy of a real session, of which nothing but its text is known, gives what it gives at home.
func TestLongRealImports(t *testing.T) {
	made := time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC)
	home := map[string]func(id string, raw []byte, want counted) transcript.Document{
		"codex": func(id string, raw []byte, _ counted) transcript.Document {
			return decodeAll(t, transcript.Codex{}, raw, transcript.Options{
				File:  transcript.File{NativeID: id},
				Roots: []string{realRoot(raw)},
			})
		},
		"copilot": func(id string, raw []byte, _ counted) transcript.Document {
			return decodeAll(t, transcript.Copilot{}, raw,
				transcript.Options{File: transcript.File{NativeID: id}, Roots: []string{realRoot(raw)}})
		},
		"gemini":   func(id string, raw []byte, _ counted) transcript.Document { return readGemini(t, id, raw) },
		"opencode": func(id string, raw []byte, _ counted) transcript.Document { return readOpenCode(t, id, raw) },
		"cursor": func(id string, raw []byte, want counted) transcript.Document {
			root := path.Dir(want.Edited[0])
			f := transcript.File{NativeID: id, Cwd: root, ModTime: made}
			return decodeAll(t, transcript.Cursor{}, raw, transcript.Options{File: f, Roots: []string{root}})
		},
	}
	for agent, read := range home {
		for name, counts := range realSessions(t, agent) {
			id, _, _ := strings.Cut(path.Base(name), ".")
			raw := fromWindows(harness.Unzipped(t, "agents/"+name))
			want := read(id, raw, counts)
			has := named(want)
			if agent == "gemini" {
				has = nil // nothing tells here, as it names no folder
			}
			_, got := imported(t, "/backup/"+strings.TrimSuffix(name, ".gz"), raw, made, has)
			for i := range want.Sessions {
				if agent == "opencode" { // the version, and the IDs of messages, that the database of the test says
					want.Sessions[i].Agent = got.Sessions[i].Agent
					for n, u := range got.Sessions[i].Usage[:min(len(got.Sessions[i].Usage), len(want.Sessions[i].Usage))] {
						want.Sessions[i].Usage[n].Request = u.Request
					}
				}
			}
			harness.Equal(t, name, want.Sessions, got.Sessions)
		}
	}
}

// importsAlike: so does a copy of what the real programs wrote.
func importsAlike(t *testing.T, agent transcript.Agent, f transcript.File, want transcript.Document) {
	t.Helper()
	if filepath.Ext(filepath.Dir(f.Path)) == ".db" {
		k := transcript.Kept{Agent: agent, Copies: []transcript.Copy{{File: f}}, Has: func(string) bool { return false }}
		harness.Equal(t, f.Path, want.Sessions, readFile(t, k, f,
			[]string{"/home/dev/project", "/home/dev/project-wt"}).Sessions)
		return
	}
	raw, err := os.ReadFile(f.Path)
	if err != nil {
		t.Fatal(err)
	}
	is, got := imported(t, f.Path, raw, f.ModTime, named(want))
	harness.Equal(t, "agent of "+f.Path, agent.Name(), is.Name())
	harness.Equal(t, "import of "+f.Path, want.Sessions, got.Sessions)
}

// TestRecognise: each agent's sample is its own, whatever lies around it, and what is nobody's is nobody's.
func TestRecognise(t *testing.T) {
	for name, s := range samples() {
		agent, f, ok := transcript.Recognise("/backup/x.jsonl", append([]byte("no record\n{}\n"), s.text()...), "", "named")
		// rows, and lines of a document, are nobody's file
		if name == "opencode" || name == "kilo" || name == "cline" || name == "continue" {
			continue
		}
		if !ok || agent.Name() != name || f.NativeID != s.opt.File.NativeID && f.NativeID != "named" ||
			(name == "cursor" || name == "kimi-code" || name == "antigravity") != (f.NativeID == "named") || !f.ReadWhole {
			t.Errorf("%s: %v, %v, %+v", name, ok, agent, f)
		}
	}
	for _, text := range []string{
		"", "a text", `{"type":"session","version":3,"id":"1"}` + "\n" +
			`{"type":"message","message":{"role":"user","content":[]}}`,
		`{"sessionId":"2","cwd":"/work","type":"user","message":{"role":"user","text":"hi"}}`, `{"messages":[]}`,
	} {
		if agent, _, ok := transcript.Recognise("/backup/x.jsonl", []byte(text), "", "x"); ok {
			t.Errorf("%q is one of %s", text, agent.Name())
		}
	}
	wire := kimiSample().text()
	for path, id := range map[string]string{
		"/backup/session_7/agents/main/wire.jsonl": "session_7",
		"/backup/session_7/agents/a1/wire.jsonl":   "session_7.a1",
	} {
		if _, f, ok := transcript.Recognise(path, wire, "", "wire"); !ok || f.NativeID != id ||
			(f.AgentID != "") != (id != "session_7") {
			t.Errorf("%s: %v, %+v", path, ok, f)
		}
	}
	agent, f, ok := transcript.Recognise("/backup/x.jsonl", []byte("torn"), "codex", "x")
	if !ok || agent.Name() != "codex" || f.NativeID != "x" {
		t.Errorf("named: %v, %v, %+v", ok, agent, f)
	}
}

// TestKeptElsewhere: what was made in another repository of this machine is that one's; a folder that is not here is no
// other repository.
func TestKeptElsewhere(t *testing.T) {
	other := t.TempDir()
	for _, file := range []string{"HEAD"} {
		if err := os.MkdirAll(filepath.Join(other, ".git"), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(other, ".git", file), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	record := func(sec int, cwd, text string) string {
		at := time.Date(2026, 11, 20, 9, 0, sec, 0, time.UTC).Format(time.RFC3339)
		b, err := json.Marshal(map[string]any{
			"type": "user", "sessionId": "s", "cwd": cwd, "timestamp": at, "uuid": text,
			"message": map[string]any{"content": text},
		})
		if err != nil {
			t.Fatal(err)
		}
		return string(b) + "\n"
	}
	for _, c := range []struct{ name, text, want string }{
		{"another repository", record(1, other, "there"), ""},
		{
			"a folder of another machine", record(1, "/mnt/gone/shop", "here") + record(2, "/mnt/gone/shop/sub", "too"),
			"here too",
		},
		{"no folder", record(1, "", "here"), "here"},
		{"a folder that is none", record(1, "shop", "here"), "here"},
		{
			"here, then there", record(1, here, "here") + record(2, other, "there") + record(3, here, "again"),
			"here " + session.Elsewhere + " again",
		},
		{"another machine, then there", record(1, "/mnt/gone/shop", "here") + record(2, other, "there"), "here"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, doc := imported(t, "/backup/x.jsonl", []byte(c.text), time.Time{}, nil)
			var said []string
			for _, s := range doc.Sessions {
				for _, turn := range s.Turns {
					said = append(said, turn.Content)
				}
			}
			harness.Equal(t, "said", c.want, strings.Join(said, " "))
		})
	}
}

// story is a SpecStory file for the fuzzer and for broken ones.
const story = "<!-- Generated by SpecStory, Markdown v2.1.0 -->\n\n# A title (2025-10-01 23:30Z)\n\n<!-- Codex CLI Session s1 (2025-10-01 23:30Z) -->\n\n" +
	"_**User (2025-10-01 23:30Z)**_\n\nfix it\n\n---\n\n_**Agent (gpt-5.4 2025-10-01 23:31:00+0200)**_\n\n" +
	"<tool-use data-tool-type=\"write\" data-tool-name=\"apply_patch\"><details>\n<summary>Tool use: **apply_patch**</summary>\n" +
	"**Add: `a.go`**\n\n```diff\n+package a\n```\n\n**Update: `b.go`**\n\n```diff\n@@\n package b\n-var x\n+var y\n```\n\n</details></tool-use>\n\n" +
	"<tool-use data-tool-type=\"unknown\" data-tool-name=\"Edit\" data-edit-status=\"rejected\"><details>\n</details></tool-use>\n\nDone.\n\n" +
	"```text\nnever closed\n\n_**User (2025-10-01 23:32:00)**_\n\nthanks\n\n" +
	"<tool-use data-tool-type=\"read\" data-tool-name=\"Read\"><details>\n `./a.go`\n\n_**User (2025-10-01 23:33:00)**_\n\nand you?\n"

// TestStory: what SpecStory's file of Codex says, with the lines of its patches.
func TestStory(t *testing.T) {
	agent, doc := imported(t, "/repo/.specstory/history/x.md", []byte(story), time.Time{}, nil)
	if agent.Name() != "codex" || len(doc.Sessions) != 1 {
		t.Fatalf("%s, %+v", agent.Name(), doc)
	}
	s := doc.Sessions[0]
	harness.Equal(t, "title", "A title", s.Title)
	harness.Equal(t, "model", "gpt-5.4", s.Model)
	var said []string
	for _, turn := range s.Turns {
		said = append(said, turn.TS.Format("15:04:05 ")+turn.Role+" "+turn.Content)
	}
	harness.Equal(t, "said", []string{
		"23:30:00 human fix it", "21:31:00 assistant Done.\n\n```text\nnever closed",
		"23:32:00 human thanks", "23:33:00 human and you?",
	}, said)
	var calls, edits []string
	for _, c := range s.ToolCalls {
		calls = append(calls, strings.TrimSpace(c.Tool+" "+c.TouchedPath()))
	}
	for _, e := range s.Edits {
		edits = append(edits, e.Path+" "+strings.Join(e.Hunks[0].Old, "|")+" > "+strings.Join(e.Hunks[0].New, "|"))
	}
	harness.Equal(t, "calls", []string{"apply_patch a.go", "apply_patch b.go", "Edit", "Read a.go"}, calls)
	harness.Equal(t, "edits", []string{"a.go  > package a", "b.go package b|var x > package b|var y"}, edits)
}

// FuzzKept: whatever is given as a copy gives sessions as all decoders do, or nothing.
func FuzzKept(f *testing.F) {
	f.Add([]byte(story))
	for _, s := range samples() {
		f.Add(s.text())
	}
	f.Add([]byte(`{"info":{"id":"ses_1","directory":"C:\\work"},"messages":[{"info":{"role":"user"},"parts":[{"type":"text","text":"hi"}]}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		agent, file, ok := transcript.Recognise("/backup/x", raw, "", "x")
		if !ok {
			return
		}
		k := transcript.Kept{
			Agent: agent, Copies: []transcript.Copy{{File: file, Text: func() ([]byte, error) { return raw, nil }}},
			Has: func(path string) bool { return strings.HasSuffix(path, "o") },
		}
		in, err := k.Open(context.Background(), transcript.Options{File: file})
		if err != nil {
			return // one of OpenCode's own files
		}
		var text bytes.Buffer
		if _, err := text.ReadFrom(in); err != nil {
			t.Fatal(err)
		}
		doc, err := k.Decode(context.Background(), &text, transcript.Options{File: file, Roots: []string{here}})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range doc.Sessions {
			for i, turn := range s.Turns {
				if turn.Index != i || strings.TrimSpace(turn.Content) == "" {
					t.Fatalf("turn %d: %+v", i, turn)
				}
			}
		}
	})
}
