package capture

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/transcript"
)

func at(minute int) time.Time { return time.Date(2026, 3, 4, 10, minute, 0, 0, time.UTC) }

// TestWithout leaves out of a read what was said in a pause from 10:10 to 10:20, as if it had never been there.
func TestWithout(t *testing.T) {
	turn := func(i, minute int, text string) session.Turn {
		return session.Turn{Index: i, Role: session.RoleHuman, TS: at(minute), Content: text}
	}
	call := func(i, turn int, cmd string) session.ToolCall {
		return session.ToolCall{Index: i, Turn: turn, Tool: "Bash", Cmd: cmd}
	}
	all := transcript.Part{
		Session: session.Session{
			NativeID: "a", Title: "About bananas",
			Turns: []session.Turn{
				turn(0, 0, "apples are round"), turn(1, 5, "and red"), turn(2, 10, "bananas"),
				turn(3, 19, "more bananas"), turn(4, 20, "pears are green"),
			},
			ToolCalls: []session.ToolCall{
				call(0, 0, "one"), call(1, 1, "may be of the pause"), call(2, 2, "hush"),
				call(3, 3, "hush"), call(4, 4, "five"),
			},
		},
		TitleKind: transcript.TitlePrompt + 1,
		Edits:     []transcript.Edit{{Path: "a", TS: at(9)}, {Path: "b", TS: at(10)}, {Path: "c", TS: at(20)}},
		Outputs: []transcript.Output{
			{Command: "one", Turn: 0, At: at(1)},
			{Command: "hush", Turn: 2, At: at(12)},
			{Command: "five", Turn: 4, At: at(21)},
		},
	}
	pause := []Span{{at(10), at(20)}}
	for name, test := range map[string]struct {
		without     Excluded
		last, until time.Time
		turns       []string
		calls       map[string]int // to the turn behind which they stand
		title       string
	}{
		"a pause": {
			Excluded{Spans: pause},
			time.Time{},
			at(30),
			[]string{"apples are round", "and red", "pears are green"},
			map[string]int{"one": 0, "five": 2},
			"apples are round",
		},
		"one that still is": {
			Excluded{Spans: []Span{{From: at(10)}}},
			time.Time{},
			at(30),
			[]string{"apples are round", "and red"},
			map[string]int{"one": 0},
			"apples are round",
		},
		"two": {
			Excluded{Spans: append(pause, Span{at(0), at(1)})},
			time.Time{},
			at(30),
			[]string{"and red", "pears are green"},
			map[string]int{"five": 1},
			"and red",
		},
		"one before": {
			Excluded{Spans: []Span{{at(-9), at(-8)}}},
			time.Time{},
			at(30),
			[]string{"apples are round", "and red", "bananas", "more bananas", "pears are green"},
			map[string]int{"one": 0, "may be of the pause": 1, "hush": 3, "five": 4},
			"About bananas",
		},
		"none": {
			Excluded{},
			time.Time{},
			at(30),
			[]string{"apples are round", "and red", "bananas", "more bananas", "pears are green"},
			map[string]int{"one": 0, "may be of the pause": 1, "hush": 3, "five": 4},
			"About bananas",
		},
		"written meanwhile": {
			Excluded{Spans: []Span{{at(25), at(26)}}},
			time.Time{},
			at(30),
			[]string{"apples are round", "and red", "bananas", "more bananas", "pears are green"},
			map[string]int{"one": 0, "may be of the pause": 1, "hush": 3},
			"apples are round",
		},
		"forgotten": {
			Excluded{Sessions: []session.NativeRef{{Source: "x", NativeID: "a"}}},
			time.Time{},
			at(30),
			nil, nil, "",
		},
		"of another agent": {
			Excluded{Sessions: []session.NativeRef{{Source: "y", NativeID: "a"}}},
			time.Time{},
			at(30),
			[]string{"apples are round", "and red", "bananas", "more bananas", "pears are green"},
			map[string]int{"one": 0, "may be of the pause": 1, "hush": 3, "five": 4},
			"About bananas",
		},
		"nothing but a pause": {Excluded{Spans: []Span{{at(-1), at(40)}}}, time.Time{}, at(30), nil, map[string]int{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			part := all
			part.Turns, part.ToolCalls = append([]session.Turn(nil), all.Turns...),
				append([]session.ToolCall(nil), all.ToolCalls...)
			part.Edits, part.Outputs = append([]transcript.Edit(nil), all.Edits...),
				append([]transcript.Output(nil), all.Outputs...)
			doc := transcript.Document{Sessions: []transcript.Part{part}}
			test.without.remove("x", &doc, test.last, test.until)
			if len(doc.Sessions) == 0 {
				if test.calls != nil {
					t.Error("the session is gone")
				}
				return
			}
			got := doc.Sessions[0]
			var turns []string
			for i, u := range got.Turns {
				turns = append(turns, u.Content)
				if u.Index != i {
					t.Errorf("turn %d has the number %d", i, u.Index)
				}
			}
			calls := map[string]int{}
			for i, c := range got.ToolCalls {
				calls[c.Cmd] = c.Turn
				if c.Index != i {
					t.Errorf("call %d has the number %d", i, c.Index)
				}
			}
			if diff := cmp.Diff(test.turns, turns) + cmp.Diff(test.calls, calls) + cmp.Diff(test.title, got.Title); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			for _, e := range got.Edits {
				if test.without.isPaused(e.TS) {
					t.Errorf("the edit of %s stays", e.Path)
				}
			}
			for _, o := range got.Outputs {
				if test.without.isPaused(o.At) || o.Turn >= len(got.Turns) {
					t.Errorf("the output of %s stays, behind turn %d", o.Command, o.Turn)
				}
			}
		})
	}
}

// TestWithoutGoesOn: calls at the beginning of a later read stand behind what was read before.
func TestWithoutGoesOn(t *testing.T) {
	pause := Excluded{Spans: []Span{{at(10), at(20)}}}
	for name, test := range map[string]struct {
		last time.Time
		kept int
	}{"in the pause": {at(5), 0}, "behind it": {at(21), 1}} {
		doc := transcript.Document{Sessions: []transcript.Part{{Session: session.Session{
			ToolCalls: []session.ToolCall{{Turn: -1, Cmd: "make"}},
			Turns:     []session.Turn{{Role: session.RoleHuman, TS: at(25), Content: "go on"}},
		}}}}
		pause.remove("x", &doc, test.last, at(26))
		if got := len(doc.Sessions[0].ToolCalls); got != test.kept {
			t.Errorf("%s: %d calls, want %d", name, got, test.kept)
		}
	}
}
