package semantic

import (
	"cmp"
	"math"
	"slices"

	"github.com/git-rekal/git-rekal/internal/search/block"
)

// Model is the vectors of terms, times their idf.
type Model struct {
	Dim   int
	Terms map[string]Vector
}

// Project returns the unit vector of a text, given how often each stem stands in it; all
// zero where no stem is known. A term counts 1 + ln(tf).
func (m *Model) Project(stems map[string]int) []float32 {
	type weighted struct {
		term  string
		count int
	}
	known := make([]weighted, 0, len(stems))
	for s, n := range stems {
		if _, ok := m.Terms[s]; ok {
			known = append(known, weighted{s, n})
		}
	}
	// A sum of floats depends on its order.
	slices.SortFunc(known, func(a, b weighted) int { return cmp.Compare(a.term, b.term) })
	v := make([]float32, m.Dim)
	for _, w := range known {
		m.Terms[w.term].AddTo(v, float32(dampen(w.count)))
	}
	Normalise(v)
	return v
}

// Normalise makes v's length 1, unless it is 0.
func Normalise(v []float32) {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 {
		return
	}
	scale := float32(1 / math.Sqrt(sum))
	for i := range v {
		v[i] *= scale
	}
}

func dampen(tf int) float64 { return 1 + math.Log(float64(tf)) }

// Pack returns the term vectors as blocks, and their fence.
func (m *Model) Pack() (block.Fence, [][]byte) {
	terms := make([]string, 0, len(m.Terms))
	for t := range m.Terms {
		terms = append(terms, t)
	}
	slices.Sort(terms)
	var w block.Writer
	var buf []byte
	for _, t := range terms {
		buf = m.Terms[t].Append(buf[:0])
		w.Add(t, buf)
	}
	w.Flush()
	return w.Fence, w.Blocks
}

// Unpack adds the term vectors of a block to m, those that want accepts.
func (m *Model) Unpack(data []byte, want func(term string) bool) error {
	return block.Each(data, func(term string, value []byte) error {
		if !want(term) {
			return nil
		}
		v, err := DecodeVector(value, m.Dim)
		m.Terms[term] = v
		return err
	})
}
