package lsa

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"
)

// How a model is trained. The figures behind each are in docs/lab/search.md.
const (
	dimensions = 128 // at most, fewer where there are few windows; 64 to 300 rank the same
	minWindows = 3   // windows that must hold a term: a word in one place is in two windows
	passes     = 2   // of subspace iteration: 1 ranks a little worse, 4 no better
	seed       = 1
)

// How many words a window of a text has, and how many lie between the beginnings of two windows.
const (
	windowSize = 100
	windowStep = 50
)

// Corpus is the windows that a model is trained on.
type Corpus struct {
	ids   map[string]int32
	stems []int32 // of all windows
	start []int   // of each window in stems
}

// Add adds the windows of a text, given its stems: each of windowSize of them, and beginning windowStep behind the one
// before.
func (c *Corpus) Add(stems []string) {
	for from := 0; from < len(stems); from += windowStep {
		to := min(from+windowSize, len(stems))
		if c.addWindow(stems[from:to]); to == len(stems) {
			break
		}
	}
}

func (c *Corpus) addWindow(stems []string) {
	if c.ids == nil {
		c.ids = make(map[string]int32)
	}
	c.start = append(c.start, len(c.stems))
	for _, s := range stems {
		id, ok := c.ids[s]
		if !ok {
			id = int32(len(c.ids))
			c.ids[s] = id
		}
		c.stems = append(c.stems, id)
	}
	slices.Sort(c.stems[c.start[len(c.start)-1]:])
}

// Windows is how many there are.
func (c *Corpus) Windows() int { return len(c.start) }

// each calls f for each stem of window w, with how often it stands there.
func (c *Corpus) each(w int, f func(id int32, n int)) {
	end := len(c.stems)
	if w+1 < len(c.start) {
		end = c.start[w+1]
	}
	for i := c.start[w]; i < end; {
		j := i
		for j < end && c.stems[j] == c.stems[i] {
			j++
		}
		f(c.stems[i], j-i)
		i = j
	}
}

// Train finds the subspace in which the windows vary most: the span of the leading right
// singular vectors of the window-term matrix (tf damped, times idf, rows of length 1). It
// returns nil when there are too few windows.
//
// Only inner products of projections are ever used, so any orthonormal basis of that subspace
// serves: subspace iteration (Halko, Martinsson and Tropp, 2011, algorithm 4.4) without the
// final small decomposition.
func Train(c *Corpus) *Model {
	terms, weights := c.vocabulary()
	dim := min(dimensions, c.Windows()/3, len(terms)/3)
	if dim < 2 {
		return nil
	}
	a := newSparse(c, terms, weights)
	basis := gaussian(len(terms), dim)
	for range passes {
		y := a.times(basis, dim)
		orthonormalise(y, dim)
		basis = a.transposedTimes(y, dim)
	}
	orthonormalise(basis, dim)
	m := &Model{Dim: dim, places: make(map[string]int32, len(terms)), rows: basis}
	for i, t := range terms {
		m.places[t] = int32(i)
		blas32.Scal(weights[i], vector(basis[i*dim:(i+1)*dim]))
	}
	return m
}

// vocabulary returns, sorted, the terms that enough windows hold but not most, and their
// idf.
func (c *Corpus) vocabulary() ([]string, []float32) {
	df := make([]int, len(c.ids))
	for w := range c.Windows() {
		c.each(w, func(id int32, _ int) { df[id]++ })
	}
	var terms []string
	for t, id := range c.ids {
		if n := df[id]; n >= minWindows && 2*n < c.Windows() {
			terms = append(terms, t)
		}
	}
	slices.Sort(terms)
	weights := make([]float32, len(terms))
	for i, t := range terms {
		weights[i] = float32(math.Log(float64(c.Windows()) / float64(df[c.ids[t]])))
	}
	return terms, weights
}

func gaussian(rows, cols int) []float32 {
	r := rand.New(rand.NewPCG(seed, seed))
	x := make([]float32, rows*cols)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

// sparse is a matrix in compressed rows.
type sparse struct {
	start  []int // of each row in column and value, and the end
	column []int32
	value  []float32
	cols   int
}

func newSparse(c *Corpus, terms []string, weights []float32) *sparse {
	column := make([]int32, len(c.ids)) // by id; -1 for none
	for i := range column {
		column[i] = -1
	}
	for i, t := range terms {
		column[c.ids[t]] = int32(i)
	}
	a := &sparse{cols: len(terms)}
	for w := range c.Windows() {
		a.start = append(a.start, len(a.value))
		c.each(w, func(id int32, n int) {
			if col := column[id]; col >= 0 {
				a.column = append(a.column, col)
				a.value = append(a.value, float32(dampen(n))*weights[col])
			}
		})
		normalise(a.value[a.start[w]:])
	}
	a.start = append(a.start, len(a.value))
	return a
}

func (a *sparse) rows() int { return len(a.start) - 1 }

// times returns a·x, where x has a.cols rows of k.
func (a *sparse) times(x []float32, k int) []float32 {
	y := make([]float32, a.rows()*k)
	for i := range a.rows() {
		row := vector(y[i*k : (i+1)*k])
		for p := a.start[i]; p < a.start[i+1]; p++ {
			c := int(a.column[p]) * k
			blas32.Axpy(a.value[p], vector(x[c:c+k]), row)
		}
	}
	return y
}

// transposedTimes returns aᵀ·y, where y has a.rows() rows of k.
func (a *sparse) transposedTimes(y []float32, k int) []float32 {
	z := make([]float32, a.cols*k)
	for i := range a.rows() {
		row := vector(y[i*k : (i+1)*k])
		for p := a.start[i]; p < a.start[i+1]; p++ {
			c := int(a.column[p]) * k
			blas32.Axpy(a.value[p], row, vector(z[c:c+k]))
		}
	}
	return z
}

func vector(x []float32) blas32.Vector {
	return blas32.Vector{N: len(x), Inc: 1, Data: x}
}

// orthonormalise makes the k columns of z orthonormal by Cholesky-QR: two passes over z
// instead of the k of Gram-Schmidt. A small shift keeps the factorisation possible when
// columns are nearly dependent (Fukaya et al., 2020).
func orthonormalise(z []float32, k int) {
	m := blas32.General{Rows: len(z) / k, Cols: k, Stride: k, Data: z}
	gram := blas32.Symmetric{N: k, Stride: k, Data: make([]float32, k*k), Uplo: blas.Upper}
	blas32.Syrk(blas.Trans, 1, m, 0, gram)
	trace := 0.0
	for i := range k {
		trace += float64(gram.Data[i*k+i])
	}
	const shift = 1e-6
	sym := mat.NewSymDense(k, nil)
	for i := range k {
		for j := i; j < k; j++ {
			sym.SetSym(i, j, float64(gram.Data[i*k+j]))
		}
		sym.SetSym(i, i, sym.At(i, i)+shift*trace/float64(k))
	}
	var chol mat.Cholesky
	if !chol.Factorize(sym) {
		return // all zero: nothing to span
	}
	var upper mat.TriDense
	chol.UTo(&upper)
	r := blas32.Triangular{N: k, Stride: k, Data: make([]float32, k*k), Uplo: blas.Upper, Diag: blas.NonUnit}
	for i := range k {
		for j := i; j < k; j++ {
			r.Data[i*k+j] = float32(upper.At(i, j))
		}
	}
	blas32.Trsm(blas.Right, blas.NoTrans, 1, r, m)
}
