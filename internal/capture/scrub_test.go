package capture_test

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

const leak = "tuesdays-are-blue"

// leaked is a world whose ledger held a session with a leak in its turns, calls and titles, all of
// which was scrubbed.
func leaked(t *testing.T, target func(session.Session) ledger.Target) *world {
	t.Helper()
	w := newWorld(t)
	w.add(sidA, history(sidA)...)
	stored(t, w.capture(), 1, 3, 1)
	repo := w.open()
	defer repo.Close()
	id := w.held().sessions[sidA]
	out, err := w.own(repo).Scrub(t.Context(), ledger.Scrub{
		Targets:  []ledger.Target{target(id)},
		Redactor: harness.Redactor(),
	})
	if err != nil || out.Tip == out.Old {
		t.Fatalf("%+v, %v", out, err)
	}
	return w
}

func history(sid string) []string {
	return []string{
		ask(sid, 0, "use "+leak+" on tuesday"),
		use(sid, 1, "Edit", leak+".txt"),
		say(sid, 2, "I used "+leak),
		retitle("how to use " + leak),
		ask(sid, 3, "fine"),
	}
}

// clean fails when the leak stands in what the ledger's branch holds now.
func (w *world) clean() {
	w.T.Helper()
	if out := w.git("log", "-p", "-1", "--format=", "rekal/"+email); strings.Contains(out, leak) {
		w.T.Errorf("the leak is back:\n%s", out)
	}
	for _, path := range strings.Fields(w.git("ls-tree", "-r", "--name-only", "rekal/"+email)) {
		if strings.Contains(w.git("show", "rekal/"+email+":"+path), leak) {
			w.T.Errorf("the leak is in %s", path)
		}
	}
}

// The transcript still holds what was scrubbed. However it is read again, nothing of it is stored.
func TestScrubbedStaysOut(t *testing.T) {
	for _, tt := range []struct {
		name  string
		do    func(w *world)
		turns int // that are new
		want  []string
	}{
		{"nothing new", func(*world) {}, 0, nil},
		{"the cache is lost", func(w *world) { w.forget() }, 0, nil},
		{"it goes on", func(w *world) { w.add(sidA, ask(sidA, 9, "more")) }, 1, nil},
		{"it goes on, without the cache", func(w *world) { w.forget(); w.add(sidA, ask(sidA, 9, "more")) }, 1, nil},
		{"the title comes again", func(w *world) { w.add(sidA, retitle("how to use "+leak), ask(sidA, 9, "more")) }, 1, nil},
		{"it is written anew", func(w *world) {
			text, err := os.ReadFile(w.transcript(sidA))
			if err == nil {
				err = os.WriteFile(w.transcript(sidA), append([]byte("{}\n"), text...), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}, 0, nil},
		{"a fork copies it", func(w *world) { w.add(sidB, append(history(sidB), ask(sidB, 9, "another way"))...) }, 1, nil},
		{
			"its rows lie in another's file", func(w *world) { w.add(sidB, append(history(sidA), ask(sidB, 9, "mine"))...) }, 1,
			nil,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := leaked(t, func(s session.Session) ledger.Target { return ledger.Target{Session: s.ID} })
			tt.do(w)
			out := w.capture()
			if out.Turns != tt.turns {
				t.Errorf("%d turns are new, want %d", out.Turns, tt.turns)
			}
			w.clean()
			stored(t, w.capture(), 0, 0, 0)
			cache, err := os.ReadFile(w.cache() + "/state.db")
			if err != nil || bytes.Contains(cache, []byte(leak)) {
				t.Errorf("the cache holds it, or %v", err)
			}
		})
	}
}

// One turn of it is enough: the others stay what they are, also when the file is read again.
func TestScrubbedTurnStaysOut(t *testing.T) {
	one := 1
	w := leaked(t, func(s session.Session) ledger.Target { return ledger.Target{Session: s.ID, Turn: &one} })
	w.forget()
	w.add(sidA, ask(sidA, 9, "more"))
	stored(t, w.capture(), 1, 1, 0)
	whole := w.held().sessions[sidA]
	harness.Equal(t, "turns", []string{"use " + leak + " on tuesday", session.Scrubbed, "fine", "more"},
		[]string{whole.Turns[0].Content, whole.Turns[1].Content, whole.Turns[2].Content, whole.Turns[3].Content})
}

// Which lines it wrote, and where, is told of nothing that was scrubbed: not when a cache is made anew, nor by a later
// commit, nor of a fork.
func TestScrubbedPathStaysOut(t *testing.T) {
	story := slices.Concat([]string{ask(sidA, 0, "plan it")}, edit(sidA, 1, leak+".go", added(first)...),
		[]string{ask(sidA, 5, "and")}, edit(sidA, 6, "b.go", added(secondly)...))
	zero := 0
	for _, tt := range []struct {
		name string
		turn *int
		more func(w *world)
		want []string
	}{
		{name: "all of it"},
		{name: "its cache is lost", more: func(w *world) { w.forget() }},
		{name: "a fork copies it, and it is gone", more: func(w *world) {
			w.add(sidB, append(slices.Clone(story), ask(sidB, 9, "another way"))...)
			w.capture()
			w.forget()
			if err := os.Remove(w.transcript(sidA)); err != nil {
				t.Fatal(err)
			}
		}},
		{name: "one turn", turn: &zero, want: []string{"two b.go 1-3 " + sidA}},
		{name: "it goes on", more: func(w *world) {
			w.add(sidA, append([]string{ask(sidA, 12, "more")}, edit(sidA, 13, "c.go", added(first)...)...)...)
			w.commit(15, "more", "c.go", first)
		}, want: []string{"more c.go 1-3 " + sidA}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.add(sidA, story...)
			w.capture()
			repo := w.open()
			defer repo.Close()
			_, err := w.own(repo).Scrub(t.Context(), ledger.Scrub{
				Targets: []ledger.Target{{Session: w.held().sessions[sidA].ID, Turn: tt.turn}}, Redactor: harness.Redactor(),
			})
			if err != nil {
				t.Fatal(err)
			}
			w.commit(10, "one", leak+".go", first)
			w.commit(11, "two", "b.go", secondly)
			if tt.more != nil {
				tt.more(w)
			}
			w.capture()
			w.forget()
			w.capture()
			w.lines(tt.want...)
		})
	}
}

// What is said in the very millisecond of a turn that was scrubbed is not taken for that.
func TestScrubbedAndSaidAtOnce(t *testing.T) {
	two := 2
	for name, lose := range map[string]bool{"with the cache": false, "without it": true} {
		t.Run(name, func(t *testing.T) {
			w := leaked(t, func(s session.Session) ledger.Target { return ledger.Target{Session: s.ID, Turn: &two} })
			if lose {
				w.forget()
			}
			w.add(sidA, ask(sidA, 3, "more"), say(sidA, 3, "sure"))
			stored(t, w.capture(), 1, 2, 0)
			w.add(sidA, ask(sidA, 3, "and more"))
			stored(t, w.capture(), 1, 1, 0)
			stored(t, w.capture(), 0, 0, 0)
		})
	}
}

// A preview says what a capture then stores, and leaves no trace.
func TestPreview(t *testing.T) {
	w := newWorld(t)
	w.add(sidA, ask(sidA, 0, "use "+secret+" please"), use(sidA, 1, "Edit", "a.go"), say(sidA, 2, "done"))
	before := w.git("for-each-ref") + w.git("count-objects")
	c, done, err := w.capturer()
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.Preview(t.Context(), session.ViaManual)
	done()
	if err != nil {
		t.Fatal(err)
	}
	harness.Equal(t, "refs and objects", before, w.git("for-each-ref")+w.git("count-objects"))
	if files, err := os.ReadDir(w.cache()); err != nil || len(files) > 0 {
		t.Errorf("the cache: %v, %v", files, err)
	}
	harness.Equal(t, "sessions, turns, calls", [3]int{1, 2, 1}, [3]int{p.Sessions, p.Turns, p.ToolCalls})
	if len(p.Parts) != 1 || p.Parts[0].Continues || len(p.Findings) == 0 || p.Bytes == 0 {
		t.Errorf("got %+v", p)
	}
	for _, f := range p.Findings {
		if strings.Contains(f.Around(), secret) || !strings.Contains(f.Around(), "[REDACTED:github-pat]") {
			t.Errorf("around: %q", f.Around())
		}
	}
	out := w.capture()
	harness.Equal(t, "then", [3]int{out.Sessions, out.Turns, out.ToolCalls}, [3]int{p.Sessions, p.Turns, p.ToolCalls})
}
