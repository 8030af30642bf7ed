// Package segment is the codec of the ledger's files: NDJSON, one record a line, a "t"
// key first that names its kind. docs/ledger-format.md is the specification; a segment
// reads like this:
//
//	{"t":"checkpoint","git_sha":"3f2a…","git_branch":"main","user_email":"a@b.c","ts":"2026-11-20T10:00:00.000Z","actor_type":"human","via":"commit"}
//	{"t":"file","path":"src/auth/jwt.go","change":"M","blob":"91bc…"}
//	{"t":"session","id":"01KAB…","source":"claude-code","native_id":"5d0c…","actor_type":"human",…,"bytes":48213,"first_turn":0,"first_tool":0}
//	{"t":"turn","i":0,"role":"human","ts":"2026-11-20T09:41:07.312Z","content":"Why does the token expire early?"}
//	{"t":"tool","i":0,"turn":0,"tool":"Read","act":"read","path":"src/auth/jwt.go"}
//	{"t":"usage","request":"5f0c21d9","turn":0,"model":"claude-opus-4-5","input":3,"output":212,"cache_read":18230}
//
// In: a redact.Entry, so text that was not redacted does not compile. Out: one file, or
// several when a commit's records exceed MaxSize. Decoding checks every field, because a
// teammate's ledger is untrusted input; an error returns the zero Entry. Encoding what
// was decoded gives the same bytes.
package segment

import (
	"bytes"
	"errors"
	"fmt"
	"math"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/git-rekal/git-rekal/internal/redact"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Version is the ledger format that this package writes, and the only one it reads. What a later git-rekal adds to it
// is left out.
const Version = 1

// MaxSize is the size in bytes above which a commit's records go on in another file
// (ledger format, version 1).
const MaxSize = 8 << 20

// ErrUnknown is an entry of which Decode left something out: written again, that would be lost.
var ErrUnknown = errors.New("it says more than this version knows")

// Encode writes an entry as one segment or more, none above MaxSize but for a single
// record that is larger by itself. It returns ErrUnknown where Decode left something out.
func Encode(e redact.Entry) ([][]byte, error) { return encode(e.Entry(), MaxSize) }

// EncodeAgain is Encode for an entry that Decode read, and from which something was taken out since. It was redacted
// when it was written first. Nothing may be added to it.
func EncodeAgain(stored session.Entry) ([][]byte, error) { return encode(stored, MaxSize) }

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
	writeAll(w, "memory", e.Memories)
	writeAll(w, "purge", e.Purges)
	writeAll(w, "restore", e.Restores)
	writeAll(w, "rewrite", e.Rewrites)
	writeAll(w, "wrote", e.Wrote)
	writeAll(w, "scrub", e.Scrubs)
	writeAll(w, "removed", e.Removals)
	if e.Needs != "" {
		write(w, "needs", needs{e.Needs})
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

// write appends one record and reports whether it opened a new file.
func write[T any](w *writer, kind string, fields T) (opened bool) {
	start := w.buf.Len()
	if err := json.MarshalWrite(&w.buf, record[T]{Kind: kind, Fields: fields}, format,
		jsontext.AllowInvalidUTF8(true)); err != nil {
		w.err = err
		return false
	}
	w.buf.WriteByte('\n')
	if start == 0 || w.buf.Len() <= w.size {
		return false
	}
	moved := bytes.Clone(w.buf.Bytes()[start:])
	w.done = append(w.done, bytes.Clone(w.buf.Bytes()[:start]))
	w.buf.Reset()
	w.buf.Write(moved)
	return true
}

func writeAll[T any](w *writer, kind string, all []T) {
	for _, fields := range all {
		write(w, kind, fields)
	}
}

// repeatHead puts a head before the record that opened a new file.
func repeatHead[T any](w *writer, kind string, head T) {
	moved := bytes.Clone(w.buf.Bytes())
	w.buf.Reset()
	write(w, kind, head)
	w.buf.Write(moved)
}

// checkpoint writes a checkpoint's line, its files and its links. Where a file is full, the
// next one repeats the checkpoint's line.
func (w *writer) checkpoint(cp session.Checkpoint) {
	write(w, "checkpoint", cp)
	for _, f := range cp.Files {
		if write(w, "file", f) {
			repeatHead(w, "checkpoint", cp)
		}
	}
	for _, l := range cp.Links {
		if write(w, "link", l) {
			repeatHead(w, "checkpoint", cp)
		}
	}
}

// session writes a session's line, then its turns, each followed by the tool calls made
// after it, and what its requests took. Where a file is full, the next one repeats the session's line with the
// indexes at which it goes on.
func (w *writer) session(s session.Session) {
	write(w, "session", s)
	tools := s.ToolCalls
	toolsBefore := func(turn int) {
		for len(tools) > 0 && tools[0].Turn < turn {
			t := tools[0]
			if t.Act == impliedAct(t.Tool) {
				t.Act = ""
			}
			s.FirstTool = t.Index
			if write(w, "tool", t) {
				repeatHead(w, "session", s)
			}
			tools = tools[1:]
			s.FirstTool = t.Index + 1
		}
	}
	for _, t := range s.Turns {
		toolsBefore(t.Index)
		s.FirstTurn = t.Index
		if write(w, "turn", t) {
			repeatHead(w, "session", s)
		}
		s.FirstTurn = t.Index + 1
	}
	toolsBefore(math.MaxInt)
	for _, u := range s.Usage {
		if write(w, "usage", u) {
			repeatHead(w, "session", s)
		}
	}
}
