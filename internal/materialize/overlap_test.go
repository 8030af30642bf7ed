package materialize_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/git-rekal/git-rekal/internal/materialize"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// Two machines of one author captured one session: each ledger tells it in parts of its own.
// here is this machine's branch, there the other machine's, as it was fetched.
const (
	here  = "refs/heads/rekal/" + alice
	there = "refs/rekal/origin/" + alice
)

// talk is the session: six turns, each with a tool call behind it.
func talk() session.Session {
	var lines []string
	for i := range 6 {
		lines = append(lines, fmt.Sprintf("human turn %d of a long talk", i), fmt.Sprintf("Edit f%d.go", i))
	}
	return chat("talk", 0, lines...)
}

func slice(s session.Session, i, j int) session.Session { return from(until(s, j, j), i, i) }

// otherMachine appends to the fetched ledger.
func (w *world) otherMachine(minutes int, e session.Entry) {
	w.t.Helper()
	tip, err := w.repo.Ref(there)
	if err != nil {
		tip = ""
	}
	// The ledger's own branch moves by compare-and-swap alone, so it is put aside for a moment.
	mine, err := w.repo.Ref(here)
	if err != nil {
		w.t.Fatal(err)
	}
	if tip == "" {
		runGit(w.t, w.dir, "update-ref", "-d", here)
	} else {
		w.point(here, tip)
	}
	w.point(there, w.append(alice, minutes, e))
	w.point(here, mine)
}

func TestLongTwoMachinesOneSession(t *testing.T) {
	s := talk()
	for _, c := range []struct {
		name  string
		steps []func(*world)
	}{
		{"the other one's repeat what is known", []func(*world){
			func(w *world) { w.append(alice, 20, entryOf(commit("1", alice, "M f1.go"), slice(s, 0, 3))) },
			func(w *world) {
				w.otherMachine(30, entryOf(commit("2", alice, "M f3.go", "M f5.go"), slice(s, 0, 6)))
			},
		}},
		{"both go on", []func(*world){
			func(w *world) { w.append(alice, 20, entryOf(nil, slice(s, 0, 2))) },
			func(w *world) { w.otherMachine(30, entryOf(nil, slice(s, 0, 4))) },
			func(w *world) { w.append(alice, 40, entryOf(nil, slice(s, 2, 5))) },
			func(w *world) { w.otherMachine(50, entryOf(nil, slice(s, 4, 6))) },
		}},
		{"the other one's come late", []func(*world){
			func(w *world) { w.append(alice, 20, entryOf(commit("1", alice, "M f1.go"), slice(s, 0, 3))) },
			func(w *world) { w.append(alice, 40, entryOf(commit("2", alice, "M f1.go", "M f4.go"), slice(s, 3, 6))) },
			func(w *world) { w.otherMachine(15, entryOf(commit("3", alice, "M f0.go"), slice(s, 0, 1))) },
			func(w *world) { w.otherMachine(30, entryOf(commit("4", alice, "M f4.go"), slice(s, 0, 5))) },
		}},
		{"a link comes late", []func(*world){
			func(w *world) { w.append(alice, 20, entryOf(nil, slice(s, 0, 3))) },
			func(w *world) {
				cp := commit("2", alice, "M f4.go")
				cp.Links = []session.Link{{Session: s.ID}}
				w.append(alice, 40, entryOf(cp, chat("near", 35, "human hello", "Edit g.go")))
			},
			func(w *world) { w.otherMachine(30, entryOf(nil, slice(s, 0, 6))) },
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			m := w.materializer()
			var lived dumped
			for _, step := range c.steps {
				step(w)
				lived = w.catchUp(m)
			}
			same(t, "rebuilt", w.rebuilt(), lived)
			const words = "turn 5 of a long talk f3.go"
			harness.Equal(t, "found", w.found(w.materializer("anew", t.Name()), words), w.found(m, words))
			w.wholeTalk(m, s)
			w.noWarnings()
		})
	}
}

// wholeTalk checks that every turn and tool call of the talk stands once, in both databases.
func (w *world) wholeTalk(m *materialize.Materializer, s session.Session) {
	w.t.Helper()
	var turns, calls []string
	for i, u := range s.Turns {
		turns = append(turns, fmt.Sprintf(`{"turn_index":%d,"content":%q}`, i, u.Content))
		calls = append(calls, fmt.Sprintf(`{"call_order":%d,"path":%q}`, i, s.ToolCalls[i].Path))
	}
	where := ` WHERE session_id = '` + s.ID + `' ORDER BY ALL`
	harness.Equal(w.t, "turns", turns, w.data(m, `SELECT turn_index, content FROM turns`+where))
	harness.Equal(w.t, "turns_ft", turns, w.index(m, `SELECT turn_index, content FROM turns_ft`+where))
	harness.Equal(w.t, "tool_calls", calls, w.data(m, `SELECT call_order, path FROM tool_calls`+where))
	harness.Equal(w.t, "tool_calls_index", calls, w.index(m, `SELECT call_order, path FROM tool_calls_index`+where))
	for _, hits := range w.found(m, "turn 5 of a long talk") {
		var ids []string
		for _, h := range hits {
			if h.Session == s.ID {
				ids = append(ids, h.Session)
			}
		}
		if !slices.Equal(ids, []string{s.ID}) {
			w.t.Errorf("search finds %q, want %q once", ids, s.ID)
		}
	}
}

// What machines number differently is numbered in the order of the segments: the first to
// hold a turn wins.
func TestLongDivergedTurnsAreNumberedBySegment(t *testing.T) {
	w := newWorld(t)
	s := talk()
	mine, theirs := slice(s, 2, 3), slice(s, 2, 3)
	theirs.Turns = []session.Turn{{Index: 2, Role: session.RoleHuman, TS: later(9), Content: "said on the other machine"}}
	theirs.ToolCalls = []session.ToolCall{{Index: 2, Turn: 2, Tool: "Edit", Act: session.ActEdit, Path: "other.go"}}
	w.append(alice, 20, entryOf(nil, slice(s, 0, 2)))
	w.append(alice, 40, entryOf(nil, mine))
	m := w.materializer()
	w.catchUp(m)
	w.otherMachine(30, entryOf(nil, slice(s, 0, 2)))
	w.otherMachine(35, entryOf(nil, theirs))
	lived := w.catchUp(m)
	same(t, "rebuilt", w.rebuilt(), lived)
	harness.Equal(t, "turns", []string{
		`{"turn_index":0,"content":"turn 0 of a long talk"}`, `{"turn_index":1,"content":"turn 1 of a long talk"}`,
		`{"turn_index":2,"content":"said on the other machine"}`, `{"turn_index":3,"content":"turn 2 of a long talk"}`,
	}, w.data(m, `SELECT turn_index, content FROM turns ORDER BY ALL`))
	harness.Equal(t, "calls", []string{
		`{"turn_index":0,"path":"f0.go"}`, `{"turn_index":1,"path":"f1.go"}`,
		`{"turn_index":2,"path":"other.go"}`, `{"turn_index":3,"path":"f2.go"}`,
	}, w.data(m, `SELECT turn_index, path FROM tool_calls ORDER BY ALL`))
}
