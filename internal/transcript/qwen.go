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
	return shelving{
		file: func(dir, entry string) File {
			stem, ok := strings.CutSuffix(entry, ".jsonl")
			agent, sub := strings.CutPrefix(stem, "agent-")
			switch {
			case ok && sub && filepath.Base(filepath.Dir(dir)) == "subagents":
				return File{Path: filepath.Join(dir, entry), NativeID: name(agent), AgentID: name(agent), Parent: name(filepath.Base(dir))}
			case ok && filepath.Base(dir) == "chats":
				return File{Path: filepath.Join(dir, entry), NativeID: name(stem)}
			}
			return File{}
		},
		made: func(head []byte) string { return clean(gjson.GetBytes(head, "cwd").Str) },
	}.locate(ctx, env, filepath.Join(env.homeFolder("QWEN_HOME", ".qwen"), "projects"))
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
	d.clock(moment([]byte(rec.Get("timestamp").Raw)))
	d.version = nameIn(rec.Get("version"))
	d.stand(d.part, clean(rec.Get("cwd").Str))
	d.part.branch(rec.Get("gitBranch"))
	d.model = rec.Get("model").Str
	parts := rec.Get("message.parts")
	switch kind := rec.Get("type").Str; kind {
	case "user":
		if from := rec.Get("provenance").Str; (from == "" || from == "real_user") && !rec.Get("subtype").Exists() {
			d.goesOn()
			d.asks(d.part, geminiTyped(parts))
		}
	case "assistant":
		parts.ForEach(func(_, p gjson.Result) bool {
			if call := p.Get("functionCall"); call.Exists() {
				d.call(d.part, qwenTools.use(call.Get("id").Str, call.Get("name").Str, call.Get("args")))
			} else if !p.Get("thought").Bool() {
				d.said(d.part, p.Get("text").Str)
			}
			return true
		})
	case "tool_result":
		d.result(rec.Get("toolCallResult"), parts)
	case "system":
		if rec.Get("subtype").Str == "custom_title" {
			d.part.entitle(TitleUser, clean(rec.Get("systemPayload.customTitle").Str))
		}
	default:
		d.skipped.unknown(kind)
	}
}

// qwenTools are those of Gemini; a result tells here what was edited.
//
//nolint:gochecknoglobals // a table
var qwenTools = toolForms{
	acts: geminiTools.acts, paths: geminiTools.paths,
	content: geminiTools.content, old: geminiTools.old, now: geminiTools.now,
	resultTells: true,
}

func (d *qwenDecoder) result(r, parts gjson.Result) {
	id, shown := r.Get("callId").Str, r.Get("resultDisplay")
	if !r.Exists() { // a subagent's says no more than the model was told
		id = parts.Get("0.functionResponse.id").Str
	}
	failed := r.Get("status").Exists() && r.Get("status").Str != "success" || parts.Get("0.functionResponse.response.error").Exists()
	d.part.shows(id, diffHunks(clean(shown.Get("fileDiff").Str)))
	exit := exitOf(shown.Get("exitCode"))
	d.ended(d.part, id, shown.Get("output").Str, exit, failed || exit != nil && *exit != 0)
}

func (Qwen) tells(rec gjson.Result) (File, bool) {
	f := File{NativeID: nameIn(rec.Get("sessionId"))}
	if agent := nameIn(rec.Get("agentId")); agent != "" {
		f.NativeID, f.AgentID, f.Parent = agent, agent, f.NativeID
	}
	return f, f.NativeID != "" && rec.Get("message.parts").IsArray() && rec.Get("uuid").Exists()
}
