package embed_test

import (
	"math"
	"testing"

	"github.com/git-rekal/git-rekal/internal/embed"
)

// FuzzDecode: whatever a server answers, vectors are as many as were asked for, of one length,
// and finite, or there are none.
func FuzzDecode(f *testing.F) {
	f.Fuzz(func(t *testing.T, body []byte, n int) {
		vectors, err := embed.Decode(body, n)
		if err != nil {
			return
		}
		if len(vectors) != n {
			t.Fatalf("%d vectors for %d", len(vectors), n)
		}
		for _, v := range vectors {
			if len(v) == 0 || len(v) != len(vectors[0]) {
				t.Fatalf("lengths %d and %d", len(v), len(vectors[0]))
			}
			for _, x := range v {
				if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
					t.Fatalf("%v", v)
				}
			}
		}
	})
}
