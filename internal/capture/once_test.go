package capture_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/capture"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// secret is what redaction takes out; it is put together so that no scanner takes this file
// for a leak.
var secret = "ghp_" + "0123456789abcdefABCDEF0123456789abcd"

// What redaction changes or cuts is compared as it is stored: a copy in the same capture is
// known.
func TestCopiesOfWhatRedactionChanges(t *testing.T) {
	long := strings.Repeat("echo word && ", 20)
	history := func(sid string) []string {
		return []string{
			ask(sid, 0, "use "+secret+" please"),
			rec(sid, "assistant", 1, `"message":{"role":"assistant","content":[{"type":"tool_use","id":"u1","name":"Bash","input":{"command":"`+long+`"}}]}`),
			say(sid, 2, "<private>x</private> done"),
		}
	}
	t.Run("a fork", func(t *testing.T) {
		w := newWorld(t)
		w.add(sidA, history(sidA)...)
		w.add(sidB, append(history(sidB), ask(sidB, 9, "and now?"))...)
		w.capture()
		fork := w.held().sessions[sidB]
		harness.Equal(t, "first turn, turns, calls", [3]int{2, 1, 0},
			[3]int{fork.FirstTurn, len(fork.Turns), len(fork.ToolCalls)})
		harness.Equal(t, "forked from", w.held().sessions[sidA].ID, fork.ForkedFrom)
	})
	t.Run("rows in another's file", func(t *testing.T) {
		w := newWorld(t)
		w.add(sidA, history(sidA)...)
		w.add(sidB, append(history(sidA), ask(sidB, 9, "mine"))...)
		w.capture()
		own := w.held().sessions[sidA]
		harness.Equal(t, "turns, calls", [2]int{2, 1}, [2]int{len(own.Turns), len(own.ToolCalls)})
	})
}

// A fork is one also where its file comes first; so is a side question, which begins with a copy of its session.
func TestCopiesThatComeFirst(t *testing.T) {
	const first, later = "11111111-0000-4000-8000-000000000001", "99999999-0000-4000-8000-000000000009"
	history := func(sid, extra string) []string {
		return []string{
			rec(sid, "user", 0, `"message":{"role":"user","content":"round the total"}`+extra),
			rec(sid, "assistant", 1, `"message":{"id":"m1","role":"assistant","model":"m","content":[{"type":"text","text":"Rounded."}],"usage":{"input_tokens":10,"output_tokens":5}}`+extra),
		}
	}
	t.Run("a fork that names its origin", func(t *testing.T) {
		w := newWorld(t)
		w.add(first, append(history(first, `,"forkedFrom":{"sessionId":"`+later+`"}`), ask(first, 5, "now with floats"))...)
		w.add(later, append(history(later, ""), ask(later, 9, "and ship it"))...)
		w.capture()
		fork, origin := w.held().sessions[first], w.held().sessions[later]
		harness.Equal(t, "turns of the origin, and of the fork", [2]int{3, 1}, [2]int{len(origin.Turns), len(fork.Turns)})
		harness.Equal(t, "forked from", origin.ID, fork.ForkedFrom)
	})
	t.Run("one that names none", func(t *testing.T) {
		w := newWorld(t)
		w.add(first, append(history(first, ""), ask(first, 5, "now with floats"))...)
		w.add(later, history(later, "")...)
		if err := os.Chtimes(w.transcript(later), second(2), second(2)); err != nil {
			t.Fatal(err)
		}
		w.capture()
		harness.Equal(t, "forked from", w.held().sessions[later].ID, w.held().sessions[first].ForkedFrom)
	})
	t.Run("a side question", func(t *testing.T) {
		w := newWorld(t)
		const aside = "aside_question-94d2"
		w.add(later, history(later, "")...)
		var copied []string
		for _, r := range append(history(later, ""), ask(later, 5, "how large is the cache?")) {
			copied = append(copied, byAgent(aside, r))
		}
		w.add(later+"/subagents/agent-"+aside, copied...)
		w.capture()
		asked := w.held().sessions[aside]
		harness.Equal(t, "turns", 1, len(asked.Turns))
		harness.Equal(t, "requests", 0, len(asked.Usage))
		harness.Equal(t, "parent", w.held().sessions[later].ID, asked.Parent)
	})
}

// A session in which nobody asked anything in words is called by the first commit behind which it stands, at that
// commit and at an import.
func TestTitleByCommit(t *testing.T) {
	for name, take := range map[string]func(*world){
		"at the commit": func(w *world) { w.capture() },
		"at an import": func(w *world) {
			w.try(func(c *capture.Capturer) (capture.Outcome, error) { return c.Import(t.Context()) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.add(sidA, ask(sidA, 0, "hi"), say(sidA, 1, "Hello, how can I help?"))
			w.add(sidA, rec(sidA, "assistant", 2,
				`"message":{"role":"assistant","content":[{"type":"tool_use","id":"u1","name":"Write","input":{"file_path":"`+
					w.repo()+`/a.go","content":`+quoted(first)+`}}]}`),
				rec(sidA, "user", 3, `"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"u1","content":"ok"}]}`))
			w.add(sidB, ask(sidB, 0, "fix the cart"))
			w.commit(5, "Round the total", "a.go", first)
			w.at(5)
			take(w)
			harness.Equal(t, "titles", [2]string{"Round the total", "fix the cart"},
				[2]string{w.held().sessions[sidA].Title, w.held().sessions[sidB].Title})
			for i, c := range []struct{ said, title string }{
				{"ok", "Round the total"},
				{"round the tax, too", "round the tax, too"},
				{"and the fee", "round the tax, too"},
			} {
				w.add(sidA, ask(sidA, 10*i+7, c.said))
				w.commit(10*i+8, "Another", "a.go", c.said)
				w.at(10*i + 9)
				w.capture()
				harness.Equal(t, "title", c.title, w.held().sessions[sidA].Title)
			}
		})
	}
}

// A subject of a code commit goes into the ledger's, so it is redacted, too.
func TestSubjectIsRedacted(t *testing.T) {
	w := newWorld(t)
	w.add(sidA, ask(sidA, 0, "why"))
	w.commit(10, "deploy with "+secret, "a.go", "1")
	w.capture()
	if log := w.git("log", "--format=%B", "rekal/"+email); strings.Contains(log, secret) ||
		!strings.Contains(log, "deploy with") {
		t.Errorf("the ledger's log: %s", log)
	}
}

// An edit is tied to no commit that was there before it, or that somebody else made.
func TestEditsWaitForTheirCommit(t *testing.T) {
	t.Run("an older commit of the file", func(t *testing.T) {
		w := newWorld(t)
		w.commit(-3600, "yesterday", "a.go", "1")
		w.add(sidA, ask(sidA, 0, "why"), use(sidA, 1, "Edit", "a.go"))
		w.via = session.ViaManual
		w.capture()
		w.capture()
		w.via = session.ViaCommit
		w.commit(10, "fix", "a.go", "2")
		w.capture()
		w.ties("yesterday manual: "+sidA+"; ", "fix commit: ("+sidA+"); Ma.go")
	})
	t.Run("somebody else's commit", func(t *testing.T) {
		w := newWorld(t)
		w.add(sidA, ask(sidA, 0, "why"), use(sidA, 1, "Edit", "a.go"))
		w.Env = append(slices.Clone(someone), "GIT_AUTHOR_EMAIL=bob@example.com", "GIT_COMMITTER_EMAIL=bob@example.com")
		w.commit(10, "bob's", "a.go", "1")
		w.Env = someone
		w.via = session.ViaPush
		w.capture()
		w.capture()
		w.via = session.ViaCommit
		w.commit(20, "mine", "a.go", "2")
		w.capture()
		w.ties("bob's push: "+sidA+"; ", "mine commit: ("+sidA+"); Ma.go")
	})
}

// An amend whose new commit captures something is recorded as a rewrite all the same.
func TestAmendWithATail(t *testing.T) {
	w := newWorld(t)
	w.add(sidA, ask(sidA, 0, "why"), use(sidA, 1, "Edit", "a.go"))
	old := w.commit(10, "fix", "a.go", "1")
	w.capture()
	w.add(sidA, say(sidA, 12, "one more thing"))
	w.dated(20).Git("repo", "commit", "-q", "--amend", "-m", "fix it")
	w.capture()
	w.via, w.redo = session.ViaRewrite, []session.Rewrite{{Old: old, New: w.git("rev-parse", "HEAD")}}
	w.capture()
	harness.Equal(t, "rewrites", 1, len(w.held().rewrites))
}

// A clock that goes back does not put later turns before earlier ones.
func TestClockGoesBack(t *testing.T) {
	w := newWorld(t)
	w.add(sidA, ask(sidA, 0, "one"), say(sidA, 1, "two"))
	w.at(7200)
	w.capture()
	w.add(sidA, ask(sidA, 60, "three"))
	w.at(3600)
	w.capture()
	w.forget()
	w.add(sidA, say(sidA, 61, "four"))
	w.capture()
	var texts []string
	for _, turn := range w.held().sessions[sidA].Turns {
		texts = append(texts, turn.Content)
	}
	harness.Equal(t, "turns", []string{"one", "two", "three", "four"}, texts)
}

// A fixup makes one commit of several; a hook that is called twice records each once.
func TestSquashIsRecordedOnce(t *testing.T) {
	w := newWorld(t)
	w.add(sidA, ask(sidA, 0, "why"), use(sidA, 1, "Edit", "a.go"))
	one := w.commit(10, "fix", "a.go", "1")
	w.capture()
	w.add(sidA, say(sidA, 12, "more"), use(sidA, 13, "Edit", "a.go"))
	two := w.commit(20, "fixup! fix", "a.go", "2")
	w.capture()
	squashed := strings.Repeat("4", 40)
	w.via, w.redo = session.ViaRewrite, []session.Rewrite{{Old: one, New: squashed}, {Old: two, New: squashed}}
	w.capture()
	w.capture()
	harness.Equal(t, "rewrites", 2, len(w.held().rewrites))
}
