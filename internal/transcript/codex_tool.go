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
		"view_image":  session.ActRead, "read_file": session.ActRead, "list_dir": session.ActRead, "grep_files": session.ActRead,
		"exec_command": session.ActRun, "shell_command": session.ActRun, "shell": session.ActRun, "local_shell": session.ActRun,
		"container.exec": session.ActRun, "unified_exec": session.ActRun,
	},
	paths:       []string{"path", "file_path", "dir_path"},
	resultTells: true,
}

// tool takes a call. Its arguments are JSON in a string, or (of a custom tool) the text that it is given.
func (d *codexDecoder) tool(kind string, p gjson.Result) {
	tool := cmp.Or(p.Get("name").Str, strings.TrimSuffix(kind, "_call"))
	given, args := p.Get("arguments").Str+p.Get("input").Str, p.Get("action")
	if !args.Exists() {
		if args = (gjson.Result{Type: gjson.String, Str: given}); gjson.Valid(given) {
			args = gjson.Parse(given)
		}
	}
	u := codexTools.use(p.Get("call_id").Str, tool, args)
	switch patch, ok := shellPatch(u.cmd); {
	case ok:
		u.act, u.waits = session.ActEdit, true
		u.paths, u.edits = patchedFiles(validText(patch))
	case tool == "request_user_input":
		d.questions = args.Get("questions")
		u.waits = true
	}
	if space := p.Get("namespace").Str; space != "" {
		u.tool = space + "." + tool
	}
	d.addCall(d.part, u)
}

// output takes a call's result.
func (d *codexDecoder) output(id string, out gjson.Result) {
	given := out.Str
	if out.Type != gjson.String {
		given = out.Raw
	}
	calls := d.part.calls[id]
	switch {
	case len(calls) > 0 && d.part.ToolCalls[calls[0]].Act == session.ActEdit:
		d.finishCall(d.part, id, !strings.Contains(given, "Success. Updated the following files"))
	case gjson.Valid(given) && gjson.Get(given, "answers").IsObject():
		d.addPrompt(d.part, codexAnswers(d.questions, gjson.Get(given, "answers")))
	}
	d.addOutput(id, out, given)
	delete(d.open, id)
}

// codexAnswers is what a person chose when the agent asked: each question with its answer.
func codexAnswers(questions, answers gjson.Result) string {
	var kept []string
	answers.ForEach(func(id, a gjson.Result) bool {
		var words []string
		for _, w := range a.Get("answers").Array() {
			words = append(words, w.String())
		}
		if answer := strings.TrimSpace(strings.Join(words, ", ")); answer != "" {
			kept = append(kept, answered(questionOf(questions, id.Str), answer))
		}
		return true
	})
	return strings.Join(kept, "\n\n")
}

// questionOf is the question with an ID.
func questionOf(questions gjson.Result, id string) string {
	for _, q := range questions.Array() {
		if q.Get("id").Str == id {
			return q.Get("question").Str
		}
	}
	return ""
}

// answered is a question with its answer, since neither means much alone.
func answered(question, answer string) string {
	if question = strings.TrimSpace(question); question == "" {
		return "A: " + answer
	}
	return "Q: " + question + "\nA: " + answer
}
