package capture_test

import (
	"context"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/capture"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// TestTies: which sessions a checkpoint ties to its commit. The clock of a story goes in
// seconds; captures happen at the moment that at sets.
func TestTies(t *testing.T) {
	for _, tt := range []struct {
		name  string
		story func(w *world)
		want  []string
	}{
		{
			name: "a session and its commit",
			story: func(w *world) {
				w.add(sidA, ask(sidA, 0, "why"), use(sidA, 1, "Edit", "a.go"))
				w.commit(10, "fix", "a.go", "1", "b.go", "1")
				w.capture()
			},
			want: []string{"fix commit: " + sidA + "; Aa.go Ab.go"},
		},
		{
			name: "an edit that waits for a later commit, and is tied once",
			story: func(w *world) {
				w.add(sidA, ask(sidA, 0, "why"), use(sidA, 1, "Edit", "a.go"), use(sidA, 2, "Edit", "b.go"))
				w.commit(10, "other", "c.go", "1")
				w.capture()
				w.commit(20, "fix a", "a.go", "1")
				w.capture()
				w.commit(30, "again a", "a.go", "2")
				w.capture()
				w.commit(40, "fix b", "b.go", "1")
				w.capture()
				w.capture()
			},
			want: []string{
				"other commit: " + sidA + "; Ac.go", "fix a commit: (" + sidA + "); Aa.go", "fix b commit: (" + sidA + "); Ab.go",
			},
		},
		{
			name: "the same without a cache",
			story: func(w *world) {
				w.add(sidA, ask(sidA, 0, "why"), use(sidA, 1, "Edit", "a.go"))
				w.commit(10, "other", "c.go", "1")
				w.capture()
				w.forget()
				w.commit(20, "fix a", "a.go", "1")
				w.capture()
				w.forget()
				w.commit(30, "again a", "a.go", "2")
				w.capture()
			},
			want: []string{"other commit: " + sidA + "; Ac.go", "fix a commit: (" + sidA + "); Aa.go"},
		},
		{
			name: "an edit of a file that was then renamed",
			story: func(w *world) {
				text := strings.Repeat("a line of it\n", 30)
				w.commit(-100, "base", "a.go", text)
				w.add(sidA, ask(sidA, 0, "why"), use(sidA, 1, "Edit", "a.go"))
				w.commit(10, "other", "c.go", "1")
				w.capture()
				w.git("mv", "a.go", "z.go")
				w.commit(20, "rename", "z.go", text+"edited\n")
				w.capture()
			},
			want: []string{"other commit: " + sidA + "; Ac.go", "rename commit: (" + sidA + "); Rz.go"},
		},
		{
			name: "an edit that is older than a week",
			story: func(w *world) {
				w.add(sidA, ask(sidA, 0, "why"), use(sidA, 1, "Edit", "a.go"))
				w.capture()
				w.at(8 * 86400)
				w.commit(8*86400-5, "much later", "a.go", "1")
				w.capture()
			},
			want: []string{"before all sessions commit: " + sidA + "; "},
		},
		{
			name: "what was said and stored since the commit before is no work",
			story: func(w *world) {
				w.add(sidA, ask(sidA, 0, "why"), use(sidA, 1, "Read", "a.go"))
				w.via = session.ViaSync
				w.capture()
				w.via = session.ViaCommit
				w.commit(20, "fix", "a.go", "1")
				w.capture()
				w.commit(30, "again", "a.go", "2")
				w.capture()
			},
			want: []string{"before all sessions sync: " + sidA + "; "},
		},
		{
			name: "a session that edited, and only talks about the next commit",
			story: func(w *world) {
				w.add(sidA, ask(sidA, 0, "why"), use(sidA, 1, "Edit", "a.go"))
				w.commit(10, "fix", "a.go", "1")
				w.capture()
				w.add(sidA, ask(sidA, 12, "and now"), say(sidA, 13, "type this"))
				w.commit(20, "by hand", "b.go", "1")
				w.capture()
			},
			want: []string{"fix commit: " + sidA + "; Aa.go", "by hand commit: " + sidA + "; Ab.go"},
		},
		{
			name: "the tail that comes after the commit",
			story: func(w *world) {
				w.add(sidA, ask(sidA, 0, "why"), use(sidA, 1, "Edit", "a.go"))
				w.commit(10, "fix", "a.go", "1")
				w.capture()
				w.add(sidA, say(sidA, 12, "committed"))
				w.via = session.ViaManual
				w.capture()
			},
			want: []string{"fix commit: " + sidA + "; Aa.go", "fix manual: " + sidA + "; "},
		},
		{
			name: "a new session with an old one waiting",
			story: func(w *world) {
				w.add(sidA, ask(sidA, 0, "why"), use(sidA, 1, "Edit", "a.go"))
				w.commit(5, "other", "c.go", "1")
				w.capture()
				w.add(sidB, ask(sidB, 8, "and"), use(sidB, 9, "Edit", "b.go"))
				w.commit(10, "both", "a.go", "1", "b.go", "1")
				w.capture()
			},
			want: []string{"other commit: " + sidA + "; Ac.go", "both commit: (" + sidA + ") " + sidB + "; Aa.go Ab.go"},
		},
		{
			name: "before the first commit",
			story: func(w *world) {
				w.git("checkout", "-q", "--orphan", "empty")
				w.add(sidA, ask(sidA, 0, "why"))
				w.capture()
			},
			want: []string{"- commit: " + sidA + "; "},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			tt.story(w)
			w.ties(tt.want...)
		})
	}
}

// TestLongTiesOfALargeCapture: a session that fills more than one segment has its edits settled
// all the same, though they stand in other segments than the checkpoint.
func TestLongTiesOfALargeCapture(t *testing.T) {
	w := newWorld(t)
	w.add(sidA, ask(sidA, 0, "why"))
	var records []string
	for i := range 150 {
		records = append(records, say(sidA, i, strings.Repeat("some words of an answer ", 2600)))
	}
	w.add(sidA, append(records, use(sidA, 200, "Edit", "a.go"))...)
	w.commit(300, "fix", "a.go", "1")
	w.capture()
	if n := strings.Count(w.git("ls-tree", "-r", "--name-only", "rekal/"+email), ".ndjson"); n < 2 {
		t.Fatalf("%d segments, want several", n)
	}
	w.commit(400, "again", "a.go", "2")
	w.capture()
	if n := len(w.held().sessions[sidA].Turns); n != 151 {
		t.Errorf("%d turns", n)
	}
	harness.Equal(t, "checkpoints", 1, len(w.held().checkpoints))
}

// TestRewrites: that a commit became another is recorded when the ledger knows the old one,
// through chains, and once.
func TestRewrites(t *testing.T) {
	w := newWorld(t)
	w.add(sidA, ask(sidA, 0, "why"), use(sidA, 1, "Edit", "a.go"))
	old := w.commit(10, "fix", "a.go", "1")
	w.capture()
	unknown := w.commit(20, "by hand", "x", "1")
	mid, end, other := strings.Repeat("1", 40), strings.Repeat("2", 40), strings.Repeat("3", 40)
	w.via = session.ViaRewrite
	w.redo = []session.Rewrite{
		{Old: old, New: mid},
		{Old: mid, New: end},
		{Old: unknown, New: other},
		{Old: end, New: end},
	}
	for range 2 {
		w.capture()
		var got [][2]string
		for _, r := range w.held().rewrites {
			got = append(got, [2]string{r.Old, r.New})
		}
		harness.Equal(t, "rewrites", [][2]string{{old, mid}, {mid, end}}, got)
	}
}

// TestImport: who alone was in use when a commit was made is not tied to it by an import.
func TestImport(t *testing.T) {
	w := newWorld(t)
	w.add(sidA, ask(sidA, 0, "why"), use(sidA, 1, "Edit", "a.go"), say(sidA, 60, "done"))
	w.commit(10, "beside A", "x", "1")
	w.commit(20, "its file", "a.go", "2")
	w.at(7200)
	run := func(c *capture.Capturer) (capture.Outcome, error) { return c.Import(t.Context()) }
	stored(t, w.try(run), 1, 2, 1)
	w.ties()
	if again := w.try(run); again.Tip != "" {
		t.Errorf("imported again: %+v", again)
	}
}

// A commit under another address is tied by its lines alone.
func TestImportOfAnAddressWithLines(t *testing.T) {
	w := newWorld(t)
	w.add(sidA, append([]string{ask(sidA, 0, "why")}, edit(sidA, 1, "a.go", added(first)...)...)...)
	older := func(after int) *harness.Place {
		return w.dated(after).With("GIT_AUTHOR_EMAIL=old@work.example", "GIT_COMMITTER_EMAIL=old@work.example")
	}
	older(10).Commit("repo", "the lines", "a.go", first)
	older(20).Commit("repo", "by hand", "a.go", first+"// more, by hand\n")
	w.at(7200)
	w.imports()
	w.ties("the lines import: (" + sidA + "); Aa.go")
}

// TestTwoCommitsAtOnce: when the hook of one commit looks, HEAD is at another session's. Each is tied to the session in
// whose shell it was made.
func TestTwoCommitsAtOnce(t *testing.T) {
	w := newWorld(t)
	w.add(sidA, ask(sidA, 0, "make one"))
	w.add(sidB, ask(sidB, 1, "make two"))
	w.commit(10, "list one", "one", "1")
	w.commit(10, "list one, too", "two", "2")
	w.at(12)
	for _, c := range []struct{ session, command string }{
		{sidB, "git commit -m list one, too two"}, {sidA, "git commit -q -m list one one"},
	} {
		w.env = map[string]string{"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": c.session}
		w.try(func(g *capture.Capturer) (capture.Outcome, error) {
			g.Caller = func(context.Context) string { return c.command }
			return g.Run(t.Context(), session.ViaCommit, nil)
		})
	}
	native, made := map[string]string{}, map[string]string{}
	for id, s := range w.held().sessions {
		native[s.ID] = id
	}
	for _, cp := range w.held().checkpoints {
		for _, l := range cp.Links {
			if l.Tie == session.TieMade {
				made[w.subject(cp.GitSHA)] += native[l.Session]
			}
		}
	}
	harness.Equal(t, "made by", map[string]string{"list one": sidA, "list one, too": sidB}, made)
}

// TestSeenLate: the transcript of a session is seen long after its commits. Its edits wait for nothing, so a person's
// commit of another line is not its.
func TestSeenLate(t *testing.T) {
	for _, via := range []string{session.ViaCommit, session.ViaPush} {
		t.Run("first seen at a "+via, func(t *testing.T) {
			w := newWorld(t)
			w.commit(10, "of A", "a.go", first)
			w.add(sidA, append([]string{ask(sidA, 0, "why")}, edit(sidA, 1, "a.go", added(first)...)...)...)
			if via == session.ViaPush {
				w.via = via
				w.capture()
			}
			w.via = session.ViaCommit
			w.commit(500, "by hand", "a.go", first+"// by hand\n")
			w.capture()
			kinds := map[string]string{}
			for _, cp := range w.held().checkpoints {
				for _, l := range cp.Links {
					kinds[w.subject(cp.GitSHA)] += l.Tie.String()
				}
			}
			if kinds["by hand"] == "edited" {
				t.Errorf("tied as %v", kinds)
			}
		})
	}
}

// TestEditOfOthersLines: two sessions wrote to a file. A commit of lines that are all one's is not the other's, whose
// edit waits for the next commit.
func TestEditOfOthersLines(t *testing.T) {
	w := newWorld(t)
	w.add(sidA, append([]string{ask(sidA, 0, "why")}, edit(sidA, 1, "a.go", added(first)...)...)...)
	w.add(sidB, ask(sidB, 2, "and"), use(sidB, 3, "Edit", "a.go"))
	w.commit(10, "of one", "a.go", first)
	w.at(10)
	w.capture()
	w.commit(20, "of the other", "a.go", first+"// what it wrote is not known\n")
	w.at(20)
	w.capture()
	var edited []string
	h := w.held()
	for _, cp := range h.checkpoints {
		for _, l := range cp.Links {
			if l.Session == h.sessions[sidB].ID && l.Tie == session.TieEdited {
				edited = append(edited, w.subject(cp.GitSHA))
			}
		}
	}
	harness.Equal(t, "commits to whose files it wrote", []string{"of the other"}, edited)
}
