package session

import (
	"cmp"
	"slices"
)

// Tally is the numbers of the marks that count for one session or memory, each number once: of marks that purge it, and
// of marks that restore it.
type Tally struct{ Purges, Restores []int }

// maxJump is by how much a number may be above the count of the marks: numbers go up by one, and a mark or two
// may not be here. It is far more than anybody needs, and far from MaxMark.
const maxJump = 1000

// Add adds the number of a mark.
func (t *Tally) Add(n int, purges bool) {
	in := &t.Restores
	if purges {
		in = &t.Purges
	}
	if i, found := slices.BinarySearch(*in, n); !found {
		*in = slices.Insert(*in, i, n)
	}
}

// Outcome is the state that the marks lead to: the mark with the highest number decides, at a tie a purge. A number
// higher than the count of the marks counts as that count, but less than a mark that really has this number. So the
// next honest mark decides, whatever numbers others chose. n is the number that decided; 0 without marks.
func (t Tally) Outcome() (purged bool, n int) {
	limit := len(t.Purges) + len(t.Restores) + maxJump
	weight := func(n int) int {
		if n > limit {
			return 2*limit - 1
		}
		return 2 * n
	}
	for _, m := range slices.Concat(t.Purges, t.Restores) {
		if cmp.Or(cmp.Compare(weight(m), weight(n)), cmp.Compare(m, n)) > 0 {
			n = m
		}
	}
	return slices.Contains(t.Purges, n), min(n, limit)
}

// Marks are the marks of one session or memory that count in a clone.
type Marks struct {
	All Tally
	Own Tally // those of the clone's own ledgers
}

// Purged reports what the marks come to. One's own purge holds until one's own restore: whoever restores elsewhere need
// not have known of it.
func (m Marks) Purged() bool {
	all, _ := m.All.Outcome()
	own, _ := m.Own.Outcome()
	return all || own
}

// Add adds the number of a mark, of one's own or of another's.
func (m *Marks) Add(n int, purges, own bool) {
	if m.All.Add(n, purges); own {
		m.Own.Add(n, purges)
	}
}

// NextNumbers are the numbers of the marks that the user's own ledger has to add to purge or restore: mostly one; none
// if the item is in that state already; two if a number was chosen so that it counts only with one mark more.
func (m Marks) NextNumbers(purge bool) []int {
	m = Marks{m.All.clone(), m.Own.clone()}
	var out []int
	for _, n := m.All.Outcome(); m.Purged() != purge; {
		n++
		m.Add(n, purge, true)
		out = append(out, n)
	}
	return out
}

func (t Tally) clone() Tally { return Tally{slices.Clone(t.Purges), slices.Clone(t.Restores)} }
