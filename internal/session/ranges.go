package session

import (
	"fmt"
	"strconv"
	"strings"
)

// Ranges are lines of a file, counted from 1: pairs of a first and a last line, in order and apart.
type Ranges [][2]int

// MaxLine is the highest number of a line: a file of 1 MB has no more.
const MaxLine = 1 << 20

// RangesOf makes ranges of line numbers, which are in ascending order.
func RangesOf(lines []int) Ranges {
	var out Ranges
	for _, n := range lines {
		if last := len(out) - 1; last >= 0 && out[last][1] == n-1 {
			out[last][1] = n
		} else {
			out = append(out, [2]int{n, n})
		}
	}
	return out
}

// String is "12-20,33".
func (r Ranges) String() string {
	var b strings.Builder
	for i, p := range r {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(p[0]))
		if p[1] > p[0] {
			fmt.Fprintf(&b, "-%d", p[1])
		}
	}
	return b.String()
}

// ParseRanges reads what String writes, and nothing else. The empty text is no line.
func ParseRanges(s string) (Ranges, error) {
	if s == "" {
		return nil, nil
	}
	var out Ranges
	last := 0
	for part := range strings.SplitSeq(s, ",") {
		from, to, _ := strings.Cut(part, "-")
		if to == "" {
			to = from
		}
		a, err := strconv.Atoi(from)
		b, err2 := strconv.Atoi(to)
		if err != nil || err2 != nil || a <= last || b < a || b > MaxLine {
			return nil, fmt.Errorf("lines %.100q", s)
		}
		out, last = append(out, [2]int{a, b}), b+1
	}
	if out.String() != s {
		return nil, fmt.Errorf("lines %.100q", s)
	}
	return out, nil
}

// MarshalText is String.
func (r Ranges) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText is ParseRanges.
func (r *Ranges) UnmarshalText(text []byte) (err error) {
	*r, err = ParseRanges(string(text))
	return err
}

// Has reports whether a line is among them.
func (r Ranges) Has(line int) bool {
	for _, p := range r {
		if p[0] <= line && line <= p[1] {
			return true
		}
	}
	return false
}

// Count is how many lines they are.
func (r Ranges) Count() (n int) {
	for _, p := range r {
		n += p[1] - p[0] + 1
	}
	return n
}
