package segment

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/git-rekal/git-rekal/internal/session"
)

// MaxRead is the size in bytes above which a segment is not read: far above what Encode
// writes, so that a hostile one costs no memory.
const MaxRead = 2 * MaxSize

// maxIndex bounds the numbers of turns and tool calls.
const maxIndex = 1 << 28

var sha = regexp.MustCompile(`^[0-9a-f]{40}$`)

// Decode reads one segment. Every line must be a record of format 1 with valid fields;
// otherwise it returns the zero Entry and an error that names the line.
func Decode(data []byte) (session.Entry, error) {
	if len(data) > MaxRead {
		return session.Entry{}, fmt.Errorf("segment: %d bytes, more than %d", len(data), MaxRead)
	}
	var d decoder
	for n := 1; len(data) > 0; n++ {
		line, rest, ok := bytes.Cut(data, []byte("\n"))
		if !ok {
			return session.Entry{}, fmt.Errorf("segment: line %d: no newline at its end", n)
		}
		if err := d.line(line); err != nil {
			return session.Entry{}, fmt.Errorf("segment: line %d: %w", n, err)
		}
		data = rest
	}
	return d.e, nil
}

type decoder struct{ e session.Entry }

func (d *decoder) line(b []byte) error {
	var kind struct {
		T string `json:"t"`
	}
	if err := json.Unmarshal(b, &kind); err != nil {
		return err
	}
	switch kind.T {
	case "checkpoint":
		return read(b, d.checkpoint)
	case "file":
		return read(b, d.file)
	case "link":
		return read(b, d.link)
	case "session":
		return read(b, d.session)
	case "turn":
		return read(b, d.turn)
	case "tool":
		return read(b, d.tool)
	case "memory":
		return read(b, d.memory)
	case "purge", "restore":
		return read(b, d.mark)
	case "rewrite":
		return read(b, d.rewrite)
	case "scrub":
		return read(b, d.scrub)
	}
	return fmt.Errorf("unknown kind %q", kind.T)
}

// read decodes strictly: a key that the format does not know is an error, because it
// would be lost when the record is written again.
func read[T any](b []byte, use func(T) error) error {
	var v T
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&v); err != nil {
		return err
	}
	return use(v)
}

func (d *decoder) checkpoint(l checkpointLine) error {
	if d.e.Checkpoint != nil {
		return errors.New("a second checkpoint")
	}
	ts, err := parseTime(l.TS)
	if err != nil {
		return err
	}
	if !sha.MatchString(l.GitSHA) {
		return fmt.Errorf("git_sha %q", l.GitSHA)
	}
	d.e.Checkpoint = &session.Checkpoint{
		GitSHA: l.GitSHA, GitBranch: l.GitBranch, UserEmail: l.UserEmail, TS: ts,
		ActorType: l.ActorType, AgentID: l.AgentID, PatchID: l.PatchID, Via: l.Via,
	}
	return checkActor(l.ActorType)
}

func (d *decoder) file(l fileLine) error {
	if d.e.Checkpoint == nil {
		return errors.New("a file without a checkpoint")
	}
	switch l.Change {
	case "A", "M", "D", "R":
	default:
		return fmt.Errorf("change %q", l.Change)
	}
	if l.Path == "" || l.Blob != "" && !sha.MatchString(l.Blob) {
		return fmt.Errorf("file %q with blob %q", l.Path, l.Blob)
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
	d.e.Checkpoint.Links = append(d.e.Checkpoint.Links, session.Link{Session: l.Session, Inferred: l.Inferred})
	return nil
}

func (d *decoder) session(l sessionLine) error {
	for _, id := range []string{l.ID, l.Parent, l.ForkedFrom} {
		if err := checkID(id); err != nil && (id != "" || l.ID == "") {
			return err
		}
	}
	start, err := parseTime(l.StartedAt)
	if err != nil {
		return err
	}
	if l.Source == "" || l.NativeID == "" || l.Bytes < 0 || !index(l.FirstTurn) || !index(l.FirstTool) {
		return fmt.Errorf("session %s: source, native_id, bytes, first_turn or first_tool", l.ID)
	}
	d.e.Sessions = append(d.e.Sessions, session.Session{
		ID: l.ID, Source: l.Source, NativeID: l.NativeID, Parent: l.Parent, ForkedFrom: l.ForkedFrom,
		ActorType: l.ActorType, AgentID: l.AgentID, Branch: l.Branch, Title: l.Title, StartedAt: start,
		Hash: l.Hash, Bytes: l.Bytes, FirstTurn: l.FirstTurn, FirstTool: l.FirstTool,
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
	ts, err := parseTime(l.TS)
	if err != nil {
		return err
	}
	if l.Role != session.RoleHuman && l.Role != session.RoleAssistant {
		return fmt.Errorf("role %q", l.Role)
	}
	if want := s.FirstTurn + len(s.Turns); l.I != want || !index(l.I) {
		return fmt.Errorf("turn %d where %d follows", l.I, want)
	}
	s.Turns = append(s.Turns, session.Turn{Index: l.I, Role: l.Role, TS: ts, Content: l.Content})
	return nil
}

func (d *decoder) tool(l toolLine) error {
	s, err := d.current()
	if err != nil {
		return err
	}
	if want := s.FirstTool + len(s.ToolCalls); l.I != want || !index(l.I) {
		return fmt.Errorf("tool %d where %d follows", l.I, want)
	}
	if l.Tool == "" || l.Turn < -1 || l.Turn >= s.FirstTurn+len(s.Turns) {
		return fmt.Errorf("tool %d: name %q, turn %d", l.I, l.Tool, l.Turn)
	}
	s.ToolCalls = append(s.ToolCalls, session.ToolCall{Index: l.I, Turn: l.Turn, Tool: l.Tool, Path: l.Path, Cmd: l.Cmd})
	return nil
}

func (d *decoder) memory(l memoryLine) error {
	ts, err := parseTime(l.TS)
	if err != nil {
		return err
	}
	d.e.Memories = append(d.e.Memories, session.Memory{
		ID: l.ID, Title: l.Title, Content: l.Content, Source: l.Source, TS: ts, ActorType: l.ActorType,
	})
	return checkID(l.ID)
}

func (d *decoder) mark(l markLine) error {
	ts, err := parseTime(l.TS)
	if err != nil {
		return err
	}
	if !index(l.N) {
		return fmt.Errorf("n %d", l.N)
	}
	m := session.Mark{ID: l.ID, N: l.N, TS: ts}
	if l.T == "purge" {
		d.e.Purges = append(d.e.Purges, m)
	} else {
		d.e.Restores = append(d.e.Restores, m)
	}
	return checkID(l.ID)
}

func (d *decoder) rewrite(l rewriteLine) error {
	ts, err := parseTime(l.TS)
	if err != nil {
		return err
	}
	if !sha.MatchString(l.Old) || !sha.MatchString(l.New) {
		return fmt.Errorf("rewrite of %q to %q", l.Old, l.New)
	}
	d.e.Rewrites = append(d.e.Rewrites, session.Rewrite{Old: l.Old, New: l.New, TS: ts})
	return nil
}

func (d *decoder) scrub(l scrubLine) error {
	ts, err := parseTime(l.TS)
	if err != nil {
		return err
	}
	if l.Segment == "" {
		return errors.New("a scrub without a segment")
	}
	d.e.Scrubs = append(d.e.Scrubs, session.Scrub{Segment: l.Segment, TS: ts})
	return nil
}

func index(i int) bool { return i >= 0 && i <= maxIndex }

func checkID(id string) error {
	if _, err := ulid.ParseStrict(id); err != nil {
		return fmt.Errorf("ID %q: %w", id, err)
	}
	return nil
}

func checkActor(a string) error {
	if a != session.ActorHuman && a != session.ActorAgent {
		return fmt.Errorf("actor_type %q", a)
	}
	return nil
}

func parseTime(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(timeLayout, s)
	if err != nil {
		return time.Time{}, fmt.Errorf("time %q: %w", s, err)
	}
	return t, nil
}
