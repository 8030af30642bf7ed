package compress

import (
	"cmp"
	"slices"
)

// Fault is a line that says what went wrong.
type Fault struct {
	Text string
	Sure bool // a failing test, or an error with its place; others are errors by their words alone
}

// Faults are the lines of an output that say what went wrong, in their order and one of each kind at least, up to most.
// For an output without such a line they are none.
func Faults(output string, most int) (out []Fault) {
	c := New(Options{})
	_, _ = c.Write([]byte(output)) // never fails
	c.lines.end(c.line)
	c.goTest.releaseRunning(&c.keep)
	type line struct {
		Fault
		seq, nth int
	}
	var all []line
	for _, g := range c.keep.groups {
		if g.kind < trivial || g.kind == total {
			continue
		}
		for nth, m := range g.members {
			all = append(all, line{Fault{m.text, g.kind > trivial}, m.seq, nth})
		}
	}
	slices.SortFunc(all, func(a, b line) int { return cmp.Or(cmp.Compare(a.nth, b.nth), cmp.Compare(a.seq, b.seq)) })
	all = all[:min(len(all), most)]
	slices.SortFunc(all, func(a, b line) int { return cmp.Compare(a.seq, b.seq) })
	for _, l := range all {
		out = append(out, l.Fault)
	}
	return out
}

// Names are the symbols, test IDs and codes in a line, and the files that it names.
func Names(line string) (terms, paths []string) {
	r := Result{Text: line}.withTerms()
	return r.Terms, r.Paths
}
