// Package semantic compares texts by meaning: by vectors of 8 bits a dimension, which an embedding model makes of passages, and by latent
// semantic analysis (Deerwester et al., 1990) over windows of about 100 words.
//
// Train turns the windows of a Corpus into a Model with a vector for each term. A text's vector is the sum of its terms' vectors. It stores
// nothing: vectors come and go as bytes.
//
// Promises: training and projecting depend on their input alone, to the bit, on any number of threads.
package semantic

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
)

// Model is the vectors of terms, times their idf. Several goroutines may use it.
type Model struct {
	Dim    int
	places map[string]int32 // of terms, in their order
	rows   []float32        // by place
}

// Project returns the unit vector of a text, given its stems; all zero where none is known. A
// term counts 1 + ln(tf).
func (m *Model) Project(stems []string) []float32 {
	var places []int32
	for _, s := range stems {
		if place, ok := m.places[s]; ok {
			places = append(places, place)
		}
	}
	slices.Sort(places) // a sum of floats depends on its order
	v := make([]float32, m.Dim)
	for i := 0; i < len(places); {
		j := i
		for j < len(places) && places[j] == places[i] {
			j++
		}
		at := int(places[i]) * m.Dim
		blas32.Axpy(float32(dampen(j-i)), vector(m.rows[at:at+m.Dim]), vector(v))
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
