package capture_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/capture"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// noteFile is where Claude Code keeps a file of notes of the repository.
func (w *world) noteFile(name string) string { return filepath.Join(w.store(), "memory", name) }

// note writes a file of notes as at some second.
func (w *world) note(sec int, name, text string) {
	w.T.Helper()
	path := w.noteFile(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		w.T.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		w.T.Fatal(err)
	}
	if err := os.Chtimes(path, second(sec), second(sec)); err != nil {
		w.T.Fatal(err)
	}
}

// captureNotes captures where notes are sent, with more settings.
func (w *world) captureNotes(set ...func(*capture.Capturer)) {
	w.T.Helper()
	w.try(func(c *capture.Capturer) (capture.Outcome, error) {
		c.Notes.Sent = true
		for _, s := range set {
			s(c)
		}
		return c.Run(w.T.Context(), w.via, nil)
	})
}

// kept are the notes of the ledger that are not purged, in the order of files and places: source, a bar, text.
func (w *world) kept() (out []string) {
	w.T.Helper()
	all := w.notes()
	slices.SortStableFunc(all.Memories, func(a, b session.Memory) int { return a.At - b.At })
	for _, m := range all.Memories {
		if !slices.ContainsFunc(all.Purges, func(p session.Mark) bool { return p.ID == m.ID }) {
			out = append(out, strings.TrimPrefix(m.Source, "claude-code:")+"|"+m.Content)
		}
	}
	slices.SortStableFunc(out, func(a, b string) int {
		file := func(s string) string { f, _, _ := strings.Cut(s, ".md"); return f }
		return strings.Compare(file(a), file(b))
	})
	return out
}

func TestNotesFollowTheirFiles(t *testing.T) {
	w := newWorld(t)
	const build, tests, made = "# Memory\n\n## Build\nmake  \n", "## Tests\nmake test\n", "## Made\nby hand, \x1bno"
	both := []string{"MEMORY.md#Build|" + build, "MEMORY.md#Tests|" + tests}
	entries := func() int { return len(w.notes().Memories) }
	for _, step := range []struct {
		name string
		do   func()
		want []string
		adds int // memories
	}{
		{"written", func() { w.note(1, "MEMORY.md", build+tests) }, both, 2},
		{"nothing new", func() {}, both, 0},
		{"touched", func() { w.note(2, "MEMORY.md", build+tests) }, both, 0},
		{
			"one section changed, one between", func() { w.note(3, "MEMORY.md", build+"## New\nx\n"+tests+"more\n") },
			[]string{"MEMORY.md#Build|" + build, "MEMORY.md#New|## New\nx\n", "MEMORY.md#Tests|" + tests + "more\n"},
			2,
		},
		{
			"moved", func() { w.note(4, "MEMORY.md", "## New\nx\n"+build+tests+"more\n") },
			[]string{"MEMORY.md#New|## New\nx\n", "MEMORY.md#Build|" + build, "MEMORY.md#Tests|" + tests + "more\n"},
			1,
		},
		{
			"back again", func() { w.note(5, "MEMORY.md", build+tests) },
			[]string{"MEMORY.md#Build|" + build, "MEMORY.md#Tests|" + tests},
			1,
		},
		{"without the cache", w.forget, []string{"MEMORY.md#Build|" + build, "MEMORY.md#Tests|" + tests}, 0},
		{
			"another file, with a secret", func() { w.note(6, "role.md", "---\nname: role\n---\nuses "+secret+"\n") },
			[]string{
				"MEMORY.md#Build|" + build, "MEMORY.md#Tests|" + tests,
				"role.md|---\nname: role\n---\nuses [REDACTED:github-pat]\n",
			},
			1,
		},
		{
			"a section is gone", func() { w.note(7, "MEMORY.md", build) },
			[]string{"MEMORY.md#Build|" + build, "role.md|---\nname: role\n---\nuses [REDACTED:github-pat]\n"},
			0,
		},
		{
			"a file is gone", func() { _ = os.Remove(w.noteFile("role.md")) },
			[]string{"MEMORY.md#Build|" + build},
			0,
		},
		{
			"taken out", func() { w.note(7, "MEMORY.md", build+"## Gone\nand back\n") },
			[]string{"MEMORY.md#Build|" + build, "MEMORY.md#Gone|## Gone\nand back\n"},
			1,
		},
		{"no text for a moment", func() { w.note(7, "MEMORY.md", build+"\xff") }, []string{
			"MEMORY.md#Build|" + build, "MEMORY.md#Gone|## Gone\nand back\n",
		}, 0},
		{"without it", func() { w.note(7, "MEMORY.md", build) }, []string{"MEMORY.md#Build|" + build}, 0},
		{
			"and back again", func() { w.note(7, "MEMORY.md", build+"## Gone\nand back\n") },
			[]string{"MEMORY.md#Build|" + build, "MEMORY.md#Gone|## Gone\nand back\n"},
			1,
		},
		{"and gone for good", func() { w.note(7, "MEMORY.md", build) }, []string{"MEMORY.md#Build|" + build}, 0},
		{
			"a conflict waits", func() { w.note(8, "MEMORY.md", build+"<<<<<<< here\na\n=======\nb\n>>>>>>> there\n") },
			[]string{"MEMORY.md#Build|" + build},
			0,
		},
		{
			"resolved, with what no text holds", func() { w.note(9, "MEMORY.md", build+made) },
			[]string{"MEMORY.md#Build|" + build, "MEMORY.md#Made|## Made\nby hand, o"},
			1,
		},
		{
			"no text, not the agent's", func() {
				w.note(10, "bad.md", "\xff\x00")
				w.note(10, "list.txt", "x")
				w.note(10, ".hidden.md", "x")
				w.note(10, "big.md", strings.Repeat("x", 300<<10))
				_ = os.Symlink(filepath.Join(w.repo(), "README"), w.noteFile("link.md"))
				w.note(10, "MEMORY.md", build+
					"\n<!-- git-rekal: notes of x@y.z -->\ny\n<!-- git-rekal: end of notes of x@y.z -->\n")
			},
			[]string{"MEMORY.md#Build|" + build},
			0,
		},
	} {
		t.Run(step.name, func(t *testing.T) {
			w.T = t
			before := entries()
			step.do()
			w.captureNotes()
			harness.Equal(t, "kept", step.want, w.kept())
			harness.Equal(t, "new memories", step.adds, entries()-before)
		})
	}
}

// A machine that never had a file deletes nothing of it, and stores nothing that the ledger holds.
func TestNotesOfAnotherMachine(t *testing.T) {
	w := newWorld(t)
	w.note(1, "MEMORY.md", "## A\n1\n## B\n2\n")
	w.captureNotes()
	w.forget()
	w.note(2, "MEMORY.md", "## B\n2\n## C\n3\n")
	w.captureNotes()
	harness.Equal(t, "kept", []string{"MEMORY.md#A|## A\n1\n", "MEMORY.md#B|## B\n2\n", "MEMORY.md#C|## C\n3\n"},
		sorted(w.kept()))
	w.forget()
	w.note(3, "MEMORY.md", "## A\nelse\n")
	w.captureNotes()
	harness.Equal(t, "both versions", []string{"MEMORY.md#A|## A\n1\n", "MEMORY.md#A|## A\nelse\n"}, sorted(w.kept())[:2])
}

// What stands in the ledger already is not stored again when a file comes to it, however that was done.
func TestNoteComesToAnotherVersion(t *testing.T) {
	w := newWorld(t)
	w.note(1, "a.md", "two\n")
	w.captureNotes()
	w.forget()
	w.note(2, "a.md", "one\n") // as of a machine that knows nothing of that
	w.captureNotes()
	w.note(3, "a.md", "two\n")
	w.captureNotes()
	harness.Equal(t, "kept", []string{"a.md|two\n"}, w.kept())
	harness.Equal(t, "stored", 2, len(w.notes().Memories))
}

func sorted(all []string) []string { slices.Sort(all); return all }

func TestNotesLeftOut(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(*capture.Capturer)
		want []string
	}{
		{"off", func(c *capture.Capturer) { c.Notes.Off = true }, nil},
		{"nobody agreed, and there is no private ledger", func(c *capture.Capturer) { c.Notes.Sent = false }, nil},
		{"written in a pause", func(c *capture.Capturer) {
			c.Without.Spans = []capture.Span{{From: second(0), To: second(2)}}
		}, nil},
		{"written behind a pause", func(c *capture.Capturer) {
			c.Without.Spans = []capture.Span{{From: second(2), To: second(4)}}
		}, []string{"a.md|x\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.note(1, "a.md", "x\n")
			w.captureNotes(c.set)
			harness.Equal(t, "kept", c.want, w.kept())
			w.captureNotes(c.set)
			harness.Equal(t, "kept later", c.want, w.kept())
		})
	}
}

// What was written in a pause stays out when the rest of the file changes.
func TestNotePausedSection(t *testing.T) {
	w := newWorld(t)
	pause := func(c *capture.Capturer) { c.Without.Spans = []capture.Span{{From: second(0), To: second(2)}} }
	w.note(1, "a.md", "## A\nsaid in the pause\n")
	w.captureNotes(pause)
	w.note(3, "a.md", "## A\nsaid in the pause\n## B\nlater\n")
	w.captureNotes(pause)
	harness.Equal(t, "kept", []string{"a.md#B|## B\nlater\n"}, w.kept())
}

// The time of a note is the file's, but not in the future.
func TestNoteTime(t *testing.T) {
	w := newWorld(t)
	w.note(1, "a.md", "x\n")
	w.note(100_000, "b.md", "y\n")
	w.captureNotes()
	var got []time.Time
	for _, m := range w.notes().Memories {
		got = append(got, m.TS)
		harness.Equal(t, "actor", session.ActorAgent, m.ActorType)
	}
	if len(got) != 2 || !got[0].Equal(second(1)) || got[1].After(w.now()) || got[1].Before(second(3600)) {
		t.Errorf("the times are %v", got)
	}
}

// Gemini CLI gave folders the hash of a path once, and moves them when it is started: the notes stay what they are.
func TestNotesInARenamedFolder(t *testing.T) {
	w := newWorld(t)
	sum := sha256.Sum256([]byte(w.repo()))
	tmp := filepath.Join(w.Home(), ".gemini", "tmp")
	w.Write(filepath.Join("home/.gemini/tmp", hex.EncodeToString(sum[:]), "memory/MEMORY.md"), "## A\n1\n")
	w.captureNotes()
	if err := os.Rename(filepath.Join(tmp, hex.EncodeToString(sum[:])), filepath.Join(tmp, "repo")); err != nil {
		t.Fatal(err)
	}
	w.Write("home/.gemini/projects.json", `{"projects": {"`+w.repo()+`": "repo"}}`)
	w.captureNotes()
	harness.Equal(t, "kept", []string{"gemini-cli:MEMORY.md#A|## A\n1\n"}, w.kept())
	harness.Equal(t, "stored", 1, len(w.notes().Memories))
}
