package transcript

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/git-rekal/git-rekal/internal/session"
)

// toolForms describes the tools of an agent: what each tool does, and which members of its input hold paths, contents
// and commands.
type toolForms struct {
	acts  map[string]string // by the name of a tool that touches files or runs commands: session.ToolCall.Act
	paths []string          // members that may name the file; the first one that is there counts
	// Members of an edit: all that the file shall hold, a text to be replaced, and what comes in its place. An edit
	// without a path may hold a patch instead (patch.go).
	content, old, now string
	// Only the result of an edit tells what was edited, or whether it was: a read ends before an edit whose result is not
	// there yet.
	editNeedsResult bool
}

// editingTools are the tools that edit.
func (f *toolForms) editingTools() (names []string) {
	for name, act := range f.acts {
		if act == session.ActEdit {
			names = append(names, name)
		}
	}
	return names
}

// parse reads the input of a tool call: the text of a command, the changes that an edit asks for.
func (f *toolForms) parse(id, tool string, input gjson.Result) toolUse {
	u := toolUse{id: id, tool: tool, act: f.acts[tool]}
	switch u.act {
	case session.ActRun:
		u.cmd = commandIn(input)
	case session.ActRead:
		u.paths = firstText(input, f.paths...)
	case session.ActEdit:
		u.needsResult = f.editNeedsResult
		if u.paths = firstText(input, f.paths...); len(u.paths) == 0 {
			u.paths, u.edits = patchedFiles(validText(patchIn(input)))
			break
		}
		u.edits = requestedEdits(u.paths, input, f.content, f.old, f.now)
	}
	return u
}

// firstText is the first of some members of an object that is text.
func firstText(in gjson.Result, members ...string) []string {
	for _, member := range members {
		if v := in.Get(member); v.Type == gjson.String && v.Str != "" {
			return []string{v.Str}
		}
	}
	return nil
}

// patchIn is the patch that the input of an edit is or holds; "" for none.
func patchIn(input gjson.Result) string {
	return input.Str + strings.Join(firstText(input, "input", "patch", "patchText"), "")
}

// commandIn is the command of a call: a line, words of which the last one may be a script, or several lines.
func commandIn(input gjson.Result) string {
	for _, member := range [...]string{"cmd", "command", "commands"} {
		v := input.Get(member)
		if v.Type == gjson.String {
			return v.Str
		}
		var words []string
		v.ForEach(func(_, w gjson.Result) bool { words = append(words, w.Str+w.Get("command").Str); return true })
		switch {
		case len(words) == 0:
		case member == "commands":
			return strings.Join(words, "\n")
		case len(words) == 3 && slices.Contains([]string{"-lc", "-c"}, words[1]):
			return words[2]
		default:
			return strings.Join(words, " ")
		}
	}
	return ""
}

// requestedEdits is what the arguments of a call ask to be done to the file that it names: to hold a text, or a text in
// the place of another. They may ask for several of these.
func requestedEdits(paths []string, args gjson.Result, whole, old, now string) []Edit {
	e := Edit{Path: paths[0]}
	if all := args.Get(whole); all.Type == gjson.String {
		e.Hunks, e.FullContent = []Hunk{{New: linesOf(all.Str)}}, true
		return []Edit{e}
	}
	for _, one := range append(args.Get("edits").Array(), args) {
		if h := (Hunk{linesOf(one.Get(old).Str), linesOf(one.Get(now).Str)}); len(h.Old)+len(h.New) > 0 {
			e.Hunks = append(e.Hunks, h)
		}
	}
	return []Edit{e}
}
