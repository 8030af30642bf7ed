package transcript_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/transcript"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// TestPiFolders: sessions lie where a variable, or the settings of the user or of the project, say; what lies below
// such a folder is not looked at.
func TestPiFolders(t *testing.T) {
	for _, c := range []struct {
		name, variable, user, project, folder string // %s is the home
	}{
		{name: "the usual folder", folder: "home/.pi/agent/sessions/--work-shop--"},
		{name: "a variable", variable: "%s/kept", folder: "kept"},
		{name: "the user's settings", user: `{"sessionDir":"%s/kept"}`, folder: "kept"},
		{name: "the project's settings", project: `{"sessionDir":"%s/kept"}`, folder: "kept"},
		{name: "below the home", user: `{"sessionDir":"~/kept"}`, folder: "home/kept"},
		{name: "below the project", project: `{"sessionDir":".pi/kept"}`, folder: "repo/.pi/kept"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			home, repo := filepath.Join(dir, "home"), filepath.Join(dir, "repo")
			write := func(path, text string) {
				t.Helper()
				if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "%s", dir)), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			write(filepath.Join(home, ".pi/agent/settings.json"), c.user)
			write(filepath.Join(repo, ".pi/settings.json"), c.project)
			header := fmt.Sprintf(`{"type":"session","version":3,"id":"01a2","cwd":%q}`+"\n", repo)
			write(filepath.Join(dir, c.folder, "2026-11-28T10-00-00-000Z_01a2.jsonl"), header)
			write(filepath.Join(dir, "kept/a/b/2026-11-28T10-00-00-000Z_01a3.jsonl"), header)
			getenv := func(name string) string {
				if name == "PI_CODING_AGENT_SESSION_DIR" {
					return strings.ReplaceAll(c.variable, "%s", dir)
				}
				return ""
			}
			found, err := transcript.Pi{}.Locate(t.Context(), transcript.Env{Home: home, Getenv: getenv, Roots: []string{repo}})
			if err != nil || len(found.Unreadable) > 0 || len(found.Files) != 1 || found.Files[0].NativeID != "01a2" {
				t.Errorf("found %v, %v", found, err)
			}
		})
	}
}

// TestPiScripts: what a script called stands in its result; one that called nothing is a call.
func TestPiScripts(t *testing.T) {
	message := func(body string) string {
		return `{"type":"message","id":"m","timestamp":"2026-11-20T09:00:01.000Z","message":` + body + `}`
	}
	call := message(`{"role":"assistant","model":"m","content":[{"type":"toolCall","id":"c1","name":"codemode","arguments":{"code":"await tools.bash({command: 'go test'})"}}]}`)
	for _, c := range []struct{ name, more, want string }{
		{"calls", `"nestedCalls":{"calls":[{"id":"c1/1","name":"write","status":"ok","arguments":{"path":"/work/shop/a.go","content":"x"}},{"id":"c1/2","name":"bash","status":"error","arguments":{"command":"go test"},"error":"FAIL"}]},`, "write a.go  false|bash  go test true"},
		{"none", "", "codemode   false"},
		{"none, and it failed", `"isError":true,`, "codemode   true"},
	} {
		t.Run(c.name, func(t *testing.T) {
			lines := []string{
				`{"type":"session","version":3,"id":"01a2","timestamp":"2026-11-20T09:00:00.000Z","cwd":"/work/shop"}`,
				message(`{"role":"system","content":"You are"}`), message(`{"role":"user","content":"go"}`), call,
				message(`{"role":"toolResult","toolCallId":"c1","toolName":"codemode",` + c.more +
					`"content":[{"type":"text","text":"done"}]}`),
				`{"type":"context_edit","id":"x","timestamp":"2026-11-20T09:00:02.000Z"}`,
			}
			opt := transcript.Options{File: transcript.File{NativeID: "01a2"}, Roots: []string{root}}
			doc := read(t, transcript.Pi{}, []byte(strings.Join(lines, "\n")+"\n"), opt)
			var got []string
			for _, u := range doc.Sessions[0].ToolCalls {
				got = append(got, fmt.Sprintf("%s %s %s %v", u.Tool, u.Path, u.Cmd, u.Failed))
			}
			harness.Equal(t, "calls", c.want, strings.Join(got, "|"))
			harness.Equal(t, "unknown", 0, len(doc.Skipped.Unknown))
			whole := strings.Join(lines[:4], "\n") + "\n"
			if cut := read(t, transcript.Pi{}, []byte(whole), opt); cut.Bytes != int64(len(whole)-len(call)-1) {
				t.Errorf("a read without the result is done with %d of %d bytes", cut.Bytes, len(whole))
			}
		})
	}
}
