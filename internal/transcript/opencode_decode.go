package transcript

import (
	"cmp"
	"context"
	"io"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/git-rekal/git-rekal/internal/session"
)

// openCodeDecoder is one call of Decode. An answer is written while it is given. Of the last one, what is not done
// waits, and all that follows, so that it stands in its order when it is done.
type openCodeDecoder struct {
	decoder
	role   string // of the message
	skip   bool   // the message is no part of the conversation
	over   bool   // nothing is added to the last answer
	prompt []string
	step   struct { // what was called in this message, at whose end files are compared
		ran, others bool            // a command, a subagent
		named       map[string]bool // files that calls edited
	}
	held []string // records that wait
}

// Decode reads the rows of one session, as Open gives them.
func (OpenCode) Decode(ctx context.Context, r io.Reader, opt Options) (Document, error) {
	return openCode.decode(ctx, r, opt)
}

func (o openCodeKind) decode(ctx context.Context, r io.Reader, opt Options) (Document, error) {
	d := openCodeDecoder{decoder: newFileDecoder(o.name, opt), over: true}
	d.step.named = map[string]bool{}
	end, err := d.records(ctx, r, d.line)
	if err != nil {
		return Document{}, err
	}
	d.ask()
	return d.closeDocument(end), nil
}

// line takes one row; it reports whether the line is one.
func (d *openCodeDecoder) line(ln []byte) bool {
	row, ok := parseObject(ln)
	if !ok {
		return false
	}
	switch m := row.Get("message"); {
	case m.Get("role").Str == session.RoleAssistant:
		held := d.held
		d.held, d.over = nil, true // it was given up
		for _, row := range held {
			d.row(gjson.Parse(row))
		}
	case len(d.held) > 0, m.Exists() && !d.over:
		d.held = append(d.held, string(ln))
		return true
	}
	if !d.row(row) {
		d.held = append(d.held, string(ln))
	}
	return true
}

// row takes a row; it reports whether it is done.
func (d *openCodeDecoder) row(row gjson.Result) bool {
	s, m, p := row.Get("session"), row.Get("message"), row.Get("part")
	switch {
	case s.Exists():
		d.about(s)
	case m.Exists():
		d.message(m)
	case p.Exists():
		return d.piece(p)
	default:
		d.skipped.unknown(cmp.Or(row.Get("unknown").Str, "row"))
	}
	return true
}

// about takes what is said of the session as a whole.
func (d *openCodeDecoder) about(s gjson.Result) {
	d.version = ledgerNameOf(s.Get("version"))
	if d.part.ParentNative = ledgerNameOf(s.Get("parent")); d.part.ParentNative != "" {
		d.part.sub = true
	}
	d.enterFolder(d.part, validText(s.Get("directory").Str))
	title := validText(s.Get("title").Str)
	if !strings.HasPrefix(title, "New session - ") && !strings.HasPrefix(title, "Child session - ") {
		d.part.setSessionTitle(TitleAgent, title)
	}
}

func (d *openCodeDecoder) message(m gjson.Result) {
	d.ask()
	d.step.ran, d.step.others, d.step.named = false, false, map[string]bool{}
	d.setTime(parseTime([]byte(m.Get("created").Raw)))
	d.role, d.model = m.Get("role").Str, m.Get("model").Str
	d.skip = d.role == session.RoleAssistant && m.Get("summary").Bool()
	if d.role == session.RoleAssistant {
		d.over = m.Get("done").Bool()
		d.addUsage(d.part, m.Get("id").Str+" "+m.Get("created").Raw, d.model, m, openCodeCounts) // an export may hold no IDs
	}
}

//nolint:gochecknoglobals // a table
var openCodeCounts = counts{
	input: "tokens.input", output: "tokens.output", thought: "tokens.reasoning", read: "tokens.cache.read",
	written: "tokens.cache.write", cost: "cost",
	total: "tokens.total",
}

// ask gives the prompt of a message that is read.
func (d *openCodeDecoder) ask() {
	d.addPrompt(d.part, strings.Join(d.prompt, "\n\n"))
	d.prompt = nil
}

// piece takes a part of a message; it reports whether that is done.
func (d *openCodeDecoder) piece(p gjson.Result) bool {
	kind := p.Get("type").Str
	switch {
	case d.skip:
	case d.role != session.RoleAssistant:
		if kind == "subtask" { // a command of the person; its prompt is a template
			d.prompt = append(d.prompt, "/"+p.Get("command").Str)
		} else if s := validText(p.Get("text").Str); kind == "text" && !p.Get("synthetic").Bool() &&
			!p.Get("ignored").Bool() && strings.TrimSpace(s) != "" {
			d.prompt = append(d.prompt, strings.Clone(s))
		}
	case kind == "text":
		if !d.over && p.Get("end").Type != gjson.Number {
			return false
		}
		now := d.ts
		d.setTime(parseTime([]byte(p.Get("start").Raw)))
		d.addAnswer(d.part, p.Get("text").Str)
		d.ts = now
	case kind == "patch":
		d.patched(p)
	case kind == "tool":
		if !d.over && p.Get("status").Str == "pending" { // what it is asked is not there yet
			return false
		}
		d.tool(p)
	}
	return true
}

// patched takes which files changed in a step. What no call edited, a command did that ran in it; beside a subagent
// nobody knows.
func (d *openCodeDecoder) patched(p gjson.Result) {
	u := toolUse{id: "patch", tool: "patch", act: session.ActEdit}
	p.Get("files").ForEach(func(_, f gjson.Result) bool {
		if path := d.places.toolPath(validText(f.Str), d.part.cwd); path != "" && !d.step.named[path] &&
			len(u.paths) < maxPatched {
			u.paths = append(u.paths, f.Str)
		}
		return true
	})
	if d.step.ran && !d.step.others && len(u.paths) > 0 {
		d.addCall(d.part, u)
	}
}

// openCodeTools are the tools that touch files or run commands.
//
//nolint:gochecknoglobals // a table
var openCodeTools = toolForms{
	acts: map[string]string{
		"edit": session.ActEdit, "write": session.ActEdit, "multiedit": session.ActEdit, "apply_patch": session.ActEdit,
		"patch": session.ActEdit,
		"read":  session.ActRead, "grep": session.ActRead, "glob": session.ActRead, "list": session.ActRead,
		"bash": session.ActRun, "shell": session.ActRun,
	},
	paths:   []string{"filePath", "path"},
	content: "content", old: "oldString", now: "newString",
}

// tool takes a call, with its result where it has one.
func (d *openCodeDecoder) tool(p gjson.Result) {
	u := openCodeTools.parse(cmp.Or(p.Get("callID").Str, "?"), p.Get("tool").Str, p.Get("input"))
	d.addCall(d.part, u)
	d.step.ran, d.step.others = d.step.ran || u.act == session.ActRun, d.step.others || u.tool == "task"
	if u.act == session.ActEdit {
		for _, path := range u.paths {
			d.step.named[d.places.toolPath(validText(path), d.part.cwd)] = true
		}
	}
	now := d.ts
	d.setTime(parseTime([]byte(p.Get("ended").Raw)))
	if status := p.Get("status").Str; status == "completed" || status == "error" {
		d.part.setDiff(u.id, p.Get("diff").Str)
		exit := exitOf(p.Get("exit"))
		d.endCall(d.part, u.id, openCodeNotes.ReplaceAllString(p.Get("output").Str, ""), exit,
			status == "error" || exit != nil && *exit != 0)
	}
	delete(d.part.asked, u.id)
	d.ts = now
}
