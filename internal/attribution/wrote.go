package attribution

import (
	"cmp"
	"slices"
	"time"
)

// A transcript says which lines an edit added, and a commit's diff says which lines the commit added. Match compares
// the two:
//
//   - Lines are compared by prints: hashes without white space.
//   - A distinctive line that the file has once proves that an edit wrote it. It also proves the run of three or more
//     equal lines around it: so a brace or a `return nil, err` belongs to the edit of its neighbours.
//   - If several edits fit, the latest one whose hunk stands in the file as a whole wins, otherwise the longest run.
//   - Fewer than six lines out of the middle of what an edit added prove nothing where the rest is gone: people write
//     lines that read like lines of an edit that nobody took. They count if other lines of the edit prove it, or half
//     of its lines are there.
//   - An edit of which an earlier commit took lines proves only lines in a row, and none that the commit moves: what a
//     person types later, an import above all, may read like it.

// CommittedFile is a file as a commit left it, with what the commit changed in it.
type CommittedFile struct {
	Lines   []Print      // all lines of the file
	Added   map[int]bool // indexes of the lines that the commit added
	Removed []Print      // lines that the commit removed

	IsBehind func(commit string) bool // whether another commit is behind this one; nil: none is
}

// MatchedLines says which of the lines that a commit added to a file one session wrote with one edit.
type MatchedLines struct {
	Session string
	Lines   []int     // indexes, in order
	Removed int       // how many of the lines that the commit removed the session removed
	At      time.Time // of the edit
}

// minRun is how many lines in a row must stand in the file as they stand in the edit for a distinctive line among them,
// which the file has once, to prove the others, too.
const minRun = 3

// maxPlaces is at how many places in edits a line is compared, the latest ones.
const maxPlaces = 64

// Match says which sessions wrote the lines that a commit added to a file, by the edits of the file that were made
// before the commit. Each line of an edit counts once. The result is in the order of the sessions' IDs, then of time.
func Match(f CommittedFile, edits []Edit) []MatchedLines {
	edits = relevantEdits(f, edits)
	slices.SortStableFunc(edits, func(a, b Edit) int {
		return cmp.Or(a.At.Compare(b.At),
			cmp.Compare(a.Session, b.Session))
	})
	m := newMatch(f, edits)
	runs := m.findRuns()
	m.findPresent(runs)
	slices.SortStableFunc(runs, func(a, b alignedRun) int {
		return cmp.Or(cmp.Compare(b.hunk, a.hunk), cmp.Compare(b.weight, a.weight), cmp.Compare(b.edit, a.edit),
			cmp.Compare(a.line, b.line))
	})
	for _, r := range runs {
		m.claimRun(r)
	}
	m.assignBlanks()
	m.assignRemoved(f.Removed)
	return m.matchedLines()
}

// relevantEdits leaves out edits none of whose distinctive lines the commit added or removed: in a file that sessions
// edited for months, these are nearly all. An edit without distinctive lines stays. With an edit of FullContent all
// stay, because it may hold what earlier ones wrote.
func relevantEdits(f CommittedFile, edits []Edit) []Edit {
	changed := map[Print]bool{}
	for i := range f.Added {
		changed[f.Lines[i]] = f.Added[i] || changed[f.Lines[i]]
	}
	for _, p := range f.Removed {
		changed[p] = true
	}
	if slices.ContainsFunc(edits, func(e Edit) bool { return e.FullContent }) {
		return slices.Clone(edits)
	}
	var out []Edit
	for _, e := range edits {
		hasDistinctive, hasChanged := false, false
		for _, l := range e.Lines {
			if l.Print.isDistinctive() && (l.Kind == Added || l.Kind == Removed) {
				hasDistinctive, hasChanged = true, hasChanged || changed[l.Print]
			}
		}
		if hasChanged || !hasDistinctive {
			out = append(out, e)
		}
	}
	return out
}

// lineSequence is the lines of a text without the blank ones.
type lineSequence struct {
	prints []Print
	at     []int        // index of each in the text
	added  map[int]bool // indexes in prints of the lines that the edit added
}

func (t *lineSequence) add(p Print, at int) {
	if p != Blank {
		t.prints, t.at = append(t.prints, p), append(t.at, at)
	}
}

// resultOf is the text that an edit left. A gap is a Blank there, which equals no line of the file.
func resultOf(e Edit) lineSequence {
	t := lineSequence{added: map[int]bool{}}
	for i, l := range e.Lines {
		switch l.Kind {
		case Gap:
			t.prints, t.at = append(t.prints, Blank), append(t.at, i)
		case Added:
			t.add(l.Print, i)
			if l.Print != Blank {
				t.added[len(t.prints)-1] = true
			}
		case Kept:
			t.add(l.Print, i)
		}
	}
	return t
}

// place is a line of an edit.
type place struct{ edit, line int }

// match is one call of Match.
type match struct {
	file            CommittedFile
	edits           []Edit
	fileLines       lineSequence      // the file
	results         []lineSequence    // what each edit left
	unclaimed       []map[int]bool    // by edit: indexes in its result of lines that it added, and that no run claimed yet
	places          map[Print][]place // where a line stands in results
	countInFile     map[Print]int     // how often the file has a line
	removed         map[Print]bool    // lines that the commit removed
	committedBefore map[int]bool      // by edit: whether an earlier commit took a part, as far as that was asked
	isPresent       map[int]bool      // edits of which enough stands in the file to prove single lines, too
	lineEdit        []int             // by line of the file: the edit that wrote it, from 1 on; 0 for none
	removedLines    map[int]int       // by edit: how many of the lines that it removed the commit removed
}

func newMatch(f CommittedFile, edits []Edit) *match {
	m := &match{
		file: f, edits: edits, places: map[Print][]place{}, countInFile: map[Print]int{}, removed: map[Print]bool{},
		committedBefore: map[int]bool{},
		isPresent:       map[int]bool{}, lineEdit: make([]int, len(f.Lines)), removedLines: map[int]int{},
	}
	for i, p := range f.Lines {
		m.fileLines.add(p, i)
		m.countInFile[p]++
	}
	for _, p := range f.Removed {
		m.removed[p] = true
	}
	known := map[Print]bool{}
	for n, e := range edits {
		t, fresh := resultOf(e), map[int]bool{}
		for i, p := range t.prints {
			fresh[i] = t.added[i] && (!e.FullContent || !known[p])
			if p != Blank {
				m.places[p] = append(m.places[p], place{n, i})
			}
		}
		for i, p := range t.prints {
			known[p] = known[p] || fresh[i]
		}
		m.results, m.unclaimed = append(m.results, t), append(m.unclaimed, fresh)
	}
	return m
}

// wasTaken reports whether a commit behind this one took lines of an edit.
func (m *match) wasTaken(edit int) bool {
	taken, known := m.committedBefore[edit]
	if !known {
		taken = m.file.IsBehind != nil && slices.ContainsFunc(m.edits[edit].Commits, m.file.IsBehind)
		m.committedBefore[edit] = taken
	}
	return taken
}

// alignedRun is a run of lines that the file and the result of an edit have in common.
type alignedRun struct {
	line, edit, at int // where it begins: in fileLines, in which edit, and in its result
	n              int // how many lines
	weight         int // the same, but distinctive lines count twice
	hunk           int // the edit, from 1 on, if the run is a whole hunk of it; else 0
}

// findRuns finds the longest runs around distinctive lines that the file has once.
func (m *match) findRuns() (out []alignedRun) {
	type diagonal struct{ edit, shift int }
	done := map[diagonal]int{}
	for i, p := range m.fileLines.prints {
		if !m.hasUniqueLine(i, i+1) {
			continue
		}
		places := m.places[p]
		for _, at := range places[max(0, len(places)-maxPlaces):] {
			d := diagonal{at.edit, i - at.line}
			if i < done[d] {
				continue
			}
			r := m.align(i, at)
			done[d] = r.line + r.n
			out = append(out, r)
		}
	}
	return out
}

// mayBeFrom reports whether line i of the file may be line at of the result of edit e: both are equal, and a line that
// the edit added was added by this commit. If an earlier commit added it, the edit belongs there: a brace at the end of
// a new function is not that of the author of the next one.
func (m *match) mayBeFrom(i int, e, at int) bool {
	t := m.results[e]
	return m.fileLines.prints[i] == t.prints[at] &&
		(m.file.Added[m.fileLines.at[i]] || !t.added[at] || m.edits[e].FullContent)
}

// align is the longest run through a line of the file and a line of an edit.
func (m *match) align(i int, at place) alignedRun {
	now, then := m.fileLines.prints, m.results[at.edit].prints
	r := alignedRun{line: i, edit: at.edit, at: at.line}
	for r.line > 0 && r.at > 0 && m.mayBeFrom(r.line-1, r.edit, r.at-1) {
		r.line, r.at = r.line-1, r.at-1
	}
	for r.line+r.n < len(now) && r.at+r.n < len(then) && m.mayBeFrom(r.line+r.n, r.edit, r.at+r.n) {
		if r.weight++; now[r.line+r.n].isDistinctive() {
			r.weight++
		}
		r.n++
	}
	if (r.at == 0 || then[r.at-1] == Blank) && (r.at+r.n == len(then) || then[r.at+r.n] == Blank) {
		r.hunk = r.edit + 1
	}
	return r
}

// block is lines of a run, from one index to another, all of which the edit added, or none.
type block struct {
	alignedRun
	from, to int
	isAdded  bool
	isTorn   bool // the edit added another line beside it that does not stand beside it in the file
}

// blocks are those of a run.
func (m *match) blocks(r alignedRun) (out []block) {
	for from := 0; from < r.n; {
		b := block{alignedRun: r, from: from, to: from + 1, isAdded: m.isAddedByEdit(r, from)}
		for b.to < r.n && m.isAddedByEdit(r, b.to) == b.isAdded {
			b.to++
		}
		b.isTorn = b.isAdded && (from == 0 && m.isMissing(r, -1) || b.to == r.n && m.isMissing(r, r.n))
		out, from = append(out, b), b.to
	}
	return out
}

// isMissing reports whether the edit added the line at index i, beside a run, and the file has another line there.
func (m *match) isMissing(r alignedRun, i int) bool {
	now := m.fileLines.prints
	return m.isAddedByEdit(r, i) && (r.line+i < 0 || r.line+i >= len(now) ||
		now[r.line+i] != m.results[r.edit].prints[r.at+i])
}

// isProven reports whether a block by itself proves that all its lines are those of its edit.
func (m *match) isProven(b block) bool {
	switch {
	case m.wasTaken(b.edit):
		n := m.countNew(b)
		return m.isLong(b) && (n >= 2*minRun || n >= minRun && !b.isTorn)
	case b.isTorn:
		return m.isLong(b) && b.to-b.from >= 2*minRun
	}
	// Only the end of what an edit added may stand elsewhere, too, as a brace before the next function; all of it does
	// not.
	end := b.from == 0 && m.isAddedByEdit(b.alignedRun, -1) || b.to == b.n && m.isAddedByEdit(b.alignedRun, b.n)
	return m.isLong(b) || !end && b.n >= minRun && m.hasUniqueLine(b.line, b.line+b.n)
}

// isLong reports whether a block is lines in a row that prove each other.
func (m *match) isLong(b block) bool {
	return b.to-b.from >= minRun && m.hasUniqueLine(b.line+b.from, b.line+b.to)
}

// countNew is how many lines of a block the commit added, without those that it only moved.
func (m *match) countNew(b block) (n int) {
	for _, at := range m.fileLines.at[b.line+b.from : b.line+b.to] {
		if m.file.Added[at] && !m.removed[m.file.Lines[at]] {
			n++
		}
	}
	return n
}

// findPresent finds the edits that came into the file: by a block, or by half of the distinctive lines that they added.
func (m *match) findPresent(runs []alignedRun) {
	single := map[int]int{}
	for _, r := range runs {
		for _, b := range m.blocks(r) {
			if !b.isAdded {
				continue
			}
			m.isPresent[b.edit] = m.isPresent[b.edit] || m.isProven(b)
			for i := b.from; i < b.to; i++ {
				if m.hasUniqueLine(b.line+i, b.line+i+1) {
					single[b.edit]++
				}
			}
		}
	}
	for edit, n := range single {
		t, all := m.results[edit], 0
		for at := range t.added {
			if t.prints[at].isDistinctive() {
				all++
			}
		}
		m.isPresent[edit] = m.isPresent[edit] || 2*n >= all
	}
}

// claimRun gives the lines of a run to its edit, if they are proven and no other edit has them.
func (m *match) claimRun(r alignedRun) {
	for _, b := range m.blocks(r) {
		counts := b.isAdded && !m.wasTaken(r.edit) && (!b.isTorn || m.isPresent[r.edit])
		proven := b.isAdded && (m.isProven(b) || counts && m.isLong(b))
		for i := b.from; i < b.to && b.isAdded; i++ {
			m.assignLine(r, i, proven || counts && m.hasUniqueLine(r.line+i, r.line+i+1))
		}
	}
}

// isAddedByEdit reports whether the edit added the line at index i of a run; i may lie outside of the run.
func (m *match) isAddedByEdit(r alignedRun, i int) bool { return m.results[r.edit].added[r.at+i] }

// hasUniqueLine reports whether there is a distinctive line in fileLines[from:to] that the file has once.
func (m *match) hasUniqueLine(from, to int) bool {
	return slices.ContainsFunc(m.fileLines.prints[from:to],
		func(p Print) bool { return p.isDistinctive() && m.countInFile[p] == 1 })
}

func (m *match) assignLine(r alignedRun, i int, proven bool) {
	at := m.fileLines.at[r.line+i]
	if proven && m.file.Added[at] && m.lineEdit[at] == 0 && m.unclaimed[r.edit][r.at+i] {
		m.lineEdit[at] = r.edit + 1
		delete(m.unclaimed[r.edit], r.at+i)
	}
}

// assignBlanks gives blank lines between two lines of one edit to that edit.
func (m *match) assignBlanks() {
	for i := 1; i < len(m.lineEdit); i++ {
		if m.file.Lines[i] != Blank || !m.file.Added[i] || m.lineEdit[i-1] == 0 {
			continue
		}
		next := i
		for next < len(m.lineEdit) && m.file.Lines[next] == Blank {
			next++
		}
		if next < len(m.lineEdit) && m.lineEdit[next] == m.lineEdit[i-1] {
			m.lineEdit[i] = m.lineEdit[i-1]
		}
	}
}

// assignRemoved counts each line that the commit removed for the latest edit that removed it.
func (m *match) assignRemoved(lines []Print) {
	last := map[Print]int{}
	for n, e := range m.edits {
		for _, l := range e.Lines {
			if l.Kind == Removed && l.Print.isDistinctive() {
				last[l.Print] = n
			}
		}
	}
	for _, p := range lines {
		if n, ok := last[p]; ok {
			m.removedLines[n]++
		}
	}
}

// matchedLines puts together the lines of edits that one session made at the same time.
func (m *match) matchedLines() (out []MatchedLines) {
	type made struct {
		session string
		at      int64
	}
	all := map[made]*MatchedLines{}
	of := func(edit int) *MatchedLines {
		e := m.edits[edit]
		key := made{e.Session, e.At.UnixMilli()}
		if all[key] == nil {
			all[key] = &MatchedLines{Session: e.Session, At: e.At}
		}
		return all[key]
	}
	for i, edit := range m.lineEdit {
		if edit > 0 {
			w := of(edit - 1)
			w.Lines = append(w.Lines, i)
		}
	}
	for edit, n := range m.removedLines {
		of(edit).Removed += n
	}
	for _, w := range all {
		out = append(out, *w)
	}
	slices.SortFunc(out, func(a, b MatchedLines) int {
		return cmp.Or(cmp.Compare(a.Session, b.Session),
			a.At.Compare(b.At))
	})
	return out
}
