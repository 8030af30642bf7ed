package semantic

import (
	"slices"

	"github.com/git-rekal/git-rekal/internal/search/block"
)

// Stretch is the passages of a session from one on to its last. When a session grows, its
// passages from the first that changed are written again: what an older stretch says of passages
// from From on is void.
type Stretch struct {
	From     int // the number of Passages[0]
	Passages []Passage
}

// Passage is the vector of a passage, of length 1 or (where the model says nothing) 0.
type Passage struct {
	Turn int // the index of its turn
	Vector
}

// Append appends s's bytes.
func (s Stretch) Append(dst []byte) []byte {
	dst = block.AppendInt(dst, s.From)
	for _, w := range s.Passages {
		dst = w.Vector.Append(block.AppendInt(dst, w.Turn))
	}
	return dst
}

// DecodeStretch reads what Append wrote for vectors of dim dimensions. It keeps data.
func DecodeStretch(data []byte, dim int) (Stretch, error) {
	r := block.Reader{Data: data}
	s := Stretch{From: r.Int()}
	for !r.Bad && len(r.Data) > 0 {
		s.Passages = append(s.Passages, Passage{r.Int(), readVector(&r, dim)})
	}
	if r.Bad {
		return Stretch{}, block.ErrFormat
	}
	return s, nil
}

// Join is the passages of a session as two stretches tell them, next being the newer. Nothing lies
// between them; the first may be empty.
func (s Stretch) Join(next Stretch) Stretch {
	if len(s.Passages) == 0 {
		return next
	}
	keep := max(0, min(next.From-s.From, len(s.Passages)))
	return Stretch{min(s.From, next.From), append(slices.Clip(s.Passages[:keep]), next.Passages...)}
}

// readVector takes a vector of dim dimensions off r.
func readVector(r *block.Reader, dim int) Vector {
	n := 4 + dim
	if r.Bad || dim < 0 || len(r.Data) < n {
		r.Bad = true
		return Vector{}
	}
	v, err := DecodeVector(r.Data[:n:n], dim)
	r.Data, r.Bad = r.Data[n:], err != nil
	return v
}
