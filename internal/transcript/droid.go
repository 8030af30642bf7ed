package transcript

import (
	"context"
	"io"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Droid reads the sessions of Factory's Droid, version 0.225:
//
//	~/.factory/sessions/<folder>/<session ID>.jsonl
type Droid struct{}

// Name is the source of the sessions.
func (Droid) Name() string { return "droid" }

// Locate lists the sessions that were started in the repository.
func (Droid) Locate(ctx context.Context, env Env) (Found, error) {
	home := env.homeFolder("", ".factory")
	if home == "" {
		return Found{}, nil
	}
	s := shelving{
		folder: func(string) bool { return true },
		file: func(dir, entry string) File {
			if id, ok := strings.CutSuffix(entry, ".jsonl"); ok {
				return File{Path: filepath.Join(dir, entry), NativeID: name(id)}
			}
			return File{}
		},
		made: func(head []byte) string { return clean(gjson.GetBytes(head, "cwd").Str) },
	}
	return s.locate(ctx, env, filepath.Join(home, "sessions"))
}

// droidDecoder is one call of Decode.
type droidDecoder struct {
	decoder
	part *part
}

// Decode reads the records of one session.
func (a Droid) Decode(ctx context.Context, r io.Reader, opt Options) (Document, error) {
	d := droidDecoder{decoder: newDecoder(a.Name(), opt)}
	d.part = d.session(opt.File.NativeID)
	return d.read(ctx, r, d.line)
}

// line takes one record; it reports whether the line is one.
func (d *droidDecoder) line(ln []byte) bool {
	rec, ok := object(ln)
	if !ok {
		return false
	}
	kind := rec.Get("type").Str
	if d.start < 0 && kind != "session_start" {
		return true
	}
	d.clock(moment([]byte(rec.Get("timestamp").Raw)))
	switch kind {
	case "session_start":
		d.stand(d.part, clean(rec.Get("cwd").Str))
		if rec.Get("isSessionTitleManuallySet").Bool() {
			d.part.entitle(TitleUser, clean(rec.Get("title").Str))
		}
	case "message":
		d.message(rec.Get("message"))
	case "agent_turn_outcome", "compaction_state", "todo_state", "session_end":
	default:
		d.skipped.unknown(kind)
	}
	return true
}

func (d *droidDecoder) message(m gjson.Result) {
	d.model = strings.TrimPrefix(m.Get("modelId").Str, "custom:")
	role, typed := m.Get("role").Str, []string(nil)
	blocks := m.Get("content")
	if blocks.Type == gjson.String {
		typed = append(typed, blocks.Str)
	}
	blocks.ForEach(func(_, b gjson.Result) bool {
		switch kind := b.Get("type").Str; {
		case kind == "tool_result":
			d.result(b)
		case kind == "text" && role == "user":
			typed = append(typed, b.Get("text").Str)
		case kind == "text":
			d.said(d.part, b.Get("text").Str)
		case kind == "tool_use":
			d.tool(b)
		}
		return true
	})
	if s := session.WithoutElement(strings.Join(typed, "\n"), "system-reminder"); role == "user" && m.Get("visibility").Str != "llm_only" && strings.TrimSpace(s) != "" {
		d.goesOn()
		d.asks(d.part, s)
	}
}

// droidActs are the tools that touch files or run commands.
//
//nolint:gochecknoglobals // a table
var droidActs = map[string]string{
	"Edit": session.ActEdit, "MultiEdit": session.ActEdit, "Create": session.ActEdit, "ApplyPatch": session.ActEdit,
	"Read": session.ActRead, "Grep": session.ActRead, "Glob": session.ActRead, "LS": session.ActRead,
	"Execute": session.ActRun,
}

func (d *droidDecoder) tool(b gjson.Result) {
	u, in := use{id: b.Get("id").Str, tool: b.Get("name").Str}, b.Get("input")
	switch u.act = droidActs[u.tool]; u.act {
	case session.ActRun:
		u.cmd = in.Get("command").Str
	case session.ActRead:
		u.paths = firstOf(in, "file_path", "path", "folder", "directory_path")
	case session.ActEdit:
		if u.tool == "ApplyPatch" {
			u.paths, u.edits = patchedFiles(clean(in.Get("input").Str + in.Get("patch").Str))
		} else {
			u.paths = firstOf(in, "file_path")
			u.edits = asksFor(u.paths, in, "content", "old_str", "new_str")
		}
		d.waits(u.id)
	}
	d.call(d.part, u)
}

// droidEnd is the line behind an output, and droidFailed the one before that of a command that failed.
var (
	droidEnd    = lazy.Expr(`(?s)(?:\n\n)?\n?\[Process exited with code (-?\d{1,10})\]\s*$`)
	droidFailed = lazy.Expr(`^Error: Command failed \(exit code: (-?\d{1,10})\)(?:\n|$)`)
)

func (d *droidDecoder) result(b gjson.Result) {
	id, text, failed := b.Get("tool_use_id").Str, texts(b.Get("content")), b.Get("is_error").Bool()
	if edits := d.part.asked[id]; len(edits) == 1 && strings.HasPrefix(text, "{") && gjson.Valid(text) {
		var lines []string
		gjson.Get(text, "diffLines").ForEach(func(_, l gjson.Result) bool {
			if sign := map[string]string{"unchanged": " ", "added": "+", "removed": "-"}[l.Get("type").Str]; sign != "" {
				lines = append(lines, sign+clean(l.Get("content").Str))
			} else {
				lines = append(lines, "@@")
			}
			return true
		})
		if hunks := hunksOf(lines); len(hunks) > 0 {
			edits[0].Hunks, edits[0].Whole = hunks, false
		}
	}
	exit := (*int)(nil)
	if m := droidEnd.FindStringSubmatch(text); m != nil {
		exit, text = number(m[1]), strings.TrimSuffix(text, m[0])
	} else if failed {
		exit, text = status(droidFailed, text)
	}
	d.printed(d.part, id, text, exit, failed)
	d.done(d.part, id, failed)
}

func (Droid) tells(rec gjson.Result) (File, bool) {
	id := nameIn(rec.Get("id"))
	return File{NativeID: id}, id != "" && rec.Get("type").Str == "session_start"
}
