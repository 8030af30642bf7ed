package main

import (
	"math"
	"testing"
)

// TestScores: a question with two right sessions, one of which comes first and one third.
func TestScores(t *testing.T) {
	a := asked{question: question{right: map[string]bool{"a": true, "b": true}}, found: []string{"a", "x", "b"}}
	if want := 1.5 / (1 + 1/math.Log2(3)); math.Abs(a.ndcg()-want) > 1e-9 || a.recall() != 0.5 || !a.isRight() {
		t.Errorf("nDCG %.4f, want %.4f; recall %.2f, first right %v", a.ndcg(), want, a.recall(), a.isRight())
	}
	if none := (asked{question: a.question}); none.isRight() || none.ndcg() != 0 || none.recall() != 0 {
		t.Errorf("nothing found scores %+v", none)
	}
}
