package attribution

import (
	"cmp"
	"slices"
	"time"
)

// A transcript says which lines an edit added, and a commit's diff says which lines it brought. Match compares the two:
//
//   - Lines are compared by prints: hashes without white space.
//   - A line that tells something, and stands in the file once, proves something. So does a run of three lines or more around one.
//     A brace or a `return nil, err` goes with its neighbours.
//   - The latest edit counts that stands there whole, with its context. Otherwise the longest run counts.
//   - An edit of which a part was committed before is spent: what a person types later may read like the rest of it.

// CommittedFile is a file as a commit left it, with what the commit changed in it.
type CommittedFile struct {
	Lines   []Print      // of the whole file
	Added   map[int]bool // indexes of those that the commit brought
	Removed []Print      // lines that it took away
}

// MatchedLines says which of the lines that a commit brought into a file one session wrote at one time.
type MatchedLines struct {
	Session string
	Lines   []int     // indexes, in order
	Removed int       // how many of the lines that vanished it took away
	At      time.Time // of the edit
}

// Each file has a closing brace, and many have `return nil, err` ten times: such a line goes with its neighbours. What proves
// something is a line that tells something and stands in the file once, and so does a run of so many lines, as they stand in the
// edit, around one.
const minRun = 3

// maxPlaces is at how many places of edits a line is looked for, the latest ones.
const maxPlaces = 64

// Match says which sessions wrote the lines that a commit brought into a file, by the edits of the file that were made
// before it. Where several edits hold a line, the latest counts of those that stand there whole, with all their context; else the one
// with which it has most of its neighbours in common. Each line of an edit counts once. They stand in the order of the sessions' IDs and of time.
func Match(f CommittedFile, edits []Edit) []MatchedLines {
	edits = relevantEdits(f, edits)
	slices.SortStableFunc(edits, func(a, b Edit) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Session, b.Session)) })
	m := newMatch(f, edits)
	runs := m.findRuns()
	slices.SortStableFunc(runs, func(a, b aligned) int {
		return cmp.Or(cmp.Compare(b.hunk, a.hunk), cmp.Compare(b.weight, a.weight), cmp.Compare(b.edit, a.edit), cmp.Compare(a.line, b.line))
	})
	for _, r := range runs {
		m.claimRun(r)
	}
	m.assignBlanks()
	m.assignRemoved(f.Removed)
	return m.matchedLines()
}

// relevantEdits leaves out edits that added, of lines that tell something, only what the commit did not bring: of a file that sessions
// worked on for months, these are nearly all. Where one may claim what earlier ones wrote, all count.
func relevantEdits(f CommittedFile, edits []Edit) []Edit {
	now := map[Print]bool{}
	for i := range f.Added {
		now[f.Lines[i]] = f.Added[i] || now[f.Lines[i]]
	}
	for _, p := range f.Removed {
		now[p] = true
	}
	if slices.ContainsFunc(edits, func(e Edit) bool { return e.FullContent }) {
		return slices.Clone(edits)
	}
	var out []Edit
	for _, e := range edits {
		tells, some := false, false
		for _, l := range e.Lines {
			if l.Print.tells() && (l.Kind == Added || l.Kind == Removed) {
				tells, some = true, some || now[l.Print]
			}
		}
		if some || !tells {
			out = append(out, e)
		}
	}
	return out
}

// lineSequence is a sequence of lines without the blank ones.
type lineSequence struct {
	prints []Print
	at     []int        // where each stands
	added  map[int]bool // of an edit: those that it added
}

func (t *lineSequence) add(p Print, at int) {
	if p != Blank {
		t.prints, t.at = append(t.prints, p), append(t.at, at)
	}
}

// textOf is what an edit left. A gap stands there as a line like which the file has none.
func textOf(e Edit) lineSequence {
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

// match is the work of one comparison.
type match struct {
	file            CommittedFile
	edits           []Edit
	now             lineSequence      // the file
	texts           []lineSequence    // what each edit left
	unclaimed       []map[int]bool    // of each edit's text: lines that it added, and that nobody has yet
	places          map[Print][]place // where a line stands in edits
	countInFile     map[Print]int     // how often a line stands in the file
	committedBefore map[int]bool      // edits of which something was committed before: what a person types later may read like the rest
	by              []int             // of each line of the file: the edit that it is from, counted from 1; 0 where there is none
	removedLines    map[int]int       // edit → lines of it that vanished
}

func newMatch(f CommittedFile, edits []Edit) *match {
	m := &match{file: f, edits: edits, places: map[Print][]place{}, countInFile: map[Print]int{}, committedBefore: map[int]bool{}, by: make([]int, len(f.Lines)), removedLines: map[int]int{}}
	for i, p := range f.Lines {
		m.now.add(p, i)
		m.countInFile[p]++
	}
	known := map[Print]bool{}
	for n, e := range edits {
		t, fresh := textOf(e), map[int]bool{}
		for i, p := range t.prints {
			fresh[i] = t.added[i] && (!e.FullContent || !known[p])
			if p != Blank {
				m.places[p] = append(m.places[p], place{n, i})
			}
		}
		for i, p := range t.prints {
			known[p] = known[p] || fresh[i]
		}
		m.texts, m.unclaimed = append(m.texts, t), append(m.unclaimed, fresh)
	}
	m.findCommittedBefore()
	return m
}

// findCommittedBefore finds the edits of which a telling line stands in the file that this commit did not bring.
func (m *match) findCommittedBefore() {
	now := map[Print]bool{}
	for i, p := range m.now.prints {
		now[p] = now[p] || m.file.Added[m.now.at[i]]
	}
	for p, added := range now {
		for _, at := range m.places[p] {
			if !added && p.tells() && m.texts[at.edit].added[at.line] && !m.edits[at.edit].FullContent {
				m.committedBefore[at.edit] = true
			}
		}
	}
}

// aligned is a run of lines that stand in the file as they stand in an edit.
type aligned struct {
	line, edit, at int // where it begins: in the file, and in which edit
	n              int
	weight         int // telling lines count twice
	hunk           int // the edit, from 1 on, where the run is all of a part of it; else 0
}

// findRuns finds the longest ones around lines that prove something.
func (m *match) findRuns() (out []aligned) {
	type diagonal struct{ edit, shift int }
	done := map[diagonal]int{}
	for i, p := range m.now.prints {
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

// mayBeFrom reports whether a line of the file may be one of an edit. What an edit added and another commit brought is in that commit, with
// its neighbours: where a function is put in front of another one, the brace at its end is not that of the other's author.
func (m *match) mayBeFrom(i int, e, at int) bool {
	t := m.texts[e]
	return m.now.prints[i] == t.prints[at] && (m.file.Added[m.now.at[i]] || !t.added[at] || m.edits[e].FullContent)
}

// align is the run through a line of the file and one of an edit.
func (m *match) align(i int, at place) aligned {
	now, then := m.now.prints, m.texts[at.edit].prints
	r := aligned{line: i, edit: at.edit, at: at.line}
	for r.line > 0 && r.at > 0 && m.mayBeFrom(r.line-1, r.edit, r.at-1) {
		r.line, r.at = r.line-1, r.at-1
	}
	for r.line+r.n < len(now) && r.at+r.n < len(then) && m.mayBeFrom(r.line+r.n, r.edit, r.at+r.n) {
		if r.weight++; now[r.line+r.n].tells() {
			r.weight++
		}
		r.n++
	}
	if (r.at == 0 || then[r.at-1] == Blank) && (r.at+r.n == len(then) || then[r.at+r.n] == Blank) {
		r.hunk = r.edit + 1
	}
	return r
}

// claimRun gives the lines of a run to its edit, as far as nobody has them and they prove something.
func (m *match) claimRun(r aligned) {
	proven := r.n >= minRun && m.hasUniqueLine(r.line, r.line+r.n)
	for from := 0; from < r.n; {
		to := from + 1
		for to < r.n && m.added(r, to) == m.added(r, from) {
			to++
		}
		// The end of what an edit added stands elsewhere, too: a brace before the next function. All of it does not.
		part := from == 0 && m.added(r, -1) || to == r.n && m.added(r, r.n)
		whole := proven && !part && !m.committedBefore[r.edit] || to-from >= minRun && m.hasUniqueLine(r.line+from, r.line+to)
		for i := from; i < to && m.added(r, from); i++ {
			m.assignLine(r, i, whole || !m.committedBefore[r.edit] && m.hasUniqueLine(r.line+i, r.line+i+1))
		}
		from = to
	}
}

// added reports whether the edit added a line of a run, or one beside it.
func (m *match) added(r aligned, i int) bool { return m.texts[r.edit].added[r.at+i] }

// hasUniqueLine reports whether a part of the file has a telling line that stands in the file once.
func (m *match) hasUniqueLine(from, to int) bool {
	return slices.ContainsFunc(m.now.prints[from:to], func(p Print) bool { return p.tells() && m.countInFile[p] == 1 })
}

func (m *match) assignLine(r aligned, i int, proven bool) {
	at := m.now.at[r.line+i]
	if proven && m.file.Added[at] && m.by[at] == 0 && m.unclaimed[r.edit][r.at+i] {
		m.by[at] = r.edit + 1
		delete(m.unclaimed[r.edit], r.at+i)
	}
}

// assignBlanks gives blank lines between two of one edit to that edit.
func (m *match) assignBlanks() {
	for i := 1; i < len(m.by); i++ {
		if m.file.Lines[i] != Blank || !m.file.Added[i] || m.by[i-1] == 0 {
			continue
		}
		next := i
		for next < len(m.by) && m.file.Lines[next] == Blank {
			next++
		}
		if next < len(m.by) && m.by[next] == m.by[i-1] {
			m.by[i] = m.by[i-1]
		}
	}
}

// assignRemoved gives each line that vanished to the latest edit that took it away.
func (m *match) assignRemoved(lines []Print) {
	last := map[Print]int{}
	for n, e := range m.edits {
		for _, l := range e.Lines {
			if l.Kind == Removed && l.Print.tells() {
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

// matchedLines puts together what edits of one session have that were made at once: a prompt is behind each.
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
	for i, edit := range m.by {
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
	slices.SortFunc(out, func(a, b MatchedLines) int { return cmp.Or(cmp.Compare(a.Session, b.Session), a.At.Compare(b.At)) })
	return out
}
