package transcript

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/git-rekal/git-rekal/internal/session"
)

// codexActs are the tools that touch files or run commands.
//
//nolint:gochecknoglobals // a table
var codexActs = map[string]string{
	"apply_patch": session.ActEdit,
	"view_image":  session.ActRead, "read_file": session.ActRead, "list_dir": session.ActRead, "grep_files": session.ActRead,
	"exec_command": session.ActRun, "shell_command": session.ActRun, "shell": session.ActRun, "local_shell": session.ActRun,
	"container.exec": session.ActRun, "unified_exec": session.ActRun,
}

// tool takes a call. Its arguments are JSON in a string, or (of a custom tool) the text that it is given.
func (d *codexDecoder) tool(kind string, p gjson.Result) {
	u := use{id: p.Get("call_id").Str, tool: p.Get("name").Str}
	if u.tool == "" {
		u.tool = strings.TrimSuffix(kind, "_call")
	}
	u.act = codexActs[u.tool]
	given := p.Get("arguments").Str + p.Get("input").Str
	args := p.Get("action")
	if !args.Exists() && gjson.Valid(given) {
		args = gjson.Parse(given)
	}
	switch {
	case u.act == session.ActEdit:
		if in := args.Get("input"); in.Type == gjson.String { // as a function instead of a custom tool
			given = in.Str
		}
		u.paths, u.edits = patchedFiles(clean(given))
		d.waits(u.id)
	case u.act == session.ActRun:
		u.cmd = codexCommand(args)
		if patch, ok := shellPatch(u.cmd); ok {
			u.act = session.ActEdit
			u.paths, u.edits = patchedFiles(clean(patch))
		}
	case u.act == session.ActRead:
		u.paths = firstOf(args, "path", "file_path", "dir_path")
	case u.tool == "request_user_input":
		d.questions = args.Get("questions")
		d.waits(u.id)
	}
	if space := p.Get("namespace").Str; space != "" {
		u.tool = space + "." + u.tool
	}
	d.call(d.part, u)
}

// firstOf is the first of some members of an object that is text.
func firstOf(in gjson.Result, keys ...string) []string {
	for _, key := range keys {
		if v := in.Get(key); v.Type == gjson.String && v.Str != "" {
			return []string{v.Str}
		}
	}
	return nil
}

// codexCommand is the command of a call: a line, or words of which the last one may be a script.
func codexCommand(args gjson.Result) string {
	for _, key := range []string{"cmd", "command"} {
		switch v := args.Get(key); {
		case v.Type == gjson.String:
			return v.Str
		case v.IsArray():
			var words []string
			for _, w := range v.Array() {
				words = append(words, w.Str)
			}
			if n := len(words); n == 3 && (words[1] == "-lc" || words[1] == "-c") {
				return words[2]
			}
			return strings.Join(words, " ")
		}
	}
	return ""
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
		d.done(d.part, id, !strings.Contains(given, "Success. Updated the following files"))
	case gjson.Valid(given) && gjson.Get(given, "answers").IsObject():
		d.asks(d.part, codexAnswers(d.questions, gjson.Get(given, "answers")))
	}
	d.printed(id, out, given)
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
