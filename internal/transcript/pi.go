package transcript

import (
	"cmp"
	"context"
	"io"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Pi reads the sessions of the coding agent Pi, version 0.73:
//
//	<home>/sessions/--<folder>--/<time>_<session ID>.jsonl
//
// where <home> is ${PI_CODING_AGENT_DIR:-~/.pi/agent}. The records of a session are a tree: who goes back to an earlier prompt begins
// a branch. What was said stays said, so all branches are read, in the order in which they were written.
type Pi struct{}

// Name is the source of the sessions.
func (Pi) Name() string { return "pi" }

// Locate lists the sessions that were started in the repository.
func (Pi) Locate(ctx context.Context, env Env) (Found, error) {
	return folderLayout{
		file: func(dir, entry string) File {
			stem, ok := strings.CutSuffix(entry, ".jsonl")
			if _, id, named := strings.Cut(stem, "_"); ok && named {
				return File{Path: filepath.Join(dir, entry), NativeID: ledgerName(id)}
			}
			return File{}
		},
		made: func(head []byte) string { return validText(gjson.GetBytes(head, "cwd").Str) },
	}.locate(ctx, newFinder(env, Pi{}, piTools), filepath.Join(env.homeFolder("PI_CODING_AGENT_DIR", ".pi", "agent"), "sessions"))
}

// piDecoder is one call of Decode.
type piDecoder struct{ decoder }

// Decode reads the records of one session.
func (p Pi) Decode(ctx context.Context, r io.Reader, opt Options) (Document, error) {
	d := piDecoder{newFileDecoder(p.Name(), opt)}
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
	case "message":
		d.message(rec.Get("message"))
	case "model_change":
		d.part.model.noteModel(rec.Get("modelId").Str, d.start)
	case "session_info":
		d.part.setSessionTitle(TitleUser, validText(rec.Get("name").Str))
	case "thinking_level_change", "compaction", "branch_summary", "label", "custom", "custom_message":
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
	case "branchSummary", "compactionSummary", "custom":
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
	d.addCall(d.part, piTools.parse(b.Get("id").Str, b.Get("name").Str, b.Get("arguments")))
}

// piNumbered is a line of the diffs that Pi shows: its sign, its number and its text. What has none stands for lines that are left out.
var piNumbered = lazy.Expr(`^([ +-])\s*\d+ (.*)$`)

// piStatus is the line that Pi puts behind the output of a command that failed.
var piStatus = lazy.Expr(`(?:^|\n)\n?Command exited with code (\d{1,3})$`)

func (d *piDecoder) result(m gjson.Result) {
	id, failed := m.Get("toolCallId").Str, m.Get("isError").Bool()
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
