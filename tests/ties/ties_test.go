// Package ties judges whether git-rekal names the session that wrote a line. Histories are drawn at random, and lived
// with real git, the real hooks, the real binary, and transcripts as agents write them: two authors with a clone
// each and a server between them, several sessions at once. A model follows every line from the hand that wrote it
// through all that happens to it, so what is right is known and not guessed. Then `git rekal why` is asked for all
// lines in both clones.
//
// text_test.go and tree_test.go have the model, code_test.go the lines that are written, claude_test.go the transcripts
// of Claude Code, dialects_test.go those of Codex, Copilot CLI and Gemini CLI, which write every other session,
// edits_test.go and hands_test.go what changes files, commits_test.go, server_test.go and life_test.go what brings them
// to the server, judge_test.go the questions. cases_test.go has single cases, each with its plain story.
//
// SEED=N draws other histories, TIES=N as many of each kind, TIES_SHOW=1 with -v tells what was answered
// wrongly, and what had happened there.
package ties

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestMain lets histories of which each mostly sleeps run side by side.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// TestLongTies draws a history of some kinds, TestNightTies of all kinds as many as there is time for.
func TestLongTies(t *testing.T) {
	judges(t, 1, 1, "plain", "rebase", "rebase-merge", "squash-merge", "cherry-pick", "talk", "closing words", "seen late",
		"at once", "edit stop", "all")
}
func TestNightTies(t *testing.T) { judges(t, 3, 20, kinds...) }

// judges lives histories of some kinds, and holds what `why` says against what is true.
func judges(t *testing.T, first, each uint64, kinds ...string) {
	t.Helper()
	all := tables{by: map[string]*figures{}}
	first, each = number(t, "SEED", first), number(t, "TIES", each)
	t.Run("histories", func(t *testing.T) {
		for seed := first; seed < first+each; seed++ {
			for _, kind := range kinds {
				t.Run(fmt.Sprintf("%s-%d", strings.ReplaceAll(kind, " ", "-"), seed), func(t *testing.T) {
					t.Parallel()
					if end, ok := t.Deadline(); ok && time.Until(end) < 2*time.Minute {
						t.Skip("no time is left")
					}
					all.judges(newHistory(t, seed, kind))
				})
			}
		}
	})
	t.Logf("SEED=%d\n%v", first, &all)
	total := all.by["total"]
	if total == nil || t.Failed() {
		return
	}
	t.Logf("of %d commits that are one session's or a person's, %d have others behind them", all.commits, len(all.wrong))
	all.helped.hold(t)
	all.living.hold(t)
	for _, m := range all.wrong {
		t.Error(m)
	}
	if all.commits < 20 {
		t.Errorf("only %d such commits", all.commits)
	}
	if total.right() < 98 {
		t.Errorf("%.2f %% of the lines that a session wrote name it first, want 98 %%", total.right())
	}
	most := 0.2
	if total.exact < 5000 { // so few lines can't tell 0.2 % from 0.3
		most = 1
	}
	if total.fooled() > most {
		t.Errorf("%.2f %% of the exact lines are wrong, want %.1f %% at most", total.fooled(), most)
	}
}

// judges lives one history, and counts.
func (t *tables) judges(h *history) {
	h.t.Helper()
	h.live(5)
	setup := "hooks from the start"
	if h.late {
		setup = "init at the end"
	}
	for _, a := range h.authors {
		if !lies(a.dir, a.head.tree) {
			h.t.Fatalf("%s's clone is not as the model says", a.name)
		}
		asked, wrong := a.judgeBehind()
		t.addCommits(asked, wrong)
		t.addHelped(a.judgeTrailers())
		t.addLiving(a.judgeSurvival())
		v := a.judge()
		for _, label := range []string{h.kind, setup, "total"} {
			t.add(label, v.all)
		}
		t.add("lines of one hand", v.alone)
		t.add("lines of several hands", v.repeated)
		if os.Getenv("TIES_SHOW") != "" {
			h.shows(v.mistakes)
		}
	}
}

// shows tells mistakes, and what happened to the files in which they are.
func (h *history) shows(mistakes []mistake) {
	files := map[int]bool{0: true}
	var b strings.Builder
	for _, m := range mistakes {
		files[m.file] = true
		fmt.Fprintln(&b, m)
	}
	for _, n := range h.log {
		if files[n.file] && len(mistakes) > 0 {
			fmt.Fprintln(&b, "   ", n.what)
		}
	}
	h.t.Log(b.String())
}

func number(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}
