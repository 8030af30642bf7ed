package segment

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/git-rekal/git-rekal/internal/session"
)

// MaxRead is the size in bytes above which a segment is not read: far above what Encode
// writes, so that a hostile one costs no memory.
const MaxRead = 2 * MaxSize

// Decode reads one segment. A record of a kind that format 1 does not know is left out, and so is a key; Entry.Unknown
// counts the lines that have any. All else must be valid; otherwise it returns the zero Entry and an error that names
// the line.
func Decode(data []byte) (session.Entry, error) { return decode(data, "") }

// DecodeSession reads what a segment holds of one session: a part of it for each of its session records, in their
// order. Records of others, which a large import has by the thousand, are neither parsed nor checked.
func DecodeSession(data []byte, id string) ([]session.Session, error) {
	e, err := decode(data, id)
	return slices.DeleteFunc(e.Sessions, func(s session.Session) bool { return s.ID != id }), err
}

// decode reads one segment. If only is the ID of a session, it reads all session records, turns and tool calls of that
// session alone, and nothing else.
func decode(data []byte, only string) (session.Entry, error) {
	if len(data) > MaxRead {
		return session.Entry{}, fmt.Errorf("segment: %d bytes, more than %d", len(data), MaxRead)
	}
	d := decoder{only: only}
	for n := 1; len(data) > 0; n++ {
		line, rest, ok := bytes.Cut(data, []byte("\n"))
		if !ok {
			return session.Entry{}, fmt.Errorf("segment: line %d: no newline at its end", n)
		}
		if err := d.line(line); err != nil {
			return session.Entry{}, fmt.Errorf("segment: line %d: %.200w", n, err)
		}
		data = rest
	}
	return d.e, nil
}

type decoder struct {
	e    session.Entry
	only string // the session that is asked for; empty: all that there is
}

// skips reports whether nobody asks for a record of some kind.
func (d *decoder) skips(kind string) bool {
	switch kind {
	case "session":
		return false
	case "turn", "tool", "usage":
		n := len(d.e.Sessions)
		return d.only != "" && n > 0 && d.e.Sessions[n-1].ID != d.only
	}
	return d.only != ""
}

func (d *decoder) line(b []byte) error {
	kind, err := kindOf(b)
	if err != nil || d.skips(kind) {
		return err
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
	case "usage":
		return read(d, b, d.usage)
	case "memory":
		return read(d, b, d.memory)
	case "purge":
		return read(d, b, func(m session.Mark) error { return addMark(&d.e.Purges, m) })
	case "restore":
		return read(d, b, func(m session.Mark) error { return addMark(&d.e.Restores, m) })
	case "rewrite":
		return read(d, b, d.rewrite)
	case "wrote":
		return read(d, b, d.wrote)
	case "scrub":
		return read(d, b, d.scrub)
	case "removed":
		return read(d, b, d.removed)
	case "needs":
		return read(d, b, d.needs)
	}
	if !isEnumWord(kind) {
		return fmt.Errorf("kind %.100q", kind)
	}
	d.e.Unknown++
	_, err = parseKind(b)
	return err
}

// kindOf is a line's t. It stands first in what Encode writes: then the rest need not be parsed for it.
func kindOf(b []byte) (string, error) {
	if rest, ok := bytes.CutPrefix(b, []byte(`{"t":"`)); ok {
		if kind, _, ok := bytes.Cut(rest, []byte(`"`)); ok && !bytes.Contains(kind, []byte(`\`)) {
			return string(kind), nil
		}
	}
	return parseKind(b)
}

func parseKind(b []byte) (string, error) {
	var r record[struct{}]
	err := json.Unmarshal(b, &r)
	return r.Kind, err
}

// read decodes a record, and counts it where it has a key that is not known.
func read[T any](d *decoder, b []byte, use func(T) error) error {
	var r record[T]
	if err := json.Unmarshal(b, &r, format); err != nil {
		return err
	}
	if len(r.Unknown) > 0 {
		d.e.Unknown++
	}
	return use(r.Fields)
}

func (d *decoder) checkpoint(cp session.Checkpoint) error {
	if d.e.Checkpoint != nil {
		return errors.New("a second checkpoint")
	}
	if cp.UserEmail == "" || !isEnumWord(cp.Via) {
		return fmt.Errorf("user_email %.100q, via %.100q", cp.UserEmail, cp.Via)
	}
	d.e.Checkpoint = &cp
	return cmp.Or(
		checkOID("git_sha", cp.GitSHA), checkActor(cp.ActorType), checkTime(cp.TS),
		checkNames(field{"git_branch", cp.GitBranch}, field{"user_email", cp.UserEmail}, field{"agent_id", cp.AgentID},
			field{"patch_id", cp.PatchID}),
	)
}

func (d *decoder) file(f session.File) error {
	cp := d.e.Checkpoint
	if cp == nil {
		return errors.New("a file without a checkpoint")
	}
	if !change.MatchString(f.Change) {
		return fmt.Errorf("change %.100q", f.Change)
	}
	cp.Files = append(cp.Files, f)
	return cmp.Or(checkPath(f.Path), checkPath(cmp.Or(f.OldPath, f.Path)), checkBlob(f.Blob))
}

func (d *decoder) link(l session.Link) error {
	cp := d.e.Checkpoint
	if cp == nil {
		return errors.New("a link without a checkpoint")
	}
	if l.Tie == session.TieUnknown {
		l.Tie = 0
		d.e.Unknown++
	}
	cp.Links = append(cp.Links, l)
	return cmp.Or(checkID(l.Session), checkNames(field{"evidence", l.Evidence}))
}

func (d *decoder) session(s session.Session) error {
	for _, id := range []string{s.ID, s.Parent, s.ForkedFrom} {
		if err := checkID(id); err != nil && (id != "" || s.ID == "") {
			return err
		}
	}
	if s.Source == "" || s.NativeID == "" || s.Bytes < 0 || !isIndex(s.FirstTurn) || !isIndex(s.FirstTool) {
		return fmt.Errorf("session %s: source, native_id, bytes, first_turn or first_tool", s.ID)
	}
	d.e.Sessions = append(d.e.Sessions, s)
	return cmp.Or(
		checkActor(s.ActorType),
		checkText("title", s.Title, maxLine),
		checkText("cursor", s.Cursor, maxCursor),
		checkNames(
			field{"source", s.Source}, field{"native_id", s.NativeID}, field{"agent_id", s.AgentID},
			field{"branch", s.Branch}, field{"session_hash", s.Hash},
		),
		checkNames(factFields(&s)...),
	)
}

// factFields are the facts of a session.
func factFields(s *session.Session) (out []field) {
	for _, f := range session.AllFacts() {
		out = append(out, field{f.Name, *f.Of(&s.Facts)})
	}
	return out
}

// current is the session that turns and calls belong to.
func (d *decoder) current() (*session.Session, error) {
	if len(d.e.Sessions) == 0 {
		return nil, errors.New("a turn, tool or usage without a session")
	}
	return &d.e.Sessions[len(d.e.Sessions)-1], nil
}

func (d *decoder) turn(t session.Turn) error {
	s, err := d.current()
	if err != nil {
		return err
	}
	if !isEnumWord(t.Role) {
		return fmt.Errorf("role %.100q", t.Role)
	}
	if want := s.FirstTurn + len(s.Turns); t.Index != want || !isIndex(t.Index) {
		return fmt.Errorf("turn %d where %d follows", t.Index, want)
	}
	s.Turns = append(s.Turns, t)
	return checkText("content", t.Content, maxText)
}

func (d *decoder) tool(c session.ToolCall) error {
	s, err := d.current()
	if err != nil {
		return err
	}
	if want := s.FirstTool + len(s.ToolCalls); c.Index != want || !isIndex(c.Index) {
		return fmt.Errorf("tool %d where %d follows", c.Index, want)
	}
	if c.Tool == "" || c.Turn < -1 || c.Turn >= s.FirstTurn+len(s.Turns) {
		return fmt.Errorf("tool %d: name %.100q, turn %d", c.Index, c.Tool, c.Turn)
	}
	c.Act = cmp.Or(c.Act, impliedAct(c.Tool))
	s.ToolCalls = append(s.ToolCalls, c)
	return cmp.Or(checkNames(field{"tool", c.Tool}, field{"act", c.Act}), checkToolPath(c.Path),
		checkText("cmd", c.Cmd, maxLine))
}

func (d *decoder) usage(u session.Usage) error {
	s, err := d.current()
	if err != nil {
		return err
	}
	if !request.MatchString(u.Request) || u.Turn < -1 || u.Turn >= s.FirstTurn+len(s.Turns) {
		return fmt.Errorf("usage of request %.100q, turn %d", u.Request, u.Turn)
	}
	for _, n := range []int64{u.Input, u.Output, u.CacheRead, u.CacheWrite} {
		if n < 0 || n > session.MaxTokens {
			return fmt.Errorf("usage of request %s: %d tokens", u.Request, n)
		}
	}
	if !(u.Cost >= 0 && u.Cost <= session.MaxCost) {
		return fmt.Errorf("usage of request %s: a cost of %g", u.Request, u.Cost)
	}
	s.Usage = append(s.Usage, u)
	return checkNames(field{"model", u.Model})
}

// impliedAct is the act of a call whose record has none. Such records are older than the second agent: so the tools are
// Claude Code's.
func impliedAct(tool string) string {
	switch tool {
	case "Edit", "MultiEdit", "Write", "NotebookEdit":
		return session.ActEdit
	}
	return ""
}

func (d *decoder) memory(m session.Memory) error {
	d.e.Memories = append(d.e.Memories, m)
	return cmp.Or(
		checkID(m.ID), checkText("title", m.Title, maxLine), checkText("content", m.Content, maxText),
		checkNames(field{"source", m.Source}, field{"actor_type", m.ActorType}, field{"rejects", m.Rejects}),
		checkOptionalID(m.Supersedes),
	)
}

func addMark(all *[]session.Mark, m session.Mark) error {
	if !isIndex(m.N) {
		return fmt.Errorf("n %d", m.N)
	}
	*all = append(*all, m)
	return checkID(m.ID)
}

func (d *decoder) rewrite(r session.Rewrite) error {
	d.e.Rewrites = append(d.e.Rewrites, r)
	return cmp.Or(checkOID("old", r.Old), checkOID("new", r.New))
}

func (d *decoder) wrote(w session.Wrote) error {
	if w.Gone < 0 || w.Gone > session.MaxLine {
		return fmt.Errorf("gone %d", w.Gone)
	}
	d.e.Wrote = append(d.e.Wrote, w)
	return cmp.Or(checkOID("git_sha", w.GitSHA), checkBlob(w.Blob), checkID(w.Session), checkPath(w.Path), checkTime(w.TS))
}

func (d *decoder) scrub(s session.Scrub) error {
	if s.Segment == "" {
		return errors.New("a scrub without a segment")
	}
	d.e.Scrubs = append(d.e.Scrubs, s)
	return checkNames(field{"segment", s.Segment})
}

func (d *decoder) removed(r session.Removal) error {
	d.e.Removals = append(d.e.Removals, r)
	if r.Turn != nil && *r.Turn != -1 && !isIndex(*r.Turn) {
		return fmt.Errorf("turn %d", *r.Turn)
	}
	switch {
	case r.Session != "":
		return checkID(r.Session)
	case r.Entry != "":
		return checkID(r.Entry)
	case r.Segment != "":
		return cmp.Or(checkNames(field{"segment", r.Segment}), checkBlob(r.Blob))
	}
	return errors.New("a removal of nothing")
}

func (d *decoder) needs(n needs) error {
	if n.Version == "" {
		return errors.New("a need of no version")
	}
	d.e.Needs = n.Version
	return checkNames(field{"version", n.Version})
}
