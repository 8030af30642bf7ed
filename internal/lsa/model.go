// Package lsa compares texts by latent semantic analysis (Deerwester et al., 1990): Train turns the windows of a
// Corpus, of about 100 words each, into a Model with a vector for each term. A text's vector is the sum of its terms'
// vectors. SQL has these in session_embeddings; nothing else uses them. It stores nothing.
//
// Promises: training and projecting depend on their input alone, to the bit, on any number of threads.
package lsa

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
	normalise(v)
	return v
}

// normalise makes v's length 1, unless it is 0.
func normalise(v []float32) {
	if length := blas32.Nrm2(vector(v)); length > 0 {
		blas32.Scal(1/length, vector(v))
	}
}

func dampen(tf int) float64 {
	if tf == 1 { // by far the most
		return 1
	}
	return 1 + math.Log(float64(tf))
}
