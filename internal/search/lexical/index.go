package lexical

import "github.com/git-rekal/git-rekal/internal/search/block"

// Index is what scoring needs besides postings: the units and sessions of all runs.
type Index struct {
	Sessions []string // IDs by session number

	runs     []*Header
	first    [][]uint32 // by run and part: the part's first unit, and behind the last the run's end
	dead     []bool     // by session: hidden
	later    [][]bool   // by run and part: it came later than the moment that is asked; nil for today
	replaced [][]bool   // by run and part: a title that a later one replaced
	hides    bool       // whether any session is
	units    int
	n        float64 // live units that are no titles
	words    float64 // in those
	stems    float64
	sessions float64 // live sessions
	length   []int   // words of each session, the title's included
	total    float64 // of all live sessions
}

// NewIndex joins the headers of runs that follow each other, but hides the sessions
// whose numbers are in hidden. The error is block.ErrFormat.
func NewIndex(headers []*Header, hidden []int) (*Index, error) {
	return NewIndexAsOf(headers, hidden, nil)
}

// NewIndexAsOf is NewIndex without units that came later than a moment: some from one to the one behind the last, in
// order.
func NewIndexAsOf(headers []*Header, hidden []int, later [][2]int) (*Index, error) {
	x := &Index{runs: headers, hides: len(hidden)+len(later) > 0}
	if len(later) > 0 {
		x.runs, x.later = splitAtMoment(headers, later)
	}
	for _, h := range x.runs {
		if h.Base != x.units || h.FirstSession != len(x.Sessions) {
			return nil, block.ErrFormat
		}
		x.Sessions = append(x.Sessions, h.Sessions...)
		x.units += h.Units()
	}
	x.dead = make([]bool, len(x.Sessions))
	for _, s := range hidden {
		if s < 0 || s >= len(x.dead) {
			return nil, block.ErrFormat
		}
		x.dead[s] = true
	}
	for _, h := range x.runs {
		for _, p := range h.Parts {
			if p.Session < 0 || int(p.Session) >= len(x.dead) {
				return nil, block.ErrFormat
			}
		}
	}
	x.count()
	return x, nil
}

// count fills in what is known of the parts, and the totals.
func (x *Index) count() {
	type place struct{ run, behind int }
	x.length = make([]int, len(x.Sessions))
	titles := make([]place, len(x.Sessions)) // of each session, the part behind its last one so far; 0: it has none
	for r, h := range x.runs {
		first := make([]uint32, len(h.Parts)+1)
		x.replaced = append(x.replaced, make([]bool, len(h.Parts)))
		unit := uint32(h.Base)
		for i, p := range h.Parts {
			first[i] = unit
			unit += uint32(p.Units)
			if x.isOut(r, i) {
				continue
			}
			x.length[p.Session] += weightOfKind(p.Kind) * int(p.Words)
			if p.Kind != Title {
				x.n += float64(p.Units)
				x.words += float64(p.Words)
				x.stems += float64(p.Stems)
				continue
			}
			if old := titles[p.Session]; old.behind > 0 {
				x.replaced[old.run][old.behind-1] = true
				x.length[p.Session] -= weightTitle * int(x.runs[old.run].Parts[old.behind-1].Words)
			}
			titles[p.Session] = place{r, i + 1}
		}
		first[len(h.Parts)] = unit
		x.first = append(x.first, first)
	}
	for s, n := range x.length {
		if !x.dead[s] {
			x.sessions++
			x.total += float64(n)
		}
	}
}

// isOut reports whether a part does not count: it is a hidden session's, or came later than the moment that is asked.
func (x *Index) isOut(run, part int) bool {
	return x.dead[x.runs[run].Parts[part].Session] || x.later != nil && x.later[run][part]
}

// splitAtMoment parts what came later from what did not.
func splitAtMoment(headers []*Header, later [][2]int) (split []*Header, isLater [][]bool) {
	for _, h := range headers {
		one := *h
		one.Parts = nil
		var marks []bool
		unit := h.Base
		for _, p := range h.Parts {
			for end := unit + int(p.Units); unit < end; {
				for len(later) > 0 && later[0][1] <= unit {
					later = later[1:]
				}
				next, is := end, len(later) > 0 && later[0][0] <= unit
				if is {
					next = min(end, later[0][1])
				} else if len(later) > 0 {
					next = min(end, later[0][0])
				}
				one.Parts, marks = append(one.Parts, h.cutOut(p, unit, next)), append(marks, is)
				p.Turn += int32(next - unit)
				unit = next
			}
		}
		split, isLater = append(split, &one), append(isLater, marks)
	}
	return split, isLater
}

// cutOut is the part of p from a unit on to another one. Of a piece, the words are known as well as the norms of units
// are.
func (h *Header) cutOut(p Part, from, to int) Part {
	if int(p.Units) == to-from {
		return p
	}
	p.Units, p.Words, p.Stems = int32(to-from), 0, 0
	for unit := from - h.Base; unit < to-h.Base; unit++ {
		p.Words += int32(normLength(h.Words[unit]))
		p.Stems += int32(normLength(h.Stems[unit]))
	}
	return p
}

// weightOfKind is how often a word of such a unit counts in its session as a whole.
func weightOfKind(k Kind) int {
	if k == Title {
		return weightTitle
	}
	return 1
}

// Units is how many units there are.
func (x *Index) Units() int { return x.units }

// IsHidden reports whether a session is hidden.
func (x *Index) IsHidden(session int) bool { return x.dead[session] }
