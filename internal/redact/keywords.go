package redact

// keywords are those of all rules, each once, in lower case, and which rules each wakes. A text is asked at each byte for those that begin
// as it goes on there: a table of three bytes says which may. An Aho-Corasick automaton of 800 words takes
// 10 MB and 24 ms to build, which a hook has not; it needs some nanoseconds less for each byte of a text.
type keywords struct {
	all   []string
	users [][]int
	index map[string]int
	heads []uint16   // by head: 1 + the place in lists; 0: no keyword begins so
	lists [][]int    // numbers of keywords
	bytes [256][]int // of those of a single byte
}

// head is a number for the first three bytes of a keyword, of which different ones may have the same.
func head(a, b, c byte) uint16 { return uint16(a)*961 + uint16(b)*31 + uint16(c) }

// add has some words wake a user.
func (k *keywords) add(user int, words []string) {
	if k.index == nil {
		k.index, k.heads = map[string]int{}, make([]uint16, 1<<16)
	}
	for _, w := range words {
		w = string(lower(w, false))
		n, ok := k.index[w]
		if !ok {
			n = len(k.all)
			k.index[w] = n
			k.all, k.users = append(k.all, w), append(k.users, nil)
			k.begin(n, w)
		}
		k.users[n] = append(k.users[n], user)
	}
}

func (k *keywords) begin(n int, word string) {
	switch len(word) {
	case 0: // says nothing
	case 1:
		k.bytes[word[0]] = append(k.bytes[word[0]], n)
	case 2:
		for c := range 256 {
			k.list(head(word[0], word[1], byte(c)), n)
		}
	default:
		k.list(head(word[0], word[1], word[2]), n)
	}
}

func (k *keywords) list(h uint16, n int) {
	if k.heads[h] == 0 {
		k.lists = append(k.lists, nil)
		k.heads[h] = uint16(len(k.lists))
	}
	at := k.heads[h] - 1
	k.lists[at] = append(k.lists[at], n)
}

// each calls found with the number of each keyword that stands in a text in lower case, and where.
func (k *keywords) each(low []byte, found func(n int, at window)) {
	for i, a := range low {
		for _, n := range k.bytes[a] {
			found(n, window{i, i + 1})
		}
		var b, c byte // at the end
		if i+1 < len(low) {
			b = low[i+1]
		}
		if i+2 < len(low) {
			c = low[i+2]
		}
		list := k.heads[head(a, b, c)]
		if list == 0 {
			continue
		}
		for _, n := range k.lists[list-1] {
			word := k.all[n]
			if end := i + len(word); end <= len(low) && string(low[i:end]) == word {
				found(n, window{i, end})
			}
		}
	}
}
