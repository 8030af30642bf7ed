package transcript

import (
	"cmp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/git-rekal/git-rekal/internal/session"
)

// codexTools are the tools that touch files or run commands.
//
//nolint:gochecknoglobals // a table
var codexTools = toolForms{
	acts: map[string]string{
		"apply_patch": session.ActEdit,
		"view_image":  session.ActRead, "read_file": session.ActRead, "list_dir": session.ActRead,
		"grep_files":   session.ActRead,
		"exec_command": session.ActRun, "shell_command": session.ActRun, "shell": session.ActRun,
		"local_shell":    session.ActRun,
		"container.exec": session.ActRun, "unified_exec": session.ActRun,
	},
	paths:           []string{"path", "file_path", "dir_path"},
	editNeedsResult: true,
}

// addToolCall adds a tool call; kind is the type of the record. The arguments are a string of JSON or, for a custom
// tool, of any text.
func (d *codexDecoder) addToolCall(kind string, payload gjson.Result) {
	tool := cmp.Or(payload.Get("name").Str, strings.TrimSuffix(kind, "_call"))
	input, args := payload.Get("arguments").Str+payload.Get("input").Str, payload.Get("action")
	if !args.Exists() {
		if args = (gjson.Result{Type: gjson.String, Str: input}); gjson.Valid(input) {
			args = gjson.Parse(input)
		}
	}
	if kind == "custom_tool_call" && tool == scriptTool {
		d.beginScript(payload.Get("call_id").Str, input)
		return
	}
	u := codexTools.parse(payload.Get("call_id").Str, tool, args)
	switch patch, ok := shellPatch(u.cmd); {
	case ok:
		u.act, u.needsResult = session.ActEdit, true
		u.paths, u.edits = patchedFiles(validText(patch))
	case tool == "request_user_input":
		d.questions = args.Get("questions")
		u.needsResult = true
	}
	if space := payload.Get("namespace").Str; space != "" {
		u.tool = space + "." + tool
	}
	d.addCall(d.part, u)
}

// addToolResult takes in the result of the call with an ID: whether an edit succeeded, what a person answered, what a
// command printed.
func (d *codexDecoder) addToolResult(id string, out gjson.Result) {
	text := out.Str
	if out.Type != gjson.String {
		text = out.Raw
	}
	calls := d.part.calls[id]
	edits := len(calls) > 0 && d.part.ToolCalls[calls[0]].Act == session.ActEdit
	if !edits && gjson.Valid(text) && gjson.Get(text, "answers").IsObject() {
		d.addPrompt(d.part, codexAnswers(d.questions, gjson.Get(text, "answers")))
	}
	d.addOutput(id, out, text)
	d.finishCall(d.part, id, edits && !strings.Contains(text, "Success. Updated the following files"))
}

// codexAnswers puts together what a person chose when the agent asked: each question with its answer.
func codexAnswers(questions, answers gjson.Result) string {
	var kept []string
	answers.ForEach(func(id, a gjson.Result) bool {
		var words []string
		for _, w := range a.Get("answers").Array() {
			words = append(words, w.String())
		}
		if answer := strings.TrimSpace(strings.Join(words, ", ")); answer != "" {
			kept = append(kept, formatAnswer(questionOf(questions, id.Str), answer))
		}
		return true
	})
	return strings.Join(kept, "\n\n")
}

// questionOf is the text of the question with an ID.
func questionOf(questions gjson.Result, id string) string {
	for _, q := range questions.Array() {
		if q.Get("id").Str == id {
			return q.Get("question").Str
		}
	}
	return ""
}

// formatAnswer puts a question before its answer, since neither means much alone.
func formatAnswer(question, answer string) string {
	if question = strings.TrimSpace(question); question == "" {
		return "A: " + answer
	}
	return "Q: " + question + "\nA: " + answer
}
