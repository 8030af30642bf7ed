package recall_test

import (
	"testing"

	"github.com/git-rekal/git-rekal/internal/recall"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// --file goes by all names of a file: those that checkpoints tell, and those that only git knows. A file that shares a
// former name with another one is still another one.
func TestFileByEachName(t *testing.T) {
	p := newPlace(t)
	does := func(name string, minutes int, cp *session.Checkpoint, calls ...string) {
		lines := append([]string{"human about " + name}, calls...)
		p.append(alice, minutes, session.Entry{
			Checkpoint: cp,
			Sessions:   []session.Session{chat(name, minutes, append(lines, "assistant done")...)},
		})
	}
	does("author", 0, p.committed("write", "a.go", "package a\n\nfunc A() {}\n"), "Edit a.go")
	p.git("mv", "a.go", "b.go")
	does("mover", 20, p.committed("move"), "Bash git mv a.go b.go")
	p.committed("write anew", "a.go", "package anew\n")
	p.git("mv", "a.go", "c.go")
	does("namesake", 40, p.committed("move again"), "Edit c.go")
	p.git("mv", "b.go", "d.go")
	p.code("move by hand")
	does("heir", 60, p.committed("go on", "d.go", "package a\n\nfunc A() {} // is done\n"), "Edit d.go")
	p.open()
	for pattern, want := range map[string]string{
		`^a\.go$`:    "heir namesake mover author",
		`^b\.go$`:    "heir mover author",
		`^c\.go$`:    "namesake author", // it was a.go once
		`^d\.go$`:    "heir mover author",
		`^[bd]\.go$`: "heir mover author",
	} {
		t.Run(pattern, func(t *testing.T) {
			harness.Equal(t, "sessions", want, p.found(p.recall(recall.Request{File: pattern})))
		})
	}
}
