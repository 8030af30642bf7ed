package survival

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/capture"
	"github.com/git-rekal/git-rekal/internal/commits"
	"github.com/git-rekal/git-rekal/internal/git"
)

// prints counts lines.
type prints map[attribution.Print]int

// countWritten counts the lines that edits added, and what became of them up to a commit. It tells of how many sessions
// edits are known, and how many edits are left out: those that wrote a whole file, of which nobody knows what is new.
func (c *Counter) countWritten(ctx context.Context) (sessions, whole int, err error) {
	reached, err := c.reached(ctx)
	if err != nil {
		return 0, 0, err
	}
	edited := map[string]bool{}
	var path string
	var edits []attribution.Edit
	count := func() {
		for _, e := range edits {
			edited[e.Session] = true
			if e.FullContent {
				whole++
			}
		}
		c.countFile(path, edits, reached)
		edits = nil
	}
	err = capture.EachEdit(ctx, c.Dir, func(of string, e attribution.Edit) error {
		if of != path {
			count()
			path = of
		}
		if c.isAsked(e.Session, e.At) {
			edits = append(edits, e)
		}
		return ctx.Err()
	})
	count()
	return len(edited), whole, err
}

// countFile counts the lines that edits of one file added.
func (c *Counter) countFile(path string, edits []attribution.Edit, reached map[int64]prints) {
	edits = distinctEdits(edits)
	replaced := replacedLines(edits)
	for i, e := range edits {
		if e.FullContent {
			continue
		}
		waits := attribution.IsRecent(c.sessions[e.Session].Latest, c.request.Now)
		for p, n := range addedLines(e) {
			took := min(n, reached[e.At.UnixMilli()][p])
			if took > 0 {
				reached[e.At.UnixMilli()][p] -= took
			}
			again := min(n-took, replaced[i][p])
			for _, t := range c.tallies(e.Session, path, e.At) {
				if waits {
					t.sum.Waiting += n - took - again
					t.sum.Written -= n - took - again
				}
				t.sum.Written += n
				t.sum.Reached += took
				t.sum.Replaced += again
			}
		}
	}
}

// addedLines are the lines that an edit added, but for blank ones.
func addedLines(e attribution.Edit) prints {
	out := prints{}
	for _, l := range e.Lines {
		if l.Kind == attribution.Added && l.Print != attribution.Blank {
			out[l.Print]++
		}
	}
	return out
}

// distinctEdits puts edits in the order of their times, each once: a fork copies those of its origin.
func distinctEdits(edits []attribution.Edit) []attribution.Edit {
	slices.SortStableFunc(edits, func(a, b attribution.Edit) int { return a.At.Compare(b.At) })
	return slices.CompactFunc(edits, func(a, b attribution.Edit) bool {
		return a.At.Equal(b.At) && slices.Equal(a.Lines, b.Lines)
	})
}

// replacedLines are, by edit, the lines that it added and a later one took out.
func replacedLines(edits []attribution.Edit) []prints {
	out, by := make([]prints, len(edits)), map[attribution.Print][]int{}
	for i, e := range edits {
		out[i] = prints{}
		for _, l := range e.Lines {
			if from := by[l.Print]; l.Kind == attribution.Removed && len(from) > 0 {
				out[from[len(from)-1]][l.Print]++
				by[l.Print] = from[:len(from)-1]
			}
		}
		for p, n := range addedLines(e) {
			for range n {
				by[p] = append(by[p], i)
			}
		}
	}
	return out
}

// reached are the lines of this clone's edits that commits have, by the time of the edit in milliseconds. A line of
// several commits (one was rewritten, or another one was made of it) counts once. A commit that is not here tells
// nothing: its lines stand in what it became.
func (c *Counter) reached(ctx context.Context) (map[int64]prints, error) {
	shas, err := c.Index.CommitsWritten(ctx)
	if err != nil {
		return nil, err
	}
	lineage, err := commits.ReadLineage(ctx, c.Index, c.Repo, nil)
	if err != nil {
		return nil, err
	}
	own, err := c.Index.OwnLedgers(ctx)
	if err != nil {
		return nil, err
	}
	out := map[int64]prints{}
	for _, sha := range shas {
		all, err := c.Index.LinesWritten(ctx, []string{sha})
		if err != nil {
			return nil, err
		}
		mine := slices.DeleteFunc(all[sha], func(r attribution.LineRecord) bool { return !slices.Contains(own, r.Email) })
		makers, _ := attribution.CredibleLines(mine, lineage.Maker(sha))
		for at, had := range c.linesOf(git.OID(sha), makers) {
			if out[at] == nil {
				out[at] = prints{}
			}
			for p, n := range had {
				out[at][p] = max(out[at][p], n)
			}
		}
	}
	return out, nil
}

// linesOf are the lines of edits that one commit has.
func (c *Counter) linesOf(id git.OID, records []attribution.LineRecord) map[int64]prints {
	out := map[int64]prints{}
	commit, err := c.Repo.Commit(id)
	if err != nil {
		return nil
	}
	files := map[string][]string{}
	for _, r := range records {
		lines, known := files[r.Path]
		if !known {
			text, err := c.Repo.BlobWithin(c.Repo.EntryAt(commit.Tree, r.Path).ID(), maxFile)
			if err == nil {
				lines = strings.Split(string(text), "\n")
			}
			files[r.Path] = lines
		}
		at := r.TS.UnixMilli()
		if out[at] == nil {
			out[at] = prints{}
		}
		for _, span := range r.Lines {
			for n := span[0]; n <= min(span[1], len(lines)); n++ {
				out[at][attribution.PrintOf(lines[n-1])]++
			}
		}
	}
	return out
}

// maxFile is the size in bytes of the largest file whose lines are compared with edits.
const maxFile = 1 << 20

// writtenAt is when a line was written that is known from a commit.
func writtenAt(edit, commit time.Time) time.Time {
	if edit.IsZero() {
		return commit
	}
	return edit
}
