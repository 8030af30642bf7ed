package transcript

import (
	"context"
	"io"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Neutral reads sessions in the form of docs/agents.md, "The neutral form", in which anybody can give those of an agent
// that has no file here: to `git rekal import --file`, or by a program (package external).
//
//	{"session":{"agent":"aider","id":"4f1c","cwd":"/home/dev/shop","branch":"main","title":"Fix the cart"}}
//	{"turn":{"role":"human","ts":"2026-03-04T10:00:00Z","content":"fix the cart"}}
//	{"call":{"id":"1","tool":"edit","act":"edit","path":"cart.go","ts":"2026-03-04T10:00:05Z","edits":[{"old":"one","new":"two"}]}}
//	{"turn":{"role":"assistant","ts":"2026-03-04T10:00:09Z","model":"glm-5","content":"Done."}}
type Neutral struct{ Source string } // of the sessions

// neutralName is what an agent without a file here may be called.
var neutralName = lazy.Expr(`^[a-z][a-z0-9-]{0,31}$`)

// IsNeutralName reports whether an agent without a file here may be called so.
func IsNeutralName(name string) bool { return neutralName.MatchString(name) }

// Name is the source of the sessions.
func (n Neutral) Name() string { return n.Source }

// Locate finds nothing: who has the sessions gives them.
func (Neutral) Locate(context.Context, Env) (Found, error) { return Found{}, nil }

// neutralDecoder is one call of Decode.
type neutralDecoder struct{ decoder }

// Decode reads one session.
func (n Neutral) Decode(ctx context.Context, r io.Reader, opt Options) (Document, error) {
	d := neutralDecoder{newFileDecoder(n.Source, opt)}
	return d.readObjects(ctx, r, d.record)
}

func (d *neutralDecoder) record(rec gjson.Result) {
	about, turn, call := rec.Get("session"), rec.Get("turn"), rec.Get("call")
	switch {
	case about.IsObject():
		d.setAbout(about)
	case turn.IsObject():
		d.setTime(parseTime([]byte(turn.Get("ts").Raw)))
		d.model = turn.Get("model").Str
		if turn.Get("role").Str == session.RoleHuman {
			d.addPrompt(d.part, turn.Get("content").Str)
		} else {
			d.addAnswer(d.part, turn.Get("content").Str)
		}
	case call.IsObject():
		d.setTime(parseTime([]byte(call.Get("ts").Raw)))
		d.tool(call)
	default:
		d.skipped.unknown("record")
	}
}

func (d *neutralDecoder) setAbout(s gjson.Result) {
	d.enterFolder(d.part, validText(s.Get("cwd").Str))
	d.part.setBranch(s.Get("branch"))
	if d.part.ParentNative = ledgerNameOf(s.Get("parent")); d.part.ParentNative != "" {
		d.part.sub = true
	}
	d.part.setSessionTitle(TitleAgent, validText(s.Get("title").Str))
}

// neutralTools take what is done for the tool: what the tool is called says nothing.
//
//nolint:gochecknoglobals // a table
var neutralTools = toolForms{
	acts: map[string]string{
		session.ActEdit: session.ActEdit, session.ActRead: session.ActRead,
		session.ActRun: session.ActRun,
	},
	paths:   []string{"path"},
	content: "content", old: "old", now: "new",
}

// tool takes a call, which has ended.
func (d *neutralDecoder) tool(c gjson.Result) {
	u := neutralTools.parse("call", c.Get("act").Str, c)
	u.tool, u.cmd, u.paths = c.Get("tool").Str, c.Get("cmd").Str, firstText(c, "path")
	d.addCall(d.part, u)
	exit := exitOf(c.Get("exit"))
	d.endCall(d.part, u.id, c.Get("output").Str, exit, c.Get("failed").Bool() || exit != nil && *exit != 0)
}

// recogniseNeutral tells whether a text is in this form, and of which session.
func recogniseNeutral(raw []byte) (Neutral, File, bool) {
	for rec := range firstRecords(raw) {
		s := rec.Get("session")
		n, f := Neutral{strings.Clone(s.Get("agent").Str)}, File{NativeID: ledgerNameOf(s.Get("id")), ReadWhole: true}
		return n, f, s.IsObject() && f.NativeID != "" && IsNeutralName(n.Source)
	}
	return Neutral{}, File{}, false
}
