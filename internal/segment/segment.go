// Package segment is the codec of the ledger's files: NDJSON, one record a line, a "t"
// key first that names its kind. docs/ledger-format.md is the specification; a segment
// reads like this:
//
//	{"t":"checkpoint","git_sha":"3f2a…","git_branch":"main","user_email":"a@b.c","ts":"2026-11-20T10:00:00.000Z","actor_type":"human","via":"commit"}
//	{"t":"file","path":"src/auth/jwt.go","change":"M","blob":"91bc…"}
//	{"t":"session","id":"01KAB…","source":"claude-code","native_id":"5d0c…","actor_type":"human",…,"bytes":48213,"first_turn":0,"first_tool":0}
//	{"t":"turn","i":0,"role":"human","ts":"2026-11-20T09:41:07.312Z","content":"Why does the token expire early?"}
//	{"t":"tool","i":0,"turn":0,"tool":"Read","act":"read","path":"src/auth/jwt.go"}
//
// In: a redact.Entry, so text that was not redacted does not compile. Out: one file, or
// several when a commit's records exceed MaxSize. Decoding checks every field, because a
// teammate's ledger is untrusted input; an error returns the zero Entry. Encoding what
// was decoded gives the same bytes.
package segment

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/git-rekal/git-rekal/internal/redact"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Version is the ledger format that this package writes, and the only one it reads. What a later git-rekal adds to it is
// left out.
const Version = 1

// MaxSize is the size in bytes above which a commit's records go on in another file
// (ledger format, version 1).
const MaxSize = 8 << 20

// timeLayout is RFC 3339 in UTC, to the millisecond.
const timeLayout = "2006-01-02T15:04:05.000Z"

// ErrUnknown is an entry of which Decode left something out: written again, that would be lost.
var ErrUnknown = errors.New("it says more than this version knows")

// Encode writes an entry as one segment or more, none above MaxSize but for a single
// record that is larger by itself. It returns ErrUnknown where Decode left something out.
func Encode(e redact.Entry) ([][]byte, error) { return encode(e.Entry(), MaxSize) }

func encode(e session.Entry, size int) ([][]byte, error) {
	w := &writer{size: size}
	if e.Unknown > 0 {
		return nil, fmt.Errorf("segment: encode: %w", ErrUnknown)
	}
	if cp := e.Checkpoint; cp != nil {
		w.checkpoint(*cp)
	}
	for _, s := range e.Sessions {
		w.session(s)
	}
	for _, m := range e.Memories {
		w.line(memoryLine{
			T: "memory", ID: m.ID, Title: m.Title, Content: m.Content, Source: m.Source,
			TS: stamp(m.TS), ActorType: m.ActorType,
		})
	}
	for _, m := range e.Purges {
		w.line(markLine{"purge", m.ID, m.N, stamp(m.TS)})
	}
	for _, m := range e.Restores {
		w.line(markLine{"restore", m.ID, m.N, stamp(m.TS)})
	}
	for _, r := range e.Rewrites {
		w.line(rewriteLine{"rewrite", r.Old, r.New, stamp(r.TS)})
	}
	for _, r := range e.Wrote {
		w.line(wroteLine{"wrote", r.GitSHA, r.Blob, r.Session, r.Path, r.Lines.String(), r.Gone, stamp(r.TS)})
	}
	for _, s := range e.Scrubs {
		w.line(scrubLine{"scrub", s.Segment, stamp(s.TS)})
	}
	if e.Needs != "" {
		w.line(needsLine{"needs", e.Needs})
	}
	return w.finish()
}

type writer struct {
	size int // of a file, in bytes
	done [][]byte
	buf  bytes.Buffer
	err  error
}

func (w *writer) finish() ([][]byte, error) {
	if w.err != nil {
		return nil, fmt.Errorf("segment: encode: %w", w.err)
	}
	if w.buf.Len() > 0 {
		w.done = append(w.done, bytes.Clone(w.buf.Bytes()))
	}
	return w.done, nil
}

// line appends one record and reports whether it opened a new file.
func (w *writer) line(v any) bool {
	start := w.buf.Len()
	enc := json.NewEncoder(&w.buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		w.err = err
		return false
	}
	if start == 0 || w.buf.Len() <= w.size {
		return false
	}
	rec := bytes.Clone(w.buf.Bytes()[start:])
	w.done = append(w.done, bytes.Clone(w.buf.Bytes()[:start]))
	w.buf.Reset()
	w.buf.Write(rec)
	return true
}

// under appends a record that belongs to a head above it. Where it opens a new file, the
// head is repeated there.
func (w *writer) under(head, rec any) {
	if w.line(rec) {
		moved := bytes.Clone(w.buf.Bytes())
		w.buf.Reset()
		w.line(head)
		w.buf.Write(moved)
	}
}

// checkpoint writes a checkpoint's line, its files and its links. Where a file is full, the
// next one repeats the checkpoint's line.
func (w *writer) checkpoint(cp session.Checkpoint) {
	head := checkpointLine{
		T: "checkpoint", GitSHA: cp.GitSHA, GitBranch: cp.GitBranch, UserEmail: cp.UserEmail,
		TS: stamp(cp.TS), ActorType: cp.ActorType, AgentID: cp.AgentID, PatchID: cp.PatchID, Via: cp.Via,
	}
	w.line(head)
	for _, f := range cp.Files {
		w.under(head, fileLine{"file", f.Path, f.OldPath, f.Change, f.Blob})
	}
	for _, l := range cp.Links {
		w.under(head, linkLine{"link", l.Session, l.Inferred, l.Tie.String()})
	}
}

// session writes a session's line, then its turns, each followed by the tool calls made
// after it. Where a file is full, the next one repeats the session's line with the
// indexes at which it goes on.
func (w *writer) session(s session.Session) {
	head := sessionLine{
		T: "session", ID: s.ID, Source: s.Source, NativeID: s.NativeID, Parent: s.Parent,
		ForkedFrom: s.ForkedFrom, ActorType: s.ActorType, AgentID: s.AgentID, Model: s.Model, Branch: s.Branch, Title: s.Title,
		StartedAt: stamp(s.StartedAt), Hash: s.Hash, Cursor: s.Cursor, Bytes: s.Bytes, FirstTurn: s.FirstTurn, FirstTool: s.FirstTool,
	}
	w.line(head)
	tools := s.ToolCalls
	toolsBefore := func(turn int) {
		for len(tools) > 0 && tools[0].Turn < turn {
			t := tools[0]
			head.FirstTool = t.Index
			act := t.Act
			if act == implied(t.Tool) {
				act = ""
			}
			w.under(head, toolLine{"tool", t.Index, t.Turn, t.Tool, act, t.Path, t.Cmd, t.Failed, t.Exit})
			tools = tools[1:]
			head.FirstTool = t.Index + 1
		}
	}
	for _, t := range s.Turns {
		toolsBefore(t.Index)
		head.FirstTurn = t.Index
		w.under(head, turnLine{"turn", t.Index, t.Role, stamp(t.TS), t.Content})
		head.FirstTurn = t.Index + 1
	}
	toolsBefore(math.MaxInt)
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(timeLayout)
}
