package transcript

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/git-rekal/git-rekal/internal/session"
)

// addResults takes how calls ended: which failed, what commands printed, what was done to a file. Claude Code says that
// exactly, in structuredPatch; where it does not (a version that kept no results), what was asked for counts.
func (d *claudeDecoder) addResults(p *part, content gjson.Result) {
	blocks := slices.DeleteFunc(content.Array(), func(b gjson.Result) bool { return b.Get("type").Str != "tool_result" })
	said := gjson.ParseBytes(d.rec.toolResult)
	for _, b := range blocks {
		id, failed := b.Get("tool_use_id").Str, b.Get("is_error").Bool()
		if _, ok := p.heard.pending[id]; ok || failed || p.mayHaveCommitted(id) {
			result := joinTexts(b.Get("content"))
			if failed && claudeNeverRan(result) {
				p.takeBackWritten(id)
			}
			exit, text := claudeOutput(result, failed)
			d.addOutput(p, id, text, exit, failed)
		}
		if path := said.Get("filePath"); path.Type == gjson.String && len(blocks) == 1 {
			at := d.places.toolPath(validText(path.Str), p.cwd)
			if hunks, ok := structuredHunks(said); ok {
				p.asked[id] = []Edit{{Path: at, Hunks: hunks}}
			} else if asked := p.asked[id]; len(asked) > 0 {
				asked[0].Path = at
			}
		}
		d.finishCall(p, id, failed)
	}
}

// structuredHunks reads what the result of an edit says. A file that was made has no patch, and all of it is new.
func structuredHunks(patch gjson.Result) (hunks []Hunk, ok bool) {
	var lines []string
	for _, h := range patch.Get("structuredPatch").Array() {
		lines = append(lines, "@@")
		for _, l := range h.Get("lines").Array() {
			lines = append(lines, l.Str)
		}
	}
	if len(lines) == 0 && patch.Get("type").Str == "create" {
		return []Hunk{{New: linesOf(patch.Get("content").Str)}}, patch.Get("structuredPatch").IsArray()
	}
	return hunksOf(lines), patch.Get("structuredPatch").IsArray()
}

// claudeNumbered is a line of a file as Claude Code shows it: its number and its text.
var claudeNumbered = lazy.Expr(`^\s*\d+(?:\t|→)(.*)$`)

// addShellEdit takes what the program shows of a file that was changed beside its tools. Where a command since the last
// prompt names the file, the command wrote that; else it may be anybody's.
func (d *claudeDecoder) addShellEdit(p *part, shown gjson.Result) {
	path := validText(shown.Get("filename").Str)
	if name := path[strings.LastIndexAny(path, `/\`)+1:]; name == "" || !strings.Contains(d.ran, name) {
		return
	}
	var lines []string
	for l := range strings.SplitSeq(validText(shown.Get("snippet").Str), "\n") {
		if m := claudeNumbered.FindStringSubmatch(l); m != nil {
			lines = append(lines, "+"+m[1])
		} else {
			lines = append(lines, "@@")
		}
	}
	d.addEdit(p, Edit{Path: d.places.toolPath(path, p.cwd), Hunks: hunksOf(lines)})
}

// claudeTools are the tools that touch files or run commands.
//
//nolint:gochecknoglobals // a table
var claudeTools = toolForms{
	acts: map[string]string{
		"Edit": session.ActEdit, "MultiEdit": session.ActEdit, "Write": session.ActEdit, "NotebookEdit": session.ActEdit,
		"Read": session.ActRead, "NotebookRead": session.ActRead, "Grep": session.ActRead, "Glob": session.ActRead,
		"LS":   session.ActRead,
		"Bash": session.ActRun,
	},
	paths:   []string{"file_path", "notebook_path", "path"},
	content: "content", old: "old_string", now: "new_string",
}
