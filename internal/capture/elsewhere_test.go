package capture_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/tests/harness"

	"github.com/git-rekal/git-rekal/internal/capture"
	"github.com/git-rekal/git-rekal/internal/session"
)

// neighbours are two repositories of one home: the transcripts lie where the first one's do.
func neighbours(t *testing.T) (ours, theirs *world) {
	t.Helper()
	ours, theirs = newWorld(t), newWorld(t)
	if err := os.RemoveAll(theirs.Home()); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(ours.Home(), theirs.Home()); err != nil {
		t.Fatal(err)
	}
	return ours, theirs
}

// in is a record made in a folder.
func in(dir, record string) string { return strings.ReplaceAll(record, "$REPO", dir) }

// crossing is a session that goes from one repository to the other and back, twice, with a temporary folder.
func crossing(ours, theirs *world) []string {
	a, b, free := ours.repo(), theirs.repo(), ours.Root
	run := func(sec int, cmd string) string {
		return rec(sidA, "assistant", sec,
			fmt.Sprintf(`"message":{"role":"assistant","content":[{"type":"tool_use","id":"r%d","name":"Bash","input":{"command":%q}}]}`, sec, cmd))
	}
	return []string{
		in(a, ask(sidA, 0, "ours: begin")), in(a, use(sidA, 1, "Edit", "ours.go")),
		in(b, say(sidA, 2, "theirs: roadmap")), in(b, run(3, "cat theirs.txt")), in(b, ask(sidA, 4, "theirs: more")),
		in(free, say(sidA, 5, "theirs: in a temporary folder")),
		in(a, use(sidA, 6, "Edit", "ours.go")), in(a, say(sidA, 7, "ours: back")),
		in(free, ask(sidA, 8, "ours: in a temporary folder")),
		in(b, use(sidA, 9, "Edit", "theirs.go")), in(b, say(sidA, 10, "theirs: done")),
		in(a, ask(sidA, 11, "ours: end")),
	}
}

var (
	oursTells = []string{
		"0 human: ours: begin", "Edit ours.go", "1 assistant: " + session.Elsewhere, "Edit ours.go",
		"2 assistant: ours: back",
		"3 human: ours: in a temporary folder", "4 assistant: " + session.Elsewhere, "5 human: ours: end",
	}
	theirsTell = []string{
		"0 human: " + session.Elsewhere, "1 assistant: theirs: roadmap", "Bash", "2 human: theirs: more",
		"3 assistant: theirs: in a temporary folder",
		"4 assistant: " + session.Elsewhere, "Edit theirs.go", "5 assistant: theirs: done",
	}
)

// holds checks all that a repository's ledger says of the session.
func (w *world) holds(title, foreign string, want []string) {
	w.T.Helper()
	s := w.held().sessions[sidA]
	harness.Equal(w.T, "session", want, story(s))
	harness.Equal(w.T, "title", title, s.Title)
	if text, err := json.Marshal(s); err != nil || strings.Contains(string(text), foreign) {
		w.T.Errorf("the ledger holds %q: %s, %v", foreign, text, err)
	}
}

// TestElsewhere: each of two repositories holds its own parts of a session, each turn once, however the
// transcript grew between captures and whether the cache stays.
func TestElsewhere(t *testing.T) {
	whole := func(int) bool { return false }
	for name, tt := range map[string]struct{ stop, forget func(i int) bool }{
		"at once":             {whole, whole},
		"record by record":    {func(int) bool { return true }, whole},
		"without the cache":   {func(int) bool { return true }, func(int) bool { return true }},
		"three at a time":     {func(i int) bool { return i%3 == 2 }, whole},
		"cut in the first":    {func(i int) bool { return i == 3 }, whole},
		"cut at a folder":     {func(i int) bool { return i == 4 }, func(i int) bool { return i == 4 }},
		"cut at the way back": {func(i int) bool { return i == 5 }, whole},
	} {
		t.Run(name, func(t *testing.T) {
			ours, theirs := neighbours(t)
			for i, r := range crossing(ours, theirs) {
				ours.add(sidA, r)
				for _, w := range []*world{ours, theirs} {
					if tt.stop(i) {
						w.capture()
					}
					if tt.forget(i) {
						w.forget()
					}
				}
			}
			for range 2 {
				ours.capture()
				theirs.capture()
				ours.holds("ours: begin", "theirs", oursTells)
				theirs.holds("theirs: more", "ours", theirsTell)
			}
			harness.Equal(t, "ID", ours.held().sessions[sidA].ID, theirs.held().sessions[sidA].ID)
		})
	}
}

// TestElsewhereInRounds: nor does it matter how little is in memory at once.
func TestElsewhereInRounds(t *testing.T) {
	ours, theirs := neighbours(t)
	ours.add(sidA, crossing(ours, theirs)...)
	for _, w := range []*world{ours, theirs} {
		w.try(func(c *capture.Capturer) (capture.Outcome, error) {
			c.Round = capture.Round{Kept: 1, Piece: 300}
			return c.Run(t.Context(), w.via, nil)
		})
	}
	ours.holds("ours: begin", "theirs", oursTells)
	theirs.holds("theirs: more", "ours", theirsTell)
}

// TestElsewhereImported: what init takes in follows the same rule.
func TestElsewhereImported(t *testing.T) {
	ours, theirs := neighbours(t)
	ours.add(sidA, crossing(ours, theirs)...)
	for _, w := range []*world{ours, theirs} {
		w.try(func(c *capture.Capturer) (capture.Outcome, error) { return c.Import(t.Context()) })
	}
	ours.holds("ours: begin", "theirs", oursTells)
	theirs.holds("theirs: more", "ours", theirsTell)
}

// TestElsewhereTiesNothing: what is said in another repository is no reason to capture here.
func TestElsewhereTiesNothing(t *testing.T) {
	ours, theirs := neighbours(t)
	records := crossing(ours, theirs)
	ours.add(sidA, records[:2]...)
	ours.commit(1, "one", "ours.go", "1")
	ours.capture()
	ours.add(sidA, records[2:6]...)
	ours.commit(5, "two", "README", "by hand")
	stored(t, ours.capture(), 0, 0, 0)
	ours.ties("one commit: " + sidA + "; Aours.go")
}

// TestElsewhereBeforeTheCommit: a commit that is older than a session's work here is not its work.
func TestElsewhereBeforeTheCommit(t *testing.T) {
	ours, theirs := neighbours(t)
	theirs.commit(1, "by hand", "x", "1")
	ours.add(sidA, crossing(ours, theirs)[:3]...)
	theirs.via = session.ViaManual
	theirs.capture()
	theirs.ties("by hand manual: " + sidA + "; ")
}

// TestElsewhereSubagents: a subagent is where it works, whoever sent it.
func TestElsewhereSubagents(t *testing.T) {
	ours, theirs := neighbours(t)
	ours.add(sidA, crossing(ours, theirs)...)
	ours.add(sidA+"/subagents/agent-a1", in(ours.repo(), byAgent("a1", ask(sidA, 1, "ours: look"))))
	ours.add(sidA+"/subagents/agent-b1", in(theirs.repo(), byAgent("b1", ask(sidA, 3, "theirs: look"))))
	for w, want := range map[*world]string{ours: "a1", theirs: "b1"} {
		w.capture()
		held := w.held().sessions
		if s := held[want]; len(held) != 2 || s.Parent != held[sidA].ID || len(s.Turns) != 1 {
			t.Errorf("%s: %+v", want, held)
		}
	}
}

// TestElsewhereForked: a fork's copied history is told, also the parts that are left out.
func TestElsewhereForked(t *testing.T) {
	ours, theirs := neighbours(t)
	records := crossing(ours, theirs)
	ours.add(sidA, records...)
	for _, r := range records {
		ours.add(sidB, strings.ReplaceAll(r, sidA, sidB))
	}
	ours.add(sidB, in(ours.repo(), say(sidB, 20, "ours: the fork")))
	ours.capture()
	ours.tells(sidB, "6 assistant: ours: the fork")
	harness.Equal(t, "forked from", ours.held().sessions[sidA].ID, ours.held().sessions[sidB].ForkedFrom)
}

// TestElsewhereGone: what was said in a repository that is gone meanwhile is not taken for ours.
func TestElsewhereGone(t *testing.T) {
	ours, theirs := neighbours(t)
	records := crossing(ours, theirs)
	ours.add(sidA, records[:11]...)
	ours.capture()
	if err := os.RemoveAll(theirs.repo()); err != nil {
		t.Fatal(err)
	}
	ours.add(sidA, records[11])
	ours.capture()
	ours.holds("ours: begin", "theirs", oursTells)
}
