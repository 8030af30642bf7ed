package transcript

import (
	"html"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/git-rekal/git-rekal/internal/session"
)

// storyCall is a call of a tool as SpecStory writes it. Each agent's calls look otherwise: paths and commands are where a few forms say so.
type storyCall struct {
	Tool   string      `json:"tool"`
	Act    string      `json:"act,omitempty"`
	Cmd    string      `json:"cmd,omitempty"`
	Files  []storyFile `json:"files,omitempty"`
	Failed bool        `json:"failed,omitempty"`

	bare bool // of 2025
	body []string
}

// storyFile is a file that a call names, and what it did to it.
type storyFile struct {
	Path  string `json:"path"`
	Diff  string `json:"diff,omitempty"`
	Whole string `json:"whole,omitempty"` // all that it holds
}

var (
	storyOpen = lazy.Expr(`^<tool-use\b[^>]*?data-tool-type="([^"]*)" data-tool-name="([^"]*)"([^>]*)>(.*)`)
	storyBare = lazy.Expr(`^Tool use: \*\*([^*]+)\*\*\s*$`)
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
		act := map[string]string{"write": session.ActEdit, "read": session.ActRead, "search": session.ActRead, "shell": session.ActRun}[m[1]]
		return &storyCall{Tool: m[2], Act: act, Failed: strings.Contains(m[3], `"rejected"`), body: []string{m[4]}}
	}
	if m := storyBare.FindStringSubmatch(line); m != nil {
		return &storyCall{Tool: m[1], Act: bareActs[m[1]], bare: true}
	}
	return nil
}

// bareActs are the tools of Cursor in 2025 that touch files or run commands.
//
//nolint:gochecknoglobals // a table
var bareActs = map[string]string{
	"search_replace": session.ActEdit, "edit_file": session.ActEdit, "write": session.ActEdit, "apply_patch": session.ActEdit, "delete_file": session.ActEdit,
	"read_file": session.ActRead, "grep": session.ActRead, "grep_search": session.ActRead, "list_dir": session.ActRead, "codebase_search": session.ActRead,
	"run_terminal_cmd": session.ActRun,
}

// ends reports whether a line outside of code ends the call.
func (c *storyCall) ends(line string) bool {
	if c.bare {
		return strings.TrimSpace(line) == "---"
	}
	return strings.Contains(line, "</tool-use>")
}

// settle finds what the call did.
func (c *storyCall) settle() {
	var s storyReader // for its fences
	var lang string
	var code, lines []string
	for _, line := range c.body {
		was := s.fence
		s.fenced(line)
		switch {
		case was == "" && s.fence != "":
			lang, code = strings.Trim(line, "` "), nil
		case was != "" && s.fence == "":
			c.code(lang, code)
			if lang == "text" || lang == "" { // what the tool said
				lines = append(lines, code...)
			}
		case was != "":
			code = append(code, line)
		default:
			c.plain(line)
			lines = append(lines, line)
		}
	}
	for _, line := range lines {
		if len(c.Files) == 0 || c.Files[0].Path == "" {
			c.names(line)
		}
	}
	c.Files = slices.DeleteFunc(c.Files, func(f storyFile) bool { return f.Path == "" })
}

// plain takes a line outside of code.
func (c *storyCall) plain(line string) {
	line = strings.TrimSuffix(strings.TrimPrefix(line, "<summary>"), "</summary>")
	c.Failed = c.Failed || line == "**Error:**"
	if m := storyCode.FindStringSubmatch(line); m != nil && c.Act == session.ActRun && c.Cmd == "" {
		c.Cmd = m[1]
	}
	if m := storyPath[1].FindStringSubmatch(line); m != nil || c.Act == session.ActEdit && storyPath[0].MatchString(line) {
		c.names(line)
	}
}

// names takes a path that a line says.
func (c *storyCall) names(line string) {
	if c.Act != session.ActEdit && c.Act != session.ActRead {
		return
	}
	for _, form := range storyPath {
		if m := form.FindStringSubmatch(line); m != nil {
			if path := html.UnescapeString(strings.TrimSpace(m[1])); len(c.Files) > 0 && c.Files[0].Path == "" {
				c.Files[0].Path = path
			} else {
				c.Files = append(c.Files, storyFile{Path: path})
			}
			return
		}
	}
}

// code takes code: a command, a diff of the file that was named last, or all that a file holds, which is named behind it.
func (c *storyCall) code(lang string, lines []string) {
	text := strings.Join(lines, "\n")
	switch last := len(c.Files) - 1; {
	case c.Act == session.ActRun && c.Cmd == "" && (lang == "bash" || lang == "sh" || lang == "shell"):
		c.Cmd = text
	case c.Act == session.ActEdit && lang == "diff" && last >= 0:
		c.Files[last].Diff += text + "\n"
	case c.Act == session.ActEdit && lang != "diff" && last < 0 && strings.EqualFold(strings.TrimSuffix(c.Tool, "_file"), "write"):
		c.Files = []storyFile{{Whole: text}}
	}
}

// tool takes a call.
func (d *storyDecoder) tool(c gjson.Result) {
	u := use{id: "call", tool: c.Get("tool").Str, act: c.Get("act").Str, cmd: c.Get("cmd").Str}
	c.Get("files").ForEach(func(_, f gjson.Result) bool {
		e := Edit{Path: f.Get("path").Str}
		u.paths = append(u.paths, e.Path)
		if diff := clean(f.Get("diff").Str); diff != "" {
			if !strings.Contains("\n"+diff, "\n@@") { // of a new file
				diff = "@@\n" + diff
			}
			e.Hunks = diffHunks(diff)
		} else if whole := linesOf(clean(f.Get("whole").Str)); len(whole) > 0 {
			e.Hunks, e.Whole = []Hunk{{New: whole}}, true
		}
		if u.act == session.ActEdit {
			u.edits = append(u.edits, e)
		}
		return true
	})
	d.call(d.part, u)
	d.done(d.part, u.id, c.Get("failed").Bool())
}
