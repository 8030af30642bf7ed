package recall_test

import (
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/recall"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// Commits that a rebase elsewhere left behind stand last, and are marked.
func TestCommitsThatAreNotHere(t *testing.T) {
	p := newPlace(t)
	cp := p.committed("one", "a.go", "package a\n")
	here := cp.GitSHA
	s := chat("first", 0, "human begin", "Edit a.go")
	p.append(alice, 10, session.Entry{Checkpoint: cp, Sessions: []session.Session{s}})
	gone := strings.Repeat("ab", 20)
	cp = checkpoint(gone, "a.go")
	cp.Links = []session.Link{{Session: s.ID, Tie: session.TieEdited, Evidence: "call 0"}}
	p.append(alice, 20, session.Entry{Checkpoint: cp})
	p.open()
	hits := p.recall(recall.Request{Query: "begin"}).Results
	harness.Equal(t, "commits", []string{here[:7], gone[:7]}, hits[0].Commits)
	harness.Equal(t, "missing", []string{gone[:7]}, hits[0].Missing)
	shown, err := p.session(recall.Page{ID: s.ID, Full: true, Limit: 10})
	if err != nil || len(shown.Commits) != 2 || shown.Commits[0].Commit != here || shown.Commits[0].Missing ||
		!shown.Commits[1].Missing {
		t.Errorf("%+v, %v", shown.Commits, err)
	}
}
