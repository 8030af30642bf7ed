package redact

// keywords are those of all rules, each once, and which rules each wakes. A text is asked at each byte for those that begin
// as it goes on there: a table of three bytes says which may. An Aho-Corasick automaton of 800 words takes
// 10 MB and 24 ms to build, which a hook has not; it needs some nanoseconds less for each byte of a text. The zero value has none.
type keywords struct {
	all   []string
	users [][]int
	next  []uint16   // by keyword: 1 + the number of the next one that begins as this one does; 0: none does
	heads []uint16   // by head: 1 + the number of the first keyword that begins so; 0: none does
	short [256][]int // by first byte: the numbers of those of one or two bytes
}

// head is a number for the first three bytes of a keyword, of which different ones may have the same.
func head(a, b, c byte) uint16 { return uint16(a)*961 + uint16(b)*31 + uint16(c) }

// add has some words, in lower case, wake a user.
func (k *keywords) add(user int, words []string) {
	if k.heads == nil && len(words) > 0 {
		k.heads = make([]uint16, 1<<16)
	}
	for _, w := range words {
		if w == "" {
			continue // says nothing
		}
		n := k.number(w)
		k.users[n] = append(k.users[n], user)
	}
}

// number is that of a word, which is noted where it is new.
func (k *keywords) number(w string) int {
	if len(w) < 3 {
		for _, n := range k.short[w[0]] {
			if k.all[n] == w {
				return n
			}
		}
		k.short[w[0]] = append(k.short[w[0]], len(k.all))
		return k.note(w)
	}
	link := &k.heads[head(w[0], w[1], w[2])]
	for *link != 0 {
		if k.all[*link-1] == w {
			return int(*link - 1)
		}
		link = &k.next[*link-1]
	}
	*link = uint16(len(k.all) + 1)
	return k.note(w)
}

func (k *keywords) note(w string) int {
	k.all, k.users, k.next = append(k.all, w), append(k.users, nil), append(k.next, 0)
	return len(k.all) - 1
}

// each calls found with the number of each keyword that stands in a text in lower case, and where.
func (k *keywords) each(low []byte, found func(n int, at window)) {
	if len(k.all) == 0 {
		return
	}
	at := func(i, n int) {
		word := k.all[n]
		if end := i + len(word); end <= len(low) && string(low[i:end]) == word {
			found(n, window{i, end})
		}
	}
	for i, a := range low {
		for _, n := range k.short[a] {
			at(i, n)
		}
		if i+2 >= len(low) {
			continue
		}
		for n := k.heads[head(a, low[i+1], low[i+2])]; n != 0; n = k.next[n-1] {
			at(i, int(n-1))
		}
	}
}
