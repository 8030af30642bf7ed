package transcript_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/transcript"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// wanted is what a session that a real program wrote in a made-up project is to give (README beside the data).
type wanted struct {
	Session, Parent, Agent string
	Prompts, Texts         []string
	Calls                  []wantedCall
	OfSubagents            *wanted `json:"of_subagents"`
}

type wantedCall struct {
	Name, Path, Command string
	Paths               []string
	Failed              bool
}

// says is the same of a session that was read.
func says(s transcript.Part) wanted {
	out := wanted{Session: s.NativeID, Parent: s.ParentNative}
	for _, turn := range s.Turns {
		if turn.Role == session.RoleHuman {
			out.Prompts = append(out.Prompts, turn.Content)
		} else {
			out.Texts = append(out.Texts, turn.Content)
		}
	}
	for _, c := range s.ToolCalls {
		out.Calls = append(out.Calls, wantedCall{Name: c.Tool, Path: c.Path, Command: c.Cmd, Failed: c.Failed})
	}
	return out
}

// one gives each call one path, from the root of the worktree.
func (t wanted) one(roots []string) wanted {
	calls := t.Calls
	t.Calls = nil
	for _, c := range calls {
		for _, path := range append([]string{c.Path}, c.Paths...) {
			if path == "" && len(c.Paths) > 0 {
				continue
			}
			for _, root := range roots {
				if rel, err := filepath.Rel(root, path); path != "" && err == nil && filepath.IsLocal(rel) {
					path = rel
				}
			}
			t.Calls = append(t.Calls, wantedCall{Name: c.Name, Path: path, Command: c.Command, Failed: c.Failed})
		}
	}
	return t
}

// readFile reads a transcript as capture does, and everything that it holds.
func readFile(t *testing.T, agent transcript.Agent, f transcript.File, roots []string) transcript.Document {
	t.Helper()
	return readWith(t, agent, transcript.Options{File: f, Roots: roots})
}

func readWith(t *testing.T, agent transcript.Agent, opt transcript.Options) transcript.Document {
	t.Helper()
	f := opt.File
	var in io.ReadCloser
	var err error
	if opener, ok := agent.(transcript.Opener); ok && f.ReadWhole {
		in, err = opener.Open(context.Background(), opt)
	} else {
		in, err = os.Open(f.Path)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	doc, err := agent.Decode(context.Background(), in, opt)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// failedTests marks the commands that ended with a status which their agent takes for a success.
func failedTests(_ string, want *wanted) {
	first := slices.IndexFunc(want.Calls,
		func(c wantedCall) bool { return c.Command == "python3 -m unittest auth.test_jwt" })
	if first >= 0 {
		want.Calls[first].Failed = true
	}
}

// TestGenerated reads what the real programs wrote: each session is found, and gives what was typed, said and called.
func TestGenerated(t *testing.T) {
	roots := []string{"/home/dev/project", "/home/dev/project-wt"}
	for _, c := range []struct {
		folder   string
		requests int    // as counted independently
		model    string // that spoke in all sessions
		agent    transcript.Agent
		env      func(home, data string) map[string]string
		// differs is why some session gives something else than is expected, and what.
		differs func(id string, want *wanted)
	}{
		{
			folder: "claude-code-2.1.197", requests: 38, model: "claude-opus-4-8", agent: transcript.ClaudeCode{},
			env: claudeHome,
		},
		{
			folder: "claude-code-2.1.330", requests: 38, model: "claude-opus-5-5", agent: transcript.ClaudeCode{},
			env: claudeHome,
		},
		{
			folder: "claude-code-2.1.330-tui", requests: 20, model: "claude-opus-5-5", agent: transcript.ClaudeCode{},
			env: claudeHome,
			differs: func(_ string, want *wanted) {
				// a command that a person ran is kept as typed
				if i := slices.Index(want.Prompts, "Is anything left to do?"); i >= 0 {
					want.Prompts = slices.Insert(want.Prompts, i+1, "!git log --oneline -n 1")
				}
			},
		},
		{
			folder: "codex-0.169.0", requests: 35, model: "gpt-5.5", agent: transcript.Codex{},
			env: func(_, data string) map[string]string { return map[string]string{"CODEX_HOME": data} },
		},
		{
			folder: "copilot-1.0.102", requests: 37, model: "gpt-4.1", agent: transcript.Copilot{},
			env: func(_, data string) map[string]string { return map[string]string{"COPILOT_HOME": data} },
		},
		{
			folder: "gemini-cli-0.61.0", requests: 38, model: "gemini-2.5-pro", agent: transcript.Gemini{},
			env:     func(home, data string) map[string]string { linked(t, data, home, ".gemini"); return nil },
			differs: failedTests,
		},
		{
			folder: "opencode-1.18.33", requests: 37, model: "scripted", agent: transcript.OpenCode{},
			env: func(home, data string) map[string]string {
				linked(t, data, home, "opencode")
				return map[string]string{"XDG_DATA_HOME": home}
			},
			differs: func(id string, want *wanted) {
				failedTests(id, want)
				if id == "ses_dfdd41c65ffe66kC23CjLb4C03" { // it ran sed, which edited a file
					want.Calls = append(want.Calls, wantedCall{Name: "patch", Path: "/home/dev/project/auth/jwt.py"})
				}
			},
		},
	} {
		t.Run(c.folder, func(t *testing.T) {
			data := harness.Data(t, "agents-generated/"+c.folder)
			home := t.TempDir()
			env := c.env(home, data)
			found, err := c.agent.Locate(context.Background(),
				transcript.Env{Home: home, Getenv: func(n string) string { return env[n] }, Roots: roots})
			if err != nil || len(found.Unreadable) > 0 {
				t.Fatal(err, found.Unreadable)
			}
			got, wants, requests := map[string]wanted{}, expected(t, data), 0
			for _, f := range found.Files {
				doc := readFile(t, c.agent, f, roots)
				importsAlike(t, c.agent, f, doc)
				for _, s := range doc.Sessions {
					if got[s.NativeID].Session != "" {
						t.Errorf("%s stands in several files", s.NativeID)
					}
					got[s.NativeID] = says(s).one(roots)
					requests += len(s.Usage)
					for _, u := range s.Usage { // what the scripted server says of each of its answers
						if u.Input != 1200 || u.Output != 80 {
							t.Errorf("%s: %+v", s.NativeID, u)
						}
					}
					if s.Model != c.model {
						t.Errorf("the model of %s is %q", s.NativeID, s.Model)
					}
				}
			}
			harness.Equal(t, "requests", c.requests, requests)
			for id, s := range got { // a subagent in its parent's file: Copilot
				if want, ok := wants[s.Parent]; ok && want.OfSubagents != nil {
					sub := *want.OfSubagents
					sub.Session, sub.Parent = id, s.Parent
					wants[id] = sub
				}
			}
			for id, want := range wants {
				want.OfSubagents = nil
				if c.differs != nil {
					c.differs(id, &want)
				}
				harness.Equal(t, id, want.one(roots), got[id])
				delete(got, id)
			}
			for id := range got {
				t.Errorf("%s is not expected", id)
			}
		})
	}
}

// TestGeneratedCounts reads what programs wrote of which nobody listed what is to be found: prompts, texts, calls,
// failures, edits and sessions were counted independently.
func TestGeneratedCounts(t *testing.T) {
	roots := []string{"/home/dev/project", "/home/dev/project-wt", "/home/dev/b-project"}
	type counts struct{ Sessions, Subagents, Prompts, Texts, Calls, Failed, Edits, Outputs, Requests int }
	for _, c := range []struct {
		folder, at string // at: where it stood below the home
		agent      transcript.Agent
		want       counts
		model      string // that all but subagents' sessions are of
	}{
		{"claude-code-2.1.332", ".claude", transcript.ClaudeCode{}, counts{5, 2, 6, 13, 10, 0, 4, 4, 16}, "claude-opus-5-5"},
		{"pi-0.73.1", ".pi/agent", transcript.Pi{}, counts{7, 0, 8, 19, 18, 2, 8, 7, 25}, "scripted"},
		{"qwen-code-0.24.4", ".qwen", transcript.Qwen{}, counts{8, 1, 9, 24, 23, 4, 7, 9, 31}, "scripted"},
		{"droid-0.225.2", ".factory", transcript.Droid{}, counts{9, 0, 9, 23, 24, 9, 9, 10, 9}, "scripted"},
		{"cline-3.0.65", ".cline/data", transcript.Cline{}, counts{8, 1, 8, 20, 19, 2, 7, 7, 25}, "scripted"},
		// with what sed changed as a call
		{"kilo-7.7.9", ".local/share/kilo", transcript.Kilo{}, counts{7, 0, 8, 21, 22, 3, 8, 8, 28}, "scripted"},
		// three edits, as one of Codex in code mode, are texts that a command writes (cat >FILE <<EOF)
		{"pi-1.6.0/classic", ".pi/agent", transcript.Pi{}, counts{22, 0, 26, 59, 48, 1, 26, 24, 74}, "scripted"},
		{"pi-1.6.0/codemode", ".pi/agent/sessions", transcript.Pi{}, counts{1, 0, 1, 2, 3, 1, 2, 1, 2}, "scripted"},
		{"kimi-code-2.1.0", ".kimi-code", transcript.Kimi{}, counts{1, 0, 2, 8, 9, 1, 5, 3, 11}, "scripted"},
		// tokens are counted by prompt
		{"grok-1.0.41", ".grok", transcript.Grok{}, counts{3, 1, 4, 15, 15, 1, 7, 6, 4}, "scripted"},
		// whether a command failed is written nowhere
		{"codex-0.144.1-codemode", ".codex", transcript.Codex{}, counts{1, 0, 1, 6, 7, 0, 4, 3, 8}, "gpt-5.6-sol"},
		{
			"codex-0.171.0-codemode", ".codex/sessions",
			transcript.Codex{},
			counts{19, 1, 23, 58, 52, 5, 26, 22, 72},
			"gpt-6.2-sol",
		},
		{
			"codex-0.171.0-subagent-v2", ".codex/sessions",
			transcript.Codex{},
			counts{4, 1, 4, 16, 16, 2, 6, 8, 19},
			"gpt-6-luna",
		},
	} {
		t.Run(c.folder, func(t *testing.T) {
			data, home := harness.Data(t, "agents-generated/"+c.folder), t.TempDir()
			if err := os.MkdirAll(filepath.Dir(filepath.Join(home, c.at)), 0o777); err != nil {
				t.Fatal(err)
			}
			linked(t, data, home, c.at)
			found, err := c.agent.Locate(context.Background(), transcript.Env{Home: home, Roots: roots})
			if err != nil || len(found.Unreadable) > 0 {
				t.Fatal(err, found.Unreadable)
			}
			var got counts
			var usage []session.Usage
			for _, f := range found.Files {
				doc := readWith(t, c.agent, transcript.Options{File: f, Roots: roots, Outputs: true})
				// a branch, or who called a subagent, stands in another file
				if name := c.agent.Name(); name != "cline" && name != "grok" {
					importsAlike(t, c.agent, f, readFile(t, c.agent, f, roots))
				}
				if doc.Skipped.Malformed+doc.Skipped.Oversized+doc.Skipped.Empty+len(doc.Skipped.Unknown) > 0 {
					t.Errorf("%s: skipped %+v", f.Path, doc.Skipped)
				}
				for _, s := range doc.Sessions {
					for _, u := range s.Usage {
						u.Request = s.NativeID + u.Request
						usage = append(usage, u)
					}
					w := says(s)
					got.Sessions, got.Prompts, got.Texts, got.Calls = got.Sessions+1, got.Prompts+len(w.Prompts),
						got.Texts+len(w.Texts), got.Calls+len(w.Calls)
					got.Edits, got.Outputs = got.Edits+len(s.Edits), got.Outputs+len(s.Outputs)
					for _, call := range w.Calls {
						if call.Failed {
							got.Failed++
						}
					}
					if s.ParentNative != "" {
						got.Subagents++
					}
					if s.NativeID != f.NativeID || s.Model != c.model && s.ParentNative == "" {
						t.Errorf("%s: the session is %q, the model %q", f.NativeID, s.NativeID, s.Model)
					}
				}
			}
			n, total := usageOf(usage)
			got.Requests = n
			harness.Equal(t, "counts", c.want, got)
			want := int64(n) * (1200 + 80) // what the scripted server says of each of its answers
			switch c.agent.Name() {
			case "droid":
				want = settingsTokens(t, data)
			case "grok": // one count is that of a prompt's requests
				want = 21 * (1200 + 80)
			}
			harness.Equal(t, "tokens", want, total.Input+total.Output)
		})
	}
}

// TestGeneratedBeside moves the sessions of real databases to another folder: those that edited a file here are found,
// with all their edits.
func TestGeneratedBeside(t *testing.T) {
	roots := []string{"/home/dev/project", "/home/dev/project-wt"}
	for _, c := range []struct {
		folder, name    string
		agent           transcript.Agent
		sessions, edits int // counted independently
	}{
		{"opencode-1.18.33", "opencode", transcript.OpenCode{}, 4, 10},
		{"kilo-7.7.9", "kilo", transcript.Kilo{}, 5, 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			raw, err := os.ReadFile(filepath.Join(harness.Data(t, "agents-generated/"+c.folder), c.name+".db"))
			if err != nil {
				t.Fatal(err)
			}
			home := t.TempDir()
			path := filepath.Join(home, ".local/share", c.name, c.name+".db")
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, raw, 0o666)); err != nil {
				t.Fatal(err)
			}
			db, err := sql.Open("sqlite3", path)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if _, err := db.Exec(`UPDATE session SET directory = '/home/dev/elsewhere'`); err != nil {
				t.Fatal(err)
			}
			found, err := c.agent.Locate(t.Context(), transcript.Env{Home: home, Roots: roots})
			if err != nil || len(found.Unreadable) > 0 {
				t.Fatal(err, found.Unreadable)
			}
			edits := 0
			for _, f := range found.Files {
				for _, s := range readFile(t, c.agent, f, roots).Sessions {
					for _, call := range s.ToolCalls {
						if call.Act != session.ActEdit || filepath.IsAbs(call.Path) {
							t.Errorf("%s: %+v", f.NativeID, call)
						}
						edits++
					}
				}
			}
			harness.Equal(t, "sessions and edits", [2]int{c.sessions, c.edits}, [2]int{len(found.Files), edits})
		})
	}
}

// settingsTokens adds up what Droid's sessions took, as the files beside them say it.
func settingsTokens(t *testing.T, data string) (sum int64) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(data, "sessions", "*", "*.settings.json"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		var s struct{ TokenUsage map[string]int64 }
		raw, err := os.ReadFile(f)
		if err := errors.Join(err, json.Unmarshal(raw, &s)); err != nil {
			t.Fatal(err)
		}
		sum += s.TokenUsage["inputTokens"] + s.TokenUsage["outputTokens"]
	}
	return sum
}

func claudeHome(_, data string) map[string]string {
	return map[string]string{"CLAUDE_CONFIG_DIR": data}
}

// linked makes the data stand in a home.
func linked(t *testing.T, data, home, name string) {
	t.Helper()
	if err := os.Symlink(data, filepath.Join(home, name)); err != nil {
		t.Fatal(err)
	}
}

// expected are the sessions that a folder of generated transcripts is to give, by their native IDs.
func expected(t *testing.T, folder string) map[string]wanted {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(folder, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var files map[string]wanted
	if err := json.Unmarshal(raw, &files); err != nil {
		t.Fatal(err)
	}
	out := map[string]wanted{}
	for _, w := range files {
		id := w.Session
		if w.Agent != "" {
			id, w.Parent = w.Agent, w.Session
		}
		w.Agent = ""
		w.Session = id
		out[id] = w
	}
	if len(out) == 0 {
		t.Fatal("nothing is expected")
	}
	return out
}
