package transcript_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/transcript"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// TestOutputs holds what is taken of a result: the output without what the agent puts around it, and the status where
// that says one.
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
	copilot := func(result string) string {
		return `{"type":"session.start","timestamp":"2026-11-20T09:00:00Z","data":{"sessionId":"s","context":{"cwd":"/w"}}}
{"type":"user.message","timestamp":"2026-11-20T09:00:00Z","data":{"content":"go"}}
{"type":"tool.execution_start","timestamp":"2026-11-20T09:00:01Z","data":{"toolCallId":"t","toolName":"bash","arguments":{"command":"make"}}}
{"type":"tool.execution_complete","timestamp":"2026-11-20T09:00:02Z","data":{"toolCallId":"t",` + result + `}}
`
	}
	gemini := func(status, output string) string {
		return `{"sessionId":"s","startTime":"2026-11-20T09:00:00Z"}
{"id":"a","timestamp":"2026-11-20T09:00:00Z","type":"user","content":"go"}
{"id":"b","timestamp":"2026-11-20T09:00:01Z","type":"gemini","content":"","toolCalls":[{"id":"t","name":"run_shell_command","args":{"command":"make"},"status":"` + status +
			`","timestamp":"2026-11-20T09:00:02Z","result":[{"functionResponse":{"response":{"output":"` + output + `"}}}]}]}
`
	}
	opencode := func(result string) string {
		return `{"session":{"id":"s","directory":"/w"}}
{"message":{"id":"a","created":1795165200000,"role":"user"}}
{"part":{"type":"text","text":"go"}}
{"message":{"id":"b","created":1795165201000,"role":"assistant"}}
{"part":{"type":"tool","tool":"bash","callID":"t","input":{"command":"make"},"ended":1795165202000,` + result + `}}
`
	}
	for name, tt := range map[string]struct {
		agent     transcript.Agent
		raw, want string
	}{
		"copilot": {
			transcript.Copilot{},
			copilot(`"success":true,"result":{"content":"a\nb\n<shellId: 0 completed with exit code 0>"}`), "a|b 0 ok",
		},
		"copilot, failed": {
			transcript.Copilot{},
			copilot(`"success":true,"result":{"content":"a\n<exited with exit code 2>"}`), "a 2 failed",
		},
		"copilot, still runs": {
			transcript.Copilot{},
			copilot(`"success":true,"result":{"content":"a\n<command with shellId: 7 is still running after 30 seconds. Use read_bash.>"}`), "a - ok",
		},
		"copilot, forbidden": {
			transcript.Copilot{},
			copilot(`"success":false,"error":{"message":"denied","code":"denied"}`),
			" - failed",
		},
		"copilot, a word": {
			transcript.Copilot{},
			copilot(`"success":true,"result":{"content":"<exited with exit code 2> is what it printed"}`),
			"<exited with exit code 2> is what it printed - ok",
		},
		"gemini": {transcript.Gemini{}, gemini("success",
			`<untrusted_context>\nOutput: a\nb\nProcess Group PGID: 7\n</untrusted_context>`), "a|b - ok"},
		"gemini, failed": {transcript.Gemini{}, gemini("success",
			`Output: a\nExit Code: 2\nSignal: 9\nProcess Group PGID: 7`), "a 2 failed"},
		"gemini, earlier": {transcript.Gemini{}, gemini("success",
			`Command: make\nDirectory: (root)\nOutput: (empty)\nError: (none)\nExit Code: 0\nSignal: 0\nBackground PIDs: (none)\nProcess Group PGID: 7`), " 0 ok"},
		"gemini, a word": {
			transcript.Gemini{},
			gemini("success", `Output: Exit Code: 2\nis what it printed`),
			"Exit Code: 2|is what it printed - ok",
		},
		"gemini, forbidden": {transcript.Gemini{}, gemini("cancelled",
			`[Operation Cancelled] Reason: User denied execution.`), " - failed"},
		"opencode": {transcript.OpenCode{}, opencode(`"status":"completed","output":"a\nb","exit":0`), "a|b 0 ok"},
		"opencode, failed": {
			transcript.OpenCode{},
			opencode(`"status":"completed","output":"a\n\n<shell_metadata>\nshell tool terminated command\n</shell_metadata>","exit":2`), "a 2 failed",
		},
		"opencode, cut": {
			transcript.OpenCode{},
			opencode(`"status":"completed","output":"...output truncated...\n\nFull output saved to: /f\n\na","exit":0`),
			"a 0 ok",
		},
		"opencode, cut once": {
			transcript.OpenCode{},
			opencode(`"status":"completed","output":"a\n\n...9 bytes truncated...\n\nThe tool call succeeded but the output was truncated. Full output saved to: /f\nUse Grep."`), "a||...9 bytes truncated... - ok",
		},
		"opencode, nothing": {
			transcript.OpenCode{},
			opencode(`"status":"completed","output":"(no output)","exit":null`),
			" - ok",
		},
		"opencode, forbidden": {transcript.OpenCode{}, opencode(`"status":"error"`), " - failed"},
		"claude":              {transcript.ClaudeCode{}, claude(`"content":"a\nb"`), "a|b - ok"},
		"claude, in blocks":   {transcript.ClaudeCode{}, claude(`"content":[{"type":"text","text":"a"}]`), "a - ok"},
		"claude, failed": {
			transcript.ClaudeCode{},
			claude(`"content":"Exit code 2\nno rule","is_error":true`),
			"no rule 2 failed",
		},
		"claude, a word": {
			transcript.ClaudeCode{},
			claude(`"content":"Exit code 2\nis what it printed"`),
			"Exit code 2|is what it printed - ok",
		},
		"claude, forbidden": {
			transcript.ClaudeCode{},
			claude(`"content":"The user doesn't want to proceed with this tool use.","is_error":true`), " - failed",
		},
		"claude, no status": {
			transcript.ClaudeCode{},
			claude(`"content":"Command timed out","is_error":true`),
			"Command timed out - failed",
		},
		"codex, lines": {
			transcript.Codex{},
			codex(`"Exit code: 1\nWall time: 0.1 seconds\nOutput:\na\nOutput:\n"`),
			"a|Output:| 1 failed",
		},
		"codex, exec": {
			transcript.Codex{},
			codex(`"Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\na"`), "a 0 ok",
		},
		"codex, still runs": {
			transcript.Codex{},
			codex(`"Wall time: 1 seconds\nProcess running with session ID 7\nOutput:\na"`), "a - ok",
		},
		"codex, an object": {
			transcript.Codex{},
			codex(`"{\"output\":\"a\\n\",\"metadata\":{\"exit_code\":3}}"`),
			"a| 3 failed",
		},
		"codex, plain": {
			transcript.Codex{},
			codex(`"Exit code: 1 is what it printed"`),
			"Exit code: 1 is what it printed - ok",
		},
		"codex, JSON printed": {transcript.Codex{}, codex(`"{\"a\":1}"`), `{"a":1} - ok`},
	} {
		t.Run(name, func(t *testing.T) {
			opt := transcript.Options{File: transcript.File{NativeID: "s", Cwd: "/w"}, Roots: []string{"/w"}, Outputs: true}
			got := outputsOf(read(t, tt.agent, []byte(tt.raw), opt))
			if diff := cmp.Diff([]string{"make " + tt.want}, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			opt.Outputs = false
			unasked := read(t, tt.agent, []byte(tt.raw), opt)
			if len(outputsOf(unasked)) > 0 {
				t.Error("outputs that nobody asked for")
			}
			words := strings.Fields(tt.want)
			if exit := fmt.Sprint(unasked.Sessions[0].ToolCalls[0].Exit); exit != strings.Trim(words[len(words)-2], "-") &&
				(exit != "0" || words[len(words)-2] != "-") {
				t.Errorf("the call ended with %s; want %q", exit, tt.want)
			}
			if _, ok := tt.agent.(transcript.Opener); ok && tt.agent != (transcript.Codex{}) {
				return // it is always read from the start
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

// TestRealOutputs holds that each command of real sessions has an output without what the agent puts around it, and
// with a status where it says one.
func TestRealOutputs(t *testing.T) {
	for _, tt := range []struct {
		agent    transcript.Agent
		ending   string
		statuses int // in a hundred, at least
		around   []string
	}{
		{transcript.Codex{}, "jsonl", 90, []string{"\nWall time: ", "Chunk ID: "}},
		{transcript.Copilot{}, "jsonl", 95, []string{
			"completed with exit code", "exited with exit code",
			"is still running after",
		}},
		{transcript.Gemini{}, "json", 20, []string{"Output: ", "Process Group PGID: ", "untrusted_context"}},
		{transcript.OpenCode{}, "json", 95, []string{"_metadata>", "Full output saved to"}},
	} {
		folder, _, _ := strings.Cut(tt.agent.Name(), "-")
		n, exits, calls := 0, 0, 0
		for name := range realSessions(t, folder) {
			for _, s := range realOutputs(t, tt.agent, harness.Unzipped(t, "agents/"+name)).Sessions {
				for _, c := range s.ToolCalls {
					calls += strings.Count(c.Act, session.ActRun)
				}
				for _, o := range s.Outputs {
					if n++; o.Exit != nil {
						exits++
					}
					for _, mark := range tt.around {
						if begin, end := o.Text[:min(len(o.Text), 200)],
							o.Text[max(0, len(o.Text)-200):]; strings.Contains(begin+end, mark) {
							t.Errorf("%s: %q … %q", name, begin, end)
						}
					}
				}
			}
		}
		t.Logf("%s: %d outputs of %d commands, %d with a status", tt.agent.Name(), n, calls, exits)
		if n == 0 || n < calls*9/10 || exits < n*tt.statuses/100 {
			t.Errorf("%s: %d outputs of %d commands, %d with a status", tt.agent.Name(), n, calls, exits)
		}
	}
}

// realOutputs reads a real session with its outputs, from where its agent keeps it.
func realOutputs(t *testing.T, agent transcript.Agent, raw []byte) transcript.Document {
	t.Helper()
	opt := transcript.Options{File: transcript.File{NativeID: "x"}, Roots: []string{realRoot(raw)}, Outputs: true}
	switch agent.(type) {
	case transcript.OpenCode:
		db := newOpenCodeDB(t, t.TempDir())
		opt.Roots = []string{db.load(raw).Info.Directory}
		opt.File = db.find(nil, opt.Roots[0]).Files[0]
	case transcript.Gemini:
		path := filepath.Join(t.TempDir(), "session.json")
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		opt.Roots = []string{"/work/shop"}
		opt.File = transcript.File{Path: path, NativeID: "x", Cwd: "/work/shop", ReadWhole: true}
	default:
		return read(t, agent, raw, opt)
	}
	return readWith(t, agent, opt)
}
