package lexical

import (
	"github.com/git-rekal/git-rekal/internal/search/block"
	"github.com/git-rekal/git-rekal/internal/search/query"
)

// Counts say how rare the terms of a question are. The counts of several indexes are added, which makes the scores of
// these indexes comparable. A term that no index holds is not counted.
type Counts struct {
	Units    float64 // live ones that are no titles
	Sessions float64 // live ones
	Terms    map[string]Count
}

// Count is how much of an index holds a term.
type Count struct {
	Units    int // that are no titles
	Sessions int
}

// Add adds the counts of another index.
func (c *Counts) Add(other Counts) {
	c.Units, c.Sessions = c.Units+other.Units, c.Sessions+other.Sessions
	for term, n := range other.Terms {
		if c.Terms == nil {
			c.Terms = map[string]Count{}
		}
		sum := c.Terms[term]
		c.Terms[term] = Count{sum.Units + n.Units, sum.Sessions + n.Sessions}
	}
}

// countOf is the count of a term; none where nobody counted it.
func (c *Counts) countOf(term string) (Count, bool) {
	if c == nil {
		return Count{}, false
	}
	n, ok := c.Terms[term]
	return n, ok
}

// Holds reports whether a term was counted.
func (c *Counts) Holds(term string) bool {
	_, ok := c.countOf(term)
	return ok
}

// Count counts the terms of q.
func (x *Index) Count(q query.Query, lists Lists) (Counts, error) {
	out := Counts{Units: x.n, Sessions: x.sessions, Terms: make(map[string]Count)}
	for _, t := range q.Terms {
		n, err := x.countTerm(lists[t.Text])
		if err != nil {
			return Counts{}, err
		}
		if n != (Count{}) {
			out.Terms[t.Text] = n
		}
	}
	return out, nil
}

func (x *Index) countTerm(lists []*List) (n Count, err error) {
	counted := make(map[int32]bool)
	for run, l := range lists {
		if l == nil {
			continue
		}
		at, c := x.partCursor(run), l.cursor()
		for c.next() {
			p := at.find(c.unit)
			if x.isOut(run, at.at) || x.replaced[run][at.at] {
				continue
			}
			if p.Kind != Title {
				n.Units++
			}
			if !counted[p.Session] {
				counted[p.Session] = true
				n.Sessions++
			}
		}
		if c.bad {
			return Count{}, block.ErrFormat
		}
	}
	return n, nil
}
