package transcript

import (
	"context"
	"io"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/git-rekal/git-rekal/internal/session"
)

// geminiDecoder is one call of Decode. The file repeats messages: one is written again under its ID when its calls are
// known, and a list of messages ($set) replaces all when a session is resumed (with thoughts among the texts, and the
// time of the resume) or compressed (with a summary as if a person had typed it). Only the first text of a message
// counts, and a list only if no message stands before it.
type geminiDecoder struct {
	decoder
	seenMessages map[string]bool // IDs of messages
	seenCalls    map[string]bool // IDs of calls
	hasMessage   bool            // a message stood outside of a list
}

// Decode reads the records of one session.
func (g Gemini) Decode(ctx context.Context, r io.Reader, opt Options) (Document, error) {
	d := geminiDecoder{
		decoder: newFileDecoder(g.Name(), opt), seenMessages: map[string]bool{},
		seenCalls: map[string]bool{},
	}
	return d.readObjects(ctx, r, d.record)
}

func (d *geminiDecoder) record(rec gjson.Result) {
	set := rec.Get("$set")
	switch {
	case set.Exists():
		d.setSessionFacts(set)
		if list := set.Get("messages"); list.IsArray() && !d.hasMessage {
			list.ForEach(func(_, m gjson.Result) bool { d.message(m); return true })
		}
	case rec.Get("$rewindTo").Exists():
	case rec.Get("id").Exists():
		d.hasMessage = true
		d.message(rec)
	case rec.Get("sessionId").Exists():
		d.setSessionFacts(rec)
	default:
		d.skipped.unknown(stringOf([]byte(rec.Get("type").Raw)))
	}
}

// setSessionFacts takes in what a record says about the whole session: its title, and whether it is a subagent's.
func (d *geminiDecoder) setSessionFacts(rec gjson.Result) {
	d.part.setSessionTitle(TitleAgent, stringOf([]byte(rec.Get("summary").Raw)))
	if rec.Get("kind").Str == "subagent" {
		d.part.sub = true
	}
}

func (d *geminiDecoder) message(m gjson.Result) {
	d.setTime(parseTime([]byte(m.Get("timestamp").Raw)))
	id := truncate(m.Get("id").String(), maxName)
	again := d.seenMessages[id]
	d.seenMessages[strings.Clone(id)] = true
	d.model = m.Get("model").Str
	switch kind := m.Get("type").Str; kind {
	case "user":
		if !again && !d.part.sub { // the prompt of a subagent stands among context that no person typed
			d.addPrompt(d.part, d.promptOf(m))
		}
	case "gemini":
		if !again {
			d.addAnswer(d.part, joinTexts(m.Get("content")))
		}
		m.Get("toolCalls").ForEach(func(_, c gjson.Result) bool { d.tool(c); return true })
		d.addUsage(d.part, id, d.model, m.Get("tokens"), geminiCounts)
	case "info", "error", "warning":
	default:
		d.skipped.unknown(kind)
	}
}

//nolint:gochecknoglobals // a table
var geminiCounts = counts{input: "input", output: "output", thought: "thoughts", read: "cached", cached: true}

// promptOf is what a person typed of a message: nothing where it brings results of tools. A command that the user made
// was told to the model in other words, beside which it stands.
func (d *geminiDecoder) promptOf(m gjson.Result) string {
	content, shown := m.Get("content"), m.Get("displayContent")
	told, own := d.typedIn(content)
	switch {
	case content.Get("#.functionResponse|0").Exists() || own:
		return ""
	case shown.Exists() && shown.Type != gjson.Null:
		told, _ = d.typedIn(shown)
	}
	return told
}

// typedIn is what a person typed of a message's parts, and whether that is a command to the CLI itself. The contents of
// the files that the person named stand behind a part that says so.
func (d *decoder) typedIn(parts gjson.Result) (typed string, ownCommand bool) {
	var kept []string
	for _, part := range parts.Array() { // a text is an array of one, too
		s := part.Str
		if part.IsObject() {
			s = part.Get("text").Str
		}
		if strings.HasPrefix(strings.TrimSpace(s), "--- Content from referenced files ---") {
			break
		}
		kept = append(kept, s)
	}
	told := validText(strings.Join(kept, ""))
	typed = session.TypedByPerson(d.source, told)
	// which a template's name does not stand in
	return typed, geminiCommand.MatchString(typed) && strings.Contains(told, typed)
}

// geminiCommand is a command to the CLI itself: a word behind a slash. A path has more slashes, and a comment begins
// with two signs.
var geminiCommand = lazy.Expr(`^(?:/[A-Za-z][\w:.-]*(?:\s|$)|[/?]$)`)

// geminiTools are the tools that touch files or run commands.
//
//nolint:gochecknoglobals // a table
var geminiTools = toolForms{
	acts: map[string]string{
		"write_file": session.ActEdit, "replace": session.ActEdit, "edit": session.ActEdit,
		"read_file": session.ActRead, "read_many_files": session.ActRead, "list_directory": session.ActRead,
		"glob":        session.ActRead,
		"grep_search": session.ActRead, "search_file_content": session.ActRead,
		"run_shell_command": session.ActRun,
	},
	paths:   []string{"file_path", "absolute_path", "path", "dir_path", "include.0", "paths.0"},
	content: "content", old: "old_string", now: "new_string",
}

// tool takes a call, with its result.
func (d *geminiDecoder) tool(c gjson.Result) {
	id := truncate(c.Get("id").String(), maxName)
	if d.seenCalls[id] {
		return
	}
	if id == "" {
		id = "#" + strconv.Itoa(len(d.part.ToolCalls))
	}
	d.seenCalls[strings.Clone(id)] = true
	d.addCall(d.part, geminiTools.parse(id, c.Get("name").Str, c.Get("args")))
	now := d.ts
	d.setTime(parseTime([]byte(c.Get("timestamp").Raw)))
	if status := c.Get("status").Str; status == "success" || status == "error" || status == "cancelled" {
		d.part.setHunks(id, diffHunks(validText(c.Get("resultDisplay.fileDiff").Str)))
		if strings.HasPrefix(geminiTold(c), "[Operation Cancelled] Reason: User denied") {
			d.part.takeBackWritten(id)
		}
		exit, text := d.output(id, c)
		d.endCall(d.part, id, text, exit, status != "success" || exit != nil && *exit != 0)
	}
	d.ts = now
}
