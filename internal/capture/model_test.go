package capture_test

import (
	"os"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/tests/harness"
)

// TestModelChanges: a session that changes its model has the one that spoke last. A change that nothing follows stores
// nothing.
func TestModelChanges(t *testing.T) {
	w := newWorld(t)
	s := codexScribe{"019ed836-b1da-78f1-8a0c-e598363d10f4"}
	model := func() string { return w.held().sessions[s.id].Model }
	s.begin(w, 0)
	s.ask(w, 1, "why?")
	w.at(2)
	stored(t, w.capture(), 1, 1, 0)
	harness.Equal(t, "before the answer", "gpt-5.4", model())

	s.put(w, 3, "turn_context", map[string]any{"cwd": w.repo(), "model": "gpt-5.5"})
	w.at(4)
	stored(t, w.capture(), 0, 0, 0)
	harness.Equal(t, "before the next turn", "gpt-5.4", model())

	s.ask(w, 5, "and now?")
	w.at(6)
	stored(t, w.capture(), 1, 1, 0)
	harness.Equal(t, "behind it", "gpt-5.5", model())

	s.say(w, 7, "Because.")
	w.at(8)
	stored(t, w.capture(), 1, 1, 0)
	harness.Equal(t, "where the read says none", "gpt-5.5", model())
}

// TestModelKnownLater: a session that was stored without a model stays as it is while nothing is said, and has one from
// then on. It is a text like any other.
func TestModelKnownLater(t *testing.T) {
	w := newWorld(t)
	named := func(record, model string) string {
		return strings.Replace(record, `"role":"assistant"`, `"model":"`+model+`","role":"assistant"`, 1)
	}
	w.add(sidA, ask(sidA, 0, "why?"), say(sidA, 1, "Because."))
	stored(t, w.capture(), 1, 2, 0)
	if err := os.Remove(w.transcript(sidA)); err != nil {
		t.Fatal(err)
	}
	w.add(sidA, ask(sidA, 0, "why?"), named(say(sidA, 1, "Because."), "claude-opus-4-6"))
	stored(t, w.capture(), 0, 0, 0)
	harness.Equal(t, "nothing said", "", w.held().sessions[sidA].Model)

	w.add(sidA, named(say(sidA, 2, "Still."), "claude-opus-4-6"))
	stored(t, w.capture(), 1, 1, 0)
	harness.Equal(t, "said", "claude-opus-4-6", w.held().sessions[sidA].Model)

	w.add(sidA, named(say(sidA, 3, "So."), `\u001b[31mmine\n AKIAQ3EGRZ7N5WIXK4PL `+strings.Repeat("x", 1<<10)))
	stored(t, w.capture(), 1, 1, 0)
	if got := w.held().sessions[sidA].Model; strings.ContainsAny(got, "\x1b\n") || strings.Contains(got, "AKIA") ||
		len(got) > 300 || got == "claude-opus-4-6" {
		t.Errorf("the model is %q", got)
	}
}
