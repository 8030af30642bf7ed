package transcript

import (
	"context"
	"io"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"
)

// Qwen reads the sessions of Qwen Code, version 0.24:
//
//	<home>/projects/<folder>/chats/<session ID>.jsonl
//	<home>/projects/<folder>/subagents/<session ID>/agent-<agent ID>.jsonl
//
// where <home> is ${QWEN_HOME:-~/.qwen}. The program was made of Gemini CLI: messages have its parts and tools.
type Qwen struct{}

// Name is the source of the sessions.
func (Qwen) Name() string { return "qwen-code" }

// Locate lists the sessions that were started in the repository.
func (Qwen) Locate(ctx context.Context, env Env) (Found, error) {
	return folderLayout{
		file: func(dir, entry string) File {
			stem, ok := strings.CutSuffix(entry, ".jsonl")
			agent, sub := strings.CutPrefix(stem, "agent-")
			switch {
			case ok && sub && filepath.Base(filepath.Dir(dir)) == "subagents":
				return File{
					Path: filepath.Join(dir, entry), NativeID: ledgerName(agent), AgentID: ledgerName(agent),
					Parent: ledgerName(filepath.Base(dir)),
				}
			case ok && filepath.Base(dir) == "chats":
				return File{Path: filepath.Join(dir, entry), NativeID: ledgerName(stem)}
			}
			return File{}
		},
		made: func(head []byte) string { return validText(gjson.GetBytes(head, "cwd").Str) },
	}.locate(ctx, newFinder(env, Qwen{}, qwenTools), filepath.Join(env.homeFolder("QWEN_HOME", ".qwen"), "projects"))
}

// qwenDecoder is one call of Decode.
type qwenDecoder struct {
	decoder
	command string // that a person typed, until what the model was told in its place, or what the program did, is there
}

// commandID stands for such a command among what a later record decides.
const commandID = "command"

// Decode reads the records of one session.
func (q Qwen) Decode(ctx context.Context, r io.Reader, opt Options) (Document, error) {
	opt.Head = nil // each record says where it was made
	d := qwenDecoder{decoder: newFileDecoder(q.Name(), opt)}
	return d.readObjects(ctx, r, d.record)
}

func (d *qwenDecoder) record(rec gjson.Result) {
	d.setTime(parseTime([]byte(rec.Get("timestamp").Raw)))
	d.version = ledgerNameOf(rec.Get("version"))
	d.enterFolder(d.part, validText(rec.Get("cwd").Str))
	d.part.setBranch(rec.Get("gitBranch"))
	d.model = rec.Get("model").Str
	parts := rec.Get("message.parts")
	switch kind := rec.Get("type").Str; kind {
	case "user":
		d.user(rec)
	case "assistant":
		parts.ForEach(func(_, p gjson.Result) bool {
			if call := p.Get("functionCall"); call.Exists() {
				d.addCall(d.part, qwenTools.parse(call.Get("id").Str, call.Get("name").Str, call.Get("args")))
			} else if !p.Get("thought").Bool() {
				d.addAnswer(d.part, p.Get("text").Str)
			}
			return true
		})
		d.addUsage(d.part, rec.Get("uuid").Str, d.model, rec.Get("usageMetadata"), qwenCounts)
	case "tool_result":
		d.result(rec.Get("toolCallResult"), parts)
	case "system":
		d.system(rec.Get("subtype").Str, rec.Get("systemPayload"))
	default:
		d.skipped.unknown(kind)
	}
}

// midTurn is what the program puts before what a person types while the agent works.
const midTurn = "[User message received during tool execution]: "

// user takes a prompt as a person typed it, which stands beside what the model was told where that is more.
func (d *qwenDecoder) user(rec gjson.Result) {
	from, kind := rec.Get("provenance").Str, rec.Get("subtype")
	if from != "" && from != "real_user" || kind.Exists() && kind.Str != "mid_turn_user_message" {
		return
	}
	told, own := d.typedIn(rec.Get("message.parts"))
	shown := rec.Get("systemPayload.displayText")
	command := d.command
	if d.command = ""; !kind.Exists() {
		d.stopWaiting()
	}
	switch {
	case own || told == "" && !rec.Get("systemPayload.mediaReferences").Exists():
	case shown.Type == gjson.String && strings.TrimSpace(shown.Str) != "":
		d.addPrompt(d.part, shown.Str)
	case command != "":
		d.addPrompt(d.part, command)
	default:
		d.addPrompt(d.part, strings.TrimPrefix(told, midTurn))
	}
}

// system takes what the program notes: a title that a person gave, and a command that he typed. A command that the user
// made is told to the model in other words, and then stands for them; what the program does by itself has a result.
func (d *qwenDecoder) system(kind string, payload gjson.Result) {
	switch {
	case kind == "custom_title":
		d.part.setSessionTitle(TitleUser, validText(payload.Get("customTitle").Str))
	case kind != "slash_command":
	case payload.Get("phase").Str == "invocation" && !payload.Get("hiddenInvocation").Bool():
		d.command = validText(payload.Get("rawCommand").Str)
		d.awaitResult(commandID)
	default:
		d.command = ""
		delete(d.open, commandID)
	}
}

//nolint:gochecknoglobals // a table
var qwenCounts = counts{
	input: "promptTokenCount", output: "candidatesTokenCount", thought: "thoughtsTokenCount",
	read: "cachedContentTokenCount", total: "totalTokenCount", cached: true,
}

// qwenTools are Gemini's tools, except that a result of Qwen says what was edited.
//
//nolint:gochecknoglobals // a table
var qwenTools = toolForms{
	acts: geminiTools.acts, paths: geminiTools.paths,
	content: geminiTools.content, old: geminiTools.old, now: geminiTools.now,
	editNeedsResult: true,
}

func (d *qwenDecoder) result(r, parts gjson.Result) {
	id, shown := r.Get("callId").Str, r.Get("resultDisplay")
	if !r.Exists() { // a subagent's says no more than the model was told
		id = parts.Get("0.functionResponse.id").Str
	}
	failed := r.Get("status").Exists() && r.Get("status").Str != "success" ||
		parts.Get("0.functionResponse.response.error").Exists()
	d.part.setHunks(id, diffHunks(validText(shown.Get("fileDiff").Str)))
	exit := exitOf(shown.Get("exitCode"))
	d.endCall(d.part, id, shown.Get("output").Str, exit, failed || exit != nil && *exit != 0)
}

func (Qwen) recognises(rec gjson.Result) (File, bool) {
	f := File{NativeID: ledgerNameOf(rec.Get("sessionId"))}
	if agent := ledgerNameOf(rec.Get("agentId")); agent != "" {
		f.NativeID, f.AgentID, f.Parent = agent, agent, f.NativeID
	}
	return f, f.NativeID != "" && rec.Get("message.parts").IsArray() && rec.Get("uuid").Exists()
}
