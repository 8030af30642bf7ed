package transcript

import (
	"context"
	"io"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/git-rekal/git-rekal/internal/session"
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
	home := env.homeFolder("QWEN_HOME", ".qwen")
	if home == "" {
		return Found{}, nil
	}
	s := shelving{
		folder: func(string) bool { return true },
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
	}
	found, err := s.locate(ctx, env, filepath.Join(home, "projects"))
	subagentsLast(found.Files)
	return found, err
}

// qwenDecoder is one call of Decode.
type qwenDecoder struct {
	decoder
	part *part
}

// Decode reads the records of one session.
func (q Qwen) Decode(ctx context.Context, r io.Reader, opt Options) (Document, error) {
	opt.Head = nil // each record says where it was made
	d := qwenDecoder{decoder: newDecoder(q.Name(), opt)}
	if d.part = d.session(opt.File.NativeID); opt.File.AgentID != "" {
		d.part.ParentNative = opt.File.Parent
	}
	return d.read(ctx, r, d.line)
}

// line takes one record; it reports whether the line is one.
func (d *qwenDecoder) line(ln []byte) bool {
	rec, ok := object(ln)
	if !ok {
		return false
	}
	d.clock(moment([]byte(rec.Get("timestamp").Raw)))
	d.version = nameIn(rec.Get("version"))
	d.stand(d.part, clean(rec.Get("cwd").Str))
	if branch := rec.Get("gitBranch").Str; branch != "" && d.part.where == inside {
		d.part.Branch = name(clean(branch))
	}
	d.model = rec.Get("model").Str
	parts := rec.Get("message.parts")
	switch kind := rec.Get("type").Str; kind {
	case "user":
		if from := rec.Get("provenance").Str; (from == "" || from == "real_user") && !rec.Get("subtype").Exists() {
			d.prompt(parts)
		}
	case "assistant":
		parts.ForEach(func(_, p gjson.Result) bool {
			if call := p.Get("functionCall"); call.Exists() {
				d.tool(call)
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
	return true
}

// prompt takes what was typed. The contents of files that it names stand behind a part that says so.
func (d *qwenDecoder) prompt(parts gjson.Result) {
	var kept []string
	parts.ForEach(func(_, p gjson.Result) bool {
		s := p.Get("text").Str
		if strings.HasPrefix(strings.TrimSpace(s), "--- Content from referenced files ---") {
			return false
		}
		kept = append(kept, s)
		return true
	})
	d.goesOn()
	if s := strings.TrimSpace(session.WithoutElement(strings.Join(kept, ""), "hook_context")); !begins(s, "/", "?") {
		d.asks(d.part, s)
	}
}

func (d *qwenDecoder) tool(call gjson.Result) {
	u, args := use{id: call.Get("id").Str, tool: call.Get("name").Str}, call.Get("args")
	if u.act = geminiActs[u.tool]; u.tool == "edit" {
		u.act = session.ActEdit
	}
	switch u.act {
	case session.ActRun:
		u.cmd = args.Get("command").Str
	case session.ActRead:
		u.paths = firstOf(args, "file_path", "absolute_path", "path", "paths.0")
	case session.ActEdit:
		u.paths = firstOf(args, "file_path")
		u.edits = asksFor(u.paths, args, "content", "old_string", "new_string")
		d.waits(u.id)
	}
	d.call(d.part, u)
}

func (d *qwenDecoder) result(r, parts gjson.Result) {
	id, shown := r.Get("callId").Str, r.Get("resultDisplay")
	if !r.Exists() { // a subagent's says no more than the model was told
		id = parts.Get("0.functionResponse.id").Str
	}
	failed := r.Get("status").Exists() && r.Get("status").Str != "success" || parts.Get("0.functionResponse.response.error").Exists()
	if edits, hunks := d.part.asked[id], diffHunks(clean(shown.Get("fileDiff").Str)); len(edits) == 1 && len(hunks) > 0 {
		edits[0].Hunks, edits[0].Whole = hunks, false
	}
	exit := exitOf(shown.Get("exitCode"))
	d.printed(d.part, id, shown.Get("output").Str, exit, failed)
	d.done(d.part, id, failed || exit != nil && *exit != 0)
}

func (Qwen) tells(rec gjson.Result) (File, bool) {
	f := File{NativeID: nameIn(rec.Get("sessionId"))}
	if agent := nameIn(rec.Get("agentId")); agent != "" {
		f.NativeID, f.AgentID, f.Parent = agent, agent, f.NativeID
	}
	return f, f.NativeID != "" && rec.Get("message.parts").IsArray() && rec.Get("uuid").Exists()
}
