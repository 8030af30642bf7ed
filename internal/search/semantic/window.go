// Package semantic finds sessions that say the same in other words: latent semantic analysis (Deerwester et al., 1990) over windows of about
// 100 words.
//
// A session's words, without function words, form one stream. Half-overlapping windows of Size words cut it. Train turns windows into a
// Model with a vector for each term. A text's vector is the sum of its terms' vectors. It stores nothing: vectors come and go as bytes.
//
// Promises: training and projecting depend on their input alone, to the bit, on any number of threads; a window's vector depends only on
// the model and the window.
package semantic

// Size is a window's length in words and Step the distance between two windows. The unit
// decides: per session, LSA ranked worse than words alone, per window better (docs/lab/search.md).
const (
	Size = 100
	Step = 50
)

// Count is the number of windows of a stream of n words. The last one may be shorter.
func Count(n int) int {
	if n <= Size {
		return min(n, 1)
	}
	return (n-Size+Step-1)/Step + 1
}

// Span is where window w of a stream of n words begins and ends.
func Span(w, n int) (from, to int) {
	return w * Step, min(w*Step+Size, n)
}

// Stale is the first window that changes when a stream of n words grows: the last one where
// it is not full, else the next.
func Stale(n int) int {
	c := Count(n)
	if c > 0 && (c-1)*Step+Size > n {
		return c - 1
	}
	return c
}

// Thresholds: the model is trained on the first turns of the ledger, as many as the largest
// threshold that has been reached, and stays as it is until the next. So it is a function of
// the ledger alone, and what was lived and what is rebuilt agree.
const (
	firstThreshold = 32
	growth         = 1.5
)

// Threshold is how many turns a model is trained on when n turns are known; 0 for none yet.
func Threshold(n int) int {
	t := 0
	for next := firstThreshold; next <= n; next = int(float64(next) * growth) {
		t = next
	}
	return t
}
