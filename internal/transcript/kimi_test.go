package transcript_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/transcript"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// TestKimiBefore reads a session of Kimi Code's protocol 1.4: only its state says where it works, and it copies the
// first prompt into the title.
func TestKimiBefore(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, ".kimi-code/sessions/wd_shop_1/session_1")
	files := map[string]string{
		"state.json": `{"title":"hi","isCustomTitle":false,"agents":{"main":{"type":"main"},"agent-0":{"type":"sub"}},"workDir":"` + root + `"}`,
		"agents/main/wire.jsonl": `{"type":"metadata","protocol_version":"1.4","created_at":1785612803281}
{"type":"config.update","modelAlias":"kimi-k2","thinkingEffort":"on","time":1785612803282}
{"type":"turn.prompt","input":[{"type":"text","text":"hi"}],"origin":{"kind":"user"},"time":1785612812810}
{"type":"context.append_message","message":{"role":"user","content":[{"type":"text","text":"hi"}],"origin":{"kind":"user"}},"time":1785612812820}
{"type":"turn.steer","input":[{"type":"text","text":"count the files"}],"origin":{"kind":"user"},"time":1785612813000}
{"type":"context.append_message","message":{"role":"user","content":[{"type":"text","text":"count the files"}],"origin":{"kind":"user"}},"time":1785612814000}
{"type":"context.append_loop_event","event":{"type":"tool.call","toolCallId":"Bash_0","name":"Bash","args":{"command":"ls nowhere"}},"time":1785612815000}
{"type":"context.append_loop_event","event":{"type":"tool.result","toolCallId":"Bash_0","result":{"output":"ls: no\nCommand failed with exit code: 1.","isError":true}},"time":1785612816000}
{"type":"full_compaction.begin","source":"manual","time":1785612817000}
`,
		"agents/agent-0/wire.jsonl": `{"type":"config.update","cwd":"` + root + `","modelAlias":"kimi-k2","time":1785612815100}
{"type":"context.append_message","message":{"role":"user","content":[{"type":"text","text":"<git-context>\nRemote: x\n</git-context>\ncount them"}],` +
			`"origin":{"kind":"system_trigger","name":"subagent"}},"time":1785612815200}
`,
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	found, err := transcript.Kimi{}.Locate(t.Context(), transcript.Env{Home: home, Roots: []string{root}})
	if err != nil || len(found.Files) != 2 {
		t.Fatal(err, found)
	}
	got := map[string]string{}
	for _, f := range found.Files {
		doc := readFile(t, transcript.Kimi{}, f, []string{root})
		if len(doc.Skipped.Unknown) > 0 {
			t.Error(f.NativeID, doc.Skipped)
		}
		for _, s := range doc.Sessions {
			got[s.NativeID] = s.Title + "\n" + strings.Join(told(doc), "\n")
		}
	}
	harness.Equal(t, "sessions", map[string]string{
		"session_1":         "count the files\nhuman: hi\nhuman: count the files\ntool: Bash  ls nowhere failed",
		"session_1.agent-0": "count them\nhuman: count them",
	}, got)
}
