package transcript

import (
	"slices"

	"github.com/tidwall/gjson"

	"github.com/git-rekal/git-rekal/internal/session"
)

// result takes what a call's result says that it did to a file. Claude Code says it exactly, in structuredPatch; where it
// does not (a version that kept no results), what was asked for counts.
func (d *claudeDecoder) result(p *part, content gjson.Result) {
	blocks := slices.DeleteFunc(content.Array(), func(b gjson.Result) bool { return b.Get("type").Str != "tool_result" })
	said := gjson.ParseBytes(d.rec.toolResult)
	for _, b := range blocks {
		id := b.Get("tool_use_id").Str
		asked := len(p.asked[id]) > 0
		var e Edit
		if asked {
			e = p.asked[id][0]
		}
		delete(p.asked, id)
		if b.Get("is_error").Bool() {
			continue
		}
		if path := said.Get("filePath"); path.Type == gjson.String && len(blocks) == 1 {
			e.Path = d.places.file(clean(path.Str), p.cwd)
			if hunks, ok := patched(said); ok {
				e.Hunks, e.Whole = hunks, false
			} else if !asked {
				continue
			}
		}
		d.edited(p, e)
	}
}

// patched reads what the result of an edit says. A file that was made has no patch, and all of it is new.
func patched(said gjson.Result) (hunks []Hunk, ok bool) {
	for _, h := range said.Get("structuredPatch").Array() {
		var lines []string
		for _, l := range h.Get("lines").Array() {
			lines = append(lines, l.Str)
		}
		hunks = append(hunks, hunkOf(lines))
	}
	if len(hunks) == 0 && said.Get("type").Str == "create" {
		hunks = []Hunk{{New: linesOf(said.Get("content").Str)}}
	}
	return hunks, said.Get("structuredPatch").IsArray()
}

// claudeActs are the tools that touch files or run commands.
//
//nolint:gochecknoglobals // a table
var claudeActs = map[string]string{
	"Edit": session.ActEdit, "MultiEdit": session.ActEdit, "Write": session.ActEdit, "NotebookEdit": session.ActEdit,
	"Read": session.ActRead, "NotebookRead": session.ActRead, "Grep": session.ActRead, "Glob": session.ActRead, "LS": session.ActRead,
	"Bash": session.ActRun,
}
