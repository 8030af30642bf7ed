package brief_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/transcript"
	"github.com/git-rekal/git-rekal/tests/harness"
)

var anyFolder = regexp.MustCompile(`"cwd":"([^"]+)"`)

// transcripts are 60 real sessions of one repository.
func transcripts(t *testing.T) (out []session.Session) {
	t.Helper()
	for id, raw := range harness.Transcripts(t) {
		opt := transcript.Options{
			File:  transcript.File{NativeID: id},
			Roots: []string{string(anyFolder.FindSubmatch(raw)[1])},
		}
		doc, err := transcript.ClaudeCode{}.Decode(t.Context(), bytes.NewReader(raw), opt)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range doc.Sessions {
			if s := p.Session; len(s.Turns) > 0 {
				s.StartedAt = s.Turns[0].TS
				s.ID = session.NewID(s.StartedAt, s.Source, s.NativeID)
				out = append(out, s)
			}
		}
	}
	return out
}

// TestNightReplay replays 60 real sessions. The figures are those of docs/lab/agents.md; the floors are what ships by
// them.
func TestNightReplay(t *testing.T) {
	all := newReplay(t, transcripts(t)).prompts(func(int) bool { return true })
	if len(all) < 500 {
		t.Fatalf("%d prompts", len(all))
	}
	report(t, "all", all)
	report(t, "half of the sessions, by which the threshold was chosen",
		keep(all, func(a asked) bool { return half(a, 0) }))
	told, strong := report(t, "the other half", keep(all, func(a asked) bool { return half(a, 1) }))
	report(t, "first prompts", keep(all, func(a asked) bool { return a.turn == 0 }))
	report(t, "later prompts", keep(all, func(a asked) bool { return a.turn > 0 }))
	if told.precision() < .5 || strong.precision() < .6 || strong.coverage() < .3 {
		t.Errorf("told %+v, strong %+v", told, strong)
	}
}

// TestNightFirstPrompts replays the first prompts of 276 real sessions, among them the 60: of each the texts are known,
// and the files, and when it began and ended.
func TestNightFirstPrompts(t *testing.T) {
	known := harness.Transcripts(t)
	r := newReplay(t, documents(t))
	r.whole = true
	all := r.prompts(func(n int) bool { return n == 0 })
	report(t, "all", all)
	told, _ := report(t, "those that chose nothing",
		keep(all, func(a asked) bool { return known[a.session.NativeID] == nil }))
	if told.precision() < .6 || told.coverage() < .3 {
		t.Errorf("told %+v", told)
	}
}

// documents are the sessions of the ranking corpus. All of one was said at its end but the first prompt.
func documents(t *testing.T) (out []session.Session) {
	t.Helper()
	f, err := os.Open(harness.Data(t, "ranking/corpus.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	plain, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for dec := json.NewDecoder(plain); ; {
		var d document
		if err := dec.Decode(&d); errors.Is(err, io.EOF) {
			return out
		} else if err != nil {
			t.Fatal(err)
		}
		if s, ok := d.session(); ok {
			out = append(out, s)
		}
	}
}

// document is a line of the corpus.
type document struct {
	Doc, Branch string
	Start, End  time.Time
	Turns       []struct{ Role, Text string }
	FilesEdited []string `json:"files_edited"`
	FilesRead   []string `json:"files_read"`
	Cmds        []string
}

func (d document) session() (session.Session, bool) {
	s := session.Session{
		ID: session.NewID(d.Start, "claude-code", d.Doc), Source: "claude-code", NativeID: d.Doc,
		ActorType: session.ActorHuman, Branch: d.Branch,
		StartedAt: d.Start,
	}
	for _, turn := range d.Turns {
		if len(s.Turns) == 0 && turn.Role != "user" {
			continue
		}
		t := session.Turn{Index: len(s.Turns), Role: session.RoleAssistant, TS: d.End, Content: turn.Text}
		if turn.Role == "user" {
			t.Role = session.RoleHuman
		}
		if t.Index == 0 {
			t.TS = d.Start
		}
		s.Turns = append(s.Turns, t)
	}
	call := func(act, path, cmd string) {
		s.ToolCalls = append(s.ToolCalls, session.ToolCall{
			Index: len(s.ToolCalls), Turn: len(s.Turns) - 1, Tool: act,
			Act: act, Path: path, Cmd: cmd,
		})
	}
	for _, p := range d.FilesEdited {
		call(session.ActEdit, p, "")
	}
	for _, p := range d.FilesRead {
		call(session.ActRead, p, "")
	}
	for _, c := range d.Cmds {
		call(session.ActRun, "", c)
	}
	return s, len(s.Turns) > 0 && !d.Start.IsZero() && d.End.After(d.Start)
}
