package transcript

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/git-rekal/git-rekal/internal/session"
)

// In code mode a model of Codex has one tool, exec: a script in JavaScript that calls the others. What the script
// called stands in events, under IDs of their own, mostly before the script's output. Versions before 0.150 say so of
// edits only: then a command is what the script's text says.

// codexScript is a script whose output is not there yet.
type codexScript struct {
	id, text string
	told     map[string]bool // by session.ToolCall.Act: what events said that it did
}

// scriptTool is the tool of code mode, and scriptID how the IDs of what a script calls begin.
const (
	scriptTool = "exec"
	scriptID   = "exec-"
)

// beginScript takes a script. A read that ends before its output ends before it.
func (d *codexDecoder) beginScript(id, text string) {
	d.scripts = append(d.scripts, codexScript{strings.Clone(id), strings.Clone(text), map[string]bool{}})
	d.awaitResult(id)
}

// isScripts reports whether an ID is that of a call which no record but an event tells of: a script made it.
func (d *codexDecoder) isScripts(id string) bool {
	return len(d.part.calls[id]) == 0 && (len(d.scripts) > 0 || strings.HasPrefix(id, scriptID))
}

// addScripted adds a call that a script made, which has ended.
func (d *codexDecoder) addScripted(u toolUse, text string, exit *int, failed bool) {
	if len(d.scripts) > 0 {
		d.scripts[len(d.scripts)-1].told[u.act] = true
	}
	d.addCall(d.part, u)
	d.endCall(d.part, u.id, text, exit, failed)
}

// endScript takes the output of a script. In a session without items, what no event told of is what the script's text
// says.
func (d *codexDecoder) endScript(id, output string) (ok bool) {
	i := slices.IndexFunc(d.scripts, func(s codexScript) bool { return s.id == id })
	if i < 0 {
		return false
	}
	s := d.scripts[i]
	d.scripts = slices.Delete(d.scripts, i, i+1)
	delete(d.open, id)
	head, said, _ := strings.Cut(output, "Output:\n")
	failed := strings.HasPrefix(head, "Script failed")
	calls := slices.DeleteFunc(scriptCalls(s.text),
		func(c scriptCall) bool { return d.itemized || s.told[codexTools.acts[c.tool]] })
	if len(calls) == 0 && len(s.told) == 0 && (!d.itemized || !strings.Contains(s.text, "tools")) {
		calls = []scriptCall{{tool: scriptTool}}
	}
	for _, c := range calls {
		u := toolUse{id: id, tool: c.tool, act: codexTools.acts[c.tool]}
		switch u.act {
		case session.ActEdit:
			u.paths, u.edits = patchedFiles(validText(c.argument))
		case session.ActRead:
			u.paths = []string{c.argument}
		case session.ActRun:
			u.cmd = c.argument
		}
		if len(calls) > 1 {
			said = "" // whose it is nobody knows
		}
		d.addScripted(u, strings.TrimSpace(said), nil, failed)
	}
	return true
}

// abandonScripts ends the scripts to which nothing was answered.
func (d *codexDecoder) abandonScripts() {
	for len(d.scripts) > 0 {
		d.endScript(d.scripts[0].id, "")
	}
}

// addExecution takes a command that a script ran, as item_completed tells it or (before 0.150) an event of its own.
func (d *codexDecoder) addExecution(id string, e gjson.Result, failed bool) {
	exit := exitOf(e.Get("exit_code"))
	u := toolUse{id: id, tool: "exec_command", act: session.ActRun, cmd: commandIn(e)}
	d.addScripted(u, e.Get("aggregated_output").Str, exit, failed || exit != nil && *exit != 0)
}

// addServerCall takes a call of an MCP server that a script made.
func (d *codexDecoder) addServerCall(id string, of gjson.Result, failed bool) {
	server := strings.ReplaceAll(of.Get("server").Str, "-", "_") // as a call without a script names it
	d.addScripted(toolUse{id: id, tool: "mcp__" + server + "." + of.Get("tool").Str}, "", nil, failed)
}

// scriptCall is a call that the text of a script makes, with the one argument that counts: a command, a patch, a path.
type scriptCall struct{ tool, argument string }

// maxScriptCalls bounds the calls that are read of one script.
const maxScriptCalls = 200

// scriptCalls finds the calls of tools in a script: tools.exec_command({cmd: "go test"}), tools.apply_patch(patch).
// Values are texts, or names of constants that are; what is computed is left out.
func scriptCalls(text string) (calls []scriptCall) {
	s := scriptReader{tokens: scriptTokens(text), values: map[string]string{}}
	for s.at < len(s.tokens) && len(calls) < maxScriptCalls {
		switch t := s.next(); {
		case t.isAnyName("const", "let", "var") && s.peek(1).is("="):
			name := s.next()
			s.next()
			if v, ok := s.value(); ok {
				s.values[name.text] = v
			}
		case t.isAnyName("tools"):
			if tool := s.toolName(); tool != "" {
				calls = append(calls, scriptCall{tool, s.argument()})
			}
		}
	}
	return calls
}

// scriptReader reads the tokens of a script.
type scriptReader struct {
	tokens []scriptToken
	at     int
	values map[string]string // of constants
}

func (s *scriptReader) peek(n int) scriptToken {
	if s.at+n >= len(s.tokens) {
		return scriptToken{}
	}
	return s.tokens[s.at+n]
}

func (s *scriptReader) next() scriptToken {
	t := s.peek(0)
	s.at++
	return t
}

// toolName reads ".exec_command(" or `["exec_command"](`; "" for anything else.
func (s *scriptReader) toolName() string {
	name := s.peek(1)
	switch {
	case s.peek(0).is(".") && name.kind == scriptName && s.peek(2).is("("):
		s.at += 3
	case s.peek(0).is("[") && name.kind == scriptText && s.peek(2).is("]") && s.peek(3).is("("):
		s.at += 4
	default:
		return ""
	}
	return name.text
}

// argument reads the first argument of a call: a value, or that of a member which says what is run, patched or looked
// at.
func (s *scriptReader) argument() string {
	if v, ok := s.value(); ok {
		return v
	}
	if !s.peek(0).is("{") {
		return ""
	}
	for depth := 0; s.at < len(s.tokens); {
		switch t := s.next(); {
		case t.is("{"), t.is("["), t.is("("):
			depth++
		case t.is("}"), t.is("]"), t.is(")"):
			if depth--; depth == 0 {
				return ""
			}
		case depth == 1 && slices.Contains([]string{"cmd", "command", "input", "patch", "path"}, t.text):
			if !s.peek(0).is(":") { // {cmd}
				return s.values[t.text]
			}
			s.next()
			if v, ok := s.value(); ok {
				return v
			}
		}
	}
	return ""
}

// value reads texts and names of constants that are added up; it reports false, and stays, where something else stands.
func (s *scriptReader) value() (string, bool) {
	var v strings.Builder
	for from := s.at; ; s.next() {
		t := s.next()
		held, known := s.values[t.text]
		switch {
		case t.kind == scriptText:
			v.WriteString(t.text)
		case t.kind == scriptName && known:
			v.WriteString(held)
		default:
			s.at = from
			return "", false
		}
		if v.Len() > maxCmd || !s.peek(0).is("+") {
			return v.String(), true
		}
	}
}
