package semantic

import (
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

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
	p := m.Projector()
	return p.Project(p.Places(stems))
}

// Projector projects many texts. Several goroutines may use it.
type Projector struct {
	Dim    int
	places map[string]int32 // of terms, in their order
	scale  []float32        // by place
	rows   []float32        // by place, before they are scaled
}

// Projector lays out what is needed of each text.
func (m *Model) Projector() *Projector {
	p := &Projector{Dim: m.Dim, places: make(map[string]int32, len(m.Terms)), rows: make([]float32, 0, m.Dim*len(m.Terms))}
	for i, t := range slices.Sorted(maps.Keys(m.Terms)) {
		p.places[t] = int32(i)
		p.scale = append(p.scale, m.Terms[t].Scale)
		for _, x := range m.Terms[t].Q {
			p.rows = append(p.rows, float32(int8(x)))
		}
	}
	return p
}

// Places are those of stems in the model, -1 for one that it does not know.
func (p *Projector) Places(stems []string) []int32 {
	out := make([]int32, len(stems))
	for i, s := range stems {
		place, ok := p.places[s]
		if !ok {
			place = -1
		}
		out[i] = place
	}
	return out
}

// Project is Model.Project of stems in these places.
func (p *Projector) Project(places []int32) []float32 {
	// A sum of floats depends on its order.
	places = slices.Sorted(slices.Values(places))
	v := make([]float32, p.Dim)
	for i := 0; i < len(places); {
		j := i
		for j < len(places) && places[j] == places[i] {
			j++
		}
		if at := int(places[i]); at >= 0 {
			blas32.Axpy(float32(dampen(j-i))*p.scale[at], vector(p.rows[at*p.Dim:(at+1)*p.Dim]), vector(v))
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

func dampen(tf int) float64 {
	if tf == 1 { // by far the most
		return 1
	}
	return 1 + math.Log(float64(tf))
}

// Pack returns the term vectors as blocks, and their fence.
func (m *Model) Pack() (block.Fence, []byte) {
	var w block.Writer
	var buf []byte
	for _, t := range slices.Sorted(maps.Keys(m.Terms)) {
		buf = m.Terms[t].Append(buf[:0])
		w.Add(t, buf)
	}
	w.Flush()
	return w.Fence, w.Take()
}

// Unpack adds the term vectors of blocks to m, those that want accepts.
func (m *Model) Unpack(data []byte, want func(term []byte) bool) error {
	e := block.NewEntries(data)
	for e.Next() {
		if !want(e.Key) {
			continue
		}
		v, err := DecodeVector(e.Value, m.Dim)
		if err != nil {
			return err
		}
		m.Terms[string(e.Key)] = v
	}
	return e.Err()
}
