package brief_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/brief"
	"github.com/git-rekal/git-rekal/internal/lock"
	"github.com/git-rekal/git-rekal/internal/tokens"
	"github.com/git-rekal/git-rekal/internal/workspace"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// project is a repository in which a session of Claude Code wrote a file and committed it.
type project struct {
	*harness.Place
	bin string
}

const native = "5b1f1c7e-0000-4000-8000-000000000001"

func newProject(t *testing.T) project {
	t.Helper()
	p := project{Place: harness.New(t), bin: harness.Binary(t)}
	p.Env = append(p.Env, "PATH="+p.bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	p.Init("project")
	p.Git("project", "rekal", "init")
	p.transcript(native, "src/jwt.go", "package src\n\n// leeway is how far clocks may differ.\nconst leeway = 30\n",
		"Let ParseExpiry in src/jwt.go take a leeway of 30 s, for clocks differ")
	p.Commit("project", "Allow 30 s of leeway", "src/jwt.go",
		"package src\n\n// leeway is how far clocks may differ.\nconst leeway = 30\n")
	p.Git("project", "rekal", "checkpoint")
	return p
}

// transcript is one of Claude Code in which a file was written, and returns its path.
func (p project) transcript(id, file, text, prompt string) string {
	return p.Talk("project", id, "main", time.Now().Add(-5*time.Minute), harness.Said{Who: "human", Text: prompt},
		harness.Said{Who: "Write", Text: file, New: text},
		harness.Said{Who: "assistant", Text: "Done: the leeway is there."})
}

// answer is what a hook of Claude Code answers that has time.
func (p project) answer(event map[string]string, input ...any) string {
	p.T.Helper()
	var got struct {
		Specific map[string]string `json:"hookSpecificOutput"`
	}
	out := p.answerTo("claude-code", event, input...)
	if len(out) == 0 {
		return ""
	}
	if err := json.Unmarshal(out, &got); err != nil || got.Specific["hookEventName"] != event["hook_event_name"] ||
		len(got.Specific) != 2 {
		p.T.Fatalf("%s: %v", out, err)
	}
	return got.Specific["additionalContext"]
}

// answerTo is what an agent's hook answers, as it stands on stdout.
func (p project) answerTo(agent string, event map[string]string, input ...any) []byte {
	p.T.Helper()
	all := map[string]any{"cwd": p.At("project"), "session_id": "running"}
	for k, v := range event {
		all[k] = v
	}
	if len(input) > 0 {
		all["tool_input"] = input[0]
	}
	raw, err := json.Marshal(all)
	if err != nil {
		p.T.Fatal(err)
	}
	e, ok := brief.Read(raw)
	if !ok {
		return nil
	}
	w, err := workspace.Open(p.T.Context(), workspace.Process{
		Dir: p.At("project"), Env: p.Environ(), Home: p.Home(), Now: time.Now, Rand: rand.Reader,
		Warn: func(err error) { p.T.Error(err) },
	})
	if err != nil {
		p.T.Fatal(err)
	}
	defer w.Close()
	out, err := brief.ForHook(context.Background(), w, agent, e)
	if err != nil {
		p.T.Fatal(err)
	}
	return out
}

// TestAnswer holds what hooks tell, and what they don't.
func TestAnswer(t *testing.T) {
	p := newProject(t)
	edit := map[string]string{"file_path": p.At("project/src/jwt.go"), "old_string": "const leeway = 30"}
	start := p.answer(map[string]string{"hook_event_name": "SessionStart", "source": "startup"})
	const title = "Let ParseExpiry in src/jwt.go take a leeway of 30 s, for clocks differ"
	seen := p.At("seen.jsonl")
	p.Write("seen.jsonl", start)
	p.Write("hooked.jsonl", `{"type":"user","content":[{"text":"<hook_context>`+strings.ReplaceAll(start, "\n",
		`\n`)+`</hook_context>"}]}`+"\n")
	p.Write("compacted.jsonl", start+"\n{\"type\":\"system\",\"subtype\":\"compact_boundary\"}\n")
	p.Write("project/src/new.go", "package src\n")
	changing := p.transcript("running", "src/jwt.go", "package src\n", "Change the leeway")
	for _, tt := range []struct {
		name  string
		event map[string]string
		input any
		want  string // a part; "" for nothing at all
	}{
		{
			"start",
			map[string]string{"hook_event_name": "SessionStart", "source": "startup"},
			nil,
			"last on main: " + title + " [src/jwt.go]",
		},
		{"resumed, and told before", map[string]string{
			"hook_event_name": "SessionStart", "source": "resume",
			"transcript_path": seen,
		}, nil, ""},
		{"resumed in Gemini CLI, which forgets it", map[string]string{
			"hook_event_name": "SessionStart", "source": "resume",
			"transcript_path": p.At("hooked.jsonl"),
		}, nil, "last on main: "},
		{
			"compacted",
			map[string]string{"hook_event_name": "SessionStart", "source": "compact", "transcript_path": seen},
			nil,
			"last on main: ",
		},
		{
			"cleared",
			map[string]string{"hook_event_name": "SessionStart", "source": "clear", "transcript_path": seen},
			nil,
			"last on main: ",
		},
		{"the session itself", map[string]string{"hook_event_name": "SessionStart", "session_id": native}, nil, ""},
		{"a prompt that names it", map[string]string{
			"hook_event_name": "UserPromptSubmit",
			"prompt":          "Why does ParseExpiry in src/jwt.go have a leeway?",
		}, nil, "about what you ask: " + title},
		{"of which it was told", map[string]string{
			"hook_event_name": "UserPromptSubmit",
			"prompt":          "Why does ParseExpiry in src/jwt.go have a leeway?", "transcript_path": seen,
		}, nil, ""},
		{
			"of which it was told before a compaction",
			map[string]string{
				"hook_event_name": "UserPromptSubmit",
				"prompt":          "Why does ParseExpiry in src/jwt.go have a leeway?", "transcript_path": p.At("compacted.jsonl"),
			},
			nil,
			"about what",
		},
		{
			"of which it was told with the same prompt",
			map[string]string{
				"hook_event_name": "BeforeAgent",
				"prompt":          "<hook_context>" + start + "</hook_context>\n\nWhy does ParseExpiry in src/jwt.go have a leeway?",
			},
			nil,
			"",
		},
		{
			"a prompt that names nothing, behind what names it",
			map[string]string{
				"hook_event_name": "BeforeAgent",
				"prompt":          "<hook_context>ParseExpiry in src/jwt.go leeway</hook_context>\n\nThanks",
			},
			nil, "",
		},
		{"a prompt that names nothing", map[string]string{
			"hook_event_name": "UserPromptSubmit",
			"prompt":          "Thanks, go on with the next point",
		}, nil, ""},
		{"a command of the agent", map[string]string{
			"hook_event_name": "UserPromptSubmit",
			"prompt":          "/review ParseExpiry in src/jwt.go leeway",
		}, nil, ""},
		{"the same files", map[string]string{
			"hook_event_name": "UserPromptSubmit", "prompt": "Go on",
			"transcript_path": changing,
		}, nil, "also changed src/jwt.go: " + title},
		{
			"before an edit",
			map[string]string{"hook_event_name": "PreToolUse", "tool_name": "Edit"},
			edit,
			"wrote src/jwt.go:4,4: " + title,
		},
		{
			"before an edit, and told before",
			map[string]string{"hook_event_name": "PreToolUse", "transcript_path": seen},
			edit,
			"",
		},
		{
			"before an edit of what is not committed",
			map[string]string{"hook_event_name": "PreToolUse"},
			map[string]string{"file_path": p.At("project/src/new.go"), "old_string": "package src"},
			"",
		},
		{
			"before an edit of what is nowhere",
			map[string]string{"hook_event_name": "PreToolUse"},
			map[string]string{"file_path": p.At("project/src/jwt.go"), "old_string": "no such"},
			"",
		},
		{"another tool", map[string]string{"hook_event_name": "PreToolUse"}, map[string]string{"command": "ls"}, ""},
		{"another event", map[string]string{"hook_event_name": "Stop"}, nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := p.answer(tt.event, tt.input)
			if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
				t.Errorf("told %q, want %q", got, tt.want)
			}
			if n := tokens.Count(got); n > brief.StartBudget ||
				tt.event["hook_event_name"] != "SessionStart" && n > brief.PromptBudget {
				t.Errorf("%d tokens", n)
			}
		})
	}
	t.Run("Copilot CLI, whose hooks name no transcript", func(t *testing.T) { p.copilot(title) })
	t.Run("a memory of the file, before an edit", func(t *testing.T) {
		p.Git("project", "rekal", "save", "--title", "Leeway", "src/jwt.go keeps 30 s of leeway.")
		if got := p.answer(map[string]string{"hook_event_name": "PreToolUse"}, edit); !strings.Contains(got,
			"note on src/jwt.go: Leeway: src/jwt.go keeps") || strings.Contains(got, "wrote") {
			t.Error(got)
		}
	})
	t.Run("what is gone since", func(t *testing.T) {
		p.Git("project", "rm", "-q", "src/jwt.go")
		for _, at := range []string{"", changing} {
			e := map[string]string{
				"hook_event_name": "UserPromptSubmit",
				"prompt":          "Why does ParseExpiry have a leeway in src/jwt.go?", "transcript_path": at,
			}
			if got := p.answer(e); strings.Contains(got, title) {
				t.Error(got)
			}
		}
	})
	t.Run("what is purged", func(t *testing.T) {
		p.Git("project", "rekal", "purge", p.Git("project", "rekal", "query", "SELECT id FROM sessions LIMIT 1")[7:33])
		if got := p.answer(map[string]string{"hook_event_name": "SessionStart"}); strings.Contains(got, title) {
			t.Error(got)
		}
	})
}

// copilot: a session is told what does not stand in its context. That has what a start told until it is resumed or
// compacted, and what a prompt told until it is compacted.
func (p project) copilot(title string) {
	const events = "home/.copilot/session-state/running/events.jsonl"
	tell := func(moment, source string) string {
		return string(p.answerTo("copilot-cli", map[string]string{
			"hook_event_name": moment, "source": source,
			"prompt": title,
		}))
	}
	told := tell("SessionStart", "new")
	if !strings.HasPrefix(told, `{"additionalContext":"`) || !strings.Contains(told, "last on main: "+title) {
		p.T.Errorf("told %q", told)
	}
	atStart := `{"type":"hook.end","data":{"hookType":"sessionStart","success":true,"output":` + told + "}}\n"
	atPrompt := `{"type":"user.message","data":{"content":"Go on","transformedContent":` +
		told[len(`{"additionalContext":`):] + "}\n"
	for _, tt := range []struct {
		events, moment, source string
		again                  bool
	}{
		{atStart, "UserPromptSubmit", "", false},
		{atStart, "SessionStart", "resume", true},
		{atPrompt, "SessionStart", "resume", false},
		{atPrompt + `{"type":"session.compaction_complete","data":{}}` + "\n", "SessionStart", "resume", true},
	} {
		p.Write(events, tt.events)
		if again := tell(tt.moment, tt.source); (again != "") != tt.again {
			p.T.Errorf("%s %s of %s: %q", tt.moment, tt.source, tt.events, again)
		}
	}
	if other := p.answerTo("copilot-cli", map[string]string{
		"hook_event_name": "SessionStart",
		"session_id":      "../running",
	}); len(other) == 0 {
		p.T.Error("an ID that is no name of a file is told nothing")
	}
}

// hook calls the real program as an agent does, and says how long that took.
func (p project) hook(stdin string) (out string, took time.Duration) {
	cmd := exec.Command(filepath.Join(p.bin, "git-rekal"), "brief", "--hook", "claude-code")
	cmd.Dir, cmd.Env = p.At("project"), p.Environ()
	var both bytes.Buffer
	cmd.Stdout, cmd.Stderr = &both, &both
	in, err := cmd.StdinPipe()
	if err != nil {
		p.T.Error(err)
		return "", 0
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		p.T.Error(err)
		return "", 0
	}
	_, _ = in.Write([]byte(stdin))
	if stdin != "" {
		_ = in.Close()
	}
	if err := cmd.Wait(); err != nil {
		p.T.Errorf("the hook failed: %v: %s", err, &both)
	}
	return both.String(), time.Since(began)
}

// patience is a backstop: a hook ends itself after 120 ms, and a busy machine may take long to start and to end one.
const patience = 5 * time.Second

// startIn is a session's start in a folder.
func startIn(dir string) string {
	return fmt.Sprintf(`{"hook_event_name":"SessionStart","source":"startup","session_id":"x","cwd":%q}`, dir)
}

// bounded calls a hook, which ends in time and says its answer or nothing.
func (p project) bounded(stdin string) string {
	p.T.Helper()
	out, took := p.hook(stdin)
	if took > patience || out != "" && !strings.HasPrefix(out,
		`{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"`) {
		p.T.Errorf("%s: %q", took, out)
	}
	return out
}

func (p project) dropIndex() {
	for _, name := range []string{"recall.db", "recall.db-wal", "recall.db-shm"} {
		_ = os.Remove(p.At("project/.git/rekal/" + name))
	}
}

// TestHookNeverWaits: whatever is under way, a hook ends by itself, fails nothing, and says its answer or nothing.
func TestHookNeverWaits(t *testing.T) {
	p := newProject(t)
	event := startIn(p.At("project"))
	check := func(stdin string) {
		t.Helper()
		if out := p.bounded(stdin); stdin == "" && out != "" {
			t.Errorf("it answered nothing with %q", out)
		}
	}
	t.Run("three at once", func(t *testing.T) {
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() { check(event) })
		}
		all.Wait()
	})
	t.Run("nothing comes on stdin", func(*testing.T) { check("") })
	t.Run("the index is behind and somebody writes it", func(t *testing.T) {
		p.Git("project", "rekal", "save", "Another memory.")
		held, err := lock.Acquire(t.Context(), p.At("project/.git/rekal/lock.writer"), lock.ToWrite, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		check(event)
		if err := held.Release(); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("the folder can't be written", func(t *testing.T) {
		dir := p.At("project/.git/rekal")
		if err := os.Chmod(dir, 0o500); err != nil {
			t.Fatal(err)
		}
		check(event)
		if err := os.Chmod(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("there is no index", func(t *testing.T) {
		p.dropIndex()
		check(event)
		if _, err := os.Stat(p.At("project/.git/rekal/recall.db")); err == nil {
			t.Error("it made one")
		}
	})
	t.Run("nothing is set up", func(t *testing.T) {
		p.Git("project", "rekal", "clean", "--ledger")
		before := p.Git("project", "status", "--porcelain", "--ignored")
		out, _ := p.hook(event)
		if after := p.Git("project", "status", "--porcelain", "--ignored"); out != "" || after != before {
			t.Errorf("%q, %s", out, after)
		}
	})
}
