package capture_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/redact"
)

// What is stored stays as it is when rules, known values, exclusions or the home folder change:
// a transcript that is read again, copied or forked adds nothing but what is new.
func TestOtherRulesStoreNothingAgain(t *testing.T) {
	bash := func(sid string, sec int, cmd string) string {
		return rec(sid, "assistant", sec,
			`"message":{"role":"assistant","content":[{"type":"tool_use","id":"b`+cmd[:4]+`","name":"Bash","input":{"command":"`+cmd+`"}}]}`)
	}
	history := func(sid string) []string {
		return []string{
			ask(sid, 0, "the door code is zebra-quartz-77, use "+secret),
			say(sid, 0, "I look into /home/bob/notes"),
			bash(sid, 0, "open the door with zebra-quartz-77 "+strings.Repeat("and again ", 12)),
			use(sid, 0, "Read", "private/plan.md"),
			use(sid, 0, "Edit", "a.go"),
			say(sid, 1, "private/plan.md says zebra-quartz-77"),
			ask(sid, 1, "thanks"),
		}
	}
	plain := redact.Settings{}
	others := map[string]redact.Settings{
		"a value became known": {Known: func() []string { return []string{"zebra-quartz-77"} }},
		"a path is excluded":   {Exclude: []string{"private/**"}},
		"a finding is allowed": {Allow: []*regexp.Regexp{regexp.MustCompile("^ghp_")}},
		"another home":         {Homes: []string{"/srv/zebra"}},
	}
	for name, other := range others {
		for _, order := range []struct {
			name          string
			before, after redact.Settings
		}{{"", plain, other}, {", and no more", other, plain}} {
			t.Run(name+order.name, func(t *testing.T) {
				w := newWorld(t)
				w.red = order.before
				w.add(sidA, history(sidA)...)
				w.capture()
				first := w.held().sessions[sidA]
				if len(first.Turns) != 4 || len(first.ToolCalls) != 3 {
					t.Fatalf("%d turns, %d calls", len(first.Turns), len(first.ToolCalls))
				}
				w.red = order.after
				w.rewritten(sidA) // it is read again from the start
				w.add(sidB, append(history(sidB), ask(sidB, 9, "and now?"))...)
				w.capture()
				again := w.held().sessions[sidA]
				if len(again.Turns) != 4 {
					t.Errorf("%d turns after the change: %+v", len(again.Turns), again.Turns)
				}
				if fork := w.held().sessions[sidB]; len(fork.Turns) != 1 || fork.ForkedFrom != first.ID {
					t.Errorf("the fork holds %d turns, from %q", len(fork.Turns), fork.ForkedFrom)
				}
				if name != "a path is excluded" && len(again.ToolCalls) != 3 {
					t.Errorf("%d calls after the change: %+v", len(again.ToolCalls), again.ToolCalls)
				}
			})
		}
	}
}

// rewritten changes a byte at the beginning that says nothing, so that the prefix is not the
// one that was read.
func (w *world) rewritten(name string) {
	w.T.Helper()
	b, err := os.ReadFile(w.transcript(name))
	if err != nil {
		w.T.Fatal(err)
	}
	w.Write(w.transcript(name), strings.Replace(string(b), `"version":"2.1.39"`, `"version":"2.1.38"`, 1))
}

// The cache remembers how far a transcript was hashed, and nothing of what was said there.
func TestLongCacheHoldsNothingThatWasSaid(t *testing.T) {
	for pad := 0; pad < 64; pad += 7 {
		w := newWorld(t)
		w.add(sidA, ask(sidA, 0, "a question"), strings.Repeat(" ", pad)+"{broken zebra-quartz")
		stored(t, w.capture(), 1, 1, 0)
		b, err := os.ReadFile(filepath.Join(w.cache(), "state.db"))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(b), "zebra") {
			t.Fatalf("%d: the cache holds the end of the transcript", pad)
		}
		w.add(sidA, say(sidA, 1, "an answer"))
		stored(t, w.capture(), 1, 1, 0)
		if pad%3 == 0 {
			w.forget()
			w.add(sidA, ask(sidA, 2, "thanks"))
			stored(t, w.capture(), 1, 1, 0)
		}
	}
}
