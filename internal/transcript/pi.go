package transcript

import (
	"cmp"
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Pi reads the sessions of the coding agent Pi, versions 0.73 to 1.6:
//
//	<home>/sessions/--<folder>--/<time>_<session ID>.jsonl
//	<own folder>/<time>_<session ID>.jsonl
//
// where <home> is ${PI_CODING_AGENT_DIR:-~/.pi/agent}, and $PI_CODING_AGENT_SESSION_DIR, or sessionDir of the settings
// of the user or of the project, may name a folder of one's own. The records of a session are a tree: who goes back to
// an earlier prompt begins a branch. What was said stays said, so all branches are read, in the order in which they
// were written.
type Pi struct{}

// Name is the source of the sessions.
func (Pi) Name() string { return "pi" }

// Locate lists the sessions that were started in the repository.
func (Pi) Locate(ctx context.Context, env Env) (Found, error) {
	layout := folderLayout{
		file: func(dir, entry string) File {
			stem, ok := strings.CutSuffix(entry, ".jsonl")
			if _, id, named := strings.Cut(stem, "_"); ok && named {
				return File{Path: filepath.Join(dir, entry), NativeID: ledgerName(id)}
			}
			return File{}
		},
		made: func(head []byte) string { return validText(gjson.GetBytes(head, "cwd").Str) },
	}
	l := newFinder(env, Pi{}, piTools)
	home := env.homeFolder("PI_CODING_AGENT_DIR", ".pi", "agent")
	usual := filepath.Join(home, "sessions")
	l.walkShelves(ctx, layout, maxShelf, usual)
	l.walkShelves(ctx, layout, 1, slices.DeleteFunc(piFolders(env, home),
		func(dir string) bool { return isBelow(usual, dir) })...)
	return l.result(ctx)
}

// piFolders are the folders of their own that settings name for sessions, each once.
func piFolders(env Env, home string) (dirs []string) {
	take := func(dir, from string) {
		if below, ok := strings.CutPrefix(dir, "~/"); ok {
			dir = filepath.Join(env.Home, below)
		}
		if dir != "" && !filepath.IsAbs(dir) {
			dir = filepath.Join(from, dir)
		}
		if filepath.IsAbs(dir) && !slices.Contains(dirs, filepath.Clean(dir)) {
			dirs = append(dirs, filepath.Clean(dir))
		}
	}
	for _, root := range env.Roots {
		take(env.getenv("PI_CODING_AGENT_SESSION_DIR"), root)
		for _, settings := range [...]string{
			filepath.Join(home, "settings.json"),
			filepath.Join(root, ".pi", "settings.json"),
		} {
			raw, _ := readBounded(settings, maxProjects) // where there is none, nothing is set
			take(validText(gjson.GetBytes(raw, "sessionDir").Str), root)
		}
	}
	return dirs
}

// piDecoder is one call of Decode.
type piDecoder struct {
	decoder
	scripts map[string]toolUse // calls of codemode without a result, by their IDs
}

// piScript is the tool whose script calls the others: what it called stands in its result.
const piScript = "codemode"

// Decode reads the records of one session.
func (p Pi) Decode(ctx context.Context, r io.Reader, opt Options) (Document, error) {
	d := piDecoder{decoder: newFileDecoder(p.Name(), opt), scripts: map[string]toolUse{}}
	return d.readObjects(ctx, r, d.record)
}

func (d *piDecoder) record(rec gjson.Result) {
	kind := rec.Get("type").Str
	if d.start < 0 && kind != "session" {
		return
	}
	d.setTime(parseTime([]byte(rec.Get("timestamp").Raw)))
	switch kind {
	case "session":
		d.enterFolder(d.part, validText(rec.Get("cwd").Str))
		if _, id, ok := strings.Cut(filepath.Base(rec.Get("parentSession").Str), "_"); ok {
			d.part.OriginNative = ledgerName(strings.TrimSuffix(id, ".jsonl"))
		}
	case "message":
		d.message(rec.Get("message"))
	case "model_change":
		d.part.model.noteModel(rec.Get("modelId").Str, d.start)
	case "session_info":
		d.part.setSessionTitle(TitleUser, validText(rec.Get("name").Str))
	case "thinking_level_change", "compaction", "branch_summary", "label", "custom", "custom_message", "usage",
		"context_edit":
	default:
		d.skipped.unknown(kind)
	}
}

func (d *piDecoder) message(m gjson.Result) {
	d.model = m.Get("model").Str
	switch role := m.Get("role").Str; role {
	case "user":
		d.stopWaiting()
		d.addPrompt(d.part, joinTexts(m.Get("content")))
	case "bashExecution": // a command of the person
		d.stopWaiting()
		d.addPrompt(d.part, "!"+m.Get("command").Str)
	case "assistant":
		d.readBlocks(role, m.Get("content"), d.tool, d.result)
		d.addUsage(d.part, cmp.Or(m.Get("responseId").Str, m.Get("timestamp").Raw), d.model, m.Get("usage"), piCounts)
	case "toolResult":
		d.result(m)
	case "branchSummary", "compactionSummary", "custom", "system":
	default:
		d.skipped.unknown(role)
	}
}

//nolint:gochecknoglobals // a table
var piCounts = counts{input: "input", output: "output", read: "cacheRead", written: "cacheWrite", cost: "cost.total"}

// piTools are the tools that touch files or run commands.
//
//nolint:gochecknoglobals // a table
var piTools = toolForms{
	acts: map[string]string{
		"edit": session.ActEdit, "write": session.ActEdit,
		"read": session.ActRead, "grep": session.ActRead, "find": session.ActRead, "ls": session.ActRead,
		"bash": session.ActRun,
	},
	paths:   []string{"path"},
	content: "content", old: "oldText", now: "newText",
	editNeedsResult: true,
}

func (d *piDecoder) tool(b gjson.Result) {
	u := piTools.parse(b.Get("id").Str, b.Get("name").Str, b.Get("arguments"))
	if u.tool == piScript {
		d.scripts[u.id] = u
		d.awaitResult(u.id)
		return
	}
	d.addCall(d.part, u)
}

// script takes the result of a script: each call that it made. One that made none is a call itself.
func (d *piDecoder) script(u toolUse, m gjson.Result) {
	delete(d.scripts, u.id)
	delete(d.open, u.id)
	calls := m.Get("nestedCalls.calls").Array()
	for _, c := range calls {
		nested := piTools.parse(c.Get("id").Str, c.Get("name").Str, c.Get("arguments"))
		nested.needsResult = false
		d.addCall(d.part, nested)
		d.endCall(d.part, nested.id, c.Get("error").Str, nil, c.Get("status").Str != "ok")
	}
	if len(calls) == 0 {
		d.addCall(d.part, u)
		d.finishCall(d.part, u.id, m.Get("isError").Bool())
	}
}

// piNumbered is a line of the diffs that Pi shows: its sign, its number and its text. What has none stands for lines
// that are left out.
var piNumbered = lazy.Expr(`^([ +-])\s*\d+ (.*)$`)

// piStatus is the line that Pi puts behind the output of a command that failed.
var piStatus = lazy.Expr(`(?:^|\n)\n?Command exited with code (\d{1,3})$`)

func (d *piDecoder) result(m gjson.Result) {
	id, failed := m.Get("toolCallId").Str, m.Get("isError").Bool()
	if u, ok := d.scripts[id]; ok {
		d.script(u, m)
		return
	}
	d.part.setHunks(id, numberedHunks(m.Get("details.diff").Str, piNumbered))
	text, exit := joinTexts(m.Get("content")), (*int)(nil)
	if failed {
		exit, text = extractStatus(text, piStatus)
	}
	if text == "(no output)" {
		text = ""
	}
	d.endCall(d.part, id, text, exit, failed)
}

func (Pi) recognises(rec gjson.Result) (File, bool) {
	id := ledgerNameOf(rec.Get("id"))
	return File{NativeID: id}, id != "" && rec.Get("type").Str == "session" && rec.Get("cwd").Exists()
}
