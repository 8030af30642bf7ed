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
				return File{Path: filepath.Join(dir, entry), NativeID: ledgerName(agent), AgentID: ledgerName(agent), Parent: ledgerName(filepath.Base(dir))}
			case ok && filepath.Base(dir) == "chats":
				return File{Path: filepath.Join(dir, entry), NativeID: ledgerName(stem)}
			}
			return File{}
		},
		made: func(head []byte) string { return validText(gjson.GetBytes(head, "cwd").Str) },
	}.locate(ctx, newFinder(env, Qwen{}, qwenTools), filepath.Join(env.homeFolder("QWEN_HOME", ".qwen"), "projects"))
}

// qwenDecoder is one call of Decode.
type qwenDecoder struct{ decoder }

// Decode reads the records of one session.
func (q Qwen) Decode(ctx context.Context, r io.Reader, opt Options) (Document, error) {
	opt.Head = nil // each record says where it was made
	d := qwenDecoder{newFileDecoder(q.Name(), opt)}
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
		if from := rec.Get("provenance").Str; (from == "" || from == "real_user") && !rec.Get("subtype").Exists() {
			d.stopWaiting()
			d.addPrompt(d.part, geminiTypedText(parts))
		}
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
		if rec.Get("subtype").Str == "custom_title" {
			d.part.setSessionTitle(TitleUser, validText(rec.Get("systemPayload.customTitle").Str))
		}
	default:
		d.skipped.unknown(kind)
	}
}

//nolint:gochecknoglobals // a table
var qwenCounts = counts{input: "promptTokenCount", output: "candidatesTokenCount", thought: "thoughtsTokenCount", read: "cachedContentTokenCount", total: "totalTokenCount", cached: true}

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
	failed := r.Get("status").Exists() && r.Get("status").Str != "success" || parts.Get("0.functionResponse.response.error").Exists()
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
