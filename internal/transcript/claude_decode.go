package transcript

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/git-rekal/git-rekal/internal/session"
)

// Decode reads the records of one file. Sessions are keyed by the ID in the records, as
// rows can land in another session's file; subagents by their agent's ID.
func (c ClaudeCode) Decode(ctx context.Context, r io.Reader, opt Options) (Document, error) {
	d := claudeDecoder{
		opt:    opt,
		places: newPlaces(opt.Roots),
		parts:  make(map[string]*claudePart),
		seen:   make(map[string]*claudePart),
		ts:     opt.Last,
		out:    -1,
	}
	d.places.past = opt.Others
	done, err := eachRecord(ctx, r, &d.skipped, d.line)
	if err != nil {
		return Document{}, fmt.Errorf("transcript: decode %q: %w", opt.File.Path, err)
	}
	return d.document(done, c.Name()), nil
}

// claudeDecoder is one call of Decode.
type claudeDecoder struct {
	opt     Options
	places  *places
	order   []*claudePart
	parts   map[string]*claudePart
	seen    map[string]*claudePart // by the ID of a record of this read; nil where another's work stands before it
	titles  []claudeSummary
	rec     claudeRecord
	start   int64     // offset of the record
	ts      time.Time // of the record, or the last one known
	version string    // of the agent, as last named
	out     int64     // offset of the last record that gave a turn or call; -1: none
	skipped Counts
}

// claudePart is one session's share while it is read.
type claudePart struct {
	Part
	where whereabouts // of what is said now; nowhere only before it has begun
	begun bool        // it has been in the repository
	leave claudeLeave
	cwd   string          // working folder as last named
	actor bool            // the actor is known
	calls map[string]int  // tool_use ID -> index of the call
	asked map[string]Edit // tool_use ID -> what it asks for, until its result is there
	first int64           // offset of the first turn or call
	queue claudeQueue
}

// claudeSummary is a title that names a record instead of a session.
type claudeSummary struct{ leaf, text string }

// line takes one record; it reports whether the line is one.
func (d *claudeDecoder) line(ln line) bool {
	r := &d.rec
	if !r.scan(ln.text) {
		return false
	}
	d.start = ln.start
	kind := text(r.kind)
	if kind == "" {
		kind = text(r.role)
	}
	switch kind {
	case "progress", "file-history-snapshot", "file-history-delta", "system", "last-prompt",
		"agent-name", "agent-color", "agent-setting", "mode", "permission-mode", "pr-link", "tag",
		"attribution-snapshot", "content-replacement", "worktree-state", "bridge-session", "cost-state":
		d.clock() // what has no time of its own takes that of the record before it
		return true
	case "user", "assistant", "attachment", "queue-operation", "summary", "custom-title", "ai-title":
		if !gjson.ValidBytes(ln.text) {
			return false
		}
	default:
		d.skipped.unknown(kind)
		return true
	}
	if is(r.sidechain) && d.opt.File.AgentID == "" {
		return true
	}
	id := d.id()
	if _, again := d.seen[id]; again {
		d.skipped.Duplicate++
		return true
	}
	d.clock()
	p := d.part()
	d.record(kind, p)
	if id != "" {
		d.seen[id] = nil
		if p.undivided() {
			d.seen[id] = p
		}
	}
	return true
}

// id is the record's own ID; empty when it has none.
func (d *claudeDecoder) id() string {
	return cut(text(d.rec.uuid), maxName)
}

func (d *claudeDecoder) clock() {
	if t := moment(d.rec.timestamp); !t.IsZero() {
		d.ts = t
	}
}

// part is the session that the record belongs to.
func (d *claudeDecoder) part() *claudePart {
	native := name(text(d.rec.session))
	if d.opt.File.AgentID != "" {
		if native = name(text(d.rec.agent)); native == "" {
			native = d.opt.File.AgentID
		}
	}
	if native == "" {
		native = d.opt.File.NativeID
	}
	p := d.parts[native]
	if p == nil {
		p = &claudePart{calls: make(map[string]int), asked: make(map[string]Edit), first: -1, leave: claudeLeave{from: -1}}
		p.NativeID = native
		if d.opt.Inside {
			p.where, p.begun, p.leave.ever = inside, true, d.opt.Apart
		}
		d.parts[native] = p
		d.order = append(d.order, p)
	}
	return p
}

func (d *claudeDecoder) record(kind string, p *claudePart) {
	r := &d.rec
	d.place(p)
	if len(r.version) > 0 {
		d.version = cut(text(r.version), maxName)
	}
	switch kind {
	case "custom-title":
		p.entitle(TitleUser, text(r.customTitle))
	case "ai-title":
		p.entitle(TitleAgent, text(r.aiTitle))
	case "summary":
		d.titles = append(d.titles, claudeSummary{text(r.leaf), text(r.summary)})
	case "queue-operation":
		p.queue.apply(text(r.operation), typed(text(r.content)), text(r.reason), d.ts, d.start, p.where)
	case "user":
		d.user(p)
	case "assistant":
		d.assistant(p)
	case "attachment":
		d.attachment(p)
	}
}

// place settles where the session stands, and takes what the envelope says about it.
func (d *claudeDecoder) place(p *claudePart) {
	r := &d.rec
	at := unknown
	if cwd := text(r.cwd); cwd != "" {
		p.cwd = cwd
		at = d.places.stand(cwd)
		d.move(p, at)
	}
	if p.where != unknown && p.where != inside {
		return
	}
	if branch := text(r.branch); at == inside && branch != "" {
		p.Branch = name(branch)
	}
	if !p.actor && (len(r.entrypoint) > 0 || len(r.runKind) > 0) {
		p.actor = true
		if r.programmatic() {
			p.ActorType = session.ActorAgent
		}
	}
	if p.ParentNative == "" && d.opt.File.AgentID != "" {
		p.ParentNative = name(text(r.session))
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

func (d *claudeDecoder) user(p *claudePart) {
	r := &d.rec
	content, ok := d.message()
	if !ok {
		return
	}
	if content.IsArray() {
		p.failures(content)
		d.result(p, content)
	}
	if is(r.meta) || is(r.compact) || is(r.visibleOnly) || !d.people() {
		return
	}
	if bytes.Contains(r.toolResult, []byte(`"answers"`)) {
		if s := answers(r.toolResult); s != "" {
			d.turn(p, session.RoleHuman, s)
		}
	}
	if s := prompts(content); s != "" {
		p.queue.carry(s)
		d.turn(p, session.RoleHuman, s)
	}
}

// people reports whether the record is a prompt by its marks. A subagent's prompts are
// written by the agent that spawned it, and are kept as such.
func (d *claudeDecoder) people() bool {
	return d.opt.File.AgentID != "" || people(d.rec.origin, text(d.rec.promptSource))
}

// failures marks the calls whose result is an error.
func (p *claudePart) failures(content gjson.Result) {
	content.ForEach(func(_, block gjson.Result) bool {
		if block.Get("type").Str != "tool_result" || !block.Get("is_error").Bool() {
			return true
		}
		if i, ok := p.calls[block.Get("tool_use_id").Str]; ok {
			p.ToolCalls[i].Failed = true
		}
		return true
	})
}

func (d *claudeDecoder) assistant(p *claudePart) {
	content, ok := d.message()
	switch {
	case !ok:
	case content.Type == gjson.String:
		d.said(p, content.Str)
	default:
		content.ForEach(func(_, block gjson.Result) bool {
			switch block.Get("type").Str {
			case "text":
				d.said(p, block.Get("text").Str)
			case "tool_use":
				d.call(p, block)
			}
			return true
		})
	}
}

func (d *claudeDecoder) said(p *claudePart, s string) {
	if s = strings.TrimSpace(clean(s)); s != "" {
		d.turn(p, session.RoleAssistant, s)
	}
}

// attachment takes the one kind that is a prompt: typed while the agent worked.
func (d *claudeDecoder) attachment(p *claudePart) {
	a := gjson.ParseBytes(d.rec.attachment)
	if a.Get("type").Str != "queued_command" || a.Get("isMeta").Bool() {
		return
	}
	s := prompts(a.Get("prompt"))
	if s == "" {
		return
	}
	p.queue.carry(s)
	mode := a.Get("commandMode").Str
	if mode == "task-notification" || !people([]byte(a.Get("origin").Raw), "") {
		return
	}
	if mode == "bash" {
		s = prefixed("!", s)
	}
	d.turn(p, session.RoleHuman, s)
}

// turn adds one turn, behind the queued prompts that were delivered before it.
func (d *claudeDecoder) turn(p *claudePart, role, s string) {
	d.settle(p)
	if p.keeps(p.where, role, d.ts) {
		p.add(role, s, d.ts, d.start)
		d.emitted(p, d.start)
	}
}

func (d *claudeDecoder) settle(p *claudePart) {
	for _, q := range p.queue.settle(d.version) {
		if p.keeps(q.where, session.RoleHuman, q.ts) {
			p.add(session.RoleHuman, q.text, q.ts, q.start)
			d.emitted(p, q.end)
		}
	}
}

// emitted notes what may not be read twice. What a session holds that has not begun may.
func (d *claudeDecoder) emitted(p *claudePart, offset int64) {
	if p.begun {
		d.out = max(d.out, offset)
	}
}

func (p *claudePart) add(role, s string, ts time.Time, offset int64) {
	if p.first < 0 {
		p.first = offset
	}
	p.Turns = append(p.Turns, session.Turn{Index: len(p.Turns), Role: role, TS: ts, Content: strings.Clone(s)}) // cloned: s may be a piece of a large record
}

func (d *claudeDecoder) call(p *claudePart, block gjson.Result) {
	d.settle(p)
	if !p.keeps(p.where, session.RoleAssistant, d.ts) {
		return
	}
	input := block.Get("input")
	call := session.ToolCall{
		Index: len(p.ToolCalls),
		Turn:  len(p.Turns) - 1,
		Tool:  strings.Clone(name(clean(block.Get("name").Str))),
	}
	call.Act = claudeActs[call.Tool]
	for _, key := range []string{"file_path", "notebook_path", "path"} {
		if v := input.Get(key); call.Path == "" && v.Type == gjson.String {
			call.Path = strings.Clone(d.places.file(clean(v.Str), p.cwd))
		}
	}
	if call.Act == session.ActRun {
		call.Cmd = strings.Clone(cut(clean(input.Get("command").Str), maxCmd))
	}
	if id := strings.Clone(block.Get("id").Str); id != "" {
		p.calls[id] = call.Index
		if e, ok := asks(call.Tool, input); ok {
			e.Path = call.Path
			p.asked[id] = e
		}
	}
	if p.first < 0 {
		p.first = d.start
	}
	p.ToolCalls = append(p.ToolCalls, call)
	d.emitted(p, d.start)
}
