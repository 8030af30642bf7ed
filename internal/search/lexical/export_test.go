package lexical

// DecodeList opens the codec of postings to tests.
func DecodeList(data []byte, base, end int) (*List, error) { return decodeList(data, base, end) }

// Near is near, collected.
func Near(a, b *List, reach int) (map[int]int, error) {
	out := make(map[int]int)
	err := eachNear(a, b, uint32(reach), func(unit uint32, n int) { out[int(unit)] = n })
	return out, err
}

// Norm and NormLength are the lengths of units in a byte.
func Norm(n int) byte { return norm(n) }

// NormLength is what a norm stands for.
func NormLength(c byte) float64 { return normLength(c) }
