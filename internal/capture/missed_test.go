package capture_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/capture"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// writes is session A, which says what it does, and does it, at a second.
func (w *world) writes(sec int, path, text string) {
	w.T.Helper()
	w.add(sidA, append([]string{ask(sidA, sec, "write "+path)}, edit(sidA, sec+1, path, added(text)...)...)...)
}

// seen begins the reflog's count: a commit that a capture saw.
func (w *world) seen() {
	w.T.Helper()
	w.commit(0, "seen")
	w.capture()
}

// TestMissed: commits that no capture saw are tied by the next one as their own would have done. The world has no
// hooks: a commit without a capture behind it is one with hooks off.
func TestMissed(t *testing.T) {
	for _, tt := range []struct {
		name  string
		story func(w *world)
		want  []string
		lines []string
		tells []string // of session A
	}{
		{
			name: "each commit has what was said by then",
			story: func(w *world) {
				w.seen()
				w.writes(1, "a.go", first)
				w.commit(10, "missed", "a.go", first)
				w.writes(20, "b.go", secondly)
				w.commit(30, "hooked", "b.go", secondly)
				w.capture()
				w.capture()
			},
			want:  []string{"missed import: " + sidA + "; Aa.go", "hooked commit: " + sidA + "; Ab.go"},
			lines: []string{"missed a.go 1-3 " + sidA, "hooked b.go 1-3 " + sidA},
			tells: []string{"0 human: write a.go", "Edit a.go", "1 human: write b.go", "Edit b.go"},
		},
		{
			name: "by hand, on top of a commit that nobody made in a session",
			story: func(w *world) {
				w.seen()
				w.writes(1, "a.go", first)
				w.commit(10, "missed", "a.go", first)
				w.commit(20, "by hand", "c.go", "1\n")
				w.via = session.ViaManual
				w.capture()
				w.capture()
			},
			want:  []string{"missed import: " + sidA + "; Aa.go"},
			lines: []string{"missed a.go 1-3 " + sidA},
		},
		{
			name: "what was captured before waits for its commit",
			story: func(w *world) {
				w.seen()
				w.writes(1, "a.go", first)
				w.via = session.ViaPush
				w.capture()
				w.commit(10, "missed", "a.go", first)
				w.commit(20, "by hand", "c.go", "1\n")
				w.via = session.ViaCommit
				w.capture()
			},
			want:  []string{"seen push: " + sidA + "; ", "missed import: (" + sidA + "); Aa.go"},
			lines: []string{"missed a.go 1-3 " + sidA},
		},
		{
			name: "calls of an answer that was captured in the middle",
			story: func(w *world) {
				w.add(sidA, ask(sidA, 0, "do it all"))
				w.seen()
				w.add(sidA, edit(sidA, 1, "a.go", added(first)...)...)
				w.commit(10, "missed", "a.go", first)
				w.commit(20, "by hand", "c.go", "1\n")
				w.capture()
			},
			want:  []string{"seen commit: " + sidA + "; ", "missed import: " + sidA + "; Aa.go"},
			lines: []string{"missed a.go 1-3 " + sidA},
		},
		{
			name: "on another branch, and one that is gone",
			story: func(w *world) {
				w.seen()
				w.git("checkout", "-q", "-b", "topic")
				w.writes(1, "a.go", first)
				w.commit(10, "missed", "a.go", first)
				w.git("checkout", "-q", "main")
				w.git("branch", "-q", "-D", "topic")
				w.commit(20, "hooked", "c.go", "1\n")
				w.capture()
				if b := w.held().checkpoints[0].GitBranch; b != "topic" {
					w.T.Errorf("branch %q, want topic", b)
				}
			},
			want: []string{"missed import: " + sidA + "; Aa.go"}, lines: []string{"missed a.go 1-3 " + sidA},
		},
		{
			name: "in a linked worktree",
			story: func(w *world) {
				w.seen()
				w.git("worktree", "add", "-q", "-b", "topic", "../linked")
				w.add(sidA, ask(sidA, 1, "write a.go"))
				for _, r := range edit(sidA, 2, "a.go", added(first)...) {
					w.add(sidA, strings.ReplaceAll(r, "$REPO", w.At("linked")))
				}
				w.dated(10).Commit("linked", "missed", "a.go", first)
				w.commit(20, "hooked", "c.go", "1\n")
				w.capture()
			},
			want: []string{"missed import: " + sidA + "; Aa.go"}, lines: []string{"missed a.go 1-3 " + sidA},
		},
		{
			name: "an amend",
			story: func(w *world) {
				w.writes(1, "a.go", first)
				old := w.commit(10, "hooked", "a.go", first)
				w.capture()
				w.dated(20).Git("repo", "commit", "-q", "--amend", "-m", "once")
				w.dated(21).Git("repo", "commit", "-q", "--amend", "-m", "twice")
				twice := w.git("rev-parse", "HEAD")
				w.commit(30, "by hand", "c.go", "1\n")
				w.capture()
				got := w.held().rewrites
				if len(got) != 1 || got[0].Old != old || got[0].New != twice {
					w.T.Errorf("rewrites %+v, want %s to %s", got, old, twice)
				}
			},
			want:  []string{"hooked commit: " + sidA + "; Aa.go", "twice import: (" + sidA + "); Aa.go"},
			lines: []string{"hooked a.go 1-3 " + sidA, "twice a.go 1-3 " + sidA},
		},
		{
			name: "without a cache, from the last commit that is known",
			story: func(w *world) {
				w.writes(1, "a.go", first)
				w.commit(10, "hooked", "a.go", first)
				w.capture()
				w.forget()
				w.writes(20, "b.go", secondly)
				w.commit(30, "missed", "b.go", secondly)
				w.commit(40, "by hand", "c.go", "1\n")
				w.capture()
			},
			want:  []string{"hooked commit: " + sidA + "; Aa.go", "missed import: " + sidA + "; Ab.go"},
			lines: []string{"hooked a.go 1-3 " + sidA, "missed b.go 1-3 " + sidA},
		},
		{
			name: "a reflog that was cut meanwhile",
			story: func(w *world) {
				w.writes(1, "a.go", first)
				w.commit(10, "hooked", "a.go", first)
				w.capture()
				w.git("reflog", "delete", "--rewrite", "HEAD@{1}")
				w.writes(20, "b.go", secondly)
				w.commit(30, "missed", "b.go", secondly)
				w.commit(40, "by hand", "c.go", "1\n")
				w.capture()
			},
			want:  []string{"hooked commit: " + sidA + "; Aa.go", "missed import: " + sidA + "; Ab.go"},
			lines: []string{"hooked a.go 1-3 " + sidA, "missed b.go 1-3 " + sidA},
		},
		{
			name: "the picks of a sequence are its last one",
			story: func(w *world) {
				w.seen()
				w.git("checkout", "-q", "-b", "topic")
				w.writes(1, "a.go", first)
				w.commit(10, "one", "a.go", first)
				w.capture()
				w.commit(11, "two", "c.go", "1\n")
				w.capture()
				w.git("checkout", "-q", "main")
				w.dated(20).Git("repo", "cherry-pick", "topic~1", "topic")
				w.writes(30, "b.go", secondly)
				w.commit(40, "hooked", "b.go", secondly)
				w.capture()
			},
			want:  []string{"one commit: " + sidA + "; Aa.go", "hooked commit: " + sidA + "; Ab.go"},
			lines: []string{"one a.go 1-3 " + sidA, "one a.go 1-3 " + sidA, "hooked b.go 1-3 " + sidA},
		},
		{
			name: "what a pull brings is nobody's here, and what another address made neither",
			story: func(w *world) {
				w.seen()
				w.git("clone", "-q", ".", w.At("theirs"))
				w.writes(1, "a.go", first)
				other := w.dated(10).With("GIT_AUTHOR_EMAIL=x@y.z", "GIT_COMMITTER_EMAIL=x@y.z")
				other.Commit("theirs", "pulled", "p.go", "1\n")
				w.git("pull", "-q", w.At("theirs"), "main")
				other.Commit("repo", "another's", "q.go", "1\n")
				w.commit(30, "hooked", "a.go", first)
				w.capture()
			},
			want: []string{"hooked commit: " + sidA + "; Aa.go"}, lines: []string{"hooked a.go 1-3 " + sidA},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			tt.story(w)
			w.ties(tt.want...)
			w.lines(tt.lines...)
			if tt.tells != nil {
				w.tells(sidA, tt.tells...)
			}
		})
	}
}

// TestMissedByMany: what is more than a commit's capture looks at is left to the next one, and each is tied once.
func TestMissedByMany(t *testing.T) {
	w := newWorld(t)
	w.seen()
	var want []string
	for i := range 25 {
		path := fmt.Sprintf("f%02d.go", i)
		w.writes(10*i+1, path, strings.ReplaceAll(first, "First", "F"+path[1:3]))
		w.commit(10*i+5, path, path, strings.ReplaceAll(first, "First", "F"+path[1:3]))
		want = append(want, path+" A"+path)
	}
	for i := range 3 {
		w.commit(1000+i, "by hand", "c.go", fmt.Sprint(i))
		w.capture()
	}
	var got []string
	for _, cp := range w.held().checkpoints {
		if cp.Via == session.ViaImport {
			got = append(got, fmt.Sprintf("%s %s%s", w.subject(cp.GitSHA), cp.Files[0].Change, cp.Files[0].Path))
		}
	}
	harness.Equal(t, "checkpoints", want, got)
	if n := len(w.held().sessions[sidA].Turns); n != 25 {
		t.Errorf("%d turns, want 25", n)
	}
}

// TestMissedInALongReflog: of a reflog that nobody has read, the end counts.
func TestMissedInALongReflog(t *testing.T) {
	w := newWorld(t)
	w.writes(1, "a.go", first)
	id := w.commit(10, "hooked", "a.go", first)
	w.capture()
	line := fmt.Sprintf("%s %s Dev <%s> %d +0000\trebase (pick): x\n", id, id, email, second(20).Unix())
	log := filepath.Join(w.repo(), ".git", "logs", "HEAD")
	w.Write(log, strings.Repeat(line, 100_000))
	w.writes(30, "b.go", secondly)
	w.commit(40, "missed", "b.go", secondly)
	w.commit(50, "by hand", "c.go", "1\n")
	w.try(func(c *capture.Capturer) (capture.Outcome, error) { return c.Run(t.Context(), session.ViaCommit, nil) })
	w.ties("hooked commit: "+sidA+"; Aa.go", "missed import: "+sidA+"; Ab.go")
}
