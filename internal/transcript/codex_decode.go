package transcript

import (
	"cmp"
	"context"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/git-rekal/git-rekal/internal/session"
)

// codexDecoder is one call of Decode. A rollout holds the same conversation twice: as the items that the model was
// given and gave (response_item), and as events for those who watch (event_msg). Calls and answers are read from the
// items, which all versions have. Prompts are read from the events: what else the program told the model stands among
// the items as if a person had said it.
type codexDecoder struct {
	decoder
	meta      bool      // the session's own record was seen; a later one is another session's, or repeats it
	born      time.Time // when the session was made, by its ID; zero: it is no copy of another
	copied    bool      // what stands here was copied from another session
	events    bool      // the rollout has events
	prompt    string    // of an item, until it is known whether events repeat it
	promptAt  time.Time
	questions gjson.Result  // that the agent asked last
	scripts   []codexScript // of code mode, whose output is not there yet
	itemized  bool          // the rollout has an item for each call, as versions from 0.150 on
}

// Decode reads the records of one rollout, which is one session.
func (c Codex) Decode(ctx context.Context, r io.Reader, opt Options) (Document, error) {
	d := codexDecoder{decoder: newFileDecoder(c.Name(), opt)}
	return d.readTyped(ctx, r, codexWants, d.line)
}

// codexWants leaves out copies of what was said before, and what the program notes for itself.
func codexWants(kind string) bool {
	switch kind {
	case "compacted", "world_state", "token_usage_record", "retained_context", "inter_agent_communication_metadata",
		"state":
		return false
	}
	return true
}

func (d *codexDecoder) line(kind string, rec gjson.Result) {
	payload := rec.Get("payload")
	if !payload.Exists() {
		kind, payload = oldCodexKind(kind, rec), rec
	}
	if d.start < 0 && kind != "session_meta" {
		return
	}
	d.setTime(parseTime([]byte(rec.Get("timestamp").Raw)))
	d.record(kind, payload)
}

// oldCodexKind is the kind of a record as versions before 0.44 wrote it, without what is around it now.
func oldCodexKind(kind string, rec gjson.Result) string {
	switch {
	case kind != "":
		return "response_item"
	case rec.Get("record_type").Exists():
		return "state"
	}
	return "session_meta"
}

func (d *codexDecoder) record(typ string, p gjson.Result) {
	switch typ {
	case "session_meta":
		d.beginSession(p)
	case "turn_context":
		d.turnOf(p.Get("turn_id").Str)
		if !d.copied {
			d.enterFolder(d.part, validText(p.Get("cwd").Str))
			d.part.model.noteModel(p.Get("model").Str, d.start)
		}
	case "event_msg":
		d.event(p)
	case "response_item":
		if !d.copied {
			d.item(p)
		}
	case "state":
	default:
		d.skipped.unknown(typ)
	}
}

// beginSession takes what the first record says of the session.
func (d *codexDecoder) beginSession(p gjson.Result) {
	if d.meta {
		return
	}
	d.meta = true
	s := d.part
	s.NativeID = cmp.Or(s.NativeID, ledgerNameOf(p.Get("id")))
	d.setTime(parseTime([]byte(p.Get("timestamp").Raw)))
	d.version, d.itemized = ledgerNameOf(p.Get("cli_version")), p.Get("history_mode").Str == "paginated"
	s.Branch = ledgerNameOf(p.Get("git.branch"))
	source := p.Get("source")
	s.ParentNative = cmp.Or(ledgerNameOf(p.Get("parent_thread_id")),
		ledgerNameOf(source.Get("subagent.thread_spawn.parent_thread_id")))
	s.ForkNative = ledgerNameOf(p.Get("forked_from_id"))
	s.sub = s.ParentNative != "" || source.Get("subagent").Exists() || p.Get("thread_source").Str == "subagent"
	if source.Str == "exec" {
		s.ActorType = session.ActorAgent
	}
	if s.sub || s.ForkNative != "" {
		d.born = uuidTime(p.Get("id").Str)
	}
	d.enterFolder(s, validText(p.Get("cwd").Str))
}

// turnOf notes which turn the records from here on belong to. A fork, and a subagent that was given all its parent
// knows, begin with a copy of the other session's records under new times: their turns are older than the session.
func (d *codexDecoder) turnOf(id string) {
	made := uuidTime(id)
	d.copied = !d.born.IsZero() && !made.IsZero() && made.Before(d.born)
}

// uuidTime is the time in a UUID of version 7; zero for another.
func uuidTime(id string) time.Time {
	if len(id) != 36 || id[14] != '7' {
		return time.Time{}
	}
	ms, err := strconv.ParseInt(id[:8]+id[9:13], 16, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

func (d *codexDecoder) event(p gjson.Result) {
	codexEvents.wants(&d.skipped)(p.Get("type").Str)
	d.events, d.prompt = true, ""
	delete(d.open, heardID)
	switch p.Get("type").Str {
	case "task_started", "turn_started":
		d.turnOf(p.Get("turn_id").Str)
		d.endTurn()
	case "task_complete", "turn_complete", "turn_aborted":
		d.endTurn()
	}
	if d.copied {
		return
	}
	switch p.Get("type").Str {
	case "user_message":
		d.addAsked(p.Get("message").Str)
	case "thread_rolled_back":
		d.addUndone(int(p.Get("num_turns").Int()))
	case "token_count": // it may be told twice; the sum of the session tells
		d.addUsage(d.part, p.Get("info.total_token_usage").Raw, d.part.model.now, p.Get("info.last_token_usage"), codexCounts)
	case "patch_apply_end":
		d.addChanges(p.Get("call_id").Str, p.Get("success").Bool(), p.Get("changes"))
	case "exec_command_end":
		d.ended(p.Get("call_id").Str, p, false, d.addExecution)
	case "mcp_tool_call_end":
		d.ended(p.Get("call_id").Str, p.Get("invocation"), p.Get("result.Err").Exists(), d.addServerCall)
	case "thread_name_updated":
		d.part.setSessionTitle(TitleAgent, stringOf([]byte(p.Get("thread_name").Raw)))
	case "item_completed":
		d.completedItem(p.Get("item"))
	}
}

//nolint:gochecknoglobals // a table
var codexCounts = counts{
	input: "input_tokens", output: "output_tokens", read: "cached_input_tokens",
	written: "cache_write_input_tokens", cached: true,
}

// completedItem takes an item of versions from 0.150 on, which have these in place of single events.
func (d *codexDecoder) completedItem(item gjson.Result) {
	codexDone.wants(&d.skipped)(item.Get("type").Str)
	d.itemized = true
	failed := item.Get("status").Str == "failed" || item.Get("status").Str == "declined"
	switch item.Get("type").Str {
	case "UserMessage":
		d.addAsked(joinTexts(item.Get("content")))
	case "FileChange":
		d.addChanges(item.Get("id").Str, !failed, item.Get("changes"))
	case "CommandExecution":
		d.ended(item.Get("id").Str, item, failed, d.addExecution)
	case "McpToolCall":
		d.ended(item.Get("id").Str, item, failed, d.addServerCall)
	case "CollabAgentToolCall":
		d.ended(item.Get("id").Str, item, failed, nil)
	}
}

// ended takes the end of a call: add takes one that a script made, of which nothing else tells.
func (d *codexDecoder) ended(id string, of gjson.Result, failed bool,
	add func(id string, of gjson.Result, failed bool),
) {
	switch {
	case add != nil && d.isScripts(id):
		add(id, of, failed)
	case failed:
		d.finishCall(d.part, id, true)
	}
}

// endTurn takes that the agent is done with what it was asked: what has no result by now gets none.
func (d *codexDecoder) endTurn() {
	d.abandonScripts()
	d.stopWaiting()
}

// addAsked takes a prompt.
func (d *codexDecoder) addAsked(s string) {
	d.stopWaiting()
	d.addPrompt(d.part, s)
}

// addChanges takes what an edit did.
func (d *codexDecoder) addChanges(id string, ok bool, changes gjson.Result) {
	u := toolUse{id: id, tool: "apply_patch", act: session.ActEdit}
	changes.ForEach(func(path, c gjson.Result) bool {
		e := codexChange(c)
		u.paths, e.Path = append(u.paths, path.Str), path.Str
		if to := c.Get("move_path"); to.Type == gjson.String {
			u.paths, e.Path = append(u.paths, to.Str), to.Str
		}
		u.edits = append(u.edits, e)
		return len(u.paths) < maxPatched
	})
	if d.isScripts(id) {
		d.addScripted(u, "", nil, !ok)
		return
	}
	if ok && changes.IsObject() {
		delete(d.part.asked, id) // it is said exactly here
		for _, e := range u.edits {
			e.Path = d.places.toolPath(validText(e.Path), d.part.cwd)
			d.addEdit(d.part, e)
		}
	}
	d.finishCall(d.part, id, !ok)
}

// codexChange is what was done to one file. Its kind stands inside, or (before 0.70) around.
func codexChange(c gjson.Result) (e Edit) {
	kind := c.Get("type").Str
	if kind == "" {
		c.ForEach(func(k, v gjson.Result) bool { kind, c = k.Str, v; return false })
	}
	switch kind {
	case "add":
		e.Hunks = []Hunk{{New: linesOf(c.Get("content").Str)}}
	case "delete":
		e.Hunks = []Hunk{{Old: linesOf(c.Get("content").Str)}}
	case "update":
		e.Hunks = diffHunks(validText(c.Get("unified_diff").Str))
	}
	return e
}

func (d *codexDecoder) item(p gjson.Result) {
	kind := p.Get("type").Str
	codexItems.wants(&d.skipped)(kind)
	if kind != "message" || p.Get("role").Str != "user" {
		d.addHeldPrompt()
	}
	switch kind {
	case "message":
		switch p.Get("role").Str {
		case session.RoleAssistant:
			d.addAnswer(d.part, joinTexts(p.Get("content")))
		case "user":
			d.holdPrompt(joinTexts(p.Get("content")))
		}
	case "function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call",
		"image_generation_call":
		d.addToolCall(kind, p)
	case "function_call_output", "custom_tool_call_output":
		if id := p.Get("call_id").Str; !d.endScript(id, joinTexts(p.Get("output"))) {
			d.addToolResult(id, p.Get("output"))
		}
	case "agent_message":
		d.addBrief(p)
	}
}

// addBrief takes what another agent wrote to a subagent: what it is to do. Newer versions have only the model read
// that.
func (d *codexDecoder) addBrief(p gjson.Result) {
	head, brief, _ := strings.Cut(joinTexts(p.Get("content")), "Payload:\n")
	if !d.part.sub || strings.Contains(head, "Message Type: FINAL_ANSWER") {
		return
	}
	if p.Get(`content.#(type=="encrypted_content")`).Exists() {
		brief = strings.TrimSpace(p.Get("recipient").Str + ": brief not readable")
	}
	d.addAsked(brief)
}

// holdPrompt takes what the model was told as a person's words. Only in a rollout without events is that a prompt,
// unless the program wrote it, or something follows before an answer.
func (d *codexDecoder) holdPrompt(s string) {
	if s = strings.TrimSpace(s); d.events || s == "" {
		return
	}
	if cwd := session.ElementText(s, "cwd"); cwd != "" && strings.HasPrefix(s, "<environment_context>") {
		d.enterFolder(d.part, validText(cwd))
		return
	}
	if session.TypedByPerson(d.source, s) == "" {
		return
	}
	d.prompt, d.promptAt = s, d.ts
	d.awaitResult(heardID)
}

// heardID stands for such a prompt among what a later record decides.
const heardID = "prompt"

// addHeldPrompt gives the prompt that no event has repeated.
func (d *codexDecoder) addHeldPrompt() {
	if s := d.prompt; s != "" {
		now := d.ts
		d.prompt, d.ts = "", d.promptAt
		d.addAsked(s)
		d.ts = now
	}
}
