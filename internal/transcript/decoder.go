package transcript

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/git-rekal/git-rekal/internal/session"
)

// The parts of an agent's own file: Locate finds the transcripts, with a finder; shelving helps where those of all
// repositories lie side by side. Decode embeds decoder, and turns each record into addPrompt, addAnswer, addCall and
// endCall; a table (toolForms) says what each tool does. recognises knows one of its records, for `git rekal import`,
// and lines makes lines of an export. Open (an Opener) gives lines of what is no growing file. Its sample in samples
// (compliance_test.go) must pass TestAgents, which all agents share.

// decoder is one call of Decode: what the decoders of all agents share. An agent's own one embeds it, and reads its
// records into turn, call, done and edited.
type decoder struct {
	opt     Options
	source  string
	places  *places
	part    *part  // of the file's own session; nil for an agent whose records say whose they are
	started string // the folder in which the session was begun, as its first record with one says
	order   []*part
	parts   map[string]*part
	seen    map[string]*part // by the ID of a record of this read; nil where another's work stands before it
	start   int64            // offset of the record
	lines   int              // how many there were
	ts      time.Time        // of the record, or the last one known
	version string           // of the agent, as last named
	model   string           // that the record says it is of, where each says it for itself; else see models
	out     int64            // offset of the last record that gave a turn or call; -1: none
	skipped Counts
	titles  []leafTitle
	open    map[string]int64 // ID of an edit without a result -> offset of its call; see unfinished
}

// part is one session's share while it is read.
type part struct {
	Part
	where whereabouts // of what is said now; nowhere only before it has begun
	begun bool        // it has been in the repository
	leave workElsewhere
	cwd   string            // working folder as last named
	from  string            // and as first named
	actor bool              // the actor is known
	sub   bool              // another agent spawned it
	calls map[string][]int  // ID of a call -> its indexes: a call may name several files
	asked map[string][]Edit // ID of a call -> what it asks for, until its result is there
	first int64             // offset of the first turn or call
	queue claudeQueue
	model modelTrack
	heard outputsRead
	last  string // ID of the last call

	written    map[string][]Edit // by ID of a command, what it writes to files, until its result is there
	committing map[string]Commit // by ID of a call that has git make commits, until its result is there

	// the slash command that was asked, where nothing else was before
	command string
	passed  *session.Turn                                         // the last prompt, where it was said elsewhere
	counted map[string]int                                        // by session.Usage.Request: where it stands in Usage
	at      struct{ turns, calls, edits, usage, commits []int64 } // offsets of the records that gave them
}

// leafTitle is a title that names a record instead of a session.
type leafTitle struct{ leaf, text string }

func newDecoder(source string, opt Options) decoder {
	d := decoder{
		opt:    opt,
		source: source,
		places: newPlaces(opt.Roots),
		parts:  make(map[string]*part),
		seen:   make(map[string]*part),
		open:   make(map[string]int64),
		ts:     opt.Last,
		out:    -1,
	}
	d.places.past = opt.OtherRepos
	return d
}

// newFileDecoder decodes a file that is one session's.
func newFileDecoder(source string, opt Options) decoder {
	d := newDecoder(source, opt)
	d.part = d.session(opt.File.NativeID)
	d.enterFolder(d.part, opt.File.Cwd)
	return d
}

// readObjects gives visit each line that is a JSON object, and closes the read.
func (d *decoder) readObjects(ctx context.Context, r io.Reader, visit func(gjson.Result)) (Document, error) {
	return d.read(ctx, r, objects(visit))
}

// readTyped gives visit each line that is a JSON object of a type that is wanted, and closes the read. Others are not
// parsed.
func (d *decoder) readTyped(ctx context.Context, r io.Reader, wants func(kind string) bool,
	visit func(kind string, rec gjson.Result),
) (Document, error) {
	return d.read(ctx, r, typed(wants, visit))
}

// typed takes the lines that are JSON objects with a type.
func typed(wants func(kind string) bool, visit func(kind string, rec gjson.Result)) func([]byte) bool {
	var raw []byte
	member := map[string]*[]byte{"type": &raw}
	return func(ln []byte) bool {
		raw = nil
		if !takeMembers(ln, member) {
			return false
		}
		kind := stringOf(raw)
		if !wants(kind) {
			return true
		}
		valid := gjson.ValidBytes(ln)
		if valid {
			visit(kind, gjson.ParseBytes(ln))
		}
		return valid
	}
}

// objects takes the lines that are JSON objects.
func objects(visit func(gjson.Result)) func([]byte) bool {
	return func(ln []byte) bool {
		rec, ok := parseObject(ln)
		if ok {
			visit(rec)
		}
		return ok
	}
}

// read gives visit each line, and closes the read.
func (d *decoder) read(ctx context.Context, r io.Reader, visit func([]byte) bool) (Document, error) {
	done, err := d.records(ctx, r, visit)
	if err != nil {
		return Document{}, err
	}
	return d.closeDocument(d.takeBackUnfinished(done)), nil
}

// records gives visit each line, and returns how many bytes it is done with. Where the read begins behind the first
// record, that one is read before, for what it says of the session as a whole.
func (d *decoder) records(ctx context.Context, r io.Reader, visit func([]byte) bool) (int64, error) {
	if len(d.opt.Head) > 0 {
		d.start = -1
		visit(d.opt.Head)
	}
	done, err := eachRecord(ctx, r, &d.skipped, func(ln line) bool {
		d.start = ln.start
		d.lines++
		return visit(ln.text)
	})
	if err != nil {
		return 0, fmt.Errorf("transcript: decode %q: %w", d.opt.File.Path, err)
	}
	return done, nil
}

// session is the session with a native ID.
func (d *decoder) session(native string) *part {
	p := d.parts[native]
	if p == nil {
		p = &part{
			calls: make(map[string][]int), asked: make(map[string][]Edit), committing: make(map[string]Commit),
			written: make(map[string][]Edit), counted: make(map[string]int), first: -1,
			leave: workElsewhere{from: -1}, model: modelTrack{told: -1},
		}
		p.NativeID, p.sub = native, d.opt.File.AgentID != ""
		if d.opt.Inside {
			p.where, p.begun, p.leave.ever = inside, true, d.opt.HasElsewhere
		}
		d.parts[native] = p
		d.order = append(d.order, p)
	}
	return p
}

// enterFolder settles where a session is, now that a record names its working folder.
func (d *decoder) enterFolder(p *part, cwd string) {
	if cwd == "" {
		return
	}
	if p.cwd = cwd; d.started == "" {
		d.started = cwd
	}
	at := d.places.whereIs(cwd)
	if p.begun && d.isOfSeveral(cwd) {
		at = outside
	}
	d.moveTo(p, at)
}

// setBranch takes the branch that a record names.
func (p *part) setBranch(v gjson.Result) {
	if p.where == inside && v.Str != "" {
		p.Branch = ledgerNameOf(v)
	}
}

// setTime sets the time of what follows. A record without a time keeps that of the record before it.
func (d *decoder) setTime(t time.Time) {
	if !t.IsZero() {
		d.ts = t
	}
}

// addAnswer adds what the agent said.
func (d *decoder) addAnswer(p *part, s string) {
	if s = strings.TrimSpace(validText(s)); s != "" {
		d.addTurn(p, session.RoleAssistant, s)
	}
}

// readBlocks takes a message as the API of Claude has it: a text, or blocks that are texts, calls and results. It
// returns what a person's texts say.
func (d *decoder) readBlocks(role string, content gjson.Result, tool, result func(gjson.Result)) string {
	if content.Type == gjson.String {
		return content.Str
	}
	var typed []string
	content.ForEach(func(_, b gjson.Result) bool {
		switch kind := b.Get("type").Str; {
		case kind == "tool_result":
			result(b)
		case kind == "text" && role == "user":
			typed = append(typed, b.Get("text").Str)
		case kind == "text":
			d.addAnswer(d.part, b.Get("text").Str)
		case kind == "tool_use" || kind == "toolCall":
			tool(b)
		case kind != "thinking" && kind != "redacted_thinking" && kind != "image":
			d.skipped.unknown(kind)
		}
		return true
	})
	return strings.Join(typed, "\n")
}

// addPrompt adds what a person typed of a prompt.
func (d *decoder) addPrompt(p *part, s string) {
	if s = session.TypedByPerson(d.source, validText(s)); s != "" {
		d.addTurn(p, session.RoleHuman, s)
	}
}

// addUndone adds that the person took back the last so many prompts, with all behind them.
func (d *decoder) addUndone(prompts int) {
	if prompts > 0 && (len(d.part.Turns) > 0 || d.opt.Inside) {
		d.stopWaiting()
		d.addTurn(d.part, session.RoleHuman, session.UndoneMark(prompts))
	}
}

// addTurn adds one turn, behind the queued prompts that were delivered before it.
func (d *decoder) addTurn(p *part, role, s string) {
	d.addDelivered(p)
	if role == session.RoleHuman {
		p.passed = nil
	}
	if p.admitsFrom(p.where, role, d.ts) {
		p.add(role, s, d.ts, d.start)
		p.model.noteModelOfTurn(d.model, d.start)
		d.noteEmitted(p, d.start)
		return
	}
	d.noteLeftOut(p)
	if role == session.RoleHuman {
		p.passed = &session.Turn{Role: role, TS: d.ts, Content: strings.Clone(s)}
	}
}

func (d *decoder) addDelivered(p *part) {
	for _, q := range p.queue.takeDelivered(d.version) {
		if p.admitsFrom(q.where, session.RoleHuman, q.ts) {
			p.add(session.RoleHuman, q.text, q.ts, q.start)
			d.noteEmitted(p, q.end)
		}
	}
}

// noteEmitted notes what may not be read twice. What a session holds that has not begun may.
func (d *decoder) noteEmitted(p *part, offset int64) {
	if p.begun {
		d.out = max(d.out, offset)
	}
}

func (p *part) add(role, s string, ts time.Time, offset int64) {
	if p.first < 0 {
		p.first = offset
	}
	if role == session.RoleHuman {
		s = session.WithoutHandoff(s)
	}
	// cloned: s may be a piece of a large record
	p.Turns = append(p.Turns, session.Turn{Index: len(p.Turns), Role: role, TS: ts, Content: strings.Clone(s)})
	p.at.turns = append(p.at.turns, offset)
}

// toolUse is one tool call as a record of the transcript says it.
type toolUse struct {
	id    string
	tool  string
	act   string   // as session.ToolCall
	paths []string // as the agent wrote them; one call of the session stands for each
	cmd   string
	edits []Edit // what it asks for, with paths as the agent wrote them; it is done when the result says so
	// a read that would end between the call and its result ends before the call: the next read knows both
	needsResult bool
}

// addCall adds a tool call. What it asks to be edited waits for finishCall.
func (d *decoder) addCall(p *part, u toolUse) {
	d.addDelivered(p)
	if u.needsResult {
		d.awaitResult(u.id)
	}
	at := p.where
	if at != inside && at != unknown && d.keepEditsHere(p, &u) {
		d.enterByEdit(p)
		at = inside
	}
	if !p.admitsFrom(at, session.RoleAssistant, d.ts) {
		d.noteLeftOut(p, u.paths...)
		return
	}
	c := session.ToolCall{
		Turn: len(p.Turns) - 1, Tool: strings.Clone(ledgerName(validText(u.tool))), Act: u.act,
		Cmd: strings.Clone(truncate(validText(u.cmd), maxCmd)),
	}
	if len(u.paths) == 0 {
		u.paths = []string{""}
	}
	id := strings.Clone(u.id)
	if p.first < 0 {
		p.first = d.start
	}
	delete(p.calls, id)
	for _, path := range u.paths {
		c.Index, c.Path = len(p.ToolCalls), strings.Clone(d.places.toolPath(validText(path), p.cwd))
		p.ToolCalls, p.at.calls = append(p.ToolCalls, c), append(p.at.calls, d.start)
		if id != "" {
			p.calls[id] = append(p.calls[id], c.Index)
		}
	}
	if u.act == session.ActRun { // it may make a commit, too, whose hook reads this before there is a result
		for _, e := range heredocEdits(validText(u.cmd)) {
			e.Path = d.places.toolPath(validText(e.Path), p.cwd)
			if d.addEdit(p, e) && id != "" {
				p.written[id] = append(p.written[id], p.Edits[len(p.Edits)-1])
			}
		}
	}
	for i := range u.edits {
		u.edits[i].Path = d.places.toolPath(validText(u.edits[i].Path), p.cwd)
	}
	if id != "" && len(u.edits) > 0 {
		p.asked[id] = u.edits
	}
	p.Called++
	p.last, p.Running = id, true
	if c.MakesCommit() && id != "" {
		p.committing[id] = Commit{Command: c.Cmd, From: d.ts}
	}
	d.awaitOutput(p, id, c)
	p.model.noteModelOfTurn(d.model, d.start)
	d.noteEmitted(p, d.start)
}

// endCall takes the result of a call, and what it printed.
func (d *decoder) endCall(p *part, id, text string, exit *int, failed bool) {
	d.addOutput(p, id, text, exit, failed)
	d.finishCall(p, id, failed)
}

// finishCall takes the result of a call: what it asked for was done, or it failed.
func (d *decoder) finishCall(p *part, id string, failed bool) {
	delete(d.open, id)
	edits := p.asked[id]
	delete(p.asked, id)
	delete(p.written, id)
	if len(p.calls[id]) > 0 {
		p.Ended++
	}
	if p.last == id {
		p.Running = false
	}
	if failed {
		for _, i := range p.calls[id] {
			p.ToolCalls[i].Failed = true
		}
		return
	}
	for _, e := range edits {
		d.addEdit(p, e)
	}
}

// addEdit keeps an edit of a file of the repository.
func (d *decoder) addEdit(p *part, e Edit) bool {
	if len(e.Hunks) == 0 || !session.IsPathInTree(e.Path) || e.Path == "." || e.Path[0] == '~' {
		return false
	}
	e.Path, e.TS = strings.Clone(e.Path), d.ts
	p.Edits, p.at.edits = append(p.Edits, e), append(p.at.edits, d.start)
	return true
}

// takeBackWritten takes back what a command that never ran would have written, as far as this read has it.
func (p *part) takeBackWritten(id string) {
	for _, e := range p.written[id] {
		isThat := func(o Edit) bool { return o.Path == e.Path && o.TS.Equal(e.TS) && &o.Hunks[0] == &e.Hunks[0] }
		if i := slices.IndexFunc(p.Edits, isThat); i >= 0 {
			p.Edits, p.at.edits = slices.Delete(p.Edits, i, i+1), slices.Delete(p.at.edits, i, i+1)
		}
	}
}

// awaitResult notes that nobody knows yet what came of the call of this record.
func (d *decoder) awaitResult(id string) { d.open[strings.Clone(id)] = d.start }

// stopWaiting forgets edits without a result, now that the conversation went on without one.
func (d *decoder) stopWaiting() { clear(d.open) }

// takeBackUnfinished takes back what was read from the first edit on that has no result yet, and returns where the read
// ends.
func (d *decoder) takeBackUnfinished(done int64) int64 {
	end := done
	for _, at := range d.open {
		end = min(end, at)
	}
	if end == done {
		return done
	}
	for _, p := range d.order {
		p.Turns = p.Turns[:countBefore(p.at.turns, end)]
		p.ToolCalls = p.ToolCalls[:countBefore(p.at.calls, end)]
		p.Edits = p.Edits[:countBefore(p.at.edits, end)]
		p.Outputs = p.Outputs[:countBefore(p.heard.at, end)]
		p.Usage = p.Usage[:countBefore(p.at.usage, end)]
		p.Commits = p.Commits[:countBefore(p.at.commits, end)]
		p.model.forgetFrom(end)
		p.Running = false
	}
	d.out = min(d.out, end-1)
	return end
}

// countBefore is how many of some ascending offsets lie before another one.
func countBefore(offsets []int64, end int64) int {
	n := len(offsets)
	for n > 0 && offsets[n-1] >= end {
		n--
	}
	return n
}
