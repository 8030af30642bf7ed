package lexical

import "math/bits"

// A unit's length is kept in a byte, because every question reads all of them: exactly up to
// 31, then in sixteen steps an octave, an error of 3 % at most. Lengths from 2^19 on count as
// that.
const (
	exactNorms = 32
	normSteps  = 16
	longest    = 1<<19 - 1
)

// norm is the byte for a length.
func norm(n int) byte {
	if n < exactNorms {
		return byte(max(n, 0))
	}
	n = min(n, longest)
	octave := bits.Len(uint(n)) - bits.Len(exactNorms)
	return byte(exactNorms + octave*normSteps + n>>(octave+1) - normSteps)
}

// normLength is the length that a byte stands for: the middle of its step.
func normLength(c byte) float64 {
	if c < exactNorms {
		return float64(c)
	}
	octave, step := (int(c)-exactNorms)/normSteps, (int(c)-exactNorms)%normSteps
	return float64((normSteps+step)<<(octave+1)) + float64(int(1)<<(octave+1)-1)/2
}
