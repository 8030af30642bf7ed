package transcript

import (
	"cmp"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Cline reads the sessions of Cline's CLI, version 3.0:
//
//	<data>/sessions/<session ID>/<session ID>.json            where and when it began
//	<data>/sessions/<session ID>/<session ID>.messages.json
//	<data>/sessions/<session ID>/<agent ID>.messages.json     of its subagents
//
// where <data> is ${CLINE_DATA_DIR:-~/.cline/data}; $CLINE_SESSION_DATA_DIR names another folder of sessions. A
// document is written anew as a whole. Those of Cline's editor extension are other ones.
type Cline struct{}

// Name is the source of the sessions.
func (Cline) Name() string { return "cline" }

// clineMessages is how the name of a document with messages ends.
const clineMessages = ".messages.json"

// Locate lists the sessions whose folder is one of the repository.
func (Cline) Locate(ctx context.Context, env Env) (Found, error) {
	l := newFinder(env, Cline{}, clineTools)
	dir := env.homeFolder("CLINE_SESSION_DATA_DIR")
	if env.getenv("CLINE_SESSION_DATA_DIR") == "" {
		dir = filepath.Join(env.homeFolder("CLINE_DATA_DIR", ".cline", "data"), "sessions")
	}
	if filepath.IsAbs(dir) {
		for _, e := range l.list(dir) {
			if e.IsDir() && ctx.Err() == nil {
				l.takeClineSession(filepath.Join(dir, e.Name()), e.Name())
			}
		}
	}
	return l.result(ctx)
}

// takeClineSession takes the messages of a session, and those of its subagents.
func (l *finder) takeClineSession(dir, id string) {
	messages := File{Path: filepath.Join(dir, id+clineMessages)}
	if l.had.Others[id] && (!l.stat(&messages) || !l.isSearched(messages, unknownFolder)) {
		l.next.Others[id] = true
		return
	}
	raw, err := readBounded(filepath.Join(dir, id+".json"), maxDocument)
	cwd := validText(gjson.GetBytes(raw, "cwd").Str)
	if err != nil || cwd == "" { // it has only begun
		return
	}
	l.next.Others[id] = !l.places.mayConcern(cwd)
	for _, doc := range l.list(dir) {
		stem, ok := strings.CutSuffix(doc.Name(), clineMessages)
		f := File{Path: filepath.Join(dir, doc.Name()), NativeID: ledgerName(stem), Cwd: cwd, ReadWhole: true}
		if stem != id {
			f.AgentID, f.Parent = f.NativeID, ledgerName(id)
		}
		if ok {
			l.takeFile(f)
		}
	}
}

// Open gives a session as lines: what is said of the document, and then each message.
func (Cline) Open(_ context.Context, opt Options) (io.ReadCloser, error) {
	about, err := os.ReadFile(strings.TrimSuffix(opt.File.Path, clineMessages) + ".json")
	if !gjson.ValidBytes(about) || err != nil || opt.File.AgentID != "" {
		about = nil
	}
	return openDocument(opt.File.Path, "messages", appendLine(nil, about))
}

// clineDecoder is one call of Decode.
type clineDecoder struct{ decoder }

// Decode reads the messages of one session, as Open gives them.
func (c Cline) Decode(ctx context.Context, r io.Reader, opt Options) (Document, error) {
	d := clineDecoder{newFileDecoder(c.Name(), opt)}
	return d.readObjects(ctx, r, d.record)
}

func (d *clineDecoder) record(rec gjson.Result) {
	switch role := rec.Get("role").Str; {
	case role == "user" || role == "assistant":
		d.setTime(parseTime([]byte(rec.Get("ts").Raw)))
		d.model = rec.Get("modelInfo.id").Str
		typed := clineTypedText(d.readBlocks(role, rec.Get("content"), d.tool, d.result))
		if role == "user" && typed != "" {
			d.stopWaiting()
			d.addPrompt(d.part, typed)
		}
		d.addUsage(d.part, cmp.Or(rec.Get("id").Str, rec.Get("ts").Raw), d.model, rec.Get("metrics"), clineCounts)
	case rec.Get("session_id").Exists():
		d.setTime(parseTime([]byte(rec.Get("started_at").Raw)))
		d.enterFolder(d.part, validText(rec.Get("cwd").Str))
		d.part.setBranch(rec.Get("metadata.git.branch"))
	case rec.Get("sessionId").Exists() || rec.Get("version").Exists():
	default:
		d.skipped.unknown(role)
	}
}

// clineInput is what a person typed, among what the program adds.
var clineInput = lazy.Expr(`(?s)<user_input(?: [^>]*)?>(.*?)</user_input>`)

func clineTypedText(s string) string {
	if m := clineInput.FindStringSubmatch(s); m != nil {
		return strings.TrimSpace(m[1])
	}
	return strings.TrimSpace(s)
}

//nolint:gochecknoglobals // a table
var clineCounts = counts{
	input: "inputTokens", output: "outputTokens", read: "cacheReadTokens",
	written: "cacheWriteTokens", cost: "cost",
}

// clineTools are the tools that touch files or run commands.
//
//nolint:gochecknoglobals // a table
var clineTools = toolForms{
	acts: map[string]string{
		"editor": session.ActEdit, "apply_patch": session.ActEdit,
		"read_files": session.ActRead, "search_codebase": session.ActRead,
		"run_commands": session.ActRun,
	},
	paths:   []string{"path"},
	content: "content", old: "old_text", now: "new_text",
}

func (d *clineDecoder) tool(b gjson.Result) {
	in := b.Get("input")
	u := clineTools.parse(b.Get("id").Str, b.Get("name").Str, in)
	switch {
	case u.act == session.ActRead:
		in.Get("files").ForEach(func(_, f gjson.Result) bool {
			u.paths = append(u.paths,
				f.Str+f.Get("path").Str)
			return true
		})
	case in.Get("new_text").Exists() && !in.Get("old_text").Exists() && !in.Get("insert_line").Exists() &&
		len(u.edits) == 1:
		u.edits[0].FullContent = true // it writes the file
	}
	d.addCall(d.part, u)
}

// clineNumbered is a line of the diff behind an edit.
var clineNumbered = lazy.Expr(`^([+-])\d+: ?(.*)$`)

// clineStatus is what Cline puts before the output of a command that failed.
var clineStatus = lazy.Expr(`^\[Command exited with code (\d{1,3})\]\n+`)

func (d *clineDecoder) result(b gjson.Result) {
	id, content, failed := b.Get("tool_use_id").Str, b.Get("content"), b.Get("is_error").Bool()
	if content.Type == gjson.String && gjson.Valid(content.Str) {
		content = gjson.Parse(content.Str)
	}
	var out []string
	for _, one := range content.Array() {
		failed = failed || one.Get("success").Type == gjson.False
		out = append(out, one.Get("result").Str)
	}
	text := strings.Join(out, "\n")
	d.part.setHunks(id, numberedHunks(text, clineNumbered))
	exit, text := extractStatus(text, clineStatus)
	d.endCall(d.part, id, text, exit, failed)
}

func (Cline) recognises(rec gjson.Result) (File, bool) {
	f := File{NativeID: ledgerNameOf(rec.Get("sessionId"))}
	if parent := ledgerNameOf(rec.Get("origin.parentThreadId")); parent != "" {
		_, agent, _ := strings.Cut(f.NativeID, "__")
		f.NativeID, f.AgentID, f.Parent = agent, agent, parent
	}
	return f, f.NativeID != "" && rec.Get("messages").IsArray() && rec.Get("origin").Exists()
}

func (Cline) lines(raw []byte) []byte { return exportLines(raw, "messages") }
