package capture_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/capture"
	"github.com/git-rekal/git-rekal/internal/ledger"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// edit is a call that changed a file, and its result at the second after: lines as a unified diff has them.
func edit(sid string, sec int, path string, diff ...string) []string {
	lines, err := json.Marshal(diff)
	if err != nil {
		panic(err)
	}
	id := fmt.Sprintf("t%s%d", path, sec)
	return []string{
		use(sid, sec, "Edit", path),
		rec(sid, "user", sec+1, fmt.Sprintf(`"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":"ok"}]},`+
			`"toolUseResult":{"filePath":"$REPO/%s","structuredPatch":[{"lines":%s}]}`, id, path, lines)),
	}
}

// The text of the stories: two functions, and who writes them.
const (
	first    = "func First() string {\n\treturn \"the first\"\n}\n"
	secondly = "func Second() string {\n\treturn \"the second\"\n}\n"
)

// added are lines as an edit that adds them has them.
func added(text string) (out []string) {
	for l := range strings.Lines(text) {
		out = append(out, "+"+strings.TrimSuffix(l, "\n"))
	}
	return out
}

// lines says what the ledger says that sessions wrote: "<subject> <path> <lines> <session>", sorted.
func (w *world) lines(want ...string) {
	w.T.Helper()
	h := w.held()
	native := map[string]string{}
	for id, s := range h.sessions {
		native[s.ID] = id
	}
	var got []string
	for _, r := range h.wrote {
		subject := strings.TrimSpace(w.git("show", "-s", "--format=%s", r.GitSHA))
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", subject, r.Path, r.Lines, native[r.Session])))
		if blob := strings.TrimSpace(w.git("rev-parse", r.GitSHA+":"+r.Path)); r.Blob != blob {
			w.T.Errorf("%s: blob %s, want %s", got[len(got)-1], r.Blob, blob)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	harness.Equal(w.T, "lines", want, got)
}

func (w *world) imports() {
	w.T.Helper()
	w.try(func(c *capture.Capturer) (capture.Outcome, error) { return c.Import(w.T.Context()) })
}

func TestLines(t *testing.T) {
	for _, tt := range []struct {
		name  string
		story func(w *world)
		want  []string
	}{
		{
			name: "two sessions and a person in one commit",
			story: func(w *world) {
				w.add(sidA, append([]string{ask(sidA, 0, "why")}, edit(sidA, 1, "a.go", added(first)...)...)...)
				w.add(sidB, append([]string{ask(sidB, 3, "and")}, edit(sidB, 4, "a.go", added(secondly)...)...)...)
				w.commit(10, "both", "a.go", first+"\n// by hand\n"+secondly)
				w.capture()
			},
			want: []string{"both a.go 1-3 " + sidA, "both a.go 6-8 " + sidB},
		},
		{
			name: "an edit that waits for its commit, and the same again without a cache",
			story: func(w *world) {
				w.add(sidA, append([]string{ask(sidA, 0, "why")}, edit(sidA, 1, "a.go", added(first)...)...)...)
				w.commit(5, "other", "b.go", "1\n")
				w.capture()
				w.commit(10, "mine", "a.go", first)
				w.capture()
				w.forget()
				w.capture()
			},
			want: []string{"mine a.go 1-3 " + sidA},
		},
		{
			name: "an edit that waits, of which everything but the transcript is lost",
			story: func(w *world) {
				w.add(sidA, append([]string{ask(sidA, 0, "why")}, edit(sidA, 1, "a.go", added(first)...)...)...)
				w.commit(5, "other", "b.go", "1\n")
				w.capture()
				w.forget()
				w.commit(10, "mine", "a.go", first)
				w.capture()
			},
			want: []string{"mine a.go 1-3 " + sidA},
		},
		{
			name: "a result that reaches the transcript after the commit",
			story: func(w *world) {
				records := edit(sidA, 1, "a.go", added(first)...)
				w.add(sidA, ask(sidA, 0, "why"), records[0])
				w.commit(10, "mine", "a.go", first)
				w.capture()
				w.add(sidA, records[1])
				w.capture()
			},
			want: []string{"mine a.go 1-3 " + sidA},
		},
		{
			name: "a merge that a session resolved",
			story: func(w *world) {
				w.commit(2, "base", "a.go", "package a\n")
				w.git("checkout", "-q", "-b", "topic")
				w.commit(3, "theirs", "a.go", "package a\n\n"+secondly)
				w.git("checkout", "-q", "main")
				w.commit(4, "ours", "a.go", "package a\n\n// ours\n")
				w.git("merge", "-q", "--no-commit", "-s", "ours", "topic")
				w.add(sidA, append([]string{ask(sidA, 5, "merge it")},
					edit(sidA, 6, "a.go", append(added(secondly), added(first)...)...)...)...)
				w.commit(10, "merge", "a.go", "package a\n\n// ours\n"+secondly+first)
				w.capture()
			},
			want: []string{"merge a.go 7-9 " + sidA}, // the rest of it is topic's
		},
		{
			name: "an edit made after the commit",
			story: func(w *world) {
				w.add(sidA, append([]string{ask(sidA, 0, "why")}, edit(sidA, 20, "a.go", added(first)...)...)...)
				w.commit(10, "not mine", "a.go", first)
				w.capture()
			},
		},
		{
			name: "an amend, and a rebase",
			story: func(w *world) {
				w.add(sidA, append([]string{ask(sidA, 0, "why")}, edit(sidA, 1, "a.go", added(first)...)...)...)
				old := w.commit(10, "mine", "a.go", first)
				w.capture()
				w.dated(20).Git("repo", "commit", "-q", "--amend", "-m", "amended")
				w.redo = []session.Rewrite{{Old: old, New: w.git("rev-parse", "HEAD")[:40]}}
				w.via = session.ViaRewrite
				w.capture()
			},
			want: []string{"mine a.go 1-3 " + sidA, "amended a.go 1-3 " + sidA},
		},
		{
			name: "a squash by somebody else that a pull brings",
			story: func(w *world) {
				w.add(sidA, append([]string{ask(sidA, 0, "why")}, edit(sidA, 1, "a.go", added(first)...)...)...)
				w.git("checkout", "-q", "-b", "topic")
				w.commit(10, "mine", "a.go", first)
				w.capture()
				w.git("checkout", "-q", "main")
				w.dated(30).With("GIT_AUTHOR_EMAIL=server@example.com", "GIT_COMMITTER_EMAIL=server@example.com").Commit("repo",
					"squash", "a.go", "// first line\n"+first)
				w.try(func(c *capture.Capturer) (capture.Outcome, error) { return c.RecordArrived(w.T.Context()) })
			},
			want: []string{"mine a.go 1-3 " + sidA, "squash a.go 2-4 " + sidA},
		},
		{
			name: "a file that was renamed since, and changed again",
			story: func(w *world) {
				w.add(sidA, append([]string{ask(sidA, 0, "why")}, edit(sidA, 1, "a.go", added(first)...)...)...)
				w.commit(10, "mine", "a.go", first)
				w.capture()
				w.add(sidA, edit(sidA, 20, "a.go", added(secondly)...)...)
				w.git("mv", "a.go", "z.go")
				w.commit(30, "moved", "z.go", first+secondly)
				w.capture()
			},
			want: []string{"mine a.go 1-3 " + sidA, "moved z.go 4-6 " + sidA},
		},
		{
			name: "what a fork copied is its origin's",
			story: func(w *world) {
				records := append([]string{ask(sidA, 0, "why")}, edit(sidA, 1, "a.go", added(first)...)...)
				w.add(sidA, records...)
				for _, r := range records {
					w.add(sidB, strings.ReplaceAll(r, sidA, sidB))
				}
				w.add(sidB, ask(sidB, 5, "another way"))
				w.commit(10, "mine", "a.go", first)
				w.capture()
			},
			want: []string{"mine a.go 1-3 " + sidA},
		},
		{
			name: "an import looks at all branches and tags, and again at those that are known",
			story: func(w *world) {
				w.add(sidA, append([]string{ask(sidA, 0, "why")}, edit(sidA, 1, "a.go", added(first)...)...)...)
				w.git("checkout", "-q", "-b", "topic")
				w.commit(10, "mine", "a.go", first)
				w.git("tag", "-a", "-m", "x", "v1")
				w.git("checkout", "-q", "main")
				w.git("branch", "-q", "-D", "topic")
				w.imports()
				w.imports()
			},
			want: []string{"mine a.go 1-3 " + sidA},
		},
		{
			name: "who scrubbed nothing and saw it all has it once",
			story: func(w *world) {
				w.add(sidA, append([]string{ask(sidA, 0, "why")}, edit(sidA, 1, "a.go", added(first)...)...)...)
				w.commit(10, "mine", "a.go", first)
				w.capture()
				w.imports()
				w.via = session.ViaSync
				w.capture()
			},
			want: []string{"mine a.go 1-3 " + sidA},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			tt.story(w)
			w.lines(tt.want...)
		})
	}
}

// TestImportInOrder: no segment is earlier than one before it; readers go by that, and a line of a session that does
// not stand there yet is lost.
func TestImportInOrder(t *testing.T) {
	w := newWorld(t)
	w.add(sidA, append([]string{ask(sidA, 0, "why")}, edit(sidA, 1, "a.go", added(first)...)...)...)
	w.git("checkout", "-q", "-b", "topic")
	w.commit(10, "mine", "a.go", first)
	w.git("checkout", "-q", "main")
	w.dated(30).With("GIT_AUTHOR_EMAIL=server@example.com", "GIT_COMMITTER_EMAIL=server@example.com").Commit("repo",
		"squash", "a.go", first)
	w.imports()
	w.lines("mine a.go 1-3 "+sidA, "squash a.go 1-3 "+sidA)
	repo := w.open()
	tip, err := w.own(repo).Tip()
	if err != nil {
		t.Fatal(err)
	}
	commits, err := ledger.Since(t.Context(), repo, tip)
	if err != nil {
		t.Fatal(err)
	}
	last := ledger.Segment{}
	for _, c := range commits {
		for _, s := range c.Segments {
			if last.Path != "" && s.Compare(last) < 0 {
				t.Errorf("%s stands behind %s", s.Path, last.Path)
			}
			last = s
		}
	}
}

// TestUnreadableCommit: a commit of which something is not here, or damaged, keeps no session from being captured.
func TestUnreadableCommit(t *testing.T) {
	w := newWorld(t)
	id := w.commit(5, "damaged", "b/x.go", "1\n")
	tree := strings.TrimSpace(w.git("rev-parse", id+":b"))
	w.commit(10, "mine", "a.go", first, "b/x.go", "2\n")
	object := filepath.Join(w.repo(), ".git", "objects", tree[:2], tree[2:])
	if err := os.Remove(object); err != nil {
		t.Fatal(err)
	}
	w.git("commit", "-q", "--allow-empty", "-m", "on top")
	w.add(sidA, append([]string{ask(sidA, 0, "why")}, edit(sidA, 1, "a.go", added(first)...)...)...)
	w.via = session.ViaSync
	w.capture()
	w.tells(sidA, "0 human: why", "Edit a.go")
}

// TestLastWords: an agent that commits by itself says its last words behind its hook; they are a talk to the next
// commit.
func TestLastWords(t *testing.T) {
	w := newWorld(t)
	w.add(sidA, append([]string{ask(sidA, 0, "why")}, edit(sidA, 1, "a.go", added(first)...)...)...)
	w.commit(10, "of A", "a.go", first)
	w.capture()
	w.add(sidA, say(sidA, 11, "Done."))
	w.add(sidB, append([]string{ask(sidB, 12, "and")}, edit(sidB, 13, "b.go", added(secondly)...)...)...)
	w.commit(20, "of B", "b.go", secondly)
	w.capture()
	w.ties("of A commit: "+sidA+"; Aa.go", "of B commit: "+sidA+" "+sidB+"; Ab.go")
	w.tells(sidA, "0 human: why", "Edit a.go", "1 assistant: Done.")
}

// TestWhoCommits: the session in whose shell git runs made the commit, whatever it wrote; the agent is named.
func TestWhoCommits(t *testing.T) {
	w := newWorld(t)
	w.add(sidA, append([]string{ask(sidA, 0, "why")}, edit(sidA, 1, "a.go", added(first)...)...)...)
	w.commit(10, "of A", "a.go", first)
	w.capture()
	w.env = map[string]string{"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": sidA}
	w.commit(20, "by sed", "a.go", strings.ReplaceAll(first, "first", "last"))
	w.capture()
	w.ties("of A commit: "+sidA+"; Aa.go", "by sed commit: ("+sidA+"); Ma.go")
	cps := w.held().checkpoints
	if got := cps[len(cps)-1]; got.AgentID != "claude-code" || got.ActorType != session.ActorHuman {
		t.Errorf("the checkpoint is by %q %q, want human, claude-code", got.ActorType, got.AgentID)
	}
}

// TestAgentOfARun: a run that nobody sat at says which agent it is.
func TestAgentOfARun(t *testing.T) {
	w := newWorld(t)
	w.add(sidA, append([]string{ask(sidA, 0, "why")}, edit(sidA, 1, "a.go", added(first)...)...)...)
	w.commit(10, "of A", "a.go", first)
	w.try(func(c *capture.Capturer) (capture.Outcome, error) {
		c.CI = true
		return c.Run(w.T.Context(), session.ViaCommit, nil)
	})
	h := w.held()
	for what, got := range map[string]string{"session": h.sessions[sidA].AgentID, "checkpoint": h.checkpoints[0].AgentID} {
		if got != "claude-code/2.1.39" {
			t.Errorf("the %s's agent is %q", what, got)
		}
	}
}

// TestPreviewKeepsNoEdits: what only looks writes nothing.
func TestPreviewKeepsNoEdits(t *testing.T) {
	w := newWorld(t)
	w.add(sidA, append([]string{ask(sidA, 0, "why")}, edit(sidA, 1, "a.go", added(first)...)...)...)
	w.commit(10, "mine", "a.go", first)
	c, done, err := w.capturer()
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	if _, err := c.Preview(t.Context(), session.ViaManual); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(w.cache()); err != nil || len(left) > 0 {
		t.Errorf("a preview left %v, %v", left, err)
	}
}

// TestFrom: sessions of the folder where the repository was before are imported when it is named; otherwise the
// outcome says what was left out.
func TestFrom(t *testing.T) {
	w := newWorld(t)
	before := filepath.Join(w.Root, "before")
	records := append([]string{ask(sidA, 0, "why")}, edit(sidA, 1, "a.go", added(first)...)...)
	for i := range records {
		records[i] = strings.ReplaceAll(records[i], "$REPO", before)
	}
	w.add(sidA, records...)
	w.commit(10, "mine", "a.go", first)
	run := func(from ...string) capture.Outcome {
		return w.try(func(c *capture.Capturer) (capture.Outcome, error) {
			c.From = from
			return c.Import(w.T.Context())
		})
	}
	if out := run(); out.Sessions != 0 || out.Elsewhere[before] != 1 {
		t.Errorf("%d sessions, apart: %v; want none, and one of %s", out.Sessions, out.Elsewhere, before)
	}
	w.forget()
	if out := run(before); out.Sessions != 1 || len(out.Elsewhere) != 0 {
		t.Errorf("%d sessions, apart: %v; want one, and none", out.Sessions, out.Elsewhere)
	}
	w.lines("mine a.go 1-3 " + sidA)
}

// TestLinesWithoutTime: an edit before the first moment that a transcript tells is nobody's lines; a record without a
// time could not be read again, and all that was stored with it.
func TestLinesWithoutTime(t *testing.T) {
	w := newWorld(t)
	for _, line := range append([]string{ask(sidA, 0, "write it")}, edit(sidA, 1, "a.go", added(first)...)...) {
		w.add(sidA, strings.ReplaceAll(line, `"timestamp":"20`, `"timestamp":"20-02-31 20`))
	}
	w.add(sidA, say(sidA, 3, "Here it is."))
	w.commit(4, "one", "a.go", first)
	w.at(5)
	w.try(func(c *capture.Capturer) (capture.Outcome, error) { return c.Import(t.Context()) })
	w.lines()
}
