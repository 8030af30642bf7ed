package lsa_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/git-rekal/git-rekal/internal/lsa"
	"github.com/google/go-cmp/cmp"
)

func TestWindows(t *testing.T) {
	for words, want := range map[int]int{0: 0, 1: 1, 99: 1, 100: 1, 101: 2, 149: 2, 150: 2, 151: 3, 1000: 19, 1001: 20} {
		c := &lsa.Corpus{}
		if c.Add(make([]string, words)); c.Windows() != want {
			t.Errorf("%d words have %d windows, want %d", words, c.Windows(), want)
		}
	}
}

// topics are windows about one of two things.
func topics(n int) [][]string {
	r := rand.New(rand.NewPCG(3, 3))
	out := make([][]string, n)
	for i := range out {
		for range 15 {
			out[i] = append(out[i], fmt.Sprintf("%c%d", 'a'+i%2, r.IntN(30)), fmt.Sprintf("noise%d", r.IntN(200)))
		}
	}
	return out
}

func train(windows [][]string) *lsa.Model {
	c := &lsa.Corpus{}
	for _, w := range windows {
		c.Add(w)
	}
	return lsa.Train(c)
}

func TestTrainFindsTopics(t *testing.T) {
	m := train(topics(120))
	if m == nil {
		t.Fatal("no model")
	}
	cos := func(a, b string) float64 {
		x, y := m.Project([]string{a}), m.Project([]string{b})
		sum := 0.0
		for i := range x {
			sum += float64(x[i]) * float64(y[i])
		}
		return sum
	}
	same, other := 0.0, 0.0
	for i := range 20 {
		same += cos(fmt.Sprint("a", i), fmt.Sprint("a", i+1)) / 20
		other += cos(fmt.Sprint("a", i), fmt.Sprint("b", i+1)) / 20
	}
	if same < 3*other || same < 0.1 {
		t.Errorf("words of one topic are at %.3f, of two at %.3f", same, other)
	}
}

func TestTrainIsDeterministic(t *testing.T) {
	said := []string{"a1", "a2", "noise3", "a1"}
	want := train(topics(200)).Project(said)
	for _, procs := range []int{1, 2, 4} {
		old := runtime.GOMAXPROCS(procs)
		got := train(topics(200)).Project(said)
		runtime.GOMAXPROCS(old)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("with %d threads (-want +got):\n%s", procs, diff)
		}
	}
}

func TestTrainDegenerate(t *testing.T) {
	same := make([][]string, 50)
	for i := range same {
		same[i] = []string{"a"}
	}
	tests := []struct {
		name    string
		windows [][]string
	}{
		{"none", nil},
		{"few", topics(3)},
		{"equal", same},
		{"empty", make([][]string, 50)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if m := train(tt.windows); m != nil {
				t.Errorf("a model of %d dimensions", m.Dim)
			}
		})
	}
}

func BenchmarkTrain(b *testing.B) {
	windows := topics(3000)
	for b.Loop() {
		train(windows)
	}
}
