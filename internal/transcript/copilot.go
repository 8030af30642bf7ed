package transcript

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/git-rekal/git-rekal/internal/session"
)

// Copilot reads the sessions of GitHub's Copilot CLI, versions 0.0.300 to 1.0.102:
//
//	<home>/session-state/<session ID>/events.jsonl
//	<home>/session-state/<session ID>.jsonl            (older versions)
//
// where <home> is ${COPILOT_HOME:-~/.copilot}. The events of a session's subagents stand among its own.
type Copilot struct{}

// Name is the source of the sessions.
func (Copilot) Name() string { return "copilot-cli" }

// Locate lists the sessions that were started in the repository.
func (Copilot) Locate(ctx context.Context, env Env) (Found, error) {
	return folderLayout{
		file: func(dir, entry string) File {
			if id, flat := strings.CutSuffix(entry, ".jsonl"); flat {
				return File{Path: filepath.Join(dir, entry), NativeID: ledgerName(id)}
			}
			return File{Path: filepath.Join(dir, entry, "events.jsonl"), NativeID: ledgerName(entry)}
		},
		made: func(head []byte) string { return validText(gjson.GetBytes(head, "data.context.cwd").Str) },
	}.locate(ctx, newFinder(env, Copilot{}, copilotTools),
		filepath.Join(env.homeFolder("COPILOT_HOME", ".copilot"), "session-state"))
}

// RunningFile is the path of the file of a running session, of which hooks only know the ID; "" if the ID is no name of
// a file.
func (Copilot) RunningFile(env Env, id string) string {
	home := env.homeFolder("COPILOT_HOME", ".copilot")
	if home == "" || id != filepath.Base(id) || !filepath.IsLocal(id) {
		return ""
	}
	return filepath.Join(home, "session-state", id, "events.jsonl")
}

// tailed is how much of the end of a running session's file is looked at for a call that is open, in bytes.
const tailed = 256 << 10

// HasOpenCall reports whether the file of a running session holds a tool call without a result. The session in whose
// shell git runs has one, but Copilot writes in batches, so the call and what came before it may not be in the file
// yet.
func (Copilot) HasOpenCall(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	raw, err := io.ReadAll(io.NewSectionReader(f, max(0, info.Size()-tailed), tailed))
	open := map[string]bool{}
	for l := range bytes.Lines(raw) {
		switch id := gjson.GetBytes(l, "data.toolCallId").Str; gjson.GetBytes(l, "type").Str {
		case "tool.execution_start":
			open[id] = true
		case "tool.execution_complete":
			delete(open, id)
		}
	}
	return err == nil && len(open) > 0
}

// copilotDecoder is one call of Decode.
type copilotDecoder struct {
	decoder
	questions map[string]string // ID of a call -> what it asks the person
}

// Decode reads the events of one session and of its subagents, each of which is a session of its own.
func (c Copilot) Decode(ctx context.Context, r io.Reader, opt Options) (Document, error) {
	d := copilotDecoder{decoder: newFileDecoder(c.Name(), opt), questions: map[string]string{}}
	take := typed(d.wants, d.line)
	return d.read(ctx, r, func(ln []byte) bool {
		if take(ln) {
			return true
		}
		whole := behindTorn(ln)
		if whole != nil {
			d.skipped.Malformed++
		}
		return whole != nil && take(whole)
	})
}

// copilotEvent is how an event begins, and maxTorn how many bytes of a line are parsed to find one behind a torn one.
const (
	copilotEvent = `{"type":"`
	maxTorn      = 64 << 20
)

// behindTorn is the whole event that ends a line which begins with a torn one, as a crash, or two processes, leave it;
// nil for none.
func behindTorn(ln []byte) []byte {
	for parsed := 0; len(ln) > 0 && parsed < maxTorn; {
		at := bytes.Index(ln[1:], []byte(copilotEvent))
		if at < 0 {
			return nil
		}
		ln = ln[1+at:]
		parsed += len(ln)
		if rec, ok := parseObject(ln); ok && rec.Get("data").IsObject() && rec.Get("timestamp").Exists() &&
			rec.Get("id").Exists() {
			return ln
		}
	}
	return nil
}

// wants takes the events that say something; others of the same groups are the program's own.
func (d *copilotDecoder) wants(kind string) bool {
	switch kind {
	case "session.start", "session.resume", "session.context_changed", "session.model_change", "session.usage_record",
		"user.message", "assistant.message",
		"tool.execution_start", "tool.execution_complete", "abort":
		return d.start >= 0 || kind == "session.start"
	}
	switch group, _, _ := strings.Cut(kind, "."); group {
	case "session", "assistant", "tool", "hook", "permission", "skill", "subagent", "system", "mcp":
	default:
		d.skipped.unknown(kind)
	}
	return false
}

func (d *copilotDecoder) line(kind string, rec gjson.Result) {
	d.setTime(parseTime([]byte(rec.Get("timestamp").Raw)))
	data := rec.Get("data")
	d.event(kind, d.partOf(rec.Get("agentId").Str, data.Get("parentToolCallId").Str), data)
}

// partOf is the session that an event belongs to: the main one, or a subagent's. A subagent begins where its parent is.
func (d *copilotDecoder) partOf(agent, call string) *part {
	if agent = ledgerName(validText(cmp.Or(agent, call))); agent == "" {
		return d.part
	}
	_, known := d.parts[agent]
	p := d.session(agent)
	if !known {
		p.sub, p.ParentNative, p.Branch = true, d.part.NativeID, d.part.Branch
		d.enterFolder(p, d.part.cwd)
	}
	return p
}

func (d *copilotDecoder) event(typ string, p *part, data gjson.Result) {
	d.model = data.Get("model").Str
	switch typ {
	case "session.model_change":
		p.model.noteModel(data.Get("newModel").Str, d.start)
	case "session.start", "session.resume", "session.context_changed":
		d.setContext(data)
	case "user.message":
		d.prompt(p, data)
	case "assistant.message":
		d.addAnswer(p, data.Get("content").Str)
		d.addUsage(p, cmp.Or(data.Get("apiCallId").Str, data.Get("messageId").Str), d.model, data, copilotCounts)
	case "session.usage_record": // versions from 1.0 on count more than the output
		usage := data.Get("usage")
		d.addUsage(p, cmp.Or(usage.Get("apiCallId").Str, usage.Get("accounting.usageId").Str), usage.Get("model").Str, usage,
			copilotCounts)
	case "tool.execution_start":
		d.tool(p, data)
	case "tool.execution_complete":
		d.result(p, data)
	case "abort":
		d.stopWaiting()
	}
}

//nolint:gochecknoglobals // a table
var copilotCounts = counts{
	input: "inputTokens", output: "outputTokens", read: "cacheReadTokens",
	written: "cacheWriteTokens", cached: true,
}

// setContext takes where the session is now.
func (d *copilotDecoder) setContext(data gjson.Result) {
	if v := data.Get("copilotVersion").Str; v != "" {
		d.version = ledgerName(validText(v))
	}
	at := data.Get("context")
	if !at.Exists() {
		at = data
	}
	d.enterFolder(d.part, validText(at.Get("cwd").Str))
	d.part.setBranch(at.Get("branch"))
}

// prompt takes what a person typed, or what an agent asked its subagent. Skills, notes of the program and summaries
// name themselves as the source.
func (d *copilotDecoder) prompt(p *part, data gjson.Result) {
	from := data.Get("source").Str
	brief := p.sub && strings.HasPrefix(from, "agent-")
	if from != "" && from != "user" && !brief {
		return
	}
	d.stopWaiting()
	s := data.Get("content").Str
	if strings.TrimSpace(s) == "" {
		s = data.Get("transformedContent").Str
		for _, tag := range [...]string{"current_datetime", "reminder", "system_reminder"} {
			s = session.WithoutElement(s, tag)
		}
	}
	d.addPrompt(p, s)
}

// copilotTools are the tools that touch files or run commands.
//
//nolint:gochecknoglobals // a table
var copilotTools = toolForms{
	acts: map[string]string{
		"edit": session.ActEdit, "create": session.ActEdit, "apply_patch": session.ActEdit,
		"str_replace_editor": session.ActEdit,
		"view":               session.ActRead, "grep": session.ActRead, "rg": session.ActRead, "glob": session.ActRead,
		"bash": session.ActRun, "powershell": session.ActRun,
	},
	paths:   []string{"path", "paths", "paths.0"},
	content: "file_text", old: "old_str", now: "new_str",
	editNeedsResult: true,
}

// tool takes a call when it is carried out: what the model asked for may have been refused before.
func (d *copilotDecoder) tool(p *part, data gjson.Result) {
	id, tool, args := data.Get("toolCallId").Str, data.Get("toolName").Str, data.Get("arguments")
	if args.Type == gjson.String && gjson.Valid(args.Str) {
		args = gjson.Parse(args.Str)
	}
	u := copilotTools.parse(id, tool, args)
	switch {
	case tool == "str_replace_editor" && args.Get("command").Str == "view":
		u = copilotTools.parse(id, "view", args)
		u.tool = tool
	case tool == "ask_user":
		d.questions[strings.Clone(id)] = strings.Clone(args.Get("question").Str)
		u.needsResult = true
	}
	d.addCall(p, u)
}

// result takes how a call ended. A command that was carried out is a success for Copilot, whatever its status.
func (d *copilotDecoder) result(p *part, data gjson.Result) {
	id := data.Get("toolCallId").Str
	failed := !data.Get("success").Bool() || data.Get("shellExecution.exitCode").Int() != 0
	p.setDiff(id, data.Get("result.detailedContent").Str)
	if data.Get("error.code").Str == "denied" {
		p.takeBackWritten(id)
	}
	d.addOutput(p, id, data)
	d.finishCall(p, id, failed)
	question, asked := d.questions[id]
	delete(d.questions, id)
	if !asked || failed {
		return
	}
	s := data.Get("result.content").Str
	for _, mark := range [...]string{"User selected: ", "User responded: "} {
		// Without a person at it the program answers that nobody is there.
		if answer, ok := strings.CutPrefix(s, mark); ok && !strings.HasPrefix(answer, "The user is not available") {
			d.addPrompt(p, formatAnswer(validText(question), validText(answer)))
		}
	}
}

func (Copilot) recognises(rec gjson.Result) (File, bool) {
	id := ledgerNameOf(rec.Get("data.sessionId"))
	return File{NativeID: id}, id != "" && rec.Get("type").Str == "session.start"
}
