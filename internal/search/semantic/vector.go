// Package semantic keeps the vectors that an embedding model makes of passages in 8 bits a dimension, and compares
// them. It stores nothing: vectors come and go as bytes. A product depends on its vectors alone, to the bit, on each
// processor.
package semantic

import (
	"encoding/binary"
	"math"

	"github.com/git-rekal/git-rekal/internal/search/block"
)

// Vector is a vector of int8 with one scale: 4 + dim bytes where float32 takes 4·dim. It ranks
// as well (docs/lab/search.md).
type Vector struct {
	Scale float32
	Q     []byte // int8 as it is stored, so that reading copies nothing
}

// Quantise rounds v to 8 bits a dimension.
func Quantise(v []float32) Vector {
	top := float32(0)
	for _, x := range v {
		top = max(top, float32(math.Abs(float64(x))))
	}
	q := Vector{Q: make([]byte, len(v))}
	if top == 0 {
		return q
	}
	q.Scale = top / 127
	for i, x := range v {
		q.Q[i] = byte(int8(math.Round(float64(x / q.Scale))))
	}
	return q
}

// Dot is the inner product with v, which has q's dimension.
func (q Vector) Dot(v []float32) float64 {
	// Four sums, so that additions need not wait for each other. Products are rounded before they are added, on each
	// processor: the conversions keep the compiler from fused multiply-add.
	var a, b, c, d float32
	n := len(q.Q) &^ 3
	w := v[:len(q.Q)]
	for i := 0; i < n; i += 4 {
		p, x := q.Q[i:i+4:i+4], w[i:i+4:i+4]
		a += float32(float32(int8(p[0])) * x[0])
		b += float32(float32(int8(p[1])) * x[1])
		c += float32(float32(int8(p[2])) * x[2])
		d += float32(float32(int8(p[3])) * x[3])
	}
	for i := n; i < len(q.Q); i++ {
		a += float32(float32(int8(q.Q[i])) * w[i])
	}
	return float64(q.Scale) * float64(a+b+c+d)
}

// AddTo adds q to v.
func (q Vector) AddTo(v []float32) {
	v = v[:len(q.Q)]
	for i, x := range q.Q {
		v[i] += float32(q.Scale * float32(int8(x)))
	}
}

// Append appends q's bytes.
func (q Vector) Append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(q.Scale))
	return append(dst, q.Q...)
}

// DecodeVector reads what Append wrote for a vector of dim dimensions. It keeps data.
func DecodeVector(data []byte, dim int) (Vector, error) {
	if dim < 0 || len(data) != 4+dim {
		return Vector{}, block.ErrFormat
	}
	q := Vector{Scale: math.Float32frombits(binary.LittleEndian.Uint32(data)), Q: data[4:]}
	if math.IsNaN(float64(q.Scale)) || math.IsInf(float64(q.Scale), 0) {
		return Vector{}, block.ErrFormat
	}
	return q, nil
}

// Normalise makes v's length 1, unless it is 0.
func Normalise(v []float32) {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 {
		return
	}
	scale := float32(1 / math.Sqrt(sum))
	for i := range v {
		v[i] *= scale
	}
}
