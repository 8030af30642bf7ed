package redact

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestKeywords: every keyword is found wherever it stands, also inside another one and at the end, and nothing else is.
func TestKeywords(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 11))
	letters := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = "aAb@-\x00\xff"[random.IntN(7)]
		}
		return string(b)
	}
	for range 300 {
		var k keywords
		var words []string
		for n := range 12 {
			word := strings.ToValidUTF8(strings.ReplaceAll(letters(1+random.IntN(5)), "\x00", "z"), "y")
			words = append(words, string(lower(word)))
			k.add(n, words[n:])
		}
		text := lower(letters(random.IntN(40)))
		var got, want []string
		k.each(text, func(n int, at window) { got = append(got, fmt.Sprint(at, k.all[n])) })
		for _, w := range k.all {
			for i := range text {
				if strings.HasPrefix(string(text[i:]), w) {
					want = append(want, fmt.Sprint(window{i, i + len(w)}, w))
				}
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%q in %q (-want +got):\n%s", k.all, text, diff)
		}
	}
}
