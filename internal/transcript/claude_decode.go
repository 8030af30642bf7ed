package transcript

import (
	"bytes"
	"cmp"
	"context"
	"io"

	"github.com/tidwall/gjson"

	"github.com/git-rekal/git-rekal/internal/session"
)

// Decode reads the records of one file. Sessions are keyed by the ID in the records, as
// rows can land in another session's file; subagents by their agent's ID.
func (c ClaudeCode) Decode(ctx context.Context, r io.Reader, opt Options) (Document, error) {
	head := opt.Head
	opt.Head = nil // each record says where it was made
	d := claudeDecoder{decoder: newDecoder(c.Name(), opt)}
	d.members = d.rec.members()
	if takeMembers(head, d.members) {
		d.started = stringOf(d.rec.cwd)
	}
	return d.read(ctx, r, d.line)
}

// claudeDecoder is one call of Decode.
type claudeDecoder struct {
	decoder
	rec     claudeRecord
	members map[string]*[]byte // of rec
	ran     string             // the commands since the last prompt
}

// claudeRecords are the records, by who speaks in them.
//
//nolint:gochecknoglobals // a table
var claudeRecords = records{
	"user": byAnybody, "assistant": byAgent, "attachment": byAnybody, "queue-operation": byPerson,
	"summary": aboutSession, "custom-title": aboutSession, "ai-title": aboutSession,
	"progress": byProgram, "file-history-snapshot": byProgram, "file-history-delta": byProgram, "system": byProgram,
	"last-prompt": byProgram,
	"agent-name":  byProgram, "agent-color": byProgram, "agent-setting": byProgram, "mode": byProgram,
	"permission-mode": byProgram,
	"pr-link":         byProgram, "tag": byProgram, "attribution-snapshot": byProgram, "content-replacement": byProgram,
	"worktree-state": byProgram,
	"bridge-session": byProgram, "cost-state": byProgram, "api-request": byProgram, "api-request-shape": byProgram,
	"api-request-blob": byProgram,
	"tools-used":       byProgram, "atis-latch": byProgram, "frame-link": byProgram, "relocated": byProgram,
}

// line takes one record; it reports whether the line is one.
func (d *claudeDecoder) line(ln []byte) bool {
	r := &d.rec
	*r = claudeRecord{}
	if !takeMembers(ln, d.members) {
		return false
	}
	kind := cmp.Or(stringOf(r.kind), stringOf(r.role))
	switch who, known := claudeRecords[kind]; {
	case !known:
		d.skipped.unknown(kind)
		return true
	case who == byProgram:
		d.setTime(parseTime(r.timestamp)) // what has no time of its own takes that of the record before it
		return true
	case !gjson.ValidBytes(ln):
		return false
	}
	if isTrue(r.sidechain) && d.opt.File.AgentID == "" {
		return true
	}
	id := d.id()
	if _, again := d.seen[id]; again {
		d.skipped.Duplicate++
		return true
	}
	d.setTime(parseTime(r.timestamp))
	p := d.part()
	d.record(kind, p)
	if id != "" {
		d.seen[id] = nil
		if p.isUndivided() {
			d.seen[id] = p
		}
	}
	return true
}

// id is the record's own ID; empty when it has none.
func (d *claudeDecoder) id() string {
	return truncate(stringOf(d.rec.uuid), maxName)
}

// part is the session that the record belongs to.
func (d *claudeDecoder) part() *part {
	native := ledgerName(stringOf(d.rec.session))
	if d.opt.File.AgentID != "" {
		native = cmp.Or(ledgerName(stringOf(d.rec.agent)), d.opt.File.AgentID)
	}
	return d.session(cmp.Or(native, d.opt.File.NativeID))
}

func (d *claudeDecoder) record(kind string, p *part) {
	r := &d.rec
	d.settlePlace(p)
	d.model = ""
	if len(r.version) > 0 {
		d.version = truncate(stringOf(r.version), maxName)
	}
	switch kind {
	case "custom-title":
		p.setSessionTitle(TitleUser, stringOf(r.customTitle))
	case "ai-title":
		p.setSessionTitle(TitleAgent, stringOf(r.aiTitle))
	case "summary":
		d.titles = append(d.titles, leafTitle{stringOf(r.leaf), stringOf(r.summary)})
	case "queue-operation":
		p.queue.apply(stringOf(r.operation), claudeTyped(stringOf(r.content)), stringOf(r.reason), d.ts, d.start, p.where)
	case "user":
		d.user(p)
	case "assistant":
		d.assistant(p)
	case "attachment":
		d.attachment(p)
	}
}

// settlePlace settles where the session stands, and takes what the envelope says about it.
func (d *claudeDecoder) settlePlace(p *part) {
	r := &d.rec
	at := unknown
	if cwd := stringOf(r.cwd); cwd != "" {
		p.cwd = cwd
		at = d.places.whereIs(cwd)
		if d.started == "" {
			d.started = cwd
		}
		if p.begun && d.isOfSeveral(cwd) {
			at = outside
		}
		d.moveTo(p, at)
	}
	if p.where != unknown && p.where != inside {
		return
	}
	if branch := stringOf(r.branch); at == inside && branch != "" {
		p.Branch = ledgerName(branch)
	}
	if !p.actor && (len(r.entrypoint) > 0 || len(r.runKind) > 0) {
		p.actor = true
		if r.isProgrammatic() {
			p.ActorType = session.ActorAgent
		}
	}
	if p.ParentNative == "" && d.opt.File.AgentID != "" {
		p.ParentNative = ledgerName(stringOf(r.session))
	}
	if p.OriginNative == "" && len(r.forkedFrom) > 0 {
		p.OriginNative = ledgerNameOf(gjson.GetBytes(r.forkedFrom, "sessionId"))
	}
}

// message is the content of the record's message; ok is false when it has none.
func (d *claudeDecoder) message() (content gjson.Result, ok bool) {
	content = gjson.ParseBytes(d.rec.message).Get("content")
	if !content.Exists() {
		content = gjson.ParseBytes(d.rec.content) // old rows have no message around it
	}
	if content.Type == gjson.String || content.IsArray() {
		return content, true
	}
	d.skipped.Empty++
	return gjson.Result{}, false
}

func (d *claudeDecoder) user(p *part) {
	r := &d.rec
	content, ok := d.message()
	if !ok {
		return
	}
	if content.IsArray() {
		d.addResults(p, content)
	}
	if isTrue(r.meta) || isTrue(r.compact) || isTrue(r.visibleOnly) || !d.isByPerson() {
		return
	}
	if bytes.Contains(r.toolResult, []byte(`"answers"`)) {
		if s := chosenAnswers(r.toolResult); s != "" {
			d.addTurn(p, session.RoleHuman, s)
		}
	}
	switch s := typedPrompts(content); {
	case s != "":
		p.queue.noteCarried(s)
		d.addTurn(p, session.RoleHuman, s)
		d.stopWaiting()
		d.ran = ""
	case p.command == "" && (p.where == inside || p.where == unknown):
		p.command = startedCommand(content)
	}
}

// isByPerson reports whether the record is a prompt by its marks. A subagent's prompts are
// written by the agent that spawned it, and are kept as such.
func (d *claudeDecoder) isByPerson() bool {
	return d.opt.File.AgentID != "" || mayBeByPerson(d.rec.origin, stringOf(d.rec.promptSource))
}

func (d *claudeDecoder) assistant(p *part) {
	if m := gjson.GetBytes(d.rec.message, "model").Str; m != "<synthetic>" { // the program's own words
		d.model = m
	}
	content, ok := d.message()
	switch {
	case !ok:
	case content.Type == gjson.String:
		d.addAnswer(p, content.Str)
	default:
		for _, block := range content.Array() {
			switch block.Get("type").Str {
			case "text":
				d.stopWaiting()
				d.addAnswer(p, block.Get("text").Str)
			case "tool_use":
				d.addCall(p, block)
			}
		}
	}
	// A request has a record for each block of its answer, each with what was counted until then.
	d.addUsage(p, gjson.GetBytes(d.rec.message, "id").Str, d.model, gjson.GetBytes(d.rec.message, "usage"), claudeCounts)
}

//nolint:gochecknoglobals // a table
var claudeCounts = counts{
	input: "input_tokens", output: "output_tokens", read: "cache_read_input_tokens",
	written: "cache_creation_input_tokens",
}

// attachment takes the kinds that say something: a prompt that was typed while the agent worked, a file that was
// changed beside the tools.
func (d *claudeDecoder) attachment(p *part) {
	a := gjson.ParseBytes(d.rec.attachment)
	if a.Get("type").Str == "edited_text_file" {
		d.addShellEdit(p, a)
	}
	if a.Get("type").Str != "queued_command" || a.Get("isMeta").Bool() {
		return
	}
	s := typedPrompts(a.Get("prompt"))
	if s == "" {
		return
	}
	p.queue.noteCarried(s)
	mode := a.Get("commandMode").Str
	if mode == "task-notification" || !mayBeByPerson([]byte(a.Get("origin").Raw), "") {
		return
	}
	if mode == "bash" {
		s = session.WithTypedMark("!", s)
	}
	d.addTurn(p, session.RoleHuman, s)
}

func (d *claudeDecoder) addCall(p *part, block gjson.Result) {
	u := claudeTools.parse(block.Get("id").Str, ledgerName(validText(block.Get("name").Str)), block.Get("input"))
	if u.act != session.ActEdit {
		u.paths = firstText(block.Get("input"), claudeTools.paths...)
	}
	if u.act == session.ActRun && len(d.ran) < maxCmd {
		d.ran += u.cmd + "\n"
	}
	d.decoder.addCall(p, u)
}
