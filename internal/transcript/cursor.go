package transcript

import (
	"cmp"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Cursor reads the transcripts of Cursor's agents, in the editor and in the terminal:
//
//	<home>/projects/<folder>/agent-transcripts/<session ID>.jsonl, or <session ID>/<session ID>.jsonl
//	<home>/projects/<folder>/agent-transcripts/<session ID>/subagents/<agent ID>.jsonl
//
// where <home> is ${CURSOR_CONFIG_DIR:-~/.cursor} and <folder> encodes the working folder, with loss. Records have no
// time, no ID, no result of a tool and no folder. So all of one read is as old as the file, a call is taken to be done,
// and paths tell whether the folder is the one that was meant.
type Cursor struct{}

// Name is the source of the sessions.
func (Cursor) Name() string { return "cursor" }

// Locate lists the transcripts in the folders named like a folder of the repository.
func (Cursor) Locate(ctx context.Context, env Env) (Found, error) {
	l := cursorLocator{newFinder(env, Cursor{}, cursorTools)}
	store := filepath.Join(env.homeFolder("CURSOR_CONFIG_DIR", ".cursor"), "projects")
	if filepath.IsAbs(store) {
		for _, e := range l.list(store) {
			if cwd := l.folderNamed(e.Name()); cwd != "" && ctx.Err() == nil {
				l.sessions(filepath.Join(store, e.Name(), "agent-transcripts"), cwd)
			}
		}
	}
	return l.result(ctx)
}

// cursorLocator is one call of Locate.
type cursorLocator struct{ finder }

// folderNamed is the folder of the repository that a name stands for, "" when it is none: a worktree's root, or one
// below it.
func (l *cursorLocator) folderNamed(name string) string {
	for _, root := range l.places.roots {
		rest, ok := strings.CutPrefix(name, encodeFolder(strings.TrimLeft(root.spelling, "/")))
		switch {
		case !ok:
		case rest == "":
			return root.spelling
		case rest[0] == '-':
			if dir := decodeFolder(root.spelling, rest[1:], maxUnfold); dir != "" {
				return dir
			}
		}
	}
	return ""
}

// maxUnfold is how deep below a root a folder is looked for.
const maxUnfold = 8

// decodeFolder is the folder below another one whose encoded path is name, "" when there is none.
func decodeFolder(dir, name string, depth int) string {
	entries, err := os.ReadDir(dir)
	if err != nil || depth == 0 {
		return ""
	}
	for _, e := range entries {
		rest, ok := strings.CutPrefix(name, encodeFolder(e.Name()))
		if !ok || !e.IsDir() || rest != "" && rest[0] != '-' {
			continue
		}
		below := filepath.Join(dir, e.Name())
		if rest == "" {
			return below
		}
		if found := decodeFolder(below, rest[1:], depth-1); found != "" {
			return found
		}
	}
	return ""
}

// sessions takes the transcripts of one folder, and those of their subagents.
func (l *cursorLocator) sessions(dir, cwd string) {
	for _, e := range l.list(dir) {
		id, file := strings.CutSuffix(e.Name(), ".jsonl")
		f := File{Path: filepath.Join(dir, e.Name()), NativeID: ledgerName(id), Cwd: cwd, Timeless: true}
		switch {
		case e.IsDir():
			subagents := filepath.Join(f.Path, "subagents")
			f.Path = filepath.Join(f.Path, id+".jsonl")
			l.takeFile(f)
			l.takeSubagents(subagents, File{Parent: f.NativeID, Cwd: cwd, Timeless: true})
		case file:
			l.takeFile(f)
		}
	}
}

// cursorDecoder is one call of Decode.
type cursorDecoder struct {
	decoder
	here     bool   // a path of the repository was named
	stranger string // a folder of another one that was named
}

// Decode reads the records of one session.
func (c Cursor) Decode(ctx context.Context, r io.Reader, opt Options) (Document, error) {
	opt.Head = nil // records have nothing in common
	d := cursorDecoder{decoder: newDecoder(c.Name(), opt)}
	d.part = d.session(opt.File.NativeID)
	d.part.cwd = opt.File.Cwd
	// What was read before is older: else what is said a second time would be taken for what was said then.
	if d.ts = opt.File.ModTime.UTC().Truncate(time.Millisecond); !opt.Last.IsZero() && !d.ts.After(opt.Last) {
		d.ts = opt.Last.Add(time.Millisecond)
	}
	done, err := d.records(ctx, r, objects(d.record))
	if err != nil {
		return Document{}, err
	}
	if at := opt.File.Cwd; d.here || d.stranger == "" {
		d.enterFolder(d.part, at)
	} else if !opt.Inside {
		d.enterFolder(d.part, d.stranger)
	}
	return d.closeDocument(done), nil
}

func (d *cursorDecoder) record(rec gjson.Result) {
	content := rec.Get("message.content")
	switch role := rec.Get("role").Str; role {
	case "user":
		d.prompt(content)
	case session.RoleAssistant:
		if content.Type == gjson.String {
			content = gjson.Result{Type: gjson.JSON, Raw: `[{"type":"text","text":` + content.Raw + `}]`}
		}
		content.ForEach(func(_, block gjson.Result) bool {
			switch kind := block.Get("type").Str; kind {
			case "text": // the mark stands where thoughts were
				d.addAnswer(d.part, strings.ReplaceAll(block.Get("text").Str, "[REDACTED]", ""))
			case "tool_use":
				d.tool(block)
			case "thinking", "redacted_thinking", "image":
			default:
				d.skipped.unknown(kind)
			}
			return true
		})
	default:
		if kind := rec.Get("type").Str; kind != "turn_ended" {
			d.skipped.unknown(kind)
		}
	}
}

// prompt takes what a person typed, and when, where an element says so.
func (d *cursorDecoder) prompt(content gjson.Result) {
	var kept []string
	for _, block := range content.Array() { // a text is an array of one, too
		s := validText(block.Get("text").Str)
		if block.Type == gjson.String {
			s = validText(block.Str)
		}
		if at := cursorTime(session.ElementText(s, "timestamp")); at.After(d.opt.Last) {
			d.setTime(at)
		}
		if s = cursorTyped(s); s != "" && !slices.Contains(kept, s) {
			kept = append(kept, s)
		}
	}
	d.addPrompt(d.part, strings.Join(kept, "\n\n"))
}

// cursorContext begins an element that the program puts before a prompt.
var cursorContext = lazy.Expr(`^<([a-z]+(?:_[a-z]+)+|rules|timestamp)(?:\s[^>]*)?>`)

// cursorTyped is what a person typed of a text: the element that says so, or else what stands behind the elements that
// the program put there.
func cursorTyped(s string) string {
	if strings.Contains(s, "<user_query>") {
		return session.ElementText(s, "user_query")
	}
	for s = strings.TrimSpace(s); ; s = strings.TrimSpace(s) {
		m := cursorContext.FindStringSubmatch(s)
		if m == nil {
			return s
		}
		_, s, _ = strings.Cut(s, "</"+m[1]+">") // one that is not closed has no end
	}
}

// cursorWhen is a time as Cursor tells it: "Tuesday, Jul 28, 2026, 12:06 PM (UTC+2)". One without a zone says nothing.
var cursorWhen = lazy.Expr(`^[A-Z][a-z]+, ([A-Z][a-z]{2} \d{1,2}, \d{4}, \d{1,2}:\d\d [AP]M) \((?:UTC|GMT)(?:([+-])(\d{1,2})(?::?(\d\d))?)?\)$`)

func cursorTime(s string) time.Time {
	m := cursorWhen.FindStringSubmatch(s)
	if m == nil {
		return time.Time{}
	}
	zone := cmp.Or(m[2], "+") + ("0" + cmp.Or(m[3], "0"))[max(0, len(m[3])-1):] + cmp.Or(m[4], "00")
	t, _ := time.Parse("Jan 2, 2006, 3:04 PM -0700", m[1]+" "+zone) // a time that there is not is none
	return t.UTC()
}

// cursorTools are the tools that touch files or run commands.
//
//nolint:gochecknoglobals // a table
var cursorTools = toolForms{
	acts: map[string]string{
		"Write": session.ActEdit, "StrReplace": session.ActEdit, "Delete": session.ActEdit, "EditNotebook": session.ActEdit,
		"MultiStrReplace": session.ActEdit, "ApplyPatch": session.ActEdit,
		"Read": session.ActRead, "Grep": session.ActRead, "Glob": session.ActRead, "LS": session.ActRead,
		"SemanticSearch": session.ActRead,
		"Shell":          session.ActRun, "Bash": session.ActRun,
	},
	paths:   []string{"path", "file_path", "target_notebook", "target_directory"},
	content: "contents", old: "old_string", now: "new_string",
}

func (d *cursorDecoder) tool(block gjson.Result) {
	input := block.Get("input")
	u := cursorTools.parse("call", block.Get("name").Str, input)
	where := input.Get("working_directory").Str
	if path := firstText(input, cursorTools.paths...); u.act != "" && len(path) > 0 && filepath.IsAbs(path[0]) {
		where = filepath.Dir(path[0])
	}
	d.noteFolder(validText(where))
	d.addCall(d.part, u)
	d.finishCall(d.part, u.id, false)
}

// noteFolder notes a folder that a call names.
func (d *cursorDecoder) noteFolder(dir string) {
	if !filepath.IsAbs(dir) {
		return
	}
	switch d.places.whereIs(dir) {
	case inside:
		d.here = true
	case outside:
		d.stranger = dir
	}
}

func (Cursor) recognises(rec gjson.Result) (File, bool) {
	role := rec.Get("role").Str
	return File{Timeless: true}, (role == "user" || role == session.RoleAssistant) &&
		rec.Get("message.content").IsArray() && !rec.Get("type").Exists()
}
