package semantic

import (
	"slices"

	"github.com/git-rekal/git-rekal/internal/search/block"
)

// Stretch is the windows of a session from one on to its last. When a session grows, its
// windows from the first that changed are written again: what an older stretch says of windows
// from From on is void.
type Stretch struct {
	Session int // its number
	From    int // the number of Windows[0]
	Windows []Window
}

// Window is a window's vector, of length 1 or (where no term is known) 0.
type Window struct {
	Turn int // the index of the turn in which it begins
	Vector
}

// Append appends s's bytes.
func (s Stretch) Append(dst []byte) []byte {
	for _, n := range []int{s.Session, s.From, len(s.Windows)} {
		dst = block.AppendInt(dst, n)
	}
	for _, w := range s.Windows {
		dst = w.Vector.Append(block.AppendInt(dst, w.Turn))
	}
	return dst
}

// Join is the windows of a session as two stretches tell them, next being the newer. Nothing lies
// between them.
func (s Stretch) Join(next Stretch) Stretch {
	keep := max(0, min(next.From-s.From, len(s.Windows)))
	return Stretch{s.Session, min(s.From, next.From), append(slices.Clip(s.Windows[:keep]), next.Windows...)}
}

// Stretches walks stretches that follow each other.
type Stretches struct {
	Stretch
	block.Stream
	dim int
}

// NewStretches walks the bytes that more returns, call by call, until it returns none.
func NewStretches(dim int, more func() ([]byte, error)) *Stretches {
	return &Stretches{Stream: block.NewStream(more), dim: dim}
}

// Next moves on, and reports whether there is a stretch. It keeps the bytes.
func (s *Stretches) Next() bool {
	return s.Record(func(r *block.Reader) {
		s.Stretch = Stretch{Session: r.Int(), From: r.Int(), Windows: make([]Window, r.Count())}
		for i := range s.Windows {
			s.Windows[i] = Window{r.Int(), readVector(r, s.dim)}
		}
	})
}

// Whole is the vector of a session as a whole.
type Whole struct {
	Session int // its number
	Vector
}

// Append appends w's bytes.
func (w Whole) Append(dst []byte) []byte {
	return w.Vector.Append(block.AppendInt(dst, w.Session))
}

// Wholes walks the vectors of sessions, one after the other.
type Wholes struct {
	Whole
	block.Stream
	dim int
}

// NewWholes walks the bytes that more returns, call by call, until it returns none.
func NewWholes(dim int, more func() ([]byte, error)) *Wholes {
	return &Wholes{Stream: block.NewStream(more), dim: dim}
}

// Next moves on, and reports whether there is a vector. It keeps the bytes.
func (w *Wholes) Next() bool {
	return w.Record(func(r *block.Reader) { w.Whole = Whole{r.Int(), readVector(r, w.dim)} })
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
