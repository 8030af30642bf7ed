package transcript

import (
	"cmp"
	"context"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/git-rekal/git-rekal/internal/session"
)

// Grok reads the sessions of Grok Build, version 1.0:
//
//	<home>/sessions/<folder, as in a URL>/<session ID>/updates.jsonl
//	<home>/sessions/<folder, as in a URL>/<session ID>/summary.json                    its title, its branch
//	<home>/sessions/<folder, as in a URL>/<session ID>/subagents/<session ID>/meta.json
//
// where <home> is ${GROK_HOME:-~/.grok}. The updates are those of the Agent Client Protocol, which a resume replays; a
// text comes in pieces.
type Grok struct{}

// Name is the source of the sessions.
func (Grok) Name() string { return "grok" }

// Locate lists the sessions whose folder is one of the repository.
func (Grok) Locate(ctx context.Context, env Env) (Found, error) {
	l := newFinder(env, Grok{}, grokTools)
	store := filepath.Join(env.homeFolder("GROK_HOME", ".grok"), "sessions")
	if filepath.IsAbs(store) {
		for _, e := range l.list(store) {
			cwd, err := url.PathUnescape(e.Name())
			if err == nil && filepath.IsAbs(slashPath(cwd)) && ctx.Err() == nil {
				l.takeGrokSessions(filepath.Join(store, e.Name()), cwd)
			}
		}
	}
	return l.result(ctx)
}

// takeGrokSessions takes the sessions that were begun in a folder. A subagent's lies beside its parent's, which names
// it.
func (l *finder) takeGrokSessions(dir, cwd string) {
	entries := l.list(dir)
	parents := map[string]string{}
	if l.places.mayConcern(cwd) {
		for _, e := range entries {
			if !e.IsDir() {
				continue
			}
			for _, sub := range l.list(filepath.Join(dir, e.Name(), "subagents")) {
				parents[sub.Name()] = e.Name()
			}
		}
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		f := File{Path: filepath.Join(dir, e.Name(), "updates.jsonl"), NativeID: ledgerName(e.Name()), Cwd: cwd}
		if parent := parents[e.Name()]; parent != "" {
			f.AgentID, f.Parent = f.NativeID, ledgerName(parent)
		}
		l.takeFile(f)
	}
}

// grokDecoder is one call of Decode.
type grokDecoder struct {
	decoder
	kind  string // of the text that is being told; "" for none
	text  strings.Builder
	begun int64 // offset of its first piece
}

// Decode reads the updates of one session.
func (g Grok) Decode(ctx context.Context, r io.Reader, opt Options) (Document, error) {
	opt.Head = nil // each update is of one thing
	d := grokDecoder{decoder: newFileDecoder(g.Name(), opt)}
	if about, err := readBounded(filepath.Join(filepath.Dir(opt.File.Path), "summary.json"), maxDocument); err == nil {
		d.part.setBranch(gjson.GetBytes(about, "head_branch"))
		if opt.File.AgentID == "" {
			d.part.setSessionTitle(TitleAgent, validText(gjson.GetBytes(about, "generated_title").Str))
		}
	}
	done, err := d.records(ctx, r, objects(d.record))
	if err != nil {
		return Document{}, err
	}
	if opt.File.ReadWhole { // a copy, to which nothing is added
		d.endText()
	}
	return d.closeDocument(d.takeBackUnfinished(done)), nil
}

// grokUpdates are the updates, by who speaks in them.
//
//nolint:gochecknoglobals // a table
var grokUpdates = records{
	"user_message_chunk": byPerson, "agent_message_chunk": byAgent, "tool_call": byAgent, "tool_call_update": byAgent,
	"turn_completed":      aboutSession,
	"agent_thought_chunk": byProgram, "plan": byProgram, "background_tasks": byProgram, "subagent_spawned": byProgram,
	"subagent_finished":         byProgram,
	"available_commands_update": byProgram, "current_mode_update": byProgram,
}

func (d *grokDecoder) record(rec gjson.Result) {
	u := rec.Get("params.update")
	kind := u.Get("sessionUpdate").Str
	if kind != d.kind {
		d.endText()
	}
	at := rec.Get("params._meta.agentTimestampMs")
	if !at.Exists() {
		at = rec.Get("timestamp")
	}
	d.setTime(parseTime([]byte(at.Raw)))
	switch kind {
	case "user_message_chunk", "agent_message_chunk":
		d.addPiece(kind, u)
	case "tool_call":
		d.tool(u)
	case "tool_call_update":
		d.result(u)
	case "turn_completed":
		d.stopWaiting()
		usage := u.Get("usage")
		d.addUsage(d.part, u.Get("prompt_id").Str, d.part.model.now, usage, grokCounts)
	default:
		if _, known := grokUpdates[kind]; !known {
			d.skipped.unknown(kind)
		}
	}
}

// textID stands for a text that is being told among what a later record decides.
const textID = "text"

// addPiece takes a piece of a text, which stands where its first piece does.
func (d *grokDecoder) addPiece(kind string, u gjson.Result) {
	if d.kind == "" {
		d.kind, d.begun = kind, d.start
		d.awaitResult(textID)
	}
	d.part.model.noteModel(u.Get("_meta.modelId").Str, d.begun)
	if d.text.Len() < MaxLine {
		d.text.WriteString(u.Get("content.text").Str)
	}
}

// endText gives a text that is whole, now that something else is told.
func (d *grokDecoder) endText() {
	if d.kind == "" {
		return
	}
	s, kind, now := d.text.String(), d.kind, d.start
	d.kind = ""
	d.text.Reset()
	delete(d.open, textID)
	d.start = d.begun
	if kind == "user_message_chunk" {
		d.stopWaiting()
		d.addPrompt(d.part, s)
	} else {
		d.addAnswer(d.part, s)
	}
	d.start = now
}

//nolint:gochecknoglobals // a table
var grokCounts = counts{
	input: "inputTokens", output: "outputTokens", thought: "reasoningTokens", read: "cachedReadTokens",
	written: "cacheCreationTokens", total: "totalTokens", cached: true,
}

// grokTools are the tools that touch files or run commands.
//
//nolint:gochecknoglobals // a table
var grokTools = toolForms{
	acts: map[string]string{
		"search_replace": session.ActEdit, "write": session.ActEdit, "apply_patch": session.ActEdit,
		"delete_file": session.ActEdit,
		"read_file":   session.ActRead, "grep": session.ActRead, "list_dir": session.ActRead, "file_search": session.ActRead,
		"run_terminal_command": session.ActRun,
	},
	paths:   []string{"file_path", "target_file", "path", "target_directory"},
	content: "content", old: "old_string", now: "new_string",
	editNeedsResult: true,
}

func (d *grokDecoder) tool(u gjson.Result) {
	name := cmp.Or(u.Get("_meta.x\\.ai/tool.name").Str, u.Get("title").Str)
	d.addCall(d.part, grokTools.parse(u.Get("toolCallId").Str, name, u.Get("rawInput")))
}

// result takes how a call ended. A command that was carried out is completed, whatever its status.
func (d *grokDecoder) result(u gjson.Result) {
	status := u.Get("status").Str
	if status != "completed" && status != "failed" {
		return
	}
	exit := exitOf(u.Get("rawOutput.exit_code"))
	text := u.Get(`content.#(type=="content").content.text`).Str
	d.endCall(d.part, u.Get("toolCallId").Str, text, exit, status == "failed" || exit != nil && *exit != 0)
}

func (Grok) recognises(rec gjson.Result) (File, bool) {
	id := ledgerNameOf(rec.Get("params.sessionId"))
	return File{NativeID: id}, id != "" && strings.HasSuffix(rec.Get("method").Str, "session/update")
}
