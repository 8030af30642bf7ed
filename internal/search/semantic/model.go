package semantic

import (
	"math"
	"slices"

	"github.com/git-rekal/git-rekal/internal/search/block"
)

// Model is the vectors of terms, times their idf.
type Model struct {
	Dim   int
	Terms map[string]Vector
}

// Project returns the unit vector of a text, given its stems; all zero where none is known. A
// term counts 1 + ln(tf).
func (m *Model) Project(stems []string) []float32 {
	// A sum of floats depends on its order.
	stems = slices.Sorted(slices.Values(stems))
	v := make([]float32, m.Dim)
	for i := 0; i < len(stems); {
		j := i
		for j < len(stems) && stems[j] == stems[i] {
			j++
		}
		if t, ok := m.Terms[stems[i]]; ok {
			t.AddTo(v, float32(dampen(j-i)))
		}
		i = j
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
func (m *Model) Pack() (block.Fence, []byte) {
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
	return w.Fence, w.Take()
}

// Unpack adds the term vectors of blocks to m, those that want accepts.
func (m *Model) Unpack(data []byte, want func(term string) bool) error {
	e := block.NewEntries(data)
	for e.Next() {
		term := string(e.Key)
		if !want(term) {
			continue
		}
		v, err := DecodeVector(e.Value, m.Dim)
		if err != nil {
			return err
		}
		m.Terms[term] = v
	}
	return e.Err()
}
