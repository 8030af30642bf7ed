package semantic_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/git-rekal/git-rekal/internal/search/block"
	"github.com/git-rekal/git-rekal/internal/search/semantic"
	"github.com/google/go-cmp/cmp"
)

func TestWindows(t *testing.T) {
	tests := []struct{ words, count, stale int }{
		{0, 0, 0}, {1, 1, 0}, {99, 1, 0}, {100, 1, 1}, {101, 2, 1}, {149, 2, 1}, {150, 2, 2}, {151, 3, 2}, {1000, 19, 19}, {1001, 20, 19},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.words), func(t *testing.T) {
			if got := semantic.Count(tt.words); got != tt.count {
				t.Errorf("Count = %d, want %d", got, tt.count)
			}
			if got := semantic.Stale(tt.words); got != tt.stale {
				t.Errorf("Stale = %d, want %d", got, tt.stale)
			}
			if tt.count > 0 {
				if from, to := semantic.Span(tt.count-1, tt.words); from >= to || to != tt.words {
					t.Errorf("the last window is %d to %d of %d", from, to, tt.words)
				}
			}
		})
	}
}

// TestStaleWindows grows a stream word by word: windows before Stale never change.
func TestStaleWindows(t *testing.T) {
	for n := range 400 {
		for w := range semantic.Stale(n) {
			from, to := semantic.Span(w, n)
			if f, u := semantic.Span(w, n+500); f != from || u != to {
				t.Fatalf("window %d of %d words is %d to %d, later %d to %d", w, n, from, to, f, u)
			}
		}
	}
}

func TestThreshold(t *testing.T) {
	tests := []struct{ turns, want int }{{0, 0}, {31, 0}, {32, 32}, {47, 32}, {48, 48}, {10453, 9324}}
	for _, tt := range tests {
		if got := semantic.Threshold(tt.turns); got != tt.want {
			t.Errorf("Threshold(%d) = %d, want %d", tt.turns, got, tt.want)
		}
	}
}

// topics are windows about one of two things.
func topics(n int) []map[string]int {
	r := rand.New(rand.NewPCG(3, 3))
	out := make([]map[string]int, n)
	for i := range out {
		out[i] = make(map[string]int)
		for range 15 {
			out[i][fmt.Sprintf("%c%d", 'a'+i%2, r.IntN(30))]++
			out[i][fmt.Sprintf("noise%d", r.IntN(200))]++
		}
	}
	return out
}

func TestTrainFindsTopics(t *testing.T) {
	m := semantic.Train(topics(120))
	if m == nil {
		t.Fatal("no model")
	}
	cos := func(a, b string) float64 {
		x, y := m.Project(map[string]int{a: 1}), m.Project(map[string]int{b: 1})
		return semantic.Quantise(x).Dot(y)
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
	want := semantic.Train(topics(200))
	for _, procs := range []int{1, 2, 4} {
		old := runtime.GOMAXPROCS(procs)
		got := semantic.Train(topics(200))
		runtime.GOMAXPROCS(old)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("with %d threads (-want +got):\n%s", procs, diff)
		}
	}
}

func TestTrainDegenerate(t *testing.T) {
	same := make([]map[string]int, 50)
	for i := range same {
		same[i] = map[string]int{"a": 1}
	}
	tests := []struct {
		name    string
		windows []map[string]int
	}{
		{"none", nil},
		{"few", topics(3)},
		{"equal", same},
		{"empty", make([]map[string]int, 50)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if m := semantic.Train(tt.windows); m != nil {
				t.Errorf("a model of %d dimensions", m.Dim)
			}
		})
	}
}

func TestModelRoundTrip(t *testing.T) {
	want := semantic.Train(topics(200))
	fence, blocks := want.Pack()
	if len(fence) != len(blocks) {
		t.Fatalf("fence of %d for %d blocks", len(fence), len(blocks))
	}
	got := &semantic.Model{Dim: want.Dim, Terms: make(map[string]semantic.Vector)}
	for _, b := range blocks {
		if err := got.Unpack(b, func(string) bool { return true }); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestQuantise(t *testing.T) {
	v := []float32{0.5, -0.25, 0, 0.125, 0.7}
	got := semantic.Quantise(v).Dot(v)
	want := 0.0
	for _, x := range v {
		want += float64(x) * float64(x)
	}
	if math.Abs(got-want) > 0.01 {
		t.Errorf("Dot = %v, want about %v", got, want)
	}
	if got := semantic.Quantise(make([]float32, 5)).Dot(v); got != 0 {
		t.Errorf("Dot with zero = %v", got)
	}
}

func FuzzEachWindow(f *testing.F) {
	w := semantic.Window{Session: 300, No: 2, Turn: 1, Vector: semantic.Quantise([]float32{1, -1, 0.5})}
	good := semantic.AppendWindow(semantic.AppendWindow(nil, w), w)
	f.Add(good)
	f.Add(good[:len(good)-1])
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, data []byte) {
		var again []byte
		err := semantic.EachWindow(data, 3, func(w semantic.Window) error {
			if x := w.Dot([]float32{1, 1, 1}); math.IsNaN(x) {
				t.Error("a product that is no number")
			}
			again = semantic.AppendWindow(again, w)
			return nil
		})
		if err != nil && !errors.Is(err, block.ErrFormat) {
			t.Errorf("error = %v", err)
		}
	})
}

func BenchmarkTrain(b *testing.B) {
	windows := topics(3000)
	for b.Loop() {
		semantic.Train(windows)
	}
}
