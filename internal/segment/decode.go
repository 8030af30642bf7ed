package segment

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/git-rekal/git-rekal/internal/session"
)

// MaxRead is the size in bytes above which a segment is not read: far above what Encode
// writes, so that a hostile one costs no memory.
const MaxRead = 2 * MaxSize

// Decode reads one segment. A record of a kind that format 1 does not know is left out, and so is a key; Entry.Unknown counts
// the lines that have any. All else must be valid; otherwise it returns the zero Entry and an error that names the
// line. Of a key that stands twice in a line the last one counts; each is checked in the same way.
func Decode(data []byte) (session.Entry, error) { return decode(data, "") }

// DecodeSession reads what a segment holds of one session: a part of it for each of its session records, in their order. Records of
// others, which a large import has by the thousand, are neither parsed nor checked.
func DecodeSession(data []byte, id string) ([]session.Session, error) {
	e, err := decode(data, id)
	return slices.DeleteFunc(e.Sessions, func(s session.Session) bool { return s.ID != id }), err
}

// decode reads one segment; where only is not empty, of turns and tool calls those of that session, and else its sessions.
func decode(data []byte, only string) (session.Entry, error) {
	if len(data) > MaxRead {
		return session.Entry{}, fmt.Errorf("segment: %d bytes, more than %d", len(data), MaxRead)
	}
	if !utf8.Valid(data) { // JSON would replace it silently: two texts would become one
		return session.Entry{}, errors.New("segment: not UTF-8")
	}
	d := decoder{only: only}
	for n := 1; len(data) > 0; n++ {
		line, rest, ok := bytes.Cut(data, []byte("\n"))
		if !ok {
			return session.Entry{}, fmt.Errorf("segment: line %d: no newline at its end", n)
		}
		if err := cmp.Or(d.line(line), d.err); err != nil {
			return session.Entry{}, fmt.Errorf("segment: line %d: %w", n, err)
		}
		data = rest
	}
	return d.e, nil
}

type decoder struct {
	e    session.Entry
	only string // the session that is asked for; empty: all that there is
	err  error  // of a time
}

// passes reports whether nobody asks for a record of some kind.
func (d *decoder) passes(kind string) bool {
	switch kind {
	case "session":
		return false
	case "turn", "tool":
		n := len(d.e.Sessions)
		return d.only != "" && n > 0 && d.e.Sessions[n-1].ID != d.only
	}
	return d.only != ""
}

func (d *decoder) line(b []byte) error {
	if d.only == "" {
		if l, ok := plainTurn(b); ok {
			return d.turn(l)
		}
		if l, ok := plainTool(b); ok {
			return d.tool(l)
		}
	}
	kind, err := kindOf(b)
	if err != nil {
		return brief(err)
	}
	if d.passes(kind) {
		return nil
	}
	switch kind {
	case "checkpoint":
		return read(d, b, d.checkpoint)
	case "file":
		return read(d, b, d.file)
	case "link":
		return read(d, b, d.link)
	case "session":
		return read(d, b, d.session)
	case "turn":
		return read(d, b, d.turn)
	case "tool":
		return read(d, b, d.tool)
	case "memory":
		return read(d, b, d.memory)
	case "purge", "restore":
		return read(d, b, d.mark)
	case "rewrite":
		return read(d, b, d.rewrite)
	case "wrote":
		return read(d, b, d.wrote)
	case "scrub":
		return read(d, b, d.scrub)
	case "needs":
		return read(d, b, d.needs)
	}
	if !word.MatchString(kind) {
		return fmt.Errorf("kind %.100q", kind)
	}
	d.e.Unknown++
	_, err = parse[struct{}](b, false)
	return err
}

// kindOf tells a line's t. It stands first in what Encode writes; the line is parsed for it only
// where another key could be a second t, which would count.
func kindOf(b []byte) (string, error) {
	if rest, ok := bytes.CutPrefix(b, []byte(`{"t":"`)); ok {
		word, rest, _ := bytes.Cut(rest, []byte(`"`))
		if !bytes.Contains(word, []byte(`\`)) && !bytes.Contains(rest, []byte(`"t"`)) && !bytes.Contains(rest, []byte(`"T"`)) &&
			!bytes.Contains(rest, []byte(`"\u00`)) {
			return string(word), nil
		}
	}
	var kind struct {
		T string `json:"t"`
	}
	err := json.Unmarshal(b, &kind)
	return kind.T, err
}

// time reads one, or none.
func (d *decoder) time(s string) (t time.Time) {
	if s != "" {
		var err error
		if t, err = time.Parse(timeLayout, s); err != nil {
			d.err = fmt.Errorf("time %.100q", s)
		}
	}
	return t
}

// needTime is time where the format demands one.
func (d *decoder) needTime(s string) time.Time {
	t := d.time(s)
	if t.IsZero() {
		d.err = cmp.Or(d.err, errors.New("no time"))
	}
	return t
}

// read decodes a record, and counts it where it has a key that is not known.
func read[T any](d *decoder, b []byte, use func(T) error) error {
	v, err := parse[T](b, true)
	if err != nil {
		if v, err = parse[T](b, false); err != nil {
			return err
		}
		d.e.Unknown++
	}
	return use(v)
}

func parse[T any](b []byte, strict bool) (v T, err error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	if strict {
		dec.DisallowUnknownFields()
	}
	if err := dec.Decode(&v); err != nil {
		return v, brief(err)
	}
	if rest := bytes.TrimLeft(b[dec.InputOffset():], " \t\r"); len(rest) > 0 {
		return v, fmt.Errorf("%.100q behind the record", rest)
	}
	return v, nil
}

// brief cuts an error that quotes what it is about.
func brief(err error) error { return fmt.Errorf("%.200s", err.Error()) }

func (d *decoder) checkpoint(l checkpointLine) error {
	if d.e.Checkpoint != nil {
		return errors.New("a second checkpoint")
	}
	if !sha.MatchString(l.GitSHA) {
		return fmt.Errorf("git_sha %.100q", l.GitSHA)
	}
	if l.UserEmail == "" || !word.MatchString(l.Via) {
		return fmt.Errorf("user_email %.100q, via %.100q", l.UserEmail, l.Via)
	}
	err := checkNames(field{"git_branch", l.GitBranch}, field{"user_email", l.UserEmail}, field{"agent_id", l.AgentID}, field{"patch_id", l.PatchID})
	if err != nil {
		return err
	}
	d.e.Checkpoint = &session.Checkpoint{
		GitSHA: l.GitSHA, GitBranch: l.GitBranch, UserEmail: l.UserEmail, TS: d.needTime(l.TS),
		ActorType: l.ActorType, AgentID: l.AgentID, PatchID: l.PatchID, Via: l.Via,
	}
	return checkActor(l.ActorType)
}

func (d *decoder) file(l fileLine) error {
	if d.e.Checkpoint == nil {
		return errors.New("a file without a checkpoint")
	}
	if !change.MatchString(l.Change) {
		return fmt.Errorf("change %.100q", l.Change)
	}
	if err := cmp.Or(checkPath(l.Path), checkPath(cmp.Or(l.OldPath, l.Path))); err != nil {
		return err
	}
	if l.Blob != "" && !sha.MatchString(l.Blob) {
		return fmt.Errorf("file %.100q with blob %.100q", l.Path, l.Blob)
	}
	cp := d.e.Checkpoint
	cp.Files = append(cp.Files, session.File{Path: l.Path, OldPath: l.OldPath, Change: l.Change, Blob: l.Blob})
	return nil
}

func (d *decoder) link(l linkLine) error {
	if d.e.Checkpoint == nil {
		return errors.New("a link without a checkpoint")
	}
	if err := checkID(l.Session); err != nil {
		return err
	}
	tie, known := session.ParseTie(l.Tie)
	if l.Tie != "" && !known {
		d.e.Unknown++
	}
	d.e.Checkpoint.Links = append(d.e.Checkpoint.Links, session.Link{Session: l.Session, Inferred: l.Inferred, Tie: tie})
	return nil
}

func (d *decoder) session(l sessionLine) error {
	for _, id := range []string{l.ID, l.Parent, l.ForkedFrom} {
		if err := checkID(id); err != nil && (id != "" || l.ID == "") {
			return err
		}
	}
	if l.Source == "" || l.NativeID == "" || l.Bytes < 0 || !checkIndex(l.FirstTurn) || !checkIndex(l.FirstTool) {
		return fmt.Errorf("session %s: source, native_id, bytes, first_turn or first_tool", l.ID)
	}
	err := cmp.Or(
		checkText("title", l.Title, maxLine),
		checkText("cursor", l.Cursor, maxNext),
		checkNames(
			field{"source", l.Source}, field{"native_id", l.NativeID}, field{"agent_id", l.AgentID},
			field{"model", l.Model}, field{"branch", l.Branch}, field{"session_hash", l.Hash},
		),
	)
	if err != nil {
		return err
	}
	d.e.Sessions = append(d.e.Sessions, session.Session{
		ID: l.ID, Source: l.Source, NativeID: l.NativeID, Parent: l.Parent, ForkedFrom: l.ForkedFrom,
		ActorType: l.ActorType, AgentID: l.AgentID, Model: l.Model, Branch: l.Branch, Title: l.Title, StartedAt: d.time(l.StartedAt),
		Hash: l.Hash, Bytes: l.Bytes, Cursor: l.Cursor, FirstTurn: l.FirstTurn, FirstTool: l.FirstTool,
	})
	return checkActor(l.ActorType)
}

func (d *decoder) current() (*session.Session, error) {
	if len(d.e.Sessions) == 0 {
		return nil, errors.New("a turn or tool without a session")
	}
	return &d.e.Sessions[len(d.e.Sessions)-1], nil
}

func (d *decoder) turn(l turnLine) error {
	s, err := d.current()
	if err != nil {
		return err
	}
	if !word.MatchString(l.Role) {
		return fmt.Errorf("role %.100q", l.Role)
	}
	if err := checkText("content", l.Content, maxText); err != nil {
		return err
	}
	if want := s.FirstTurn + len(s.Turns); l.I != want || !checkIndex(l.I) {
		return fmt.Errorf("turn %d where %d follows", l.I, want)
	}
	s.Turns = append(s.Turns, session.Turn{Index: l.I, Role: l.Role, TS: d.time(l.TS), Content: l.Content})
	return nil
}

func (d *decoder) tool(l toolLine) error {
	s, err := d.current()
	if err != nil {
		return err
	}
	if want := s.FirstTool + len(s.ToolCalls); l.I != want || !checkIndex(l.I) {
		return fmt.Errorf("tool %d where %d follows", l.I, want)
	}
	if l.Tool == "" || l.Turn < -1 || l.Turn >= s.FirstTurn+len(s.Turns) {
		return fmt.Errorf("tool %d: name %.100q, turn %d", l.I, l.Tool, l.Turn)
	}
	err = cmp.Or(checkNames(field{"tool", l.Tool}, field{"act", l.Act}), checkToolPath(l.Path), checkText("cmd", l.Cmd, maxLine))
	if err != nil {
		return err
	}
	s.ToolCalls = append(s.ToolCalls, session.ToolCall{Index: l.I, Turn: l.Turn, Tool: l.Tool, Act: cmp.Or(l.Act, implied(l.Tool)), Path: l.Path, Cmd: l.Cmd, Failed: l.Failed, Exit: l.Exit})
	return nil
}

// implied is what a call does whose record does not say it. Before records said it there was one agent, whose editing tools
// are these.
func implied(tool string) string {
	switch tool {
	case "Edit", "MultiEdit", "Write", "NotebookEdit":
		return session.ActEdit
	}
	return ""
}

func (d *decoder) memory(l memoryLine) error {
	err := cmp.Or(checkText("title", l.Title, maxLine), checkText("content", l.Content, maxText), checkNames(field{"source", l.Source}, field{"actor_type", l.ActorType}))
	if err != nil {
		return err
	}
	d.e.Memories = append(d.e.Memories, session.Memory{
		ID: l.ID, Title: l.Title, Content: l.Content, Source: l.Source, TS: d.time(l.TS), ActorType: l.ActorType,
	})
	return checkID(l.ID)
}

func (d *decoder) mark(l markLine) error {
	if !checkIndex(l.N) {
		return fmt.Errorf("n %d", l.N)
	}
	m := session.Mark{ID: l.ID, N: l.N, TS: d.time(l.TS)}
	if l.T == "purge" {
		d.e.Purges = append(d.e.Purges, m)
	} else {
		d.e.Restores = append(d.e.Restores, m)
	}
	return checkID(l.ID)
}

func (d *decoder) rewrite(l rewriteLine) error {
	if !sha.MatchString(l.Old) || !sha.MatchString(l.New) {
		return fmt.Errorf("rewrite of %.100q to %.100q", l.Old, l.New)
	}
	d.e.Rewrites = append(d.e.Rewrites, session.Rewrite{Old: l.Old, New: l.New, TS: d.time(l.TS)})
	return nil
}

func (d *decoder) wrote(l wroteLine) error {
	if !sha.MatchString(l.GitSHA) || l.Blob != "" && !sha.MatchString(l.Blob) || l.Gone < 0 || l.Gone > session.MaxLine {
		return fmt.Errorf("git_sha %.100q, blob %.100q, gone %d", l.GitSHA, l.Blob, l.Gone)
	}
	if err := cmp.Or(checkID(l.Session), checkPath(l.Path)); err != nil {
		return err
	}
	lines, err := session.ParseRanges(l.Lines)
	d.e.Wrote = append(d.e.Wrote, session.Wrote{
		GitSHA: l.GitSHA, Blob: l.Blob, Session: l.Session, Path: l.Path, Lines: lines, Gone: l.Gone, TS: d.needTime(l.TS),
	})
	return err
}

func (d *decoder) scrub(l scrubLine) error {
	if l.Segment == "" {
		return errors.New("a scrub without a segment")
	}
	if err := checkNames(field{"segment", l.Segment}); err != nil {
		return err
	}
	d.e.Scrubs = append(d.e.Scrubs, session.Scrub{Segment: l.Segment, TS: d.time(l.TS)})
	return nil
}

func (d *decoder) needs(l needsLine) error {
	d.e.Needs = l.Version
	if l.Version == "" {
		return errors.New("a need of no version")
	}
	return checkNames(field{"version", l.Version})
}
