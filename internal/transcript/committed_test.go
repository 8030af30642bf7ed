package transcript_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/transcript"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// TestCommits: which commits a session's commands made, as git says in their output; also where a read ended before the
// result.
func TestCommits(t *testing.T) {
	agents := map[transcript.Agent]string{
		transcript.ClaudeCode{}: `{"type":"user","uuid":"a","sessionId":"s","cwd":"/w","timestamp":"2026-11-20T09:00:00Z","message":{"role":"user","content":"go"}}
{"type":"assistant","uuid":"b","sessionId":"s","cwd":"/w","timestamp":"2026-11-20T09:00:01Z","message":{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":%q}}]}}
{"type":"user","uuid":"c","sessionId":"s","cwd":"/w","timestamp":"2026-11-20T09:00:02Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":%q}]}}
`,
		transcript.Codex{}: `{"timestamp":"2026-11-20T09:00:00Z","type":"session_meta","payload":{"id":"s","cwd":"/w"}}
{"timestamp":"2026-11-20T09:00:00Z","type":"event_msg","payload":{"type":"user_message","message":"go"}}
{"timestamp":"2026-11-20T09:00:01Z","type":"response_item","payload":{"type":"local_shell_call","call_id":"t","action":{"command":["bash","-lc",%q]}}}
{"timestamp":"2026-11-20T09:00:02Z","type":"response_item","payload":{"type":"function_call_output","call_id":"t","output":%q}}
`,
		transcript.Copilot{}: `{"type":"session.start","timestamp":"2026-11-20T09:00:00Z","data":{"sessionId":"s","context":{"cwd":"/w"}}}
{"type":"user.message","timestamp":"2026-11-20T09:00:00Z","data":{"content":"go"}}
{"type":"tool.execution_start","timestamp":"2026-11-20T09:00:01Z","data":{"toolCallId":"t","toolName":"bash","arguments":{"command":%q}}}
{"type":"tool.execution_complete","timestamp":"2026-11-20T09:00:02Z","data":{"toolCallId":"t","success":true,"result":{"content":%q}}}
`,
		transcript.OpenCode{}: `{"session":{"id":"s","directory":"/w"}}
{"message":{"id":"a","created":1795165200000,"role":"user"}}
{"part":{"type":"text","text":"go"}}
{"message":{"id":"b","created":1795165201000,"role":"assistant"}}
{"part":{"type":"tool","tool":"bash","callID":"t","input":{"command":%q},"ended":1795165202000,"status":"completed","output":%q}}
`,
	}
	const two = "[main 1f2e3d4] Read expiry\n 1 file changed\n[main 0a0b0c0d] Add leeway [again]\n"
	for _, tt := range []struct{ name, command, output, want string }{
		{"two", "git commit -am a && git commit -am b", two, "1f2e3d4 Read expiry, 0a0b0c0d Add leeway [again]"},
		{"the first one", "git -C /w commit -m a", "[main (root-commit) 1f2e3d4] Begin\n", "1f2e3d4 Begin"},
		{"of no branch", "git cherry-pick x", "[detached HEAD 1f2e3d4] Begin\r\n Date: today\n", "1f2e3d4 Begin"},
		{"quiet", "git commit -qm a", "", "quiet git commit -qm a from 1"},
		{
			"quiet, with what came of it", "cd /w && git commit -qm a && make", "make: done",
			"quiet cd /w && git commit -qm a && make from 1",
		},
		{"what something else prints", "cat notes.txt", two, ""},
		{"in a line", "git commit -m a", "see [main 1f2e3d4] Begin\n[main] abcdef1\n", "quiet git commit -m a from 1"},
	} {
		for agent, form := range agents {
			t.Run(agent.Name()+", "+tt.name, func(t *testing.T) {
				raw := fmt.Sprintf(form, tt.command, tt.output)
				opt := transcript.Options{File: transcript.File{NativeID: "s", Cwd: "/w"}, Roots: []string{"/w"}}
				whole := read(t, agent, []byte(raw), opt)
				harness.Equal(t, "commits", tt.want, commitsIn(whole))
				if agent == (transcript.OpenCode{}) || tt.command[:3] != "git" {
					return // it is always read from the start; a read that does not hold the call can't know that
				}
				head, _, _ := strings.Cut(raw, "\n")
				cut := strings.LastIndex(strings.TrimSuffix(raw, "\n"), "\n") + 1
				opt.Inside, opt.Head = true, []byte(head)
				want := tt.want
				if strings.HasPrefix(want, "quiet") { // it does not know the command
					want = ""
				}
				harness.Equal(t, "commits of a later read", want, commitsIn(read(t, agent, []byte(raw[cut:]), opt)))
			})
		}
	}
}

func commitsIn(doc transcript.Document) string {
	var out []string
	for _, s := range doc.Sessions {
		for _, c := range s.Commits {
			said := c.OID + " " + c.Subject
			if c.OID == "" {
				said = fmt.Sprint("quiet ", c.Command, " from ", c.From.Second())
			}
			out = append(out, said)
			if c.At.Second() != 2 {
				out = append(out, c.At.String())
			}
		}
	}
	return strings.Join(out, ", ")
}
