package redact

import (
	"encoding/binary"
	"slices"
)

// needles finds any of many values in a text: it looks at each eight bytes of it, and where a
// value begins so, whether one stands there. An Aho-Corasick automaton takes 2 KB and more for
// each byte of a value, and a .env file of 500 settings would fill 300 MB. The zero value finds
// nothing.
type needles struct {
	values map[string]bool
	heads  map[uint64][]int // the first eight bytes of values → how long those are
	filter []uint64         // a bit for each hash of a head, so that most bytes of a text ask no map
}

// filterBits is the logarithm of how many bits the filter has.
const filterBits = 16

// newNeedles leaves out what is shorter than minValue, which is the size of a head.
func newNeedles(values []string) needles {
	n := needles{values: map[string]bool{}, heads: map[uint64][]int{}, filter: make([]uint64, 1<<filterBits/64)}
	for _, v := range values {
		if len(v) < minValue || n.values[v] {
			continue
		}
		n.values[v] = true
		head := headAt(v, 0)
		if !slices.Contains(n.heads[head], len(v)) {
			n.heads[head] = append(n.heads[head], len(v))
		}
		bit := bitOf(head)
		n.filter[bit/64] |= 1 << (bit % 64)
	}
	return n
}

// each calls found with every place in t where a value stands.
func (n needles) each(t string, found func(lo, hi int)) {
	if len(n.values) == 0 {
		return
	}
	for i := 0; i+minValue <= len(t); i++ {
		head := headAt(t, i)
		if bit := bitOf(head); n.filter[bit/64]>>(bit%64)&1 == 0 {
			continue
		}
		for _, size := range n.heads[head] {
			if i+size <= len(t) && n.values[t[i:i+size]] {
				found(i, i+size)
			}
		}
	}
}

func headAt(t string, i int) uint64 {
	var b [minValue]byte
	copy(b[:], t[i:i+minValue])
	return binary.LittleEndian.Uint64(b[:])
}

// bitOf is Fibonacci hashing: the high bits of a product with 2^64 divided by the golden ratio.
func bitOf(head uint64) uint64 { return head * 0x9e3779b97f4a7c15 >> (64 - filterBits) }
