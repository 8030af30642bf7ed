package transcript_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/transcript"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// TestSurvey: what changed in an agent's form shows, by version; what is read well shows nothing.
func TestSurvey(t *testing.T) {
	head := func(version string) string {
		return codexRecord(0, "session_meta", strings.Replace(codexMeta, "0.140.0", version, 1)+"}") + "\n" +
			codexEvent(1, `{"type":"user_message","message":"go"}`)
	}
	repeat := func(line string) string { return strings.Repeat("\n"+line, 20) }
	call := codexItem(2, `{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"ls\"}","call_id":"c"}`)
	result := codexItem(2, `{"type":"function_call_output","call_id":"c","output":"Process exited with code 0"}`)
	for _, c := range []struct{ name, version, lines, want string }{
		{"as it is read", "0.171.0", repeat(call + "\n" + result), ""},
		{
			"calls that say nothing", "0.180.0", repeat(codexItem(2,
				`{"type":"function_call","name":"do","arguments":"{}","call_id":"c"}`) + "\n" + result),
			"20 of 20 calls without a command or path",
		},
		{"results that are gone", "0.180.0", repeat(call), "20 of 20 calls without a result"},
		{
			"events that nobody knows", "0.180.0", repeat(codexEvent(2, `{"type":"dreamt"}`)),
			"20 of 22 records of an unknown kind",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := transcript.File{Path: filepath.Join(t.TempDir(), "a.jsonl"), NativeID: "019ed836-b1da-78f1-8a0c-e598363d10f4"}
			if err := os.WriteFile(f.Path, []byte(head(c.version)+c.lines+"\n"), 0o666); err != nil {
				t.Fatal(err)
			}
			seen, err := transcript.Survey(t.Context(), transcript.Codex{}, []transcript.File{f}, []string{root})
			if err != nil || len(seen) != 1 || seen[0].Version != c.version {
				t.Fatalf("seen %+v, %v", seen, err)
			}
			harness.Equal(t, "drift", c.want, seen[0].Drift())
		})
	}
	t.Run("nothing comes in", func(t *testing.T) {
		f := transcript.File{Path: filepath.Join(t.TempDir(), "a.jsonl"), NativeID: "s", Cwd: root, ModTime: time.Now()}
		if err := os.WriteFile(f.Path, []byte(strings.Repeat(`{"kind":"said","text":"go"}`+"\n", 9)), 0o666); err != nil {
			t.Fatal(err)
		}
		for n, want := range []string{"", "1 of 1 transcripts gave nothing that was said"} {
			if err := os.WriteFile(f.Path, []byte(strings.Repeat(`{"role":"user"}`+"\n", 6+n*8)), 0o666); err != nil {
				t.Fatal(err)
			}
			seen, err := transcript.Survey(t.Context(), transcript.Cursor{}, []transcript.File{f}, []string{root})
			if err != nil || len(seen) != 1 || seen[0].Drift() != want {
				t.Errorf("seen %+v, %v, want %q", seen, err, want)
			}
		}
	})
}

// TestSurveyGenerated: of what today's programs write nothing shows a change.
func TestSurveyGenerated(t *testing.T) {
	for _, c := range []struct {
		folder, at string
		agent      transcript.Agent
	}{
		{"claude-code-2.1.332", ".claude", transcript.ClaudeCode{}},
		{"codex-0.171.0-codemode", ".codex/sessions", transcript.Codex{}},
		{"copilot-1.0.102", ".copilot", transcript.Copilot{}},
		{"gemini-cli-0.61.0", ".gemini", transcript.Gemini{}},
		{"opencode-1.18.33", ".local/share/opencode", transcript.OpenCode{}},
		{"kilo-7.7.9", ".local/share/kilo", transcript.Kilo{}},
		{"pi-1.6.0/classic", ".pi/agent", transcript.Pi{}},
		{"qwen-code-0.24.4", ".qwen", transcript.Qwen{}},
		{"droid-0.225.2", ".factory", transcript.Droid{}},
		{"cline-3.0.65", ".cline/data", transcript.Cline{}},
		{"kimi-code-2.1.0", ".kimi-code", transcript.Kimi{}},
		{"grok-1.0.41", ".grok", transcript.Grok{}},
	} {
		t.Run(c.folder, func(t *testing.T) {
			data, home := harness.Data(t, "agents-generated/"+c.folder), t.TempDir()
			if err := os.MkdirAll(filepath.Dir(filepath.Join(home, c.at)), 0o777); err != nil {
				t.Fatal(err)
			}
			linked(t, data, home, c.at)
			roots := []string{"/home/dev/project", "/home/dev/project-wt"}
			found, err := c.agent.Locate(t.Context(), transcript.Env{Home: home, Roots: roots})
			if err != nil || len(found.Files) == 0 {
				t.Fatal(found, err)
			}
			seen, err := transcript.Survey(t.Context(), c.agent, found.Files, roots)
			if err != nil || len(seen) == 0 {
				t.Fatal(seen, err)
			}
			for _, s := range seen {
				if drift := s.Drift(); drift != "" || s.Unknown > 0 {
					t.Error(fmt.Sprintf("%+v", s), drift)
				}
			}
		})
	}
}

func TestCompareVersions(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"2.1.39", "2.1.118", -1},
		{"0.171.0", "0.171.0", 0},
		{"1.0", "0.999.9", 1},
		{"v1.2.3-beta", "1.2.3", 0},
		{"", "1", -1},
		{"99999999999", "1", 1},
	} {
		if got := transcript.CompareVersions(c.a, c.b); got != c.want {
			t.Errorf("%q and %q: %d", c.a, c.b, got)
		}
	}
}
