package session_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// script makes a session from words: "h1:text" is a prompt at second 1, "a2:text" an
// answer, "!Edit x" a tool call on the file x behind the last turn, "!!Edit x" one that failed. Numbers count from
// the given ones on.
func script(turns, tools int, words ...string) session.Session {
	s := session.Session{FirstTurn: turns, FirstTool: tools}
	for _, w := range words {
		if name, ok := strings.CutPrefix(w, "!"); ok {
			name, failed := strings.CutPrefix(name, "!")
			tool, path, _ := strings.Cut(name, " ")
			s.ToolCalls = append(s.ToolCalls, session.ToolCall{
				Index: tools + len(s.ToolCalls), Turn: turns + len(s.Turns) - 1, Tool: tool, Path: path, Failed: failed,
			})
			continue
		}
		var sec int
		head, text, _ := strings.Cut(w, ":")
		if _, err := fmt.Sscanf(head[1:], "%d", &sec); err != nil {
			panic(w)
		}
		role := session.RoleHuman
		if head[0] == 'a' {
			role = session.RoleAssistant
		}
		s.Turns = append(s.Turns, session.Turn{
			Index: turns + len(s.Turns), Role: role, TS: first.Add(time.Duration(sec) * time.Second), Content: text,
		})
	}
	if len(s.Turns) > 0 {
		s.StartedAt = s.Turns[0].TS
	}
	return s
}

func TestAbsorb(t *testing.T) {
	for _, tt := range []struct {
		name  string
		have  session.Session
		part  session.Session
		view  session.View
		want  session.Session
		added session.Session
	}{
		{
			name:  "into nothing",
			part:  script(0, 0, "h1:why", "!Read x", "a2:so"),
			want:  script(0, 0, "h1:why", "!Read x", "a2:so"),
			added: script(0, 0, "h1:why", "!Read x", "a2:so"),
		},
		{
			name:  "a fork into nothing keeps its numbers",
			part:  script(7, 3, "h1:why", "!Read x"),
			want:  script(7, 3, "h1:why", "!Read x"),
			added: script(7, 3, "h1:why", "!Read x"),
		},
		{
			name:  "a continuation",
			have:  script(0, 0, "h1:why", "!Read x"),
			part:  script(1, 1, "!Edit x", "a2:so"),
			view:  session.Piece,
			want:  script(0, 0, "h1:why", "!Read x", "!Edit x", "a2:so"),
			added: script(1, 1, "!Edit x", "a2:so"),
		},
		{
			name:  "a continuation may repeat time, role and text",
			have:  script(0, 0, "h1:yes"),
			part:  script(1, 0, "h1:yes"),
			view:  session.Piece,
			want:  script(0, 0, "h1:yes", "h1:yes"),
			added: script(1, 0, "h1:yes"),
		},
		{
			name:  "overlap from another machine",
			have:  script(0, 0, "h1:why", "a2:so", "!Edit x", "h3:ok"),
			part:  script(1, 0, "a2:so", "!Edit x", "h3:ok", "a4:done", "!Edit y"),
			view:  session.Piece,
			want:  script(0, 0, "h1:why", "a2:so", "!Edit x", "h3:ok", "a4:done", "!Edit y"),
			added: script(3, 1, "a4:done", "!Edit y"),
		},
		{
			name: "nothing new",
			have: script(0, 0, "h1:why", "!Read x", "a2:so"),
			part: script(0, 0, "h1:why", "!Read x"),
			want: script(0, 0, "h1:why", "!Read x", "a2:so"), added: script(2, 1),
		},
		{
			name: "a whole read knows a turn by its time, whatever its text became",
			have: script(0, 0, "h1:key [REDACTED]", "a2:so"),
			part: script(0, 0, "h1:key AKIA…", "a2:so", "a3:more"),
			want: script(0, 0, "h1:key [REDACTED]", "a2:so", "a3:more"), added: script(2, 0, "a3:more"),
		},
		{
			name: "a piece knows a turn only by its text, too",
			have: script(0, 0, "h1:why", "a2:so"),
			part: script(0, 0, "a2:another"), view: session.Piece,
			want: script(0, 0, "h1:why", "a2:so", "a2:another"), added: script(2, 0, "a2:another"),
		},
		{
			name: "equal times in a whole read count in order",
			have: script(0, 0, "a1:one", "a1:two"),
			part: script(0, 0, "a1:one", "a1:two", "a1:three"),
			want: script(0, 0, "a1:one", "a1:two", "a1:three"), added: script(2, 0, "a1:three"),
		},
		{
			name: "equal times in a piece count by text",
			have: script(0, 0, "a1:one", "a1:two", "a1:two"),
			part: script(0, 0, "a1:two", "a1:two", "a1:two"), view: session.Piece,
			want: script(0, 0, "a1:one", "a1:two", "a1:two", "a1:two"), added: script(3, 0, "a1:two"),
		},
		{
			name: "the role tells apart what one millisecond holds",
			have: script(0, 0, "h1:x"),
			part: script(0, 0, "a1:x"), view: session.Piece,
			want: script(0, 0, "h1:x", "a1:x"), added: script(1, 0, "a1:x"),
		},
		{
			name: "equal tool calls behind one turn are counted",
			have: script(0, 0, "h1:x", "!Edit f"),
			part: script(0, 0, "h1:x", "!Edit f", "!Edit f"),
			want: script(0, 0, "h1:x", "!Edit f", "!Edit f"), added: script(1, 1, "!Edit f"),
		},
		{
			name: "an equal tool call behind another turn is another",
			have: script(0, 0, "h1:x", "!Edit f"),
			part: script(0, 0, "h1:x", "!Edit f", "a2:y", "!Edit f"),
			want: script(0, 0, "h1:x", "!Edit f", "a2:y", "!Edit f"), added: script(1, 1, "a2:y", "!Edit f"),
		},
		{
			name: "tool calls before any turn",
			have: script(0, 0, "!Read a"),
			part: script(0, 0, "!Read a", "!Read b", "h1:x"),
			want: script(0, 0, "!Read a", "!Read b", "h1:x"), added: script(0, 1, "!Read b", "h1:x"),
		},
		{
			name: "a read that goes on and repeats what is known",
			have: script(0, 0, "h1:x", "a2:y"),
			part: script(2, 0, "!Edit f", "a2:y", "a2:z"), view: session.Continued,
			want: script(0, 0, "h1:x", "a2:y", "!Edit f", "a2:z"), added: script(2, 0, "!Edit f", "a2:z"),
		},
		{
			name: "what diverged on two machines is numbered behind",
			have: script(0, 0, "h1:x", "a2:mine", "!Edit m"),
			part: script(1, 0, "a3:theirs", "!Edit t"), view: session.Piece,
			want:  script(0, 0, "h1:x", "a2:mine", "!Edit m", "a3:theirs", "!Edit t"),
			added: script(2, 1, "a3:theirs", "!Edit t"),
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			part := clone(tt.part)
			got := clone(tt.have)
			added := got.Absorb(tt.part, tt.view)
			tt.want.StartedAt, tt.added.StartedAt = got.StartedAt, added.StartedAt // see TestAdopt
			harness.Equal(t, "the whole", tt.want, got)
			harness.Equal(t, "what was new", tt.added, added)
			harness.Equal(t, "the part that was handed in", part, tt.part)
		})
	}
}

func clone(s session.Session) session.Session {
	s.Turns = append([]session.Turn(nil), s.Turns...)
	s.ToolCalls = append([]session.ToolCall(nil), s.ToolCalls...)
	return s
}

// A failed call is stored once, also where its failure was not known yet, or its path was not kept. Turns that differ
// make each call be told by identity, and not by its number.
func TestAbsorbFailedCalls(t *testing.T) {
	for _, c := range []struct {
		name         string
		stored, read []string
		added        int
	}{
		{"the same", []string{"!!Edit x"}, []string{"!!Edit x"}, 0},
		{"its failure came later", []string{"!Edit x"}, []string{"!!Edit x"}, 0},
		{"its path was not kept", []string{"!Edit"}, []string{"!!Edit x"}, 0},
		{"its path is not kept", []string{"!!Edit x"}, []string{"!Edit"}, 0},
		{"another one succeeded", []string{"!Edit"}, []string{"!!Edit x", "!Edit x"}, 1},
		{"a success is none", []string{"!Edit"}, []string{"!Edit x"}, 1},
		{"another file", []string{"!!Edit x"}, []string{"!!Edit y"}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := script(0, 0, append(append([]string{"h1:why"}, c.stored...), "a2:so", "a3:well")...)
			added := s.Absorb(script(0, 0, append(append([]string{"h1:why"}, c.read...), "a3:well", "a4:done")...),
				session.Whole)
			harness.Equal(t, "added calls", c.added, len(added.ToolCalls))
		})
	}
}

func TestAdopt(t *testing.T) {
	full := session.Session{
		ID: "id", Source: "src", NativeID: "n", Parent: "p", ForkedFrom: "f", ActorType: "human", AgentID: "a",
		Branch: "b", Title: "t", StartedAt: first, Hash: "h", Bytes: 7,
	}
	var s session.Session
	s.TakeHead(full)
	harness.Equal(t, "into nothing", full, s)
	s.TakeHead(session.Session{})
	harness.Equal(t, "nothing replaces nothing", full, s)
	s.TakeHead(session.Session{Title: "new", Bytes: 9, Hash: "i", StartedAt: first.Add(time.Hour), FirstTurn: 3})
	full.Title, full.Bytes, full.Hash = "new", 9, "i"
	harness.Equal(t, "what is filled in replaces, but for the start", full, s)
}

// TestLongCutAndAbsorb cuts sessions into overlapping runs, between any two records, and takes
// them in again in the order of their ends, as the segments of several machines come:
// nothing is lost, nothing doubled, the order stays.
//
// What it needs: the runs are of one linear session and carry its own numbers, and none
// begins behind what is known (a machine stores all that it sees).
func TestLongCutAndAbsorb(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 1000 {
		words := random(rng)
		whole := script(0, 0, words...)
		var got session.Session
		var story []string
		for end := 0; end < len(words); {
			from := rng.IntN(end + 1)
			end = min(len(words), max(end, from+rng.IntN(5)))
			if rng.IntN(3) == 0 {
				from = 0
			}
			view := session.Piece
			if from == 0 && rng.IntN(2) == 0 {
				view = session.Whole
			}
			turns, tools := count(words[:from])
			before := clone(got)
			added := got.Absorb(script(turns, tools, words[from:end]...), view)
			story = append(story, strings.Join(words[from:end], " "))
			turns, tools = count(words[:end])
			wantTurns, wantTools := whole.Turns[len(before.Turns):turns], whole.ToolCalls[len(before.ToolCalls):tools]
			if diff := cmp.Diff(wantTurns, added.Turns, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("round %d, %q: new turns (-want +got):\n%s", round, story, diff)
			}
			if diff := cmp.Diff(wantTools, added.ToolCalls, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("round %d, %q: new calls (-want +got):\n%s", round, story, diff)
			}
		}
		whole.StartedAt = got.StartedAt
		if diff := cmp.Diff(whole, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("round %d, %q (-want +got):\n%s", round, story, diff)
		}
	}
}

// TestRepeats takes in, piece by piece as a growing transcript is read, a session whose
// later pieces repeat records of earlier ones; of those none is stored again.
//
// What it needs: no two turns have the same time, role and text, and no two calls behind a
// turn are equal, for a repeated one can't be told from another one then.
func TestRepeats(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for round := range 500 {
		var words []string
		for sec := range 2 + rng.IntN(10) {
			words = append(words, fmt.Sprintf("%c%d:x", "ha"[rng.IntN(2)], sec/2), fmt.Sprintf("!Edit %d", sec))
			words[len(words)-2] += fmt.Sprint(sec)
		}
		whole := script(0, 0, words...)
		var got session.Session
		for end := 0; end < len(words); {
			turns, tools := count(words[:end])
			again := 2 * rng.IntN(end/2+1)
			next := min(len(words), end+1+rng.IntN(4))
			// A record that is repeated comes whole, and before the new ones.
			part := append(append([]string(nil), words[again:min(end, again+2)]...), words[end:next]...)
			if len(part) > next-end && words[end][0] == '!' {
				part = words[end:next] // else the call would stand behind the repeated turn
			}
			got.Absorb(script(turns, tools, part...), session.Continued)
			end = next
		}
		if diff := cmp.Diff(whole, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("round %d, %q (-want +got):\n%s", round, words, diff)
		}
	}
}

// random makes a session with few times and texts, so that many turns and calls look alike.
func random(rng *rand.Rand) []string {
	var words []string
	sec := 0
	for range 1 + rng.IntN(12) {
		sec += rng.IntN(2)
		words = append(words, fmt.Sprintf("%c%d:%c", "ha"[rng.IntN(2)], sec, 'x'+rune(rng.IntN(2))))
		for range rng.IntN(3) {
			words = append(words, fmt.Sprintf("!Edit %c", 'f'+rune(rng.IntN(2))))
		}
	}
	return words
}

// count is how many of the words are turns and calls.
func count(words []string) (turns, tools int) {
	for _, w := range words {
		if w[0] == '!' {
			tools++
		}
	}
	return len(words) - tools, tools
}

func TestSharedPrefix(t *testing.T) {
	origin := script(0, 0, "h1:why", "a2:so", "h3:go on")
	origin.ID = "origin"
	branch := script(2, 0, "h9:no", "a10:as you like") // a fork of origin behind its second turn
	branch.ID = "branch"
	family := []session.Session{origin, branch}
	for _, tt := range []struct {
		name   string
		s      session.Session
		n      int
		holder string
	}{
		{"a copy that went on", script(0, 0, "h1:why", "a2:so", "h4:but"), 2, "origin"},
		{"a plain copy", script(0, 0, "h1:why", "a2:so", "h3:go on"), 3, "origin"},
		{"a fork of a fork", script(0, 0, "h1:why", "a2:so", "h9:no", "a11:new"), 3, "branch"},
		{"another text", script(0, 0, "h1:how", "a2:so"), 0, ""},
		{"another time", script(0, 0, "h2:why"), 0, ""},
		{"another role", script(0, 0, "a1:why"), 0, ""},
		{"no turn", session.Session{}, 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if n, holder := session.SharedPrefix(tt.s, family); n != tt.n || holder != tt.holder {
				t.Errorf("%d turns of %q, want %d of %q", n, holder, tt.n, tt.holder)
			}
		})
	}
}

func TestTail(t *testing.T) {
	s := script(0, 0, "!Read z", "h1:why", "!Read a", "a2:so", "!Edit b", "h3:ok")
	for n, want := range []session.Session{
		s,
		script(1, 2, "a2:so", "!Edit b", "h3:ok"),
		script(2, 3, "h3:ok"),
		script(3, 3),
	} {
		want.StartedAt = s.StartedAt
		harness.Equal(t, fmt.Sprint("behind ", n), want, s.WithoutFirstTurns(n))
	}
}

func TestTimes(t *testing.T) {
	at := func(sec int) time.Time { return first.Add(time.Duration(sec) * time.Second) }
	empty := session.Session{StartedAt: at(5)}
	back := script(0, 0, "h3:x", "a9:y", "a4:clock went back")
	for _, tt := range []struct {
		name      string
		got, want time.Time
	}{
		{"first of none", empty.FirstTS(), at(5)},
		{"last of none", empty.LastTS(), at(5)},
		{"first", back.FirstTS(), at(3)},
		{"last is the latest", back.LastTS(), at(9)},
	} {
		if !tt.got.Equal(tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, tt.got, tt.want)
		}
	}
}

func TestJoin(t *testing.T) {
	part := func(n int) session.Entry {
		return session.Entry{
			Checkpoint: &session.Checkpoint{
				GitSHA: "x", Files: []session.File{{Path: fmt.Sprint(n)}},
				Links: []session.Link{{Session: fmt.Sprint(n)}},
			},
			Sessions: []session.Session{{ID: "s", FirstTurn: n}}, Memories: []session.Memory{{ID: fmt.Sprint(n)}},
			Purges: []session.Mark{{N: n}}, Restores: []session.Mark{{N: n}}, Rewrites: []session.Rewrite{{Old: fmt.Sprint(n)}},
			Scrubs:   []session.Scrub{{Segment: fmt.Sprint(n)}},
			Removals: []session.Removal{{Entry: fmt.Sprint(n)}},
		}
	}
	var got session.Entry
	got.Join(session.Entry{Memories: []session.Memory{{ID: "0"}}})
	got.Join(part(1))
	got.Join(part(2))
	got.Join(session.Entry{})
	harness.Equal(t, "joined", session.Entry{
		Checkpoint: &session.Checkpoint{
			GitSHA: "x", Files: []session.File{{Path: "1"}, {Path: "2"}},
			Links: []session.Link{{Session: "1"}, {Session: "2"}},
		},
		Sessions: []session.Session{{ID: "s", FirstTurn: 1}, {ID: "s", FirstTurn: 2}},
		Memories: []session.Memory{{ID: "0"}, {ID: "1"}, {ID: "2"}},
		Purges:   []session.Mark{{N: 1}, {N: 2}}, Restores: []session.Mark{{N: 1}, {N: 2}},
		Rewrites: []session.Rewrite{{Old: "1"}, {Old: "2"}}, Scrubs: []session.Scrub{{Segment: "1"}, {Segment: "2"}},
		Removals: []session.Removal{{Entry: "1"}, {Entry: "2"}},
	}, got)
}

func TestBefore(t *testing.T) {
	day := time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC)
	s := session.Session{
		FirstTurn: 2, FirstTool: 1,
		Turns:     []session.Turn{{Index: 2, TS: day}, {Index: 3, TS: day.Add(time.Minute)}},
		ToolCalls: []session.ToolCall{{Index: 1, Turn: 1}, {Index: 2, Turn: 2}, {Index: 3, Turn: 3}},
	}
	for _, c := range []struct {
		name         string
		end          time.Time
		turns, calls int
	}{
		{"nothing yet", day, 0, 1},
		{"the first turn", day.Add(time.Second), 1, 2},
		{"all", day.Add(time.Hour), 2, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := s.Before(c.end)
			if len(got.Turns) != c.turns || len(got.ToolCalls) != c.calls {
				t.Errorf("%d turns and %d calls, want %d and %d", len(got.Turns), len(got.ToolCalls), c.turns, c.calls)
			}
		})
	}
}
