package lexical

// DecodeList and Append open the codec of postings to tests.
func DecodeList(data []byte, base, end int) (*List, error) { return decodeList(data, base, end) }

// Append is List.append.
func Append(l *List, base int) []byte { return l.append(nil, base) }

// Near is near, collected.
func Near(a, b *List, reach int) (map[int]int, error) {
	out := make(map[int]int)
	err := near(a, b, uint32(reach), func(unit uint32, n int) { out[int(unit)] = n })
	return out, err
}
