package why

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/worktree"
	"github.com/git-rekal/git-rekal/internal/provenance"
	"github.com/git-rekal/git-rekal/internal/result"
)

// Where other tools note who wrote the lines of a commit.
const (
	gitAIRef   = "refs/notes/ai"
	traceRef   = "refs/notes/agent-trace"
	tracesFile = ".agent-trace/traces.jsonl" // of the working tree, as the reference implementation has it
)

// maxNoted is of how many commits the notes are read.
const maxNoted = 50

// readNotes tells of lines that no session explains what other tools noted of them. Notes that can't be read say
// nothing.
func (w *answer) readNotes() {
	if len(w.orphans) == 0 {
		return
	}
	traces := tracesIn(w.repo)
	for i := range w.orphans[:min(len(w.orphans), maxNoted)] { // those with the most lines come first
		w.orphans[i].notes = w.notesOfAsked(w.orphans[i], w.notesFor(w.orphans[i], traces))
	}
}

// tracesIn are the records in the working tree; "" where there are none within the bounds.
func tracesIn(repo *git.Repo) string {
	root := repo.Layout().WorkTree
	info, err := os.Lstat(filepath.Join(root, tracesFile))
	if root == "" || err != nil || info.Size() > provenance.MaxNote {
		return ""
	}
	c, err := worktree.Open(repo, "")
	if err != nil {
		return ""
	}
	defer c.Close()
	text, err := c.Text(tracesFile)
	if err != nil {
		return ""
	}
	return string(text)
}

// notesFor are all notes of the file in the commit.
func (w *answer) notesFor(s source, traces string) (out []result.Note) {
	add := func(in string, notes []result.Note) {
		for _, n := range notes {
			n.In = in
			out = append(out, n)
		}
	}
	id := string(s.Commit)
	add(gitAIRef, provenance.ReadGitAINote(w.note(gitAIRef, s.Commit), s.Path))
	add(traceRef, provenance.ReadAgentTrace(w.note(traceRef, s.Commit), id, s.Path))
	add(tracesFile, provenance.ReadAgentTrace(traces, id, s.Path))
	return out
}

// note is the text of the note of a commit; "" where there is none within the bounds.
func (w *answer) note(ref string, commit git.OID) string {
	blob, err := w.repo.Note(ref, commit)
	if err != nil {
		return ""
	}
	text, _ := w.repo.BlobWithin(blob, provenance.MaxNote) // what can't be read says nothing
	return string(text)
}

// notesOfAsked turns notes of a commit's lines into those of the lines that were asked about. The first note of a line
// counts.
func (w *answer) notesOfAsked(s source, notes []result.Note) (out []result.Note) {
	had := make([]bool, len(s.at))
	for _, n := range notes {
		var lines []int
		for i, at := range s.at {
			if !had[i] && slices.ContainsFunc(n.Ranges, func(r result.Range) bool { return r[0] <= at && at <= r[1] }) {
				had[i], lines = true, append(lines, s.lines[i])
			}
		}
		if len(lines) > 0 {
			n.Ranges = w.ranges(lines)
			out = append(out, n)
		}
	}
	return out
}
