package semantic_test

import (
	"errors"
	"math"
	"testing"

	"github.com/git-rekal/git-rekal/internal/search/block"
	"github.com/git-rekal/git-rekal/internal/search/semantic"
	"github.com/google/go-cmp/cmp"
)

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

func TestJoin(t *testing.T) {
	passages := func(turns ...int) (out []semantic.Passage) {
		for _, n := range turns {
			out = append(out, semantic.Passage{Turn: n})
		}
		return out
	}
	tests := []struct {
		name      string
		old, next semantic.Stretch
		from      int
		want      []semantic.Passage
	}{
		{
			"the last changed",
			semantic.Stretch{Passages: passages(0, 1, 2)},
			semantic.Stretch{From: 2, Passages: passages(7, 8)},
			0, passages(0, 1, 7, 8),
		},
		{
			"only more",
			semantic.Stretch{Passages: passages(0)},
			semantic.Stretch{From: 1, Passages: passages(7)},
			0,
			passages(0, 7),
		},
		{
			"both late",
			semantic.Stretch{From: 5, Passages: passages(5, 6)},
			semantic.Stretch{From: 6, Passages: passages(7)},
			5, passages(5, 7),
		},
		{
			"all anew",
			semantic.Stretch{From: 5, Passages: passages(5, 6)},
			semantic.Stretch{From: 3, Passages: passages(7)},
			3,
			passages(7),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.old.Join(tt.next)
			if diff := cmp.Diff(tt.want, got.Passages); diff != "" || got.From != tt.from {
				t.Errorf("from %d, want %d (-want +got):\n%s", got.From, tt.from, diff)
			}
		})
	}
}

func FuzzStretches(f *testing.F) {
	w := semantic.Passage{Turn: 1, Vector: semantic.Quantise([]float32{1, -1, 0.5})}
	good := semantic.Stretch{From: 300, Passages: []semantic.Passage{w, w}}.Append(nil)
	f.Add(good)
	f.Add(append(good, good...))
	f.Add(good[:len(good)-1])
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := semantic.DecodeStretch(data, 3)
		for _, w := range s.Passages {
			if x := w.Dot([]float32{1, 1, 1}); math.IsNaN(x) {
				t.Error("a product that is no number")
			}
		}
		if err != nil && !errors.Is(err, block.ErrFormat) {
			t.Errorf("error = %v", err)
		} else if again := s.Append(nil); err == nil && len(again) > len(data) {
			t.Errorf("%d bytes became %d", len(data), len(again))
		}
		if _, err := semantic.DecodeVector(data, 3); err != nil && !errors.Is(err, block.ErrFormat) {
			t.Errorf("error = %v", err)
		}
	})
}
