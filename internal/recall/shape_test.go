package recall_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/git-rekal/git-rekal/internal/materialize"
	"github.com/git-rekal/git-rekal/internal/recall"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/tables"
	"github.com/git-rekal/git-rekal/tests/harness"
	"github.com/git-rekal/git-rekal/tests/harness/repos"
)

// pretty is a value as JSON, indented, with the checkpoints' OIDs, which the version of the
// ledger's README decides, by name.
func (p *place) pretty(v any) string {
	p.T.Helper()
	var raw, out bytes.Buffer
	if err := result.Write(&raw, v); err != nil {
		p.T.Fatal(err)
	}
	if err := json.Indent(&out, raw.Bytes(), "", "  "); err != nil {
		p.T.Fatal(err)
	}
	text := out.String()
	for _, line := range strings.Split(p.git("log", "--format=%H %s", "--reverse", "rekal/"+alice), "\n")[1:] {
		oid, _, _ := strings.Cut(line, " ")
		text = strings.ReplaceAll(text, oid, "CHECKPOINT")
		text = strings.ReplaceAll(text, `"`+oid[:7]+`"`, `"CHECK"`)
	}
	return text
}

// golden is a ledger whose answers are written out below.
func golden(t *testing.T) (p *place, parent, child session.Session, sha string) {
	t.Helper()
	p = newPlace(t)
	sha = p.code("fix the clock")
	parent = chat("parent", 0, "Read README", "human why do <tokens> expire early", "Edit src/jwt.go",
		"assistant The clock is local.",
		"Bash go test ./...", "human thanks", "Read src/clock.go", "assistant Welcome.")
	child = chat("child", 1, "human look at the clock", "Read src/clock.go", "assistant It is local.")
	child.Parent, child.ActorType, child.AgentID, child.Branch = parent.ID, session.ActorAgent, "a7", ""
	other := chat("other", 2, "human what else", "Edit src/clock.go", "Edit src/zone.go")
	fix := checkpoint(sha, "src/jwt.go")
	fix.Links = []session.Link{{Session: child.ID, Tie: session.TieTalked, Evidence: "prompt"}}
	p.append(alice, 10, session.Entry{Checkpoint: fix, Sessions: []session.Session{parent, child}})
	link := checkpoint(session.ZeroSHA)
	link.Links = []session.Link{{Session: parent.ID, Tie: session.TieNamed, Evidence: "record"}}
	p.append(alice, 20, session.Entry{Checkpoint: link})
	p.append(alice, 30, session.Entry{Sessions: []session.Session{other}})
	p.open()
	return p, parent, child, sha
}

func TestHitGolden(t *testing.T) {
	p, parent, _, sha := golden(t)
	out := p.recall(recall.Request{Query: "tokens expire", Author: alice})
	for i := range out.Results {
		if out.Results[i].Score <= 0 {
			t.Errorf("score %v", out.Results[i].Score)
		}
		out.Results[i].Score = 0.5 // ranking has tests of its own
	}
	harness.Equal(t, "answer", fmt.Sprintf(`{
  "schema": 1,
  "query": "tokens expire",
  "filters": {
    "author": "alice@example.com"
  },
  "total": 1,
  "results": [
    {
      "id": %q,
      "kind": "session",
      "score": 0.5,
      "matched": [
        "content"
      ],
      "freshness": "stale_deleted",
      "title": "about parent",
      "snippet": "why do <tokens> expire early",
      "turn": 0,
      "role": "human",
      "turn_at": "2026-03-04T10:00:01Z",
      "address": "%s:0",
      "led_to": {
        "commit": %q,
        "subject": "fix the clock",
        "ts": "2026-03-04T10:00:00Z"
      },
      "author": "alice@example.com",
      "actor": "human",
      "source": "claude-code",
      "branch": "main",
      "last_turn_at": "2026-03-04T10:00:07Z",
      "captured_at": "2026-03-04T10:10:00Z",
      "commits": [
        %q
      ],
      "checkpoint": "CHECK",
      "turns": 4,
      "tool_calls": 4,
      "files": [
        "src/jwt.go"
      ],
      "files_total": 1
    }
  ]
}
`, parent.ID, parent.ID, sha[:7], sha[:7]), p.pretty(out))
}

func TestSessionGolden(t *testing.T) {
	p, parent, child, sha := golden(t)
	out, err := p.session(recall.Page{ID: parent.ID[:20], Limit: 2, Full: true})
	if err != nil {
		t.Fatal(err)
	}
	harness.Equal(t, "answer", fmt.Sprintf(`{
  "schema": 1,
  "id": %q,
  "kind": "session",
  "title": "about parent",
  "author": "alice@example.com",
  "actor": "human",
  "source": "claude-code",
  "native_id": "parent",
  "branch": "main",
  "started_at": "2026-03-04T10:00:00Z",
  "captured_at": "2026-03-04T10:10:00Z",
  "children": [
    %q
  ],
  "turns": 4,
  "tool_calls": 4,
  "page": [
    {
      "turn": 0,
      "role": "human",
      "ts": "2026-03-04T10:00:01Z",
      "content": "why do <tokens> expire early"
    },
    {
      "turn": 1,
      "role": "assistant",
      "ts": "2026-03-04T10:00:03Z",
      "content": "The clock is local."
    }
  ],
  "next": 2,
  "freshness": "stale_deleted",
  "tools": [
    {
      "turn": -1,
      "tool": "Read",
      "path": "README"
    },
    {
      "turn": 0,
      "tool": "Edit",
      "path": "src/jwt.go"
    },
    {
      "turn": 1,
      "tool": "Bash",
      "cmd": "go test ./..."
    }
  ],
  "files": [
    {
      "path": "src/jwt.go",
      "change": "M",
      "commit": %q,
      "freshness": "stale_deleted"
    }
  ],
  "files_total": 1,
  "commits": [
    {
      "commit": "0000000000000000000000000000000000000000",
      "checkpoint": "CHECKPOINT",
      "ts": "2026-03-04T10:20:00Z",
      "tie": "named"
    },
    {
      "commit": %q,
      "checkpoint": "CHECKPOINT",
      "ts": "2026-03-04T10:10:00Z",
      "tie": "edited"
    }
  ],
  "related": [
    {
      "path": "src/zone.go",
      "sessions": 1
    }
  ],
  "family": [
    {
      "id": %q,
      "as": "child",
      "title": "about child",
      "turns": 2
    }
  ]
}
`, parent.ID, child.ID, sha[:7], sha, child.ID), p.pretty(out))
}

func TestLogGolden(t *testing.T) {
	p, parent, child, sha := golden(t)
	out, err := recall.Log(t.Context(), p.index, p.repo, recall.LogRequest{Limit: 9})
	if err != nil {
		t.Fatal(err)
	}
	harness.Equal(t, "log", fmt.Sprintf(`[
  {
    "checkpoint": "CHECKPOINT",
    "commit": "0000000000000000000000000000000000000000",
    "branch": "main",
    "author": "alice@example.com",
    "actor": "human",
    "ts": "2026-03-04T10:20:00Z",
    "via": "commit",
    "files": 0,
    "sessions": [
      {
        "id": %q,
        "title": "about parent",
        "started_at": "2026-03-04T10:00:00Z",
        "last_turn_at": "2026-03-04T10:00:07Z",
        "source": "claude-code",
        "actor": "human",
        "turns": 4,
        "tool_calls": 4,
        "tie": "named"
      }
    ]
  },
  {
    "checkpoint": "CHECKPOINT",
    "commit": %q,
    "branch": "main",
    "author": "alice@example.com",
    "actor": "human",
    "ts": "2026-03-04T10:10:00Z",
    "via": "commit",
    "files": 1,
    "sessions": [
      {
        "id": %[1]q,
        "title": "about parent",
        "started_at": "2026-03-04T10:00:00Z",
        "last_turn_at": "2026-03-04T10:00:07Z",
        "source": "claude-code",
        "actor": "human",
        "turns": 4,
        "tool_calls": 4,
        "tie": "edited"
      },
      {
        "id": %[3]q,
        "title": "about child",
        "started_at": "2026-03-04T10:01:00Z",
        "last_turn_at": "2026-03-04T10:01:02Z",
        "source": "claude-code",
        "actor": "agent",
        "turns": 2,
        "tool_calls": 1,
        "tie": "talked",
        "inferred": true
      }
    ]
  }
]
`, parent.ID, sha, child.ID), p.pretty(out))
	one, err := recall.Log(t.Context(), p.index, p.repo, recall.LogRequest{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	harness.Equal(t, "the newest one", out[:1], one)
}

// TestLogCutsBetweenCommits: the last commit that is told has the sessions of all its checkpoints.
func TestLogCutsBetweenCommits(t *testing.T) {
	p := newPlace(t)
	first, second := p.code("fix the clock"), p.code("fix the zone")
	for i, sha := range []string{first, second, second, second} {
		p.append(alice, 10*i+10, session.Entry{
			Checkpoint: checkpoint(sha, "src/clock.go"),
			Sessions:   []session.Session{chat(fmt.Sprint("session ", i), i, "human fix it", "Edit src/clock.go")},
		})
	}
	p.open()
	for i, want := range []string{"3 sessions", "3 sessions, 1 session", "3 sessions, 1 session"} {
		limit := i + 1
		var got []string
		for _, cp := range repos.Must(recall.Log(t.Context(), p.index, p.repo, recall.LogRequest{Limit: limit}))(t) {
			got = append(got, session.CountNoun(len(cp.Sessions), "session"))
		}
		harness.Equal(t, fmt.Sprint("at most ", limit), want, strings.Join(got, ", "))
	}
}

func TestChildNamesItsParent(t *testing.T) {
	p, parent, child, _ := golden(t)
	out, err := p.session(recall.Page{ID: strings.ToLower(child.ID), Limit: 9})
	if err != nil {
		t.Fatal(err)
	}
	harness.Equal(t, "parent", []string{parent.ID, "agent", "a7", ""},
		[]string{out.Parent, out.Actor, out.AgentID, out.Branch})
	if out.Tools != nil || out.Files != nil || out.Commits != nil || out.Related != nil {
		t.Errorf("more than was asked for: %+v", out)
	}
}

// A session names those that it came of and those that came of it, but what is purged.
func TestLongFamily(t *testing.T) {
	p := newPlace(t)
	all := map[string]session.Session{}
	for i, c := range []struct{ name, parent, origin string }{
		{"lead", "", ""},
		{"origin", "", ""},
		{"self", "lead", "origin"},
		{"child 1", "self", ""},
		{"child 2", "self", ""},
		{"fork", "", "self"},
		{"grandchild", "child 1", ""},
		{"sibling", "lead", "origin"},
	} {
		s := chat(c.name, i, "human hello")
		s.Parent, s.ForkedFrom = all[c.parent].ID, all[c.origin].ID
		all[c.name] = s
		p.append(alice, 10+i, session.Entry{Sessions: []session.Session{s}})
	}
	family := func() (out []string) {
		t.Helper()
		p.open()
		s, err := p.session(recall.Page{ID: all["self"].ID, Full: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range s.Family {
			harness.Equal(t, r.Title, result.Relative{
				ID: all[strings.TrimPrefix(r.Title, "about ")].ID, As: r.As,
				Title: r.Title, Turns: 1,
			}, r)
			out = append(out, r.As+": "+r.Title)
		}
		return out
	}
	harness.Equal(t, "family", []string{
		"parent: about lead", "origin: about origin", "child: about child 1",
		"child: about child 2", "fork: about fork",
	}, family())
	var marks []session.Mark
	for _, name := range []string{"lead", "origin", "child 1", "fork"} {
		marks = append(marks, session.Mark{ID: all[name].ID, N: 1, TS: at(30)})
	}
	p.append(alice, 30, session.Entry{Purges: marks})
	harness.Equal(t, "what is not purged of it", []string{"child: about child 2"}, family())
}

// A page ends early where its turns are long, whatever length it was given; who cuts it by themselves gets
// it all.
func TestLongPages(t *testing.T) {
	p := newPlace(t)
	long := strings.Repeat("long ", 1500)
	lines := []string{
		"human " + long, "assistant " + long, "human " + long, "assistant " + strings.Repeat(long, 4),
		"human " + long,
	}
	for range 25 {
		lines = append(lines, "assistant short")
	}
	s := chat("long", 0, lines...)
	p.append(alice, 10, session.Entry{Sessions: []session.Session{s}})
	p.open()
	for limit, want := range map[int][]int{0: {2, 1, 1, 20, 6}, 30: {2, 1, 1, 26}, 1: slices.Repeat([]int{1}, 30)} {
		var pages []int
		offset := 0
		for next := &offset; next != nil; {
			out, err := p.session(recall.Page{ID: s.ID, Offset: *next, Limit: limit})
			if err != nil {
				t.Fatal(err)
			}
			pages, next = append(pages, len(out.Page)), out.Next
		}
		harness.Equal(t, fmt.Sprintf("turns of each page of %d", limit), want, pages)
	}
	out, err := p.session(recall.Page{ID: s.ID, Limit: 30, Whole: true})
	if err != nil || len(out.Page) != 30 || len(out.Page[3].Content) < 4*len(long)-1 {
		t.Errorf("%d turns where all 30 are asked for, %v", len(out.Page), err)
	}
}

// Of a turn that is longer than a page stands the beginning, and what is said with it reads the rest.
func TestLongLongTurn(t *testing.T) {
	p := newPlace(t)
	for i, unit := range []string{"a", "äö", "漢字", "🙂b", "\"\n"} {
		content := "say " + strings.Repeat(unit, 460_000/len(unit)) + " end"
		s := chat(fmt.Sprint("long", i), i, "human why?")
		s.Turns = append(s.Turns, session.Turn{Index: 1, Role: session.RoleAssistant, Content: content, TS: at(i)},
			session.Turn{Index: 2, Role: session.RoleHuman, Content: "and", TS: at(i)})
		p.append(alice, 10+i, session.Entry{Sessions: []session.Session{s}})
		p.open()
		out, err := p.session(recall.Page{ID: s.ID, Offset: 1, Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		got := out.Page[0]
		if n := len(got.Content); n > 20_000 || n < 19_990 || !utf8.ValidString(got.Content) || *out.Next != 2 {
			t.Errorf("%q: %d bytes, next %v", unit, n, out.Next)
		}
		harness.Equal(t, "length", len(content), got.ContentBytes)
		whole := got.Content
		for next := got.ContentNext; ; next += 20_000 {
			more := p.rest(s.ID, 1, next)
			if more == "" {
				break
			}
			whole += more
		}
		if whole != content {
			t.Errorf("%q: %d bytes read of %d", unit, len(whole), len(content))
		}
		if out, err = p.session(recall.Page{ID: s.ID, Offset: 2}); err != nil || out.Page[0].ContentBytes != 0 ||
			out.Page[0].ContentNext != 0 {
			t.Errorf("a short turn: %+v, %v", out.Page, err)
		}
	}
}

// rest reads on in a turn, as docs/json.md shows.
func (p *place) rest(id string, turn, from int) (content string) {
	p.T.Helper()
	sql := fmt.Sprintf("SELECT substr(content, %d, 20000) AS content FROM turns WHERE session_id = '%s' AND turn_index = %d", from, id, turn)
	d, err := tables.Open(p.T.Context(), p.T.TempDir(), materialize.DataDB, "", p.index, func() {})
	if err != nil {
		p.T.Fatal(err)
	}
	err = d.Select(p.T.Context(), sql, tables.Limits{Time: time.Minute, Memory: tables.QueryMemory},
		func(r tables.Row) error {
			content = fmt.Sprint(r.Values[0])
			return nil
		})
	if err := errors.Join(err, d.Close()); err != nil {
		p.T.Fatal(err)
	}
	return content
}

// Of a commit of very many files a session lists the first, and says how many there are.
func TestManyFiles(t *testing.T) {
	p := newPlace(t)
	var files []string
	for i := range 130 {
		files = append(files, fmt.Sprintf("gen/%d.go", i))
	}
	s := chat("generator", 0, "human generate", "Bash make generate && git commit -qm generate")
	p.append(alice, 10, session.Entry{
		Checkpoint: checkpoint(p.code("generate"), files...),
		Sessions:   []session.Session{s},
	})
	p.open()
	out, err := p.session(recall.Page{ID: s.ID, Full: true})
	if err != nil || len(out.Files) != 100 || out.FilesTotal != 130 {
		t.Errorf("%d of %d files, %v", len(out.Files), out.FilesTotal, err)
	}
}

// Pages, taken one after the other by next, are the whole session, each turn and call once.
func TestPages(t *testing.T) {
	whole := chat("fork", 5, "human 0", "Edit a.go", "assistant 1", "Edit b.go", "human 2", "Edit c.go", "assistant 3",
		"Edit d.go", "human 4")
	fork := whole
	fork.Turns, fork.ToolCalls, fork.FirstTurn, fork.FirstTool = whole.Turns[2:], whole.ToolCalls[2:], 2, 2
	fork.ForkedFrom = session.NewID(at(0), "claude-code", "origin")
	for _, c := range []struct {
		name         string
		s            session.Session
		role         string
		turns, calls string
	}{
		{"whole", whole, "", "0 1 2 3 4", "a.go b.go c.go d.go"},
		{"a fork begins where its origin was left", fork, "", "2 3 4", "c.go d.go"},
		{"one role", whole, session.RoleHuman, "0 2 4", "a.go b.go c.go d.go"},
	} {
		p := newPlace(t)
		p.append(alice, 10, session.Entry{Sessions: []session.Session{c.s}})
		p.open()
		for _, limit := range []int{1, 2, 3, 50} {
			t.Run(fmt.Sprintf("%s, %d a page", c.name, limit), func(t *testing.T) {
				var turns, calls []string
				for offset, pages := 0, 0; ; pages++ {
					out, err := p.session(recall.Page{ID: c.s.ID, Offset: offset, Limit: limit, Role: c.role, Full: true})
					if err != nil || pages > 9 {
						t.Fatalf("page %d: %v", pages, err)
					}
					harness.Equal(t, "counts", []int{len(c.s.Turns), len(c.s.ToolCalls)}, []int{out.Turns, out.ToolCalls})
					for _, u := range out.Page {
						turns = append(turns, fmt.Sprint(u.Turn))
					}
					for _, call := range out.Tools {
						calls = append(calls, call.Path)
					}
					if out.Next == nil {
						break
					}
					offset = *out.Next
				}
				harness.Equal(t, "turns", c.turns, strings.Join(turns, " "))
				harness.Equal(t, "calls", c.calls, strings.Join(calls, " "))
			})
		}
	}
}

func TestForkIsFoundAtItsOwnTurns(t *testing.T) {
	p := newPlace(t)
	whole := chat("fork", 5, "human copied history", "Edit a.go", "assistant 1", "human the zebra goes on", "Edit c.go")
	fork := whole
	fork.Turns, fork.ToolCalls, fork.FirstTurn, fork.FirstTool = whole.Turns[2:], whole.ToolCalls[1:], 2, 1
	p.append(alice, 10, session.Entry{Sessions: []session.Session{fork}})
	p.open()
	for name, req := range map[string]recall.Request{"query": {Query: "zebra"}, "latest": {}} {
		out := p.recall(req)
		if len(out.Results) != 1 || out.Results[0].Turn == nil || *out.Results[0].Turn != 2 || *out.Results[0].Turns != 1 ||
			*out.Results[0].ToolCalls != 1 {
			t.Errorf("%s: %+v", name, out.Results)
		}
	}
}

func TestSessionThatIsNotThere(t *testing.T) {
	p, _, _, _ := golden(t)
	_, err := p.session(recall.Page{ID: "01AAAAAAAAAA", Limit: 9})
	if !errors.Is(err, session.ErrNoID) || !strings.Contains(err.Error(), "01AAAAAAAAAA") {
		t.Errorf("error %v, want session.ErrNoID with the ID", err)
	}
}
