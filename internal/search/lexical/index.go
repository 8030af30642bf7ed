package lexical

import "github.com/git-rekal/git-rekal/internal/search/block"

// Index is what scoring needs besides postings: the units and sessions of all runs.
type Index struct {
	Sessions []string // IDs by session number

	runs     []*Header
	first    [][]uint32 // by run and part: the part's first unit, and behind the last the run's end
	dead     []bool     // by session: hidden
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
	x := &Index{runs: headers, hides: len(hidden) > 0}
	for _, h := range headers {
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
	for _, h := range headers {
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
			if x.dead[p.Session] {
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

// CountVisible is how many sessions are not hidden.
func (x *Index) CountVisible() int { return int(x.sessions) }
