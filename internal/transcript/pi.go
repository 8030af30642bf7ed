package transcript

import (
	"context"
	"io"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Pi reads the sessions of the coding agent Pi, version 0.73:
//
//	<home>/sessions/--<folder>--/<time>_<session ID>.jsonl
//
// where <home> is ${PI_CODING_AGENT_DIR:-~/.pi/agent}. The records of a session are a tree: who goes back to an earlier prompt begins
// a branch. What was said stays said, so all branches are read, in the order in which they were written.
type Pi struct{}

// Name is the source of the sessions.
func (Pi) Name() string { return "pi" }

// Locate lists the sessions that were started in the repository.
func (Pi) Locate(ctx context.Context, env Env) (Found, error) {
	home := env.homeFolder("PI_CODING_AGENT_DIR", ".pi", "agent")
	if home == "" {
		return Found{}, nil
	}
	s := shelving{
		folder: func(string) bool { return true },
		file: func(dir, entry string) File {
			stem, ok := strings.CutSuffix(entry, ".jsonl")
			if _, id, named := strings.Cut(stem, "_"); ok && named {
				return File{Path: filepath.Join(dir, entry), NativeID: name(id)}
			}
			return File{}
		},
		made: func(head []byte) string { return clean(gjson.GetBytes(head, "cwd").Str) },
	}
	return s.locate(ctx, env, filepath.Join(home, "sessions"))
}

// piDecoder is one call of Decode.
type piDecoder struct {
	decoder
	part *part
}

// Decode reads the records of one session.
func (p Pi) Decode(ctx context.Context, r io.Reader, opt Options) (Document, error) {
	d := piDecoder{decoder: newDecoder(p.Name(), opt)}
	d.part = d.session(opt.File.NativeID)
	return d.read(ctx, r, d.line)
}

// line takes one record; it reports whether the line is one.
func (d *piDecoder) line(ln []byte) bool {
	rec, ok := object(ln)
	if !ok {
		return false
	}
	kind := rec.Get("type").Str
	if d.start < 0 && kind != "session" {
		return true
	}
	d.clock(moment([]byte(rec.Get("timestamp").Raw)))
	switch kind {
	case "session":
		d.stand(d.part, clean(rec.Get("cwd").Str))
	case "message":
		d.message(rec.Get("message"))
	case "model_change":
		d.part.model.is(rec.Get("modelId").Str, d.start)
	case "session_info":
		d.part.entitle(TitleUser, clean(rec.Get("name").Str))
	case "thinking_level_change", "compaction", "branch_summary", "label", "custom", "custom_message":
	default:
		d.skipped.unknown(kind)
	}
	return true
}

func (d *piDecoder) message(m gjson.Result) {
	d.model = m.Get("model").Str
	switch role := m.Get("role").Str; role {
	case "user":
		d.goesOn()
		d.asks(d.part, texts(m.Get("content")))
	case "bashExecution": // a command of the person
		d.goesOn()
		d.asks(d.part, "!"+m.Get("command").Str)
	case "assistant":
		m.Get("content").ForEach(func(_, b gjson.Result) bool {
			switch b.Get("type").Str {
			case "text":
				d.said(d.part, b.Get("text").Str)
			case "toolCall":
				d.tool(b)
			}
			return true
		})
	case "toolResult":
		d.result(m)
	case "branchSummary", "compactionSummary", "custom":
	default:
		d.skipped.unknown(role)
	}
}

// piActs are the tools that touch files or run commands.
//
//nolint:gochecknoglobals // a table
var piActs = map[string]string{
	"edit": session.ActEdit, "write": session.ActEdit,
	"read": session.ActRead, "grep": session.ActRead, "find": session.ActRead, "ls": session.ActRead,
	"bash": session.ActRun,
}

func (d *piDecoder) tool(b gjson.Result) {
	u, args := use{id: b.Get("id").Str, tool: b.Get("name").Str}, b.Get("arguments")
	switch u.act = piActs[u.tool]; u.act {
	case session.ActRun:
		u.cmd = args.Get("command").Str
	case session.ActRead:
		u.paths = firstOf(args, "path")
	case session.ActEdit:
		u.paths = firstOf(args, "path")
		u.edits = asksFor(u.paths, args, "content", "oldText", "newText")
		d.waits(u.id)
	}
	d.call(d.part, u)
}

// piNumbered is a line of the diffs that Pi shows: its sign and its number, or what stands for lines that are left out.
var piNumbered = lazy.Expr(`^([ +-])\s*(?:\d+ (.*)|\.\.\.)$`)

// piStatus is the line that Pi puts behind the output of a command that failed.
var piStatus = lazy.Expr(`(?:^|\n)\n?Command exited with code (\d{1,3})$`)

func (d *piDecoder) result(m gjson.Result) {
	id, failed := m.Get("toolCallId").Str, m.Get("isError").Bool()
	var lines []string
	for l := range strings.SplitSeq(clean(m.Get("details.diff").Str), "\n") {
		switch part := piNumbered.FindStringSubmatch(l); {
		case part == nil:
		case strings.HasSuffix(l, "...") && part[2] == "":
			lines = append(lines, "@@")
		default:
			lines = append(lines, part[1]+part[2])
		}
	}
	if edits, hunks := d.part.asked[id], hunksOf(lines); len(edits) == 1 && len(hunks) > 0 {
		edits[0].Hunks, edits[0].Whole = hunks, false
	}
	text, exit := texts(m.Get("content")), (*int)(nil)
	if part := piStatus.FindStringSubmatch(text); part != nil && failed {
		exit, text = number(part[1]), strings.TrimSuffix(text, part[0])
	}
	if text == "(no output)" {
		text = ""
	}
	d.printed(d.part, id, text, exit, failed)
	d.done(d.part, id, failed)
}

func (Pi) tells(rec gjson.Result) (File, bool) {
	id := nameIn(rec.Get("id"))
	return File{NativeID: id}, id != "" && rec.Get("type").Str == "session" && rec.Get("cwd").Exists()
}
