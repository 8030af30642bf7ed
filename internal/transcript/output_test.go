package transcript_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/transcript"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// TestOutputs holds what is taken of a result: the output without what the agent puts around it, and the status where that says one.
func TestOutputs(t *testing.T) {
	claude := func(result string) string {
		return `{"type":"user","uuid":"a","sessionId":"s","cwd":"/w","timestamp":"2026-11-20T09:00:00Z","message":{"role":"user","content":"go"}}
{"type":"assistant","uuid":"b","sessionId":"s","cwd":"/w","timestamp":"2026-11-20T09:00:01Z","message":{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"make"}}]}}
{"type":"user","uuid":"c","sessionId":"s","cwd":"/w","timestamp":"2026-11-20T09:00:02Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t",` + result + `}]}}
`
	}
	codex := func(output string) string {
		return `{"timestamp":"2026-11-20T09:00:00Z","type":"session_meta","payload":{"id":"s","cwd":"/w"}}
{"timestamp":"2026-11-20T09:00:00Z","type":"event_msg","payload":{"type":"user_message","message":"go"}}
{"timestamp":"2026-11-20T09:00:01Z","type":"response_item","payload":{"type":"function_call","call_id":"t","name":"shell","arguments":"{\"command\":[\"bash\",\"-lc\",\"make\"]}"}}
{"timestamp":"2026-11-20T09:00:02Z","type":"response_item","payload":{"type":"function_call_output","call_id":"t","output":` + output + `}}
`
	}
	for name, tt := range map[string]struct {
		agent     transcript.Agent
		raw, want string
	}{
		"claude":              {transcript.ClaudeCode{}, claude(`"content":"a\nb"`), "a|b - ok"},
		"claude, in blocks":   {transcript.ClaudeCode{}, claude(`"content":[{"type":"text","text":"a"}]`), "a - ok"},
		"claude, failed":      {transcript.ClaudeCode{}, claude(`"content":"Exit code 2\nno rule","is_error":true`), "no rule 2 failed"},
		"claude, a word":      {transcript.ClaudeCode{}, claude(`"content":"Exit code 2\nis what it printed"`), "Exit code 2|is what it printed - ok"},
		"claude, forbidden":   {transcript.ClaudeCode{}, claude(`"content":"The user doesn't want to proceed with this tool use.","is_error":true`), " - failed"},
		"claude, no status":   {transcript.ClaudeCode{}, claude(`"content":"Command timed out","is_error":true`), "Command timed out - failed"},
		"codex, lines":        {transcript.Codex{}, codex(`"Exit code: 1\nWall time: 0.1 seconds\nOutput:\na\nOutput:\n"`), "a|Output:| 1 failed"},
		"codex, exec":         {transcript.Codex{}, codex(`"Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\na"`), "a 0 ok"},
		"codex, still runs":   {transcript.Codex{}, codex(`"Wall time: 1 seconds\nProcess running with session ID 7\nOutput:\na"`), "a - ok"},
		"codex, an object":    {transcript.Codex{}, codex(`"{\"output\":\"a\\n\",\"metadata\":{\"exit_code\":3}}"`), "a| 3 failed"},
		"codex, plain":        {transcript.Codex{}, codex(`"Exit code: 1 is what it printed"`), "Exit code: 1 is what it printed - ok"},
		"codex, JSON printed": {transcript.Codex{}, codex(`"{\"a\":1}"`), `{"a":1} - ok`},
	} {
		t.Run(name, func(t *testing.T) {
			opt := transcript.Options{File: transcript.File{NativeID: "s"}, Roots: []string{"/w"}, Outputs: true}
			got := outputsOf(read(t, tt.agent, []byte(tt.raw), opt))
			if diff := cmp.Diff([]string{"make " + tt.want}, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if opt.Outputs = false; len(outputsOf(read(t, tt.agent, []byte(tt.raw), opt))) > 0 {
				t.Error("outputs that nobody asked for")
			}
			cut := strings.LastIndex(strings.TrimSuffix(tt.raw, "\n"), "\n") + 1
			opt.Outputs = true
			first := read(t, tt.agent, []byte(tt.raw[:cut]), opt)
			head, _, _ := strings.Cut(tt.raw, "\n")
			opt.Inside, opt.Head = true, []byte(head)
			if diff := cmp.Diff(got, outputsOf(first, read(t, tt.agent, []byte(tt.raw[first.Bytes:]), opt))); diff != "" {
				t.Errorf("where a read ended within the call (-want +got)\n%s", diff)
			}
		})
	}
}

// outputsOf shows each output as "command output status failed".
func outputsOf(docs ...transcript.Document) (out []string) {
	for _, doc := range docs {
		for _, s := range doc.Sessions {
			for _, o := range s.Outputs {
				status, how := "-", "ok"
				if o.Exit != nil {
					status = fmt.Sprint(*o.Exit)
				}
				if o.Failed {
					how = "failed"
				}
				out = append(out, strings.Join([]string{o.Command, strings.ReplaceAll(o.Text, "\n", "|"), status, how}, " "))
			}
		}
	}
	return out
}

// TestRealOutputs holds that of Codex's real rollouts each output of a shell is taken, without the lines that Codex puts around it.
func TestRealOutputs(t *testing.T) {
	n, exits := 0, 0
	for name := range realSessions(t, "codex") {
		raw := harness.Unzipped(t, "agents/"+name)
		doc := read(t, transcript.Codex{}, raw, transcript.Options{File: transcript.File{NativeID: "x"}, Roots: []string{string(anyFolder.FindSubmatch(raw)[1])}, Outputs: true})
		for _, s := range doc.Sessions {
			for _, o := range s.Outputs {
				if n++; o.Exit != nil {
					exits++
				}
				if strings.HasPrefix(o.Text, "Exit code: ") || strings.Contains(o.Text[:min(len(o.Text), 200)], "\nWall time: ") {
					t.Errorf("%s: %.200q", name, o.Text)
				}
			}
		}
	}
	t.Logf("%d outputs, %d with a status", n, exits)
	if n == 0 || exits < n*9/10 {
		t.Errorf("%d outputs, %d with a status", n, exits)
	}
}
