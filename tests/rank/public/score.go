package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
)

// depth is how many results are asked for.
const depth = 10

// question is a question of a set.
type question struct {
	text  string
	kinds []string        // it is counted in each
	right map[string]bool // native IDs of sessions
}

// asked is a question with its answer.
type asked struct {
	question
	found []string // native IDs, best first
	weak  bool
}

// isRight reports whether the first result is right.
func (a asked) isRight() bool { return len(a.found) > 0 && a.right[a.found[0]] }

// recall is the share of the right sessions that come first: one at most.
func (a asked) recall() float64 {
	if !a.isRight() {
		return 0
	}
	return 1 / float64(len(a.right))
}

func (a asked) ndcg() float64 {
	gain := func(i int) float64 { return 1 / math.Log2(float64(i)+2) }
	sum, ideal := 0.0, 0.0
	for i, id := range a.found {
		if a.right[id] {
			sum += gain(i)
		}
	}
	for i := range min(depth, len(a.right)) {
		ideal += gain(i)
	}
	return sum / ideal
}

// printScores prints a line for each kind of question.
func printScores(w io.Writer, all []asked) {
	kinds := map[string][]asked{}
	for _, a := range all {
		for _, kind := range append([]string{"all"}, a.kinds...) {
			kinds[kind] = append(kinds[kind], a)
		}
	}
	fmt.Fprintf(w, "%-24s %9s %6s %9s %8s %8s %13s %11s\n", "", "questions", "first", "recall@1", "nDCG@10", "nothing",
		"strong, wrong", "right, weak")
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		of := kinds[kind]
		share := func(is func(asked) bool, among func(asked) bool) float64 {
			n, all := 0.0, 0.0
			for _, a := range of {
				if among(a) {
					all++
					if is(a) {
						n++
					}
				}
			}
			return n / max(all, 1)
		}
		mean := func(of []asked, value func(asked) float64) (sum float64) {
			for _, a := range of {
				sum += value(a) / float64(len(of))
			}
			return sum
		}
		any := func(asked) bool { return true }
		isEmpty := func(a asked) bool { return len(a.found) == 0 }
		isStrong := func(a asked) bool { return len(a.found) > 0 && !a.weak }
		fmt.Fprintf(w, "%-24s %9d %6.3f %9.3f %8.3f %8.3f %13.3f %11.3f\n", kind, len(of), share(asked.isRight, any),
			mean(of, asked.recall), mean(of, asked.ndcg),
			share(isEmpty, any), share(func(a asked) bool { return !a.isRight() }, isStrong),
			share(func(a asked) bool { return a.weak }, asked.isRight))
	}
}
