package transcript

import (
	"cmp"
	"html"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/git-rekal/git-rekal/internal/session"
)

// storyCall is a call of a tool as SpecStory writes it. Each agent's calls look otherwise: paths and commands are where
// a few forms say so.
type storyCall struct {
	toolUse
	files  []storyFile
	failed bool
	bare   bool // of 2025
	left   bool // a line of its code ends it: the output holds a fence that opens code, and closes none
	body   []string
}

// storyFile is a file that a call names, and what it did to it.
type storyFile struct {
	path, diff string
	whole      string // all that it holds
}

var (
	storyOpen = lazy.Expr(`^<tool-use\b[^>]*?data-tool-type="([^"]*)" data-tool-name="([^"]*)"([^>]*)>(.*)`)
	storyBare = lazy.Expr(`^Tool use: \*\*([^*]+)\*\*(?: .*)?$`)
	storyCode = lazy.Expr("^ ?`(.+)`$")
)

// storyPath are the forms in which calls name a file.
//
//nolint:gochecknoglobals // a table
var storyPath = [...]*lazy.Regexp{
	lazy.Expr(`(?:Read|Edit|Write|Create|Delete)d? file: (.+?)(?:</summary>.*)?$`),
	lazy.Expr("^\\*\\*(?:Add|Modify|Update|Delete): `(.+)`\\*\\*$"),
	lazy.Expr(`^The file (.+) has been (?:updated|created)`),
	lazy.Expr(`^File created successfully at: (.+?)(?: \(.*\))?$`),
	lazy.Expr("^- (?:file_path|filePath|absolute_path|path): `(.+)`$"),
	lazy.Expr("^ (?:path )?`([^`]+)`"),
}

// beginsCall is the call that a line begins; nil where it begins none.
func beginsCall(line string) *storyCall {
	if m := storyOpen.FindStringSubmatch(line); m != nil {
		act := map[string]string{
			"write": session.ActEdit, "read": session.ActRead, "search": session.ActRead,
			"shell": session.ActRun,
		}[m[1]]
		return &storyCall{
			toolUse: toolUse{id: "call", tool: m[2], act: act}, failed: strings.Contains(m[3], `"rejected"`),
			body: []string{m[4]},
		}
	}
	if m := storyBare.FindStringSubmatch(line); m != nil {
		return &storyCall{
			toolUse: toolUse{id: "call", tool: m[1], act: cmp.Or(bareActs[m[1]], claudeTools.acts[m[1]])},
			bare:    true,
		}
	}
	return nil
}

// bareActs are the tools of Cursor in 2025 that touch files or run commands.
//
//nolint:gochecknoglobals // a table
var bareActs = map[string]string{
	"search_replace": session.ActEdit, "edit_file": session.ActEdit, "write": session.ActEdit,
	"apply_patch": session.ActEdit, "delete_file": session.ActEdit,
	"read_file": session.ActRead, "grep": session.ActRead, "grep_search": session.ActRead, "list_dir": session.ActRead,
	"codebase_search":  session.ActRead,
	"run_terminal_cmd": session.ActRun,
}

// ends reports whether a line outside of code ends the call.
func (c *storyCall) ends(line string) bool {
	if c.bare {
		return strings.TrimSpace(line) == "---"
	}
	return strings.Contains(line, "</tool-use>")
}

// finish finds what the call did.
func (c *storyCall) finish() {
	var now fence
	var lang string
	var code, lines []string
	for _, line := range c.body {
		was := now
		now.nextLine(line)
		switch {
		case was == "" && now != "":
			lang, code = strings.Trim(line, "` "), nil
		case was != "" && now == "":
			c.addCode(lang, code)
			if lang == "text" || lang == "" { // what the tool said
				lines = append(lines, code...)
			}
		case was != "":
			code = append(code, line)
		default:
			c.addPlain(line)
			lines = append(lines, line)
		}
	}
	for _, line := range lines {
		if len(c.files) == 0 || c.files[0].path == "" {
			c.addPath(line)
		}
	}
	c.files = slices.DeleteFunc(c.files, func(f storyFile) bool { return f.path == "" })
}

// addPlain takes a line outside of code.
func (c *storyCall) addPlain(line string) {
	line = strings.TrimSuffix(strings.TrimPrefix(line, "<summary>"), "</summary>")
	c.failed = c.failed || line == "**Error:**"
	if m := storyCode.FindStringSubmatch(line); m != nil && c.act == session.ActRun && c.cmd == "" {
		c.cmd = m[1]
	}
	if m := storyPath[1].FindStringSubmatch(line); m != nil || c.act == session.ActEdit && storyPath[0].MatchString(line) {
		c.addPath(line)
	}
}

// addPath takes a path that a line says.
func (c *storyCall) addPath(line string) {
	if c.act != session.ActEdit && c.act != session.ActRead {
		return
	}
	for _, form := range storyPath {
		if m := form.FindStringSubmatch(line); m != nil {
			if path := html.UnescapeString(strings.TrimSpace(m[1])); len(c.files) > 0 && c.files[0].path == "" {
				c.files[0].path = path
			} else {
				c.files = append(c.files, storyFile{path: path})
			}
			return
		}
	}
}

// addCode takes code: a command, a diff of the file that was named last, or all that a file holds, which is named
// behind it.
func (c *storyCall) addCode(lang string, lines []string) {
	text := strings.Join(lines, "\n")
	switch last := len(c.files) - 1; {
	case c.act == session.ActRun && c.cmd == "" && (lang == "bash" || lang == "sh" || lang == "shell"):
		c.cmd = text
	case c.act == session.ActEdit && lang == "diff" && last >= 0:
		c.files[last].diff += text + "\n"
	case c.act == session.ActEdit && lang != "diff" && last < 0 &&
		strings.EqualFold(strings.TrimSuffix(c.tool, "_file"), "write"):
		c.files = []storyFile{{whole: text}}
	}
}

// tool takes a call.
func (d *storyDecoder) tool(c *storyCall) {
	for _, f := range c.files {
		e := Edit{Path: f.path}
		if diff := validText(f.diff); diff != "" {
			if !strings.Contains("\n"+diff, "\n@@") { // of a new file
				diff = "@@\n" + diff
			}
			e.Hunks = diffHunks(diff)
		} else if whole := linesOf(f.whole); len(whole) > 0 {
			e.Hunks, e.FullContent = []Hunk{{New: whole}}, true
		}
		c.paths, c.edits = append(c.paths, f.path), append(c.edits, e)
	}
	if c.act != session.ActEdit {
		c.edits = nil
	}
	d.addCall(d.part, c.toolUse)
	d.finishCall(d.part, c.id, c.failed)
}
