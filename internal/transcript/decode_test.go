package transcript_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/transcript"
)

const (
	sid  = "5f0c2d1e-0000-4000-8000-000000000001"
	root = "/work/shop"
)

// rec is one record as Claude Code 2.1.39 writes it, made in the repository; extra
// members come last and so replace the common ones.
func rec(kind string, second int, extra string) string {
	return fmt.Sprintf(`{"cwd":%q,"sessionId":%q,"version":"2.1.39","gitBranch":"main","type":%q,"timestamp":"2026-02-03T10:00:%02d.500Z"%s}`,
		root, sid, kind, second, prefixComma(extra))
}

func prefixComma(s string) string {
	if s == "" {
		return ""
	}
	return "," + s
}

func user(second int, content string, extra ...string) string {
	return rec("user", second, strings.Join(append([]string{`"message":{"role":"user","content":` + content + `}`},
		extra...), ","))
}

func assistant(second int, content string, extra ...string) string {
	return rec("assistant", second, strings.Join(append([]string{`"message":{"role":"assistant","content":` + content +
		`}`}, extra...), ","))
}

func say(second int, s string) string {
	return assistant(second, fmt.Sprintf(`[{"type":"text","text":%q}]`, s))
}

func queue(operation string, second int, extra string) string {
	return fmt.Sprintf(`{"type":"queue-operation","operation":%q,"timestamp":"2026-02-03T10:00:%02d.500Z","sessionId":%q%s}`, operation, second, sid, prefixComma(extra))
}

func decode(t testing.TB, opt transcript.Options, lines ...string) transcript.Document {
	t.Helper()
	if opt.File.NativeID == "" {
		opt.File.NativeID = sid
	}
	opt.Roots = append(opt.Roots, root)
	doc, err := transcript.ClaudeCode{}.Decode(context.Background(), strings.NewReader(strings.Join(lines, "\n")), opt)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// told is what a document says, one line a turn or call, for comparison.
func told(doc transcript.Document) []string {
	var out []string
	for _, s := range doc.Sessions {
		calls := s.ToolCalls
		flush := func(turn int) {
			for len(calls) > 0 && calls[0].Turn <= turn {
				call := strings.TrimRight(fmt.Sprintf("tool: %s %s %s", calls[0].Tool, calls[0].Path, calls[0].Cmd), " ")
				if calls[0].Failed {
					call += " failed"
				}
				out = append(out, call)
				calls = calls[1:]
			}
		}
		flush(-1)
		for _, turn := range s.Turns {
			out = append(out, turn.Role+": "+turn.Content)
			flush(turn.Index)
		}
	}
	return out
}

func TestClaudeTurns(t *testing.T) {
	tests := []struct {
		name  string
		lines []string
		want  []string
	}{
		{"string prompt", []string{user(1, `"fix the cart"`)}, []string{"human: fix the cart"}},
		{
			"text blocks are one turn",
			[]string{user(1,
				`[{"type":"text","text":"one"},{"type":"image","source":{}},{"type":"text","text":"two"}]`)},
			[]string{"human: one\n\ntwo"},
		},
		{"each assistant text block is a turn", []string{assistant(1,
			`[{"type":"thinking","thinking":"hm"},{"type":"text","text":"\n\nA"},{"type":"text","text":" \n"},{"type":"text","text":"B"}]`)}, []string{"assistant: A", "assistant: B"}},
		{"assistant string", []string{assistant(1, `"plain"`)}, []string{"assistant: plain"}},
		{
			"API errors are what the assistant's side said",
			[]string{assistant(1, `[{"type":"text","text":"API Error: 529"}]`, `"isApiErrorMessage":true`)},
			[]string{"assistant: API Error: 529"},
		},
		{"meta", []string{user(1, `"Base directory for this skill"`, `"isMeta":true`)}, nil},
		{"compact summary", []string{user(1, `"Summary: all was well"`,
			`"isCompactSummary":true,"isVisibleInTranscriptOnly":true`)}, nil},
		{"continuation of versions without a mark", []string{user(1,
			`"This session is being continued from a previous conversation that ran out of context."`)}, nil},
		{"interruption", []string{user(1, `[{"type":"text","text":"[Request interrupted by user for tool use]"}]`)}, nil},
		{"command output", []string{user(1, `"<local-command-stdout>Bye!</local-command-stdout>"`)}, nil},
		{"command without arguments", []string{user(1,
			`"<command-name>/exit</command-name>\n<command-args></command-args>"`)}, nil},
		{"command with arguments", []string{user(1,
			`"<command-message>x</command-message>\n<command-name>/x</command-name>\n<command-args>small commits</command-args>"`)}, []string{"human: small commits"}},
		{"shell command of the user", []string{
			user(1, `"<bash-input>git status</bash-input>"`),
			user(2, `"<bash-stdout>clean</bash-stdout><bash-stderr></bash-stderr>"`),
		}, []string{"human: !git status"}},
		{
			"line for the memory",
			[]string{user(1, `"<user-memory-input>use tabs</user-memory-input>"`)},
			[]string{"human: #use tabs"},
		},
		{
			"reminder inside a prompt",
			[]string{user(1, `"do it<system-reminder>be kind</system-reminder> now"`)},
			[]string{"human: do it now"},
		},
		{
			"unclosed tag is text",
			[]string{user(1, `"what is <system-reminder> for?"`)},
			[]string{"human: what is <system-reminder> for?"},
		},
		{
			"editor's note",
			[]string{user(1,
				`[{"type":"text","text":"<ide_opened_file>x</ide_opened_file>"},{"type":"text","text":"rename it"}]`)},
			[]string{"human: rename it"},
		},
		{"markup that a user pasted", []string{user(1, `"<div>broken</div>"`)}, []string{"human: <div>broken</div>"}},
		{"task notification", []string{user(1, `"<task-notification>done</task-notification>"`)}, nil},
		{"teammate", []string{user(1, `"<teammate-message teammate_id=\"a\">hi</teammate-message>"`)}, nil},
		{"origin of another machine", []string{user(1, `"peer text"`, `"origin":{"kind":"peer"}`)}, nil},
		{
			"origin human beats the source",
			[]string{user(1, `"typed"`, `"origin":{"kind":"human"},"promptSource":"sdk"`)},
			[]string{"human: typed"},
		},
		{"system source", []string{user(1, `"wake up"`, `"promptSource":"system"`)}, nil},
		{
			"sdk source is the desktop and the editors too",
			[]string{user(1, `"typed"`, `"promptSource":"sdk","entrypoint":"claude-vscode"`)},
			[]string{"human: typed"},
		},
		{"tool result", []string{user(1, `[{"type":"tool_result","tool_use_id":"t","content":"secret output"}]`)}, nil},
		{
			"remark beside a tool result",
			[]string{user(1,
				`[{"type":"tool_result","tool_use_id":"t","content":"ok"},{"type":"text","text":"and test it"}]`)},
			[]string{"human: and test it"},
		},
		{"rejection with words", []string{user(1,
			`[{"type":"tool_result","is_error":true,"tool_use_id":"t","content":"The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\ntoo slow"}]`)}, []string{"human: too slow"}},
		{"rejection as blocks", []string{user(1,
			`[{"type":"tool_result","is_error":true,"tool_use_id":"t","content":[{"type":"text","text":"The user doesn't want to proceed, the user said:\nno"}]}]`)}, []string{"human: no"}},
		{"a program that says the same", []string{user(1,
			`[{"type":"tool_result","is_error":true,"tool_use_id":"t","content":"grep: the user said:\nno"}]`)}, nil},
		{"answers", []string{user(1, `[{"type":"tool_result","tool_use_id":"t","content":"User has answered"}]`,
			`"toolUseResult":{"questions":[{"question":"Which?"}],"answers":{"Which?":"the second","Why?":""},"annotations":{"Which?":{"notes":"but later"}}}`)}, []string{"human: Q: Which?\nA: the second\nbut later"}},
		{"a result with answers but no questions", []string{user(1,
			`[{"type":"tool_result","tool_use_id":"t","content":"x"}]`, `"toolUseResult":{"answers":{"a":"b"}}`)}, nil},
		{
			"sidechain of a main file",
			[]string{user(1, `"inner"`, `"isSidechain":true`), say(2, "outer")},
			[]string{"assistant: outer"},
		},
		{"progress", []string{rec("progress", 1, `"data":{"message":{"type":"user","message":{"content":"inner"}}}`)}, nil},
		{
			"queued_command",
			[]string{rec("attachment", 1,
				`"attachment":{"type":"queued_command","prompt":"also the README","commandMode":"prompt"}`)},
			[]string{"human: also the README"},
		},
		{
			"queued_command as blocks",
			[]string{rec("attachment", 1,
				`"attachment":{"type":"queued_command","prompt":[{"type":"text","text":"look"},{"type":"image"}]}`)},
			[]string{"human: look"},
		},
		{"queued shell command", []string{rec("attachment", 1,
			`"attachment":{"type":"queued_command","prompt":"make test","commandMode":"bash"}`)}, []string{"human: !make test"}},
		{"queued notification", []string{rec("attachment", 1,
			`"attachment":{"type":"queued_command","prompt":"done","commandMode":"task-notification"}`)}, nil},
		{"other attachment", []string{rec("attachment", 1, `"attachment":{"type":"skill_listing","content":"x"}`)}, nil},
		{"what a hook added", []string{rec("attachment", 1,
			`"attachment":{"type":"hook_additional_context","content":["<git-rekal> From earlier sessions\n</git-rekal>\n"],"hookName":"SessionStart","toolUseID":"SessionStart","hookEvent":"SessionStart"},"rendered":[{"content":"<system-reminder>SessionStart hook additional context: <git-rekal>","isMeta":true}]`)}, nil},
		{"no message around it", []string{rec("user", 1, `"role":"user","content":"old row"`)}, []string{"human: old row"}},
		{"no type", []string{`{"cwd":"/work/shop","sessionId":"` + sid +
			`","timestamp":1770112800,"role":"user","content":"older row"}`}, []string{"human: older row"}},
		{
			"folder that is no text",
			[]string{say(1, "A"), `{"type":"user","cwd":1,"message":{"content":"x"}}`},
			[]string{"assistant: A", "human: x"},
		},
		{
			"same record twice",
			[]string{user(1, `"once"`, `"uuid":"u1"`), user(1, `"once"`, `"uuid":"u1"`)},
			[]string{"human: once"},
		},
		{
			"same text twice is two prompts",
			[]string{user(1, `"again"`, `"uuid":"u1"`), user(2, `"again"`, `"uuid":"u2"`)},
			[]string{"human: again", "human: again"},
		},
		{"backslash at the end of a string", []string{user(1, `"C:\\"`, `"slug":"a\\"`)}, []string{"human: C:\\"}},
		{"invalid UTF-8 and NUL", []string{user(1, "\"a\xffb\\u0000c\\ud83e\"")}, []string{"human: a\uFFFDb\uFFFDc\uFFFD"}},
		{
			"NULs around a line",
			[]string{"\x00\x00" + user(1, `"after a crash"`) + "\x00\r"},
			[]string{"human: after a crash"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, told(decode(t, transcript.Options{}, tt.lines...))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestClaudeQueue(t *testing.T) {
	newer := func(line string) string { return strings.ReplaceAll(line, "2.1.39", "2.1.250") }
	middle := func(line string) string { return strings.ReplaceAll(line, "2.1.39", "2.1.150") }
	enqueue := queue("enqueue", 2, `"content":"and the tests"`)
	absorbed := queue("remove", 4, `"reason":"absorbed_mid_turn","content":"and the tests"`)
	attached := rec("attachment", 4, `"attachment":{"type":"queued_command","prompt":"and the tests"}`)
	once := []string{"assistant: A", "human: and the tests", "assistant: B"}
	never := []string{"assistant: A", "assistant: B"}
	tests := []struct {
		name  string
		lines []string
		want  []string
	}{
		{"dequeued: in a record of its own", []string{
			say(1, "A"), enqueue, queue("dequeue", 3, ""),
			user(3, `"and the tests"`), say(5, "B"),
		}, once},
		{
			"removed, old version: only the queue has it",
			[]string{say(1, "A"), enqueue, queue("remove", 3, ""), say(5, "B")},
			once,
		},
		{
			"removed, old version, nothing behind it",
			[]string{say(1, "A"), enqueue, queue("remove", 3, "")},
			[]string{"assistant: A", "human: and the tests"},
		},
		{"removed, later version: cancelled", []string{
			middle(say(1, "A")), enqueue, queue("remove", 3, ""),
			middle(say(5, "B")),
		}, never},
		{
			"removed, later version, attached behind it",
			[]string{middle(say(1, "A")), enqueue, queue("remove", 3, ""), middle(attached), middle(say(5, "B"))},
			once,
		},
		{
			"attached before the remove",
			[]string{newer(say(1, "A")), enqueue, newer(attached), newer(say(5, "B")), absorbed},
			once,
		},
		{"absorbed and attached", []string{newer(say(1, "A")), enqueue, absorbed, newer(attached), newer(say(5, "B"))}, once},
		{"absorbed, in the queue alone", []string{newer(say(1, "A")), enqueue, absorbed, newer(say(5, "B"))}, once},
		{
			"deleted",
			[]string{newer(say(1, "A")), enqueue, queue("remove", 4, `"reason":"deleted"`), newer(say(5, "B"))},
			never,
		},
		{"back into the input line", []string{
			say(1, "A"), enqueue, queue("popAll", 3, `"content":"and the tests"`),
			say(5, "B"),
		}, never},
		{
			"a command",
			[]string{say(1, "A"), queue("enqueue", 2, `"content":"/help"`), queue("remove", 3, ""), say(5, "B")},
			never,
		},
		{"a notice of a task", []string{say(1, "A"), queue("enqueue", 2,
			`"content":"{\"task_id\":\"b1f\",\"tool_use_id\":\"toolu_1\",\"description\":\"Run the tests\",\"task_type\":\"local_bash\"}"`), queue("remove", 3, ""), say(5, "B")}, never},
		{"the oldest first", []string{
			say(1, "A"), enqueue, queue("enqueue", 3, `"content":"second"`), queue("remove", 4, ""),
			say(5, "B"), queue("dequeue", 6, ""), user(6, `"second"`),
		}, append(once[:3:3], "human: second")},
		{"a remove that this read did not see enqueued", []string{newer(say(1, "A")), absorbed, newer(say(5, "B"))}, never},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, told(decode(t, transcript.Options{}, tt.lines...))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// A prompt that waits when a read ends is in the next read, whole, and no byte that
// gave a turn is read twice.
func TestClaudeQueueHolds(t *testing.T) {
	enqueue := queue("enqueue", 2, `"content":"and the tests"`)
	tests := []struct {
		name  string
		lines []string
		held  int // lines that are done with
	}{
		{"last line", []string{say(1, "A"), enqueue}, 1},
		{"results behind it", []string{
			say(1, "A"), enqueue,
			user(3, `[{"type":"tool_result","tool_use_id":"t","content":"ok"}]`),
		}, 1},
		{"a turn behind it", []string{say(1, "A"), enqueue, say(3, "B")}, 3},
		{"taken in, not yet repeated", []string{
			strings.ReplaceAll(say(1, "A"), "2.1.39", "2.1.250"), enqueue,
			queue("remove", 3, `"reason":"absorbed_mid_turn"`),
		}, 1},
		{"dequeued", []string{say(1, "A"), enqueue, queue("dequeue", 3, "")}, 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := decode(t, transcript.Options{}, append(tt.lines, "")...).Bytes
			if want := len(strings.Join(tt.lines[:tt.held], "\n")) + 1; got != int64(want) {
				t.Errorf("read %d bytes, want %d", got, want)
			}
		})
	}
}

func TestClaudeMembership(t *testing.T) {
	at := func(cwd, line string) string {
		return strings.Replace(line, `"cwd":"/work/shop"`, `"cwd":"`+cwd+`"`, 1)
	}
	nowhere := func(line string) string { return strings.Replace(line, `"cwd":"/work/shop",`, ``, 1) }
	tests := []struct {
		name  string
		opt   transcript.Options
		lines []string
		want  []string
	}{
		{"elsewhere", transcript.Options{}, []string{at("/work/other", say(1, "A"))}, nil},
		{"name that begins alike", transcript.Options{}, []string{at("/work/shop-two", say(1, "A"))}, nil},
		{"subfolder", transcript.Options{}, []string{at("/work/shop/api", say(1, "A"))}, []string{"assistant: A"}},
		{
			"linked worktree",
			transcript.Options{Roots: []string{"/trees/two"}},
			[]string{at("/trees/two/x", say(1, "A"))},
			[]string{"assistant: A"},
		},
		{
			"begins at the first record inside",
			transcript.Options{},
			[]string{at("/work", say(1, "A")), say(2, "B"), at("/tmp", say(3, "C"))},
			[]string{"assistant: B", "assistant: C"},
		},
		{
			"an earlier read was inside",
			transcript.Options{Inside: true},
			[]string{at("/tmp", say(3, "C"))},
			[]string{"assistant: C"},
		},
		{
			"no folder before one inside",
			transcript.Options{},
			[]string{nowhere(say(1, "A")), say(2, "B")},
			[]string{"assistant: A", "assistant: B"},
		},
		{
			"no folder before one elsewhere",
			transcript.Options{},
			[]string{nowhere(say(1, "A")), at("/tmp", say(2, "B")), say(3, "C")},
			[]string{"assistant: C"},
		},
		{"no folder at all", transcript.Options{}, []string{nowhere(say(1, "A"))}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, told(decode(t, tt.opt, tt.lines...))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestClaudeTools(t *testing.T) {
	use := func(id, name, input string) string {
		return assistant(1, fmt.Sprintf(`[{"type":"tool_use","id":%q,"name":%q,"input":%s}]`, id, name, input))
	}
	long := strings.Repeat("x", 300)
	tests := []struct {
		name  string
		lines []string
		want  []string
	}{
		{"file_path inside", []string{use("t", "Edit", `{"file_path":"/work/shop/a/b.go"}`)}, []string{"tool: Edit a/b.go"}},
		{
			"file_path outside",
			[]string{use("t", "Read", `{"file_path":"/etc/../etc/hosts"}`)},
			[]string{"tool: Read /etc/hosts"},
		},
		{
			"notebook_path",
			[]string{use("t", "NotebookEdit", `{"notebook_path":"/work/shop/n.ipynb"}`)},
			[]string{"tool: NotebookEdit n.ipynb"},
		},
		{"path at home", []string{use("t", "Grep", `{"path":"~/b"}`)}, []string{"tool: Grep ~/b"}},
		{"path out of home", []string{use("t", "Grep", `{"path":"~/../b"}`)}, []string{"tool: Grep"}},
		{"path out of a folder not known yet", []string{
			strings.Replace(use("t", "Grep", `{"path":"../b"}`), root, "", 1),
			use("u", "Grep", `{"path":"b"}`),
		}, []string{"tool: Grep", "tool: Grep b"}},
		{
			"name in colour",
			[]string{strings.Replace(use("t", "Grep", `{"path":"b"}`), "Grep", `Grep\u001b[31m\n`, 1)},
			[]string{"tool: Grep\uFFFD[31m\uFFFD b"},
		},
		{"path, relative to the working folder", []string{strings.Replace(use("t", "Grep", `{"path":"b"}`), root, root+"/a",
			1)}, []string{"tool: Grep a/b"}},
		{"the root", []string{use("t", "Glob", `{"path":"/work/shop"}`)}, []string{"tool: Glob ."}},
		{"whole command", []string{use("t", "Bash", `{"command":"echo `+long+`"}`)}, []string{"tool: Bash  echo " + long}},
		{"command of another tool", []string{use("t", "mcp__x", `{"command":"rm"}`)}, []string{"tool: mcp__x"}},
		{"input that is no object", []string{use("t", "Odd", `"{}"`)}, []string{"tool: Odd"}},
		{
			"path that is no string",
			[]string{use("t", "Edit", `{"file_path":{"a":1},"path":"/work/shop/c"}`)},
			[]string{"tool: Edit c"},
		},
		{
			"failed",
			[]string{
				use("t", "Edit", `{"file_path":"/work/shop/a"}`),
				user(2, `[{"type":"tool_result","tool_use_id":"t","is_error":true,"content":"no"}]`),
			},
			[]string{"tool: Edit a failed"},
		},
		{"succeeded", []string{
			use("t", "Edit", `{"file_path":"/work/shop/a"}`),
			user(2, `[{"type":"tool_result","tool_use_id":"t","content":"yes"}]`),
		}, []string{"tool: Edit a"}},
		{
			"after the turn it belongs to",
			[]string{use("t", "A", `{}`), say(2, "one"), use("u", "B", `{}`)},
			[]string{"tool: A", "assistant: one", "tool: B"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, told(decode(t, transcript.Options{}, tt.lines...))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestClaudeTimes(t *testing.T) {
	want := time.Date(2026, 2, 3, 10, 0, 0, 0, time.UTC)
	file := time.Date(2026, 2, 9, 0, 0, 0, 0, time.UTC)
	last := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	row := func(ts string) string {
		return `{"type":"user","cwd":"/work/shop","message":{"content":"x"}` + prefixComma(ts) + `}`
	}
	tests := []struct {
		name  string
		last  time.Time
		lines []string
		want  []time.Time
	}{
		{"RFC 3339", last, []string{row(`"timestamp":"2026-02-03T12:00:00+02:00"`)}, []time.Time{want}},
		{"to the millisecond", last, []string{row(`"timestamp":"2026-02-03T10:00:00.000999Z"`)}, []time.Time{want}},
		{"seconds", last, []string{row(`"timestamp":1770112800`)}, []time.Time{want}},
		{"milliseconds as text", last, []string{row(`"timestamp":"1770112800000"`)}, []time.Time{want}},
		{"missing: the record before", last, []string{row(`"timestamp":1770112800`), row(``)}, []time.Time{want, want}},
		{"missing: the last read", last, []string{row(``)}, []time.Time{last}},
		{
			"missing: the record after",
			time.Time{},
			[]string{row(`"timestamp":"soon"`), row(`"timestamp":1770112800`)},
			[]time.Time{want, want},
		},
		{"missing: the file", time.Time{}, []string{row(`"timestamp":-1`)}, []time.Time{file}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			doc := decode(t, transcript.Options{Last: tt.last, File: transcript.File{ModTime: file}}, tt.lines...)
			var got []time.Time
			for _, turn := range doc.Sessions[0].Turns {
				got = append(got, turn.TS)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestClaudeSessions(t *testing.T) {
	child := transcript.Options{File: transcript.File{NativeID: "a77", AgentID: "a77", Parent: "folder"}}
	nested := child
	nested.Spawner = "a66"
	side := `"isSidechain":true,"agentId":"a77"`
	type who struct{ Native, Parent, Actor, Agent, Branch string }
	tests := []struct {
		name  string
		opt   transcript.Options
		lines []string
		want  []who
	}{
		{
			"a person",
			transcript.Options{},
			[]string{user(1, `"x"`, `"entrypoint":"cli"`)},
			[]who{{sid, "", session.ActorHuman, "", "main"}},
		},
		{"print mode", transcript.Options{}, []string{
			user(1, `"x"`, `"entrypoint":"sdk-cli"`),
			user(2, `"y"`, `"entrypoint":"cli"`),
		}, []who{{sid, "", session.ActorAgent, "", "main"}}},
		{
			"an editor",
			transcript.Options{},
			[]string{user(1, `"x"`, `"entrypoint":"claude-vscode"`)},
			[]who{{sid, "", session.ActorHuman, "", "main"}},
		},
		{
			"a background worker",
			transcript.Options{},
			[]string{user(1, `"x"`, `"sessionKind":"daemon-worker"`)},
			[]who{{sid, "", session.ActorAgent, "", "main"}},
		},
		{"subagent", child, []string{user(1, `"do"`, side)}, []who{{"a77", sid, session.ActorAgent, "a77", "main"}}},
		{
			"nested subagent", nested,
			[]string{user(1, `"do"`, side)},
			[]who{{"a77", "a66", session.ActorAgent, "a77", "main"}},
		},
		{
			"subagent whose records do not name the session", child,
			[]string{strings.Replace(user(1, `"do"`, side), `"sessionId":"`+sid+`",`, "", 1)},
			[]who{{"a77", "folder", session.ActorAgent, "a77", "main"}},
		},
		{
			"rows of two sessions in one file",
			transcript.Options{},
			[]string{say(1, "A"), strings.Replace(say(2, "B"), sid, "other", 1), say(3, "C")},
			[]who{{sid, "", session.ActorHuman, "", "main"}, {"other", "", session.ActorHuman, "", "main"}},
		},
		{
			"no session in the records",
			transcript.Options{},
			[]string{strings.Replace(say(1, "A"), sid, "", 1)},
			[]who{{sid, "", session.ActorHuman, "", "main"}},
		},
		{
			"last branch in the repository",
			transcript.Options{},
			[]string{
				say(1, "A"), user(2, `"x"`, `"gitBranch":"feat"`), user(3, `"y"`, `"gitBranch":""`),
				strings.Replace(user(4, `"z"`, `"gitBranch":"theirs"`), root, "/tmp", 1),
			},
			[]who{{sid, "", session.ActorHuman, "", "feat"}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []who
			for _, s := range decode(t, tt.opt, tt.lines...).Sessions {
				got = append(got, who{s.NativeID, s.ParentNative, s.ActorType, s.AgentID, s.Branch})
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestForbiddenCommand: what a command would have written to a file, which a person forbade, nobody wrote; one that ran
// and failed, or was interrupted, may have written it.
func TestForbiddenCommand(t *testing.T) {
	ask := assistant(2, `[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"cat >a.txt <<EOF\none\nEOF\nmake"}}]`)
	for name, c := range map[string]struct {
		result string
		failed bool
		want   int
	}{
		"ran":         {"made", false, 1},
		"failed":      {"Exit code 2\nmake: no rule", true, 1},
		"timed out":   {"Command timed out after 2m", true, 1},
		"rejected":    {"The user doesn't want to proceed with this tool use.", true, 0},
		"denied":      {"Permission for this tool use was denied.", true, 0},
		"unknown":     {"<tool_use_error>Error: No such tool available: Bash</tool_use_error>", true, 0},
		"no word":     {"", true, 1},
		"interrupted": {"[Request interrupted by user for tool use]", true, 1},
	} {
		doc := decode(t, transcript.Options{}, user(1, `"go"`), ask, user(3,
			fmt.Sprintf(`[{"type":"tool_result","tool_use_id":"t","is_error":%t,"content":%q}]`, c.failed, c.result)))
		if n := len(doc.Sessions[0].Edits); n != c.want {
			t.Errorf("%s: %d edits, want %d", name, n, c.want)
		}
	}
	if doc := decode(t, transcript.Options{}, user(1, `"go"`), ask); len(doc.Sessions[0].Edits) != 1 {
		t.Error("a commit of the command itself comes before its result")
	}
}

// TestForbiddenElsewhere: a command of another agent that failed without a word may have written, too.
func TestForbiddenElsewhere(t *testing.T) {
	const command = `{"command":"cat >a.txt <<EOF\none\nEOF\nmake"}`
	copilot := func(result string) string {
		return `{"type":"session.start","timestamp":"2026-11-20T09:00:00Z","data":{"sessionId":"s","context":{"cwd":"/w"}}}
{"type":"user.message","timestamp":"2026-11-20T09:00:00Z","data":{"content":"go"}}
{"type":"tool.execution_start","timestamp":"2026-11-20T09:00:01Z","data":{"toolCallId":"t","toolName":"bash","arguments":` + command + `}}
{"type":"tool.execution_complete","timestamp":"2026-11-20T09:00:02Z","data":{"toolCallId":"t","success":false` + result + `}}
`
	}
	gemini := func(output string) string {
		return `{"sessionId":"s","startTime":"2026-11-20T09:00:00Z"}
{"id":"a","timestamp":"2026-11-20T09:00:00Z","type":"user","content":"go"}
{"id":"b","timestamp":"2026-11-20T09:00:01Z","type":"gemini","content":"","toolCalls":[{"id":"t","name":"run_shell_command","args":` + command +
			`,"status":"cancelled","timestamp":"2026-11-20T09:00:02Z","result":[{"functionResponse":{"response":{"output":"` + output + `"}}}]}]}
`
	}
	for name, c := range map[string]struct {
		agent transcript.Agent
		raw   string
		want  int
	}{
		"copilot, no word":    {transcript.Copilot{}, copilot(""), 1},
		"copilot, forbidden":  {transcript.Copilot{}, copilot(`,"error":{"message":"denied","code":"denied"}`), 0},
		"gemini, interrupted": {transcript.Gemini{}, gemini("Command was cancelled by user before it could complete."), 1},
		"gemini, forbidden":   {transcript.Gemini{}, gemini("[Operation Cancelled] Reason: User denied execution."), 0},
	} {
		opt := transcript.Options{File: transcript.File{NativeID: "s", Cwd: "/w"}, Roots: []string{"/w"}}
		if n := len(read(t, c.agent, []byte(c.raw), opt).Sessions[0].Edits); n != c.want {
			t.Errorf("%s: %d edits, want %d", name, n, c.want)
		}
	}
}

// TestClaudeRefusals: of a result that tells of a refusal only the person's words are a turn, to a session or to a
// subagent.
func TestClaudeRefusals(t *testing.T) {
	const rejected = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit). To tell you how to proceed, the user said:\n"
	const denied = "Permission for this tool use was denied. The tool use was rejected (eg. if it was a file edit). "
	const note = "\n\nNote: The user's next message may contain a correction or preference. Pay close attention."
	const clarify = "The user wants to clarify these questions.\n    This means they may have more.\n\n    Questions asked:\n"
	for _, c := range []struct{ name, result, want string }{
		{"with a reason", rejected + "use three, not two", "use three, not two"},
		{"with a note of the program", rejected + "use three" + note, "use three"},
		{"without a reason", "The user doesn't want to proceed with this tool use. STOP what you are doing." + note, ""},
		{"to a subagent", denied + "The user said:\nnever delete build", "never delete build"},
		{"to a subagent, without a reason", denied + "Try a different approach or report the limitation.", ""},
		{"by nobody", "Permission for this tool use was denied: it requires approval. What was requested: make", ""},
		{"to chat about questions", rejected + clarify +
			"- \"Which?\"\n  (No answer provided)\n- \"How many?\"\n  (No answer provided)" + note, ""},
		{
			"to chat about questions, of which some have an answer",
			rejected + clarify + "- \"Which?\"\n  Answer: this\n  User notes: for now\n- \"How many?\"\n  (No answer provided)",
			"Q: Which?\nA: this\nfor now",
		},
		{"an error that quotes one", "Error: the user said: no", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc := decode(t, transcript.Options{}, user(1, `"go"`),
				user(2, fmt.Sprintf(`[{"type":"tool_result","tool_use_id":"t","is_error":true,"content":%q}]`, c.result)),
				say(3, "Well."))
			want := []string{"human: go"}
			if c.want != "" {
				want = append(want, "human: "+c.want)
			}
			if diff := cmp.Diff(append(want, "assistant: Well."), told(doc)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestClaudeCommands: a session that begins with a command is called by its name until somebody asks something; what is
// set is no title.
func TestClaudeCommands(t *testing.T) {
	command := func(sec int, name, args string) string {
		return user(sec, fmt.Sprintf(`"<command-message>x</command-message>\n<command-name>%s</command-name>\n<command-args>%s</command-args>"`, name, args))
	}
	for _, c := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"a command", []string{command(1, "/security-review", ""), say(2, "One hole.")}, "/security-review"},
		{"one with arguments", []string{command(1, "/review", "the parser"), say(2, "Fine.")}, "the parser"},
		{"a prompt behind it", []string{command(1, "/init", ""), say(2, "Done."), user(3, `"fix the cart"`)}, "fix the cart"},
		{"a setting", []string{command(1, "/model", "opus"), command(2, "/rename", "My cart"), say(3, "Hello.")}, ""},
		{
			"a setting, and then a command",
			[]string{command(1, "/cd", "/work"), command(2, "/audit", ""), say(3, "Done.")},
			"/audit",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc := decode(t, transcript.Options{}, c.lines...)
			if got := doc.Sessions[0].Title; got != c.want {
				t.Errorf("the title is %q, want %q", got, c.want)
			}
		})
	}
}

// TestClaudeShellEdits: what the program shows of a file that changed beside its tools was written by a command that
// names it, and by nobody known otherwise.
func TestClaudeShellEdits(t *testing.T) {
	run := func(sec int, cmd string) string {
		return assistant(sec, fmt.Sprintf(`[{"type":"tool_use","id":"b%d","name":"Bash","input":{"command":%q}}]`, sec, cmd))
	}
	shown := rec("attachment", 9, `"attachment":{"type":"edited_text_file","filename":"/work/shop/cart.go","snippet":"7\tone\n8\ttwo\n\n...\n20→last"}`)
	for _, c := range []struct {
		name  string
		lines []string
		want  []transcript.Hunk
	}{
		{
			"a command that names it",
			[]string{run(2, "sed -i s/1/one/ cart.go"), shown},
			[]transcript.Hunk{{New: []string{"one", "two"}}, {New: []string{"last"}}},
		},
		{"another command", []string{run(2, "make"), shown}, nil},
		{"before the last prompt", []string{run(2, "cat cart.go"), user(3, `"I changed it"`), shown}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []transcript.Hunk
			for _, e := range decode(t, transcript.Options{},
				append([]string{user(1, `"go"`)}, c.lines...)...).Sessions[0].Edits {
				got = append(got, e.Hunks...)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestClaudeGoneWorktree: a file of a worktree that an agent had for itself is the repository's file.
func TestClaudeGoneWorktree(t *testing.T) {
	doc := decode(t, transcript.Options{}, user(1, `"go"`),
		assistant(2, `[{"type":"tool_use","id":"t","name":"Write","input":{"file_path":"/work/shop/.claude/worktrees/agent-a2c0/app/iso.py","content":"x"}}]`))
	if got := doc.Sessions[0].ToolCalls[0].Path; got != "app/iso.py" {
		t.Errorf("the path is %q", got)
	}
}

// What another agent wrote is a subagent's prompt; in a session of a person it is none.
func TestClaudeSubagentPrompt(t *testing.T) {
	line := user(1, `"find the caller"`, `"isSidechain":true,"agentId":"a77","origin":{"kind":"agent"}`)
	file := transcript.File{NativeID: "a77", AgentID: "a77"}
	if diff := cmp.Diff([]string{"human: find the caller"},
		told(decode(t, transcript.Options{File: file}, line))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestClaudeTitles(t *testing.T) {
	ai, custom := rec("ai-title", 3, `"aiTitle":"Cart\tfix\u0007"`), rec("custom-title", 2, `"customTitle":"Mine"`)
	summary := func(leaf string) string {
		return `{"type":"summary","summary":"A summary","leafUuid":"` + leaf + `"}`
	}
	prompt := user(1, `"  fix the cart\nplease"`, `"uuid":"u1"`)
	tests := []struct {
		name  string
		lines []string
		want  string
		kind  transcript.TitleKind
	}{
		{"none", []string{say(1, "A")}, "", transcript.TitleNone},
		{
			"first prompt's first line",
			[]string{say(1, "A"), prompt, user(2, `"later"`)},
			"fix the cart",
			transcript.TitlePrompt,
		},
		{
			"first line that announces",
			[]string{user(1, `"Implement the plan:\n\n# Carts\n\nmore"`)},
			"Implement the plan: # Carts", transcript.TitlePrompt,
		},
		{
			"long prompt",
			[]string{user(1, `"`+strings.Repeat("é", 100)+`"`)},
			strings.Repeat("é", 79) + "…",
			transcript.TitlePrompt,
		},
		{"summary of this session, before its record", []string{summary("u1"), prompt}, "A summary", transcript.TitleSummary},
		{"summary of another", []string{summary("u9"), prompt}, "fix the cart", transcript.TitlePrompt},
		{"agent's title", []string{ai, prompt, summary("u1")}, "Cart fix", transcript.TitleAgent},
		{"user's title", []string{custom, ai, prompt}, "Mine", transcript.TitleUser},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := decode(t, transcript.Options{}, tt.lines...).Sessions[0]
			if s.Title != tt.want || s.TitleKind != tt.kind {
				t.Errorf("title %q of kind %d, want %q of kind %d", s.Title, s.TitleKind, tt.want, tt.kind)
			}
		})
	}
}

func TestSkipped(t *testing.T) {
	deep := strings.Repeat(`[`, 600) + strings.Repeat(`]`, 600)
	tests := []struct {
		name string
		line string
		want transcript.Counts
	}{
		{"no JSON", `half a rec`, transcript.Counts{Malformed: 1}},
		{"no object", `["user"]`, transcript.Counts{Malformed: 1}},
		{"two records on a line", say(1, "A") + say(2, "B"), transcript.Counts{Malformed: 1}},
		{"bad inside", `{"type":"user","message":{"content":nope}}`, transcript.Counts{Malformed: 1}},
		{"nested too deep", `{"type":"user","message":` + deep + `}`, transcript.Counts{Malformed: 1}},
		{"unknown type", `{"type":"hologram"}`, transcript.Counts{Unknown: map[string]int{"hologram": 1}}},
		{"null message", rec("user", 1, `"message":null`), transcript.Counts{Empty: 1}},
		{"message that is text", rec("assistant", 1, `"message":"hm"`), transcript.Counts{Empty: 1}},
		{
			"above the bound", `{"type":"user","message":{"content":"` + strings.Repeat("x", transcript.MaxLine) + `"}}`,
			transcript.Counts{Oversized: 1},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			doc := decode(t, transcript.Options{}, say(1, "before"), tt.line, say(2, "after"))
			if diff := cmp.Diff(tt.want, doc.Skipped); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if diff := cmp.Diff([]string{"assistant: before", "assistant: after"}, told(doc)); diff != "" {
				t.Errorf("the rest (-want +got)\n%s", diff)
			}
		})
	}
}

func TestDecodeFails(t *testing.T) {
	broken := errors.New("disk on fire")
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	r := iotest.ErrReader(broken)
	for name, tt := range map[string]struct {
		ctx  context.Context
		want error
	}{"reader": {context.Background(), broken}, "context": {gone, context.Canceled}} {
		t.Run(name, func(t *testing.T) {
			doc, err := transcript.ClaudeCode{}.Decode(tt.ctx, r, transcript.Options{File: transcript.File{Path: "/x.jsonl"}})
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), `"/x.jsonl"`) {
				t.Errorf("error %v, want %v and the file's name", err, tt.want)
			}
			if diff := cmp.Diff(transcript.Document{}, doc); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
