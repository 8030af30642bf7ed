package search_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/search"
)

// TestNeverNothing draws questions from words of the sessions and from others: with vectors there is always an answer,
// without them there is none only if no word of the question stands in a session. If the answer is weak, the next five
// are there, too.
func TestNeverNothing(t *testing.T) {
	const fewest = 6
	words, bare := newIndex(t), newIndex(t)
	add(t, words, cars()...)
	add(t, bare, cars()...)
	embedAll(t, words, search.MeasuredModel, dim, 100)
	known := strings.Fields("login token expiry cookie render pixel shader postings ranking merge car broke unrelated")
	others := strings.Fields("automobile physician zebra quartz oboe the of 7 kubernetes.yaml internal/oboe/oboe.go 3f2a91bc0d loggin")
	r := rand.New(rand.NewPCG(3, 9))
	for range 2000 {
		question, isKnown := "", false
		for range 1 + r.IntN(6) {
			if r.IntN(3) == 0 {
				question, isKnown = question+" "+known[r.IntN(len(known))], true
			} else {
				question += " " + others[r.IntN(len(others))]
			}
		}
		got := find(t, words, question, asking(search.MeasuredModel, dim))
		if len(got) == 0 || got[0].Weak && len(got) < fewest {
			t.Errorf("%q, with vectors: %d results", question, len(got))
		}
		if isKnown && len(find(t, bare, question, search.Options{})) == 0 {
			t.Errorf("%q, by words: nothing", question)
		}
		only := asking(search.MeasuredModel, dim)
		only.Allow = func(id string) bool { return id == "F0003" }
		for _, h := range find(t, words, question, only) {
			if h.Session != "F0003" {
				t.Errorf("%q: %s is not allowed", question, h.Session)
			}
		}
	}
	if got := find(t, words, "?!", search.Options{Embed: func(context.Context, string,
		string,
	) []float32 {
		return nil
	}}); len(got) > 0 {
		t.Errorf("no word: %+v", got)
	}
}
