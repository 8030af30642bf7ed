package tests

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/channel"

	"github.com/git-rekal/git-rekal/internal/lock"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// editor is a client of `git rekal lsp`, as a process.
type editor struct {
	*jrpc2.Client
	t     *testing.T
	cmd   *exec.Cmd
	shown chan string // URIs that the server asked to open
}

// newEditor starts a server in the root folder, for a client that shows documents.
func newEditor(t *testing.T, bin string, env []string) *editor {
	t.Helper()
	e := &editor{
		t: t, cmd: exec.CommandContext(t.Context(), filepath.Join(bin, "git-rekal"), "lsp"),
		shown: make(chan string, 8),
	}
	e.cmd.Dir, e.cmd.Env, e.cmd.Stderr = "/", env, os.Stderr
	in, err := e.cmd.StdinPipe()
	out, err2 := e.cmd.StdoutPipe()
	if err := errors.Join(err, err2, e.cmd.Start()); err != nil {
		t.Fatal(err)
	}
	e.Client = jrpc2.NewClient(channel.LSP(out, in),
		&jrpc2.ClientOptions{OnCallback: func(_ context.Context, r *jrpc2.Request) (any, error) {
			var p struct{ URI string }
			err := r.UnmarshalParams(&p)
			e.shown <- p.URI
			return map[string]bool{"success": true}, err
		}})
	var hello struct{ Capabilities map[string]any }
	e.call("initialize", &hello, `{"capabilities": {"textDocument": {"hover": {"contentFormat": ["markdown", "plaintext"]}}, "window": {"showDocument": {"support": true}}},
		"initializationOptions": {"inlayHints": true}}`)
	for _, can := range []string{
		"hoverProvider", "codeActionProvider", "inlayHintProvider", "textDocumentSync",
		"executeCommandProvider",
	} {
		if hello.Capabilities[can] == nil {
			t.Errorf("it can't do %s", can)
		}
	}
	e.tell("initialized", `{}`)
	return e
}

func (e *editor) call(method string, out any, params string, args ...any) {
	e.t.Helper()
	if err := e.CallResult(e.t.Context(), method, json.RawMessage(fmt.Sprintf(params, args...)), out); err != nil {
		e.t.Fatalf("%s: %v", method, err)
	}
}

func (e *editor) tell(method, params string, args ...any) {
	e.t.Helper()
	if err := e.Notify(e.t.Context(), method, json.RawMessage(fmt.Sprintf(params, args...))); err != nil {
		e.t.Fatalf("%s: %v", method, err)
	}
}

// hover is what stands over a line, from 0 on; "" for nothing.
func (e *editor) hover(path string, line int) string {
	e.t.Helper()
	var out *struct{ Contents struct{ Value string } }
	e.call("textDocument/hover", &out, `{"textDocument": {"uri": "file://%s"}, "position": {"line": %d, "character": 1}}`,
		path, line)
	if out == nil {
		return ""
	}
	return out.Contents.Value
}

// studio is a repository with a file that a session wrote, a line of which a person changed.
func studio(t *testing.T, bin string) (repo string, env []string) {
	t.Helper()
	p := harness.New(t)
	p.Init("repo")
	repo = p.At("repo")
	p.Env = append(p.Env, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	p.Write("repo/README.md", "by hand\n")
	p.Git("repo", "add", ".")
	p.Git("repo", "commit", "-qm", "first")
	p.Git("repo", "remote", "add", "origin", "https://github.com/acme/jwt")
	p.Git("repo", "rekal", "init")
	const text = "package jwt\n\n// Leeway of clocks.\nconst Leeway = 30\n"
	p.Talk("repo", "6f1c2d3e-0000-4000-8000-000000000001", "main", time.Now().Add(-5*time.Minute),
		harness.Said{Who: "human", Text: "Give tokens <b>30 s</b> of [leeway](http://x.example), please"},
		harness.Said{Who: "Write", Text: "jwt.go", New: text},
		harness.Said{Who: "assistant", Text: "Tokens have 30 s of leeway."})
	p.Write("repo/jwt.go", text)
	p.Git("repo", "add", ".")
	p.Git("repo", "commit", "-qm", "Leeway")
	return repo, p.Environ()
}

// TestLSPCancel: a question that waits ends when the editor cancels it, and the next one has its answer.
func TestLSPCancel(t *testing.T) {
	bin := harness.Binary(t)
	repo, env := studio(t, bin)
	if err := os.Remove(filepath.Join(repo, ".git/rekal", "recall.db")); err != nil {
		t.Fatal(err)
	}
	// While somebody else writes the index, and there is none that answers, a question waits.
	writer, err := lock.Acquire(t.Context(), filepath.Join(repo, ".git/rekal", "lock.writer"), lock.ToWrite, 0)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(bin, "git-rekal"), "lsp")
	cmd.Dir, cmd.Env, cmd.Stderr = "/", env, os.Stderr
	in, err := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	server := channel.LSP(out, in)
	send := func(format string, args ...any) {
		if err := server.Send(fmt.Appendf(nil, format, args...)); err != nil {
			t.Fatal(err)
		}
	}
	answer := func(id int) (a struct {
		Error  struct{ Code int }
		Result json.RawMessage
	},
	) {
		for {
			text, err := server.Recv()
			var of struct{ ID int }
			if err := errors.Join(err, json.Unmarshal(text, &of)); err != nil {
				t.Fatal(err)
			}
			if of.ID == id { // and no message for the log
				if err := json.Unmarshal(text, &a); err != nil {
					t.Fatal(err)
				}
				return a
			}
		}
	}
	hover := func(id int) {
		send(`{"jsonrpc": "2.0", "id": %d, "method": "textDocument/hover", "params": {"textDocument": {"uri": "file://%s/jwt.go"}, "position": {"line": 3, "character": 0}}}`, id, repo)
	}
	send(`{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}`)
	answer(1)
	hover(2)
	send(`{"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": 2}}`)
	if got := answer(2); got.Error.Code != -32800 {
		t.Errorf("the answer to what was cancelled: %+v", got)
	}
	if err := writer.Release(); err != nil {
		t.Fatal(err)
	}
	hover(3)
	if got := answer(3); !strings.Contains(string(got.Result), "wrote this line") {
		t.Errorf("the next answer: %s, error %d", got.Result, got.Error.Code)
	}
	send(`{"jsonrpc": "2.0", "id": 4, "method": "shutdown"}`)
	answer(4)
	send(`{"jsonrpc": "2.0", "method": "exit"}`)
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// TestLSP: an editor gets the session behind a line, also while the text is not saved, and never an error where there
// is nothing to say.
func TestLSP(t *testing.T) {
	bin := harness.Binary(t)
	repo, env := studio(t, bin)
	e := newEditor(t, bin, env)
	file := filepath.Join(repo, "jwt.go")
	uri := "file://" + file

	t.Run("hover", func(t *testing.T) {
		got := e.hover(file, 3)
		for _, want := range []string{
			"Give tokens", "A U Thor · claude-code (claude-opus-4-6)",
			"Known because the session wrote this line", "git rekal show 01", "](https://github.com/acme/jwt/commit/",
		} {
			if !strings.Contains(got, want) {
				t.Errorf("over line 4 stands\n%s\nwithout %q", got, want)
			}
		}
		for _, markup := range []string{"<b>", "[leeway]", "http://x"} {
			if strings.Contains(got, markup) {
				t.Errorf("the text of a session is markup: %q in\n%s", markup, got)
			}
		}
		if got := e.hover(filepath.Join(repo, "README.md"), 0); !strings.HasPrefix(got,
			"No session is known behind this line") {
			t.Errorf("over a person's line stands %q", got)
		}
	})
	t.Run("a bare repository among the files", func(t *testing.T) {
		kit := filepath.Join(repo, "vendor", "kit")
		for _, args := range [][]string{
			{"clone", "-q", "--bare", repo, kit},
			{"-C", kit, "config", "core.bare", "false"},
			{"-C", kit, "config", "core.worktree", "."},
			{"-C", kit, "read-tree", "HEAD"},
			{"-C", kit, "checkout-index", "-a"},
			{"-C", kit, "rekal", "init"},
		} {
			cmd := exec.CommandContext(t.Context(), "git", args...)
			cmd.Env, cmd.Stderr = env, os.Stderr
			if err := cmd.Run(); err != nil && args[len(args)-1] != "init" {
				t.Fatal(err)
			}
		}
		if got := e.hover(filepath.Join(kit, "jwt.go"), 3); got != "" {
			t.Errorf("a repository that a clone may have brought answers: %q", got)
		}
		if err := os.RemoveAll(kit); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("unsaved", func(t *testing.T) {
		text, err := json.Marshal("package jwt\n\n// Leeway of clocks.\nconst Leeway = 30\n")
		if err != nil {
			t.Fatal(err)
		}
		e.tell("textDocument/didOpen", `{"textDocument": {"uri": %q, "languageId": "go", "version": 1, "text": %s}}`, uri,
			text)
		e.tell("textDocument/didChange", `{"textDocument": {"uri": %q, "version": 2}, "contentChanges": [
			{"range": {"start": {"line": 0, "character": 11}, "end": {"line": 0, "character": 11}}, "text": "\n// 😀 x"},
			{"range": {"start": {"line": 1, "character": 6}, "end": {"line": 1, "character": 7}}, "text": "y"}]}`, uri) // 😀 is two units
		if got := e.hover(file, 4); !strings.Contains(got, "wrote this line") {
			t.Errorf("a line that moved down: %q", got)
		}
		if got := e.hover(file, 1); got != "Not committed yet." {
			t.Errorf("a line that was typed: %q", got)
		}
		var hints []struct {
			Label    string
			Position struct{ Line, Character int }
		}
		e.call("textDocument/inlayHint", &hints,
			`{"textDocument": {"uri": %q}, "range": {"start": {"line": 0, "character": 0}, "end": {"line": 400, "character": 0}}}`, uri)
		if len(hints) != 2 || hints[0].Position.Line != 0 || hints[0].Position.Character != 11 ||
			hints[1].Position.Line != 2 || !strings.Contains(hints[0].Label, "A U Thor, claude-code") {
			t.Errorf("hints: %+v", hints)
		}
	})
	t.Run("actions", func(t *testing.T) {
		var actions []struct {
			Title, Kind string
			Command     struct {
				Command   string
				Arguments []string
			}
		}
		e.call("textDocument/codeAction", &actions,
			`{"textDocument": {"uri": %q}, "range": {"start": {"line": 4, "character": 6}, "end": {"line": 4, "character": 12}}, "context": {"diagnostics": []}}`, uri)
		if len(actions) != 3 || actions[2].Command.Command != "git-rekal.why" || actions[0].Kind != "git-rekal.show" ||
			actions[2].Kind != "git-rekal.ask" {
			t.Fatalf("actions: %+v", actions)
		}
		for i, want := range []string{"Tokens have 30 s of leeway.", "    Leeway\n", "Asked: Give tokens"} {
			args, err := json.Marshal(actions[i].Command.Arguments)
			if err != nil {
				t.Fatal(err)
			}
			var made string
			e.call("workspace/executeCommand", &made, `{"command": %q, "arguments": %s}`, actions[i].Command.Command, args)
			if opened := <-e.shown; opened != made {
				t.Errorf("it made %s and opened %s", made, opened)
			}
			shown, err := os.ReadFile(strings.TrimPrefix(made, "file://"))
			if err != nil || !strings.Contains(string(shown), want) {
				t.Errorf("%s shows\n%s\nwithout %q (%v)", actions[i].Title, shown, want, err)
			}
		}
		offered := func(file string, line int, only string) (out []string) {
			e.call("textDocument/codeAction", &actions, `{"textDocument": {"uri": "file://%s"}, "range": {"start": {"line": %d, "character": 0}, "end": {"line": %[2]d, "character": 7}}, "context": {"diagnostics": [], "only": %s}}`, file, line, only)
			for _, a := range actions {
				out = append(out, a.Command.Command)
			}
			return out
		}
		for only, want := range map[string]int{`["source"]`: 0, `["git-rekal.ask"]`: 1, `["git-rekal"]`: 3, `["quickfix", "git-rekal.show"]`: 2} {
			harness.Equal(t, only, want, len(offered(file, 4, only)))
		}
		readme := filepath.Join(repo, "README.md")
		e.tell("textDocument/didOpen", `{"textDocument": {"uri": "file://%s", "languageId": "markdown", "version": 1, "text": "by hand\n"}}`, readme)
		harness.Equal(t, "of a person's line", []string{"git-rekal.showCommit", "git-rekal.ask"}, offered(readme, 0, "[]"))
		err := e.CallResult(t.Context(), "workspace/executeCommand",
			json.RawMessage(fmt.Sprintf(`{"command": "git-rekal.showSession", "arguments": [%q, "01ZZZZ"]}`, uri)), nil)
		if err == nil || !strings.Contains(err.Error(), "01ZZZZ") {
			t.Errorf("an unknown session: %v", err)
		}
	})
	t.Run("a large file", func(t *testing.T) {
		large := filepath.Join(repo, "large.txt")
		if err := os.WriteFile(large, bytes.Repeat([]byte("0123456789\n"), 100_000), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"add", "large.txt"}, {"commit", "-qm", "Large"}} {
			cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", repo}, args...)...)
			cmd.Env, cmd.Stderr = slices.Concat(env, []string{"REKAL_SKIP=1"}), os.Stderr
			if err := cmd.Run(); err != nil {
				t.Fatal(err)
			}
		}
		if got := e.hover(large, 5); !strings.Contains(got, "lines of files above 1 MiB are not compared") {
			t.Errorf("over a line of a large file stands %q", got)
		}
	})
	t.Run("nothing to say", func(t *testing.T) {
		outside := t.TempDir()
		for name, text := range map[string]string{
			filepath.Join(repo, "binary"):  "a\x00b\n",
			filepath.Join(outside, "file"): "a\n", filepath.Join(repo, "new.go"): "package jwt\n",
		} {
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for _, path := range []string{
			filepath.Join(repo, "binary"), filepath.Join(outside, "file"),
			filepath.Join(repo, "gone.go"), repo,
		} {
			if got := e.hover(path, 0); got != "" {
				t.Errorf("over %s stands %q", path, got)
			}
		}
		if got := e.hover(filepath.Join(repo, "new.go"), 0); got != "Not committed yet." {
			t.Errorf("over a new file stands %q", got)
		}
		if got := e.hover(file, 4000); got != "" {
			t.Errorf("behind the end stands %q", got)
		}
		if _, err := e.Call(t.Context(), "textDocument/definition", nil); err == nil {
			t.Error("it says that it knows definitions")
		}
	})
	t.Run("end", func(t *testing.T) {
		e.call("shutdown", new(any), `{}`)
		e.tell("exit", `{}`)
		if err := e.cmd.Wait(); err != nil {
			t.Errorf("behind shutdown and exit: %v", err)
		}
		rude := newEditor(t, bin, env)
		if err := rude.Close(); err != nil {
			t.Fatal(err)
		}
		if err := rude.cmd.Wait(); rude.cmd.ProcessState.ExitCode() != 1 {
			t.Errorf("without shutdown: %v", err)
		}
		if left, err := filepath.Glob(filepath.Join(os.TempDir(), "git-rekal-lsp-*")); err != nil || len(left) > 0 {
			t.Logf("folders of other servers, or left over: %v", left)
		}
	})
}
