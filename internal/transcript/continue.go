package transcript

import (
	"context"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/git-rekal/git-rekal/internal/session"
)

// Continue reads the sessions of Continue's CLI, version 1.5:
//
//	<home>/sessions/sessions.json          which session was first saved when, in which folder
//	<home>/sessions/<session ID>.json
//
// where <home> is ${CONTINUE_GLOBAL_DIR:-~/.continue}. A document is written anew as a whole. It holds no times: its
// turns have that at which it was first saved, a millisecond apart. A run without a terminal saves at its end.
type Continue struct{}

// Name is the source of the sessions.
func (Continue) Name() string { return "continue" }

// Locate lists the sessions whose folder is one of the repository.
func (Continue) Locate(ctx context.Context, env Env) (Found, error) {
	l := newFinder(env, Continue{}, continueTools)
	dir := filepath.Join(env.homeFolder("CONTINUE_GLOBAL_DIR", ".continue"), "sessions")
	if filepath.IsAbs(dir) {
		raw, err := readBounded(filepath.Join(dir, "sessions.json"), maxDocument)
		l.unreadable("list transcripts", err)
		gjson.ParseBytes(raw).ForEach(func(_, s gjson.Result) bool {
			id, cwd := ledgerNameOf(s.Get("sessionId")), validText(s.Get("workspaceDirectory").Str)
			if id != "" && id == filepath.Base(id) {
				l.takeFile(File{Path: filepath.Join(dir, id+".json"), NativeID: id, Cwd: cwd, ReadWhole: true, Timeless: true})
			}
			return true
		})
	}
	return l.result(ctx)
}

// Open gives a session as lines: when it was first saved, what is said of the document, and then each message.
func (Continue) Open(_ context.Context, opt Options) (io.ReadCloser, error) {
	all, _ := readBounded(filepath.Join(filepath.Dir(opt.File.Path), "sessions.json"), maxDocument)
	var began []byte
	gjson.ParseBytes(all).ForEach(func(_, s gjson.Result) bool {
		if ledgerNameOf(s.Get("sessionId")) == opt.File.NativeID {
			began = appendLine(nil, []byte(s.Raw))
		}
		return began == nil
	})
	return openDocument(opt.File.Path, "history", began)
}

// continueDecoder is one call of Decode.
type continueDecoder struct{ decoder }

// Decode reads the messages of one session, as Open gives them.
func (c Continue) Decode(ctx context.Context, r io.Reader, opt Options) (Document, error) {
	d := continueDecoder{newFileDecoder(c.Name(), opt)}
	d.ts = opt.File.ModTime.UTC().Truncate(time.Millisecond)
	return d.readObjects(ctx, r, d.record)
}

func (d *continueDecoder) record(rec gjson.Result) {
	m := rec.Get("message")
	switch {
	case m.IsObject():
		d.ts = d.ts.Add(time.Millisecond)
		d.message(m, rec.Get("toolCallStates"))
	case rec.Get("sessionId").Exists():
		d.setTime(parseTime([]byte(rec.Get("dateCreated").Raw)))
		d.enterFolder(d.part, validText(rec.Get("workspaceDirectory").Str))
		if title := validText(rec.Get("title").Str); title != "Untitled Session" && title != "New Session" {
			d.part.setSessionTitle(TitleAgent, title)
		}
	default:
		d.skipped.unknown("record")
	}
}

func (d *continueDecoder) message(m, calls gjson.Result) {
	switch role := m.Get("role").Str; role {
	case "user":
		d.addPrompt(d.part, joinTexts(m.Get("content")))
	case "assistant", "thinking":
		if role == "assistant" {
			d.addAnswer(d.part, joinTexts(m.Get("content")))
		}
		calls.ForEach(func(_, c gjson.Result) bool { d.tool(c); return true })
	case "system", "tool":
	default:
		d.skipped.unknown(role)
	}
}

// continueTools are the tools that touch files or run commands.
//
//nolint:gochecknoglobals // a table
var continueTools = toolForms{
	acts: map[string]string{
		"Write": session.ActEdit, "Edit": session.ActEdit, "MultiEdit": session.ActEdit,
		"Read": session.ActRead, "List": session.ActRead, "Search": session.ActRead,
		"Bash": session.ActRun,
	},
	paths:   []string{"filepath", "file_path", "dirpath", "path"},
	content: "content", old: "old_string", now: "new_string",
}

// tool takes a call, with its result. One that has not ended is left out: the next read knows both.
func (d *continueDecoder) tool(c gjson.Result) {
	state := c.Get("status").Str
	if state != "done" && state != "errored" && state != "canceled" {
		return
	}
	id := c.Get("toolCallId").Str
	d.addCall(d.part, continueTools.parse(id, c.Get("toolCall.function.name").Str, c.Get("parsedArgs")))
	var out []string
	c.Get("output").ForEach(func(_, o gjson.Result) bool { out = append(out, o.Get("content").Str); return true })
	d.endCall(d.part, id, strings.Join(out, "\n"), nil, state != "done")
}

func (Continue) recognises(rec gjson.Result) (File, bool) {
	id := ledgerNameOf(rec.Get("sessionId"))
	return File{NativeID: id, Timeless: true}, id != "" && rec.Get("history").IsArray() &&
		rec.Get("workspaceDirectory").Exists()
}

func (Continue) lines(raw []byte) []byte { return exportLines(raw, "history") }
