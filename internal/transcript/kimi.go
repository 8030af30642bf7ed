package transcript

import (
	"cmp"
	"context"
	"io"
	"path/filepath"

	"github.com/tidwall/gjson"

	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Kimi reads the sessions of Kimi Code, version 2.1, and those of protocol 1.4 before it:
//
//	<home>/sessions/<folder>/<session ID>/state.json                  where it works, its title
//	<home>/sessions/<folder>/<session ID>/agents/main/wire.jsonl
//	<home>/sessions/<folder>/<session ID>/agents/<agent ID>/wire.jsonl   of its subagents
//
// where <home> is ${KIMI_CODE_HOME:-~/.kimi-code}. A wire has a conversation twice: as what the model was given
// (context.*), which is read, and as events.
type Kimi struct{}

// Name is the source of the sessions.
func (Kimi) Name() string { return "kimi-code" }

// kimiMain is the agent of a session that is no subagent, and kimiWire the file of each agent.
const (
	kimiMain = "main"
	kimiWire = "wire.jsonl"
)

// Locate lists the sessions whose folder is one of the repository.
func (Kimi) Locate(ctx context.Context, env Env) (Found, error) {
	l := newFinder(env, Kimi{}, kimiTools)
	store := filepath.Join(env.homeFolder("KIMI_CODE_HOME", ".kimi-code"), "sessions")
	if filepath.IsAbs(store) {
		for _, folder := range l.list(store) {
			for _, s := range l.list(filepath.Join(store, folder.Name())) {
				if s.IsDir() && ctx.Err() == nil {
					l.takeKimiSession(filepath.Join(store, folder.Name(), s.Name()), s.Name())
				}
			}
		}
	}
	return l.result(ctx)
}

// takeKimiSession takes the wire of a session, and those of its subagents.
func (l *finder) takeKimiSession(dir, id string) {
	main := File{Path: filepath.Join(dir, "agents", kimiMain, kimiWire)}
	if l.had.Others[id] && (!l.stat(&main) || !l.isSearched(main, unknownFolder)) {
		l.next.Others[id] = true
		return
	}
	raw, err := readBounded(filepath.Join(dir, "state.json"), maxDocument)
	cwd := kimiFolder(raw)
	if err != nil || cwd == "" { // it has only begun
		return
	}
	l.next.Others[id] = !l.places.mayConcern(cwd)
	for _, agent := range l.list(filepath.Join(dir, "agents")) {
		l.takeFile(kimiFile(File{Cwd: cwd}, filepath.Join(dir, "agents", agent.Name(), kimiWire)))
	}
}

// kimiFolder is where a session works, by its state; protocol 1.4 called it otherwise.
func kimiFolder(state []byte) string {
	return validText(cmp.Or(gjson.GetBytes(state, "cwd").Str, gjson.GetBytes(state, "workDir").Str))
}

// kimiFile describes a wire, of whose session only its folders tell.
func kimiFile(f File, path string) File {
	agent := filepath.Dir(path)
	id := filepath.Base(filepath.Dir(filepath.Dir(agent)))
	f.Path, f.NativeID = path, ledgerName(id)
	if name := filepath.Base(agent); name != kimiMain {
		f.Parent, f.NativeID = f.NativeID, ledgerName(id+"."+name)
		f.AgentID = f.NativeID
	}
	return f
}

// kimiDecoder is one call of Decode.
type kimiDecoder struct{ decoder }

// Decode reads the records of one wire.
func (k Kimi) Decode(ctx context.Context, r io.Reader, opt Options) (Document, error) {
	// it says which form the records have
	opt.Head = nil
	// where there is none, nobody gave a title
	state, _ := readBounded(filepath.Join(filepath.Dir(opt.File.Path), "..", "..", "state.json"), maxDocument)
	opt.File.Cwd = cmp.Or(opt.File.Cwd, kimiFolder(state))
	d := kimiDecoder{newFileDecoder(k.Name(), opt)}
	if opt.File.AgentID == "" && gjson.GetBytes(state, "isCustomTitle").Bool() { // any other is the first prompt
		d.part.setSessionTitle(TitleUser, validText(gjson.GetBytes(state, "title").Str))
	}
	return d.readTyped(ctx, r, kimiRecords.wants(&d.skipped), d.record)
}

// kimiRecords are the records of a wire, by who speaks in them.
//
//nolint:gochecknoglobals // a table
var kimiRecords = records{
	"context.append_message": byAnybody, "context.append_loop_event": byAgent, "profile.bind": aboutSession,
	"llm.request":   aboutSession,
	"config.update": aboutSession, "turn.steer": byProgram, "turn.cancel": byProgram, "tools.set_active_tools": byProgram,
	"permission.record_approval_result": byProgram, "plan_mode.enter": byProgram, "plan_mode.exit": byProgram,
	"full_compaction.begin":    byProgram,
	"full_compaction.complete": byProgram, "context.apply_compaction": byProgram,
	"metadata": byProgram, "runtime.set_binding": byProgram, "permission.set_mode": byProgram,
	"plugin.session_start": byProgram,
	"llm.tools_snapshot":   byProgram, "usage.record": byProgram, "token_counting.measured": byProgram,
	"token_counting.turn_recorded": byProgram,
	"file_history.tracked":         byProgram, "file_history.checkpoint": byProgram, "turn.prompt": byProgram,
	"turn.ended": byProgram, "prompt.completed": byProgram,
	"agent.message.appended": byProgram, "agent.turn.started": byProgram, "agent.turn.ended": byProgram,
}

func (d *kimiDecoder) record(kind string, rec gjson.Result) {
	d.setTime(parseTime([]byte(rec.Get("time").Raw)))
	switch kind {
	case "profile.bind":
		d.enterFolder(d.part, validText(rec.Get("environmentDisclosure.cwd").Str))
	case "config.update":
		if cwd := validText(rec.Get("cwd").Str); cwd != "" {
			d.enterFolder(d.part, cwd)
		}
	case "llm.request":
		d.part.model.noteModel(rec.Get("model").Str, d.start)
	case "context.append_message":
		d.message(rec.Get("message"))
	case "context.append_loop_event":
		d.event(rec.Get("event"))
	}
}

// message takes what was said to the model: by a person, or by the agent that called this one.
func (d *kimiDecoder) message(m gjson.Result) {
	from := m.Get("origin.kind").Str
	if m.Get("role").Str != "user" || from != "user" && (d.opt.File.AgentID == "" || from == "injection") {
		return
	}
	d.stopWaiting()
	d.addPrompt(d.part, joinTexts(m.Get("content")))
}

func (d *kimiDecoder) event(e gjson.Result) {
	switch kind := e.Get("type").Str; kind {
	case "content.part":
		if e.Get("part.type").Str == "text" {
			d.addAnswer(d.part, e.Get("part.text").Str)
		}
	case "tool.call":
		d.addCall(d.part, kimiTools.parse(e.Get("toolCallId").Str, e.Get("name").Str, e.Get("args")))
	case "tool.result":
		r := e.Get("result")
		failed := r.Get("isError").Bool()
		exit, text := extractStatus(joinTexts(r.Get("output")), kimiStatus)
		d.endCall(d.part, e.Get("toolCallId").Str, text, exit, failed)
	case "step.end":
		id := cmp.Or(e.Get("messageId").Str, e.Get("uuid").Str)
		d.addUsage(d.part, id, d.part.model.now, e.Get("usage"), kimiCounts)
	case "step.begin":
	default:
		d.skipped.unknown(kind)
	}
}

// kimiStatus is the line that Kimi puts behind the output of a command that failed.
var kimiStatus = lazy.Expr(`(?:^|\n)Command failed with exit code: (-?\d{1,10})\.?\s*$`)

//nolint:gochecknoglobals // a table
var kimiCounts = counts{input: "inputOther", output: "output", read: "inputCacheRead", written: "inputCacheCreation"}

// kimiTools are the tools that touch files or run commands.
//
//nolint:gochecknoglobals // a table
var kimiTools = toolForms{
	acts: map[string]string{
		"Edit": session.ActEdit, "Write": session.ActEdit,
		"Read": session.ActRead, "Grep": session.ActRead, "Glob": session.ActRead, "ReadMediaFile": session.ActRead,
		"Bash": session.ActRun,
	},
	paths:   []string{"path", "file_path"},
	content: "content", old: "old_string", now: "new_string",
	editNeedsResult: true,
}

func (Kimi) recognises(rec gjson.Result) (File, bool) { //nolint:unparam // no record names its session; the others' do
	return File{}, rec.Get("type").Str == "context.append_message" && rec.Get("message.role").Exists()
}
