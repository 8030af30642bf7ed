package session

import (
	"cmp"
	"slices"
)

// Tally is the numbers of the marks that count for one session or memory, each once: of those that purge it, and
// of those that restore it.
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

// Outcome is what the marks come to: the one with the highest number decides, at a tie a purge. A number that the
// count of the marks does not explain counts as the highest that it does, and less than a mark that has that
// number. So the next mark decides, whatever number stands there. n is the one that decided; 0 for no marks.
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

// Purged reports what the marks come to. One's own purge holds until one's own restore: whoever restores elsewhere need not have known
// of it.
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

// NextNumbers are the numbers of one's own marks that purge or restore: one, but where a number was chosen so that one mark more lets it count;
// none, where it is so already.
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
