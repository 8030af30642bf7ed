package capture_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/git-rekal/git-rekal/internal/capture"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

const (
	sidA = "aaaaaaaa-0000-4000-8000-000000000001"
	sidB = "bbbbbbbb-0000-4000-8000-000000000002"
	sidC = "cccccccc-0000-4000-8000-000000000003"
)

// TestGrowth: a session that grows is stored once, each capture adding its new end, whatever
// becomes of the cache in between.
func TestGrowth(t *testing.T) {
	for _, tt := range []struct {
		name    string
		between func(w *world)
	}{
		{"the cache stays", func(*world) {}},
		{"the cache is deleted", func(w *world) { _ = os.RemoveAll(w.cache()); _ = os.Mkdir(w.cache(), 0o777) }},
		{"the cache is garbage", func(w *world) { w.Write(filepath.Join(w.cache(), "state.db"), "garbage") }},
		{"the cache is cut", func(w *world) {
			path := filepath.Join(w.cache(), "state.db")
			if info, err := os.Stat(path); err == nil {
				_ = os.Truncate(path, info.Size()/2)
			}
		}},
		{"the cache can't be written", func(w *world) { _ = os.RemoveAll(w.cache()); w.Write(w.cache(), "") }},
		{"nothing new is captured in between", func(w *world) {
			stored(w.T, w.try(func(c *capture.Capturer) (capture.Outcome, error) { return c.Run(w.T.Context(), "manual", nil) }),
				0, 0, 0)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			run := func() capture.Outcome {
				return w.try(func(c *capture.Capturer) (capture.Outcome, error) { return c.Run(t.Context(), "manual", nil) })
			}
			w.add(sidA, ask(sidA, 0, "why"), use(sidA, 1, "Read", "a.go"))
			stored(t, run(), 1, 1, 1)
			tt.between(w)
			w.add(sidA, use(sidA, 2, "Edit", "a.go"), say(sidA, 3, "so"))
			stored(t, run(), 1, 1, 1)
			tt.between(w)
			w.add(sidA, say(sidA, 4, "and"), ask(sidA, 5, "thanks"), use(sidA, 6, "Edit", "a.go"))
			stored(t, run(), 1, 2, 1)
			tt.between(w)
			w.tells(sidA, "0 human: why", "Read a.go", "Edit a.go", "1 assistant: so", "2 assistant: and", "3 human: thanks",
				"Edit a.go")
		})
	}
}

func TestNothingToCapture(t *testing.T) {
	w := newWorld(t)
	before := w.git("for-each-ref")
	if out := w.capture(); out.Tip != "" || out.Checkpoints != 0 {
		t.Errorf("%+v", out)
	}
	harness.Equal(t, "refs", before, w.git("for-each-ref"))
}

func TestNoLedger(t *testing.T) {
	w := newWorld(t)
	w.git("branch", "-D", "rekal/"+email)
	c, done, err := w.capturer()
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	if _, err := c.Run(t.Context(), "manual", nil); !errors.Is(err, capture.ErrNoLedger) {
		t.Errorf("error %v, want ErrNoLedger", err)
	}
}

func TestUnreadableTranscript(t *testing.T) {
	w := newWorld(t)
	w.add(sidB, ask(sidB, 1, "still here"))
	w.Write(w.transcript(sidA), "")
	if err := errors.Join(os.Remove(w.transcript(sidA)), os.Symlink("/proc/self/mem", w.transcript(sidA))); err != nil {
		t.Fatal(err)
	}
	_ = w.try(func(c *capture.Capturer) (capture.Outcome, error) { return c.Run(t.Context(), "manual", nil) })
	w.tells(sidB, "0 human: still here")
}

// TestLongTranscripts: what happens to the files of sessions, step by step.
func TestLongTranscripts(t *testing.T) {
	type step func(w *world)
	run := func(sessions, turns, calls int) step {
		return func(w *world) { w.T.Helper(); stored(w.T, w.capture(), sessions, turns, calls) }
	}
	add := func(name string, records ...string) step { return func(w *world) { w.add(name, records...) } }
	replace := func(name string, records ...string) step {
		return func(w *world) {
			if err := os.Remove(w.transcript(name)); err != nil {
				w.T.Fatal(err)
			}
			w.add(name, records...)
		}
	}
	forget := (*world).forget
	for _, tt := range []struct {
		name  string
		steps []step
		want  map[string][]string
	}{
		{
			name: "a file that was cut and grew past its length again",
			steps: []step{
				add(sidA, ask(sidA, 0, "why"), say(sidA, 1, "one"), say(sidA, 2, "two")), run(1, 3, 0),
				replace(sidA, ask(sidA, 0, "why"), say(sidA, 1, "one"), ask(sidA, 5, "no, otherwise"),
					say(sidA, 6, strings.Repeat("as you like ", 100))), run(1, 2, 0),
			},
			want: map[string][]string{sidA: {
				"0 human: why", "1 assistant: one", "2 assistant: two", "3 human: no, otherwise",
				"4 assistant: " + strings.TrimSpace(strings.Repeat("as you like ", 100)),
			}},
		},
		{
			name: "the same, and the cache is gone",
			steps: []step{
				add(sidA, ask(sidA, 0, "why"), say(sidA, 1, "one")), run(1, 2, 0), forget,
				replace(sidA, ask(sidA, 0, "why"), say(sidA, 7, strings.Repeat("x", 500))), run(1, 1, 0), forget, run(0, 0, 0),
			},
			want: map[string][]string{sidA: {"0 human: why", "1 assistant: one", "2 assistant: " + strings.Repeat("x", 500)}},
		},
		{
			name: "a file that only shrank",
			steps: []step{
				add(sidA, ask(sidA, 0, "why"), say(sidA, 1, "one")), run(1, 2, 0),
				replace(sidA, ask(sidA, 0, "why")), run(0, 0, 0),
				add(sidA, say(sidA, 1, "one"), say(sidA, 2, "two")), run(1, 1, 0),
			},
			want: map[string][]string{sidA: {"0 human: why", "1 assistant: one", "2 assistant: two"}},
		},
		{
			name: "a torn last line",
			steps: []step{
				add(sidA, ask(sidA, 0, "why")),
				func(w *world) {
					w.Write(w.transcript(sidA), strings.ReplaceAll(ask(sidA, 0, "why")+"\n"+say(sidA, 1, "one")[:60], "$REPO",
						w.repo()))
				},
				run(1, 1, 0),
				replace(sidA, ask(sidA, 0, "why"), say(sidA, 1, "one"), say(sidA, 2, "two")), run(1, 2, 0),
			},
			want: map[string][]string{sidA: {"0 human: why", "1 assistant: one", "2 assistant: two"}},
		},
		{
			name: "a last line without a newline",
			steps: []step{
				func(w *world) {
					w.Write(w.transcript(sidA), strings.ReplaceAll(ask(sidA, 0, "why"), "$REPO", w.repo()))
				}, run(1, 1, 0),
				replace(sidA, ask(sidA, 0, "why"), say(sidA, 1, "one")), run(1, 1, 0),
			},
			want: map[string][]string{sidA: {"0 human: why", "1 assistant: one"}},
		},
		{
			name: "turns of one millisecond, split between two reads",
			steps: []step{
				add(sidA, ask(sidA, 0, "why"), say(sidA, 1, "one")), run(1, 2, 0),
				add(sidA, say(sidA, 1, "two"), say(sidA, 1, "three")), run(1, 2, 0),
				add(sidA, say(sidA, 1, "four")), run(1, 1, 0), forget, run(0, 0, 0),
			},
			want: map[string][]string{sidA: {
				"0 human: why", "1 assistant: one", "2 assistant: two", "3 assistant: three",
				"4 assistant: four",
			}},
		},
		{
			name: "a call behind the last turn of an earlier read, of one millisecond with the next",
			steps: []step{
				add(sidA, ask(sidA, 0, "why"), say(sidA, 1, "one")), run(1, 2, 0),
				add(sidA, use(sidA, 1, "Edit", "a.go"), say(sidA, 1, "two"), use(sidA, 1, "Edit", "b.go")), run(1, 1, 2),
			},
			want: map[string][]string{sidA: {"0 human: why", "1 assistant: one", "Edit a.go", "2 assistant: two", "Edit b.go"}},
		},
		{
			name: "records that are repeated later in the file",
			steps: []step{
				add(sidA, ask(sidA, 0, "why"), say(sidA, 1, "one")), run(1, 2, 0),
				add(sidA, ask(sidA, 0, "why"), say(sidA, 1, "one"), say(sidA, 2, "two")), run(1, 1, 0),
			},
			want: map[string][]string{sidA: {"0 human: why", "1 assistant: one", "2 assistant: two"}},
		},
		{
			name: "rows in another session's file, later",
			steps: []step{
				add(sidA, ask(sidA, 0, "why")), add(sidB, ask(sidB, 1, "what")), run(2, 2, 0),
				add(sidB, say(sidA, 2, "astray"), use(sidA, 3, "Edit", "a.go"), say(sidB, 4, "that")), run(2, 2, 1),
				add(sidA, say(sidA, 5, "home again")), run(1, 1, 0), forget, run(0, 0, 0),
			},
			want: map[string][]string{
				sidA: {"0 human: why", "1 assistant: astray", "Edit a.go", "2 assistant: home again"},
				sidB: {"0 human: what", "1 assistant: that"},
			},
		},
		{
			name: "rows in another session's file that is read first",
			steps: []step{
				add(sidA, ask(sidA, 1, "what"), say(sidB, 2, "astray"), say(sidA, 3, "that")),
				add(sidB, ask(sidB, 0, "why"), say(sidB, 4, "home again")), run(2, 5, 0),
				forget, run(0, 0, 0),
			},
			want: map[string][]string{
				sidA: {"0 human: what", "1 assistant: that"},
				sidB: {"0 human: why", "1 assistant: home again", "2 assistant: astray"},
			},
		},
		{
			name: "a session that lies only in another's file",
			steps: []step{
				add(sidA, ask(sidA, 0, "what"), ask(sidB, 1, "why"), say(sidB, 2, "so")), run(2, 3, 0),
				add(sidA, say(sidB, 3, "and")), run(1, 1, 0), forget, run(0, 0, 0),
			},
			want: map[string][]string{sidA: {"0 human: what"}, sidB: {"0 human: why", "1 assistant: so", "2 assistant: and"}},
		},
		{
			name: "a fork that copies history",
			steps: []step{
				add(sidA, ask(sidA, 0, "why"), use(sidA, 1, "Edit", "a.go"), say(sidA, 2, "so"), say(sidA, 3, "on A")),
				run(1, 3, 1),
				add(sidB, ask(sidB, 0, "why"), use(sidB, 1, "Edit", "a.go"), say(sidB, 2, "so")), run(0, 0, 0),
				add(sidB, ask(sidB, 9, "on B"), use(sidB, 10, "Edit", "b.go")), run(1, 1, 1),
				add(sidB, say(sidB, 11, "more B")), run(1, 1, 0), forget, run(0, 0, 0),
				add(sidB, say(sidB, 12, "still B")), run(1, 1, 0),
			},
			want: map[string][]string{
				sidA: {"0 human: why", "Edit a.go", "1 assistant: so", "2 assistant: on A"},
				sidB: {"2 human: on B", "Edit b.go", "3 assistant: more B", "4 assistant: still B"},
			},
		},
		{
			name: "a fork and its origin at once, and a fork of the fork",
			steps: []step{
				add(sidA, ask(sidA, 0, "why"), say(sidA, 2, "so")),
				add(sidB, ask(sidB, 0, "why"), say(sidB, 2, "so"), say(sidB, 5, "B")),
				add(sidC, ask(sidC, 0, "why"), say(sidC, 2, "so"), say(sidC, 5, "B"), say(sidC, 7, "C")),
				run(3, 4, 0), forget, run(0, 0, 0),
			},
			want: map[string][]string{
				sidA: {"0 human: why", "1 assistant: so"}, sidB: {"2 assistant: B"}, sidC: {"3 assistant: C"},
			},
		},
		{
			name: "a fork that is read again from its start",
			steps: []step{
				add(sidA, use(sidA, 0, "Read", "z"), ask(sidA, 0, "why"), say(sidA, 2, "so")), run(1, 2, 1),
				add(sidB, use(sidB, 0, "Read", "z"), ask(sidB, 0, "why"), say(sidB, 2, "so"), say(sidB, 5, "B")), run(1, 1, 0),
				replace(sidB, use(sidB, 0, "Read", "z"), ask(sidB, 0, "why"), say(sidB, 2, "so"),
					say(sidB, 6, strings.Repeat("other B ", 99))), run(1, 1, 0),
			},
			want: map[string][]string{
				sidA: {"Read z", "0 human: why", "1 assistant: so"},
				sidB: {"2 assistant: B", "3 assistant: " + strings.TrimSpace(strings.Repeat("other B ", 99))},
			},
		},
		{
			name: "only a title",
			steps: []step{
				add(sidA, ask(sidA, 0, "why")), run(1, 1, 0),
				add(sidA, retitle("Better")), run(1, 0, 0),
				add(sidA, retitle("Better")), run(0, 0, 0),
				add(sidA, say(sidA, 1, "so")), run(1, 1, 0),
			},
			want: map[string][]string{sidA: {"0 human: why", "1 assistant: so"}},
		},
		{
			name: "a title before the first turn",
			steps: []step{
				add(sidA, retitle("Early")), run(0, 0, 0),
				add(sidA, ask(sidA, 0, "why")), run(1, 1, 0),
			},
			want: map[string][]string{sidA: {"0 human: why"}},
		},
		{
			name: "a secret",
			steps: []step{
				add(sidA, ask(sidA, 0, "use AKIAQ3EGRZ7N5WIXK4PL now")), run(1, 1, 0), forget, run(0, 0, 0),
				replace(sidA, ask(sidA, 0, "use AKIAQ3EGRZ7N5WIXK4PL now"), say(sidA, 1, "done")), run(1, 1, 0),
			},
			want: map[string][]string{sidA: {"0 human: use [REDACTED:aws-access-token] now", "1 assistant: done"}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			for _, s := range tt.steps {
				s(w)
			}
			got := map[string][]string{}
			for native, s := range w.held().sessions {
				got[native] = story(s)
			}
			harness.Equal(t, "sessions", tt.want, got)
		})
	}
}

// TestIdentityOfForks: a fork says where it comes from, and both have the IDs that any
// other machine would give them.
func TestIdentityOfForks(t *testing.T) {
	w := newWorld(t)
	w.add(sidA, ask(sidA, 0, "why"))
	w.add(sidB, ask(sidB, 0, "why"), say(sidB, 3, "so"))
	w.capture()
	h := w.held()
	a, b := h.sessions[sidA], h.sessions[sidB]
	harness.Equal(t, "the origin's ID", session.NewID(second(0), "claude-code", sidA), a.ID)
	harness.Equal(t, "the fork's ID", session.NewID(second(0), "claude-code", sidB), b.ID)
	harness.Equal(t, "comes from", a.ID, b.ForkedFrom)
	if a.ForkedFrom != "" || a.Parent != "" || b.Parent != "" {
		t.Errorf("origin %+v, fork %+v", a, b)
	}
}

// TestStrayRowsDoNotNameASession: a session's ID comes of its own first turn, though rows of
// it in another file were read before.
func TestStrayRowsDoNotNameASession(t *testing.T) {
	w := newWorld(t)
	w.add(sidA, ask(sidA, 1, "what"), say(sidB, 2, "astray"))
	w.add(sidB, ask(sidB, 0, "why"))
	w.capture()
	harness.Equal(t, "ID", session.NewID(second(0), "claude-code", sidB), w.held().sessions[sidB].ID)
}

// TestSubagents: two that began in the same millisecond are two, and both know their parent.
func TestSubagents(t *testing.T) {
	w := newWorld(t)
	w.add(sidA, ask(sidA, 0, "why"))
	for _, id := range []string{"a1", "a2"} {
		w.add(sidA+"/subagents/agent-"+id, byAgent(id, ask(sidA, 5, "look")), byAgent(id, say(sidA, 5, "seen by "+id)))
	}
	stored(t, w.capture(), 3, 5, 0)
	w.add(sidA+"/subagents/agent-a2", byAgent("a2", say(sidA, 5, "and more")))
	stored(t, w.capture(), 1, 1, 0)
	h := w.held()
	for id, want := range map[string][]string{
		"a1": {"0 human: look", "1 assistant: seen by a1"},
		"a2": {"0 human: look", "1 assistant: seen by a2", "2 assistant: and more"},
	} {
		s := h.sessions[id]
		harness.Equal(t, id, want, story(s))
		if s.Parent != h.sessions[sidA].ID || s.ActorType != session.ActorAgent || s.AgentID != id || s.ForkedFrom != "" {
			t.Errorf("%s: %+v", id, s)
		}
	}
	if h.sessions["a1"].ID == h.sessions["a2"].ID {
		t.Error("both have one ID")
	}
}

// TestNestedSubagent: who spawned a subagent is found though that one's file did not change.
func TestNestedSubagent(t *testing.T) {
	w := newWorld(t)
	w.add(sidA, ask(sidA, 0, "why"))
	w.add(sidA+"/subagents/agent-a1", byAgent("a1", ask(sidA, 1, "look")), byAgent("a1", use(sidA, 2, "Task", "x")))
	w.capture()
	w.add(sidA+"/subagents/agent-a2", byAgent("a2", ask(sidA, 3, "look deeper")))
	w.Write(filepath.Join(w.store(), sidA, "subagents", "agent-a2.meta.json"),
		`{"agentType":"x","toolUseId":"tx2","spawnDepth":2}`)
	w.capture()
	h := w.held()
	harness.Equal(t, "parent", h.sessions["a1"].ID, h.sessions["a2"].Parent)
}

func TestTitles(t *testing.T) {
	w := newWorld(t)
	at := func(want string) {
		t.Helper()
		w.capture()
		harness.Equal(t, "title", want, w.held().sessions[sidA].Title)
	}
	w.add(sidA, ask(sidA, 0, "first prompt"))
	at("first prompt")
	w.add(sidA, ask(sidA, 1, "second prompt"))
	at("first prompt")
	w.add(sidA, retitle("By hand"))
	at("By hand")
	w.add(sidA, ask(sidA, 2, "third prompt"))
	at("By hand")
}

// TestLedgerMovedBack: the ledger is the truth. What it does not hold any more is captured
// again, whatever the cache remembers.
func TestLedgerMovedBack(t *testing.T) {
	w := newWorld(t)
	w.add(sidA, ask(sidA, 0, "why"))
	w.capture()
	back := w.git("rev-parse", "rekal/"+email)
	w.add(sidA, say(sidA, 1, "so"))
	w.capture()
	w.git("update-ref", "refs/heads/rekal/"+email, back)
	w.tells(sidA, "0 human: why")
	stored(t, w.capture(), 1, 1, 0)
	w.tells(sidA, "0 human: why", "1 assistant: so")
}

// TestProcessesAtOnce: six processes capture the same growing transcripts at once, round by
// round; each turn is stored exactly once.
func TestProcessesAtOnce(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	const rounds, processes = 4, 6
	var want []string
	for round := range rounds {
		for i := range 3 {
			n := round*3 + i
			w.add(sidA, say(sidA, n, fmt.Sprint("turn ", n)), use(sidA, n, "Edit", fmt.Sprint("f", n)))
			want = append(want, fmt.Sprintf("%d assistant: turn %d", n, n), fmt.Sprint("Edit f", n))
		}
		w.add(sidB, ask(sidB, 100+round, fmt.Sprint("prompt ", round)))
		var wg sync.WaitGroup
		for range processes {
			cmd := exec.CommandContext(t.Context(), exe)
			cmd.Dir, cmd.Env = w.repo(), append(w.Environ(), roleVar+"="+w.Root)
			wg.Go(func() {
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("round %d: %v\n%s", round, err, out)
				}
			})
		}
		wg.Wait()
		w.tells(sidA, want...)
		if b := w.held().sessions[sidB]; len(b.Turns) != round+1 {
			t.Errorf("round %d: %q", round, story(b))
		}
	}
	if out := w.git("fsck", "--strict", "--full", "--no-progress", "--no-dangling"); out != "" {
		t.Errorf("git fsck: %s", out)
	}
}
