// Package passages cuts a session's text into pieces for an embedding model.
//
// In: the texts of turns. Out: passages of up to Words words and Bytes bytes, in order, each with the turn in which it begins. The same texts
// give the same passages. When a session grows, only its last passage changes.
package passages

import (
	"hash/fnv"
	"strings"
	"unicode/utf8"
)

// A passage ends where one of the two is reached, and repeats the end of the one before it, so that
// what lies on a border is whole in one of them. A model of BERT's kind makes two or three
// tokens of a word of code, and servers take 512 at least.
const (
	Words   = 100
	Bytes   = 800
	overlap = 25 // words

	longWord   = 80  // bytes: a longer one without borders (Chinese, Japanese) is cut into such
	asciiBytes = 160 // of a longer one in ASCII (keys, data) the rest says nothing
)

// Passage is a stretch of a session's text.
type Passage struct {
	Turn int // the index of the turn in which it begins
	Text string
}

// word is a word with the turn that it is in.
type word struct {
	text string
	turn int
}

// Of cuts a session, given the texts of its turns and their indexes.
func Of(texts []string, turns []int) []Passage {
	var words []word
	for i, text := range texts {
		for w := range strings.FieldsSeq(text) {
			for _, piece := range pieces(strings.ToValidUTF8(w, "")) {
				words = append(words, word{piece, turns[i]})
			}
		}
	}
	var out []Passage
	for from := 0; from < len(words); {
		to, size := from, 0
		for to < len(words) && to-from < Words && (to == from || size+len(words[to].text) < Bytes) {
			size += len(words[to].text) + 1
			to++
		}
		out = append(out, join(words[from:to]))
		if to == len(words) {
			break
		}
		from = max(to-overlap, (from+to+1)/2)
	}
	return out
}

func join(words []word) Passage {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = w.text
	}
	return Passage{Turn: words[0].turn, Text: strings.Join(texts, " ")}
}

// pieces cuts a word that is too long.
func pieces(w string) []string {
	if len(w) <= longWord {
		return []string{w}
	}
	if ascii(w) {
		return []string{w[:min(len(w), asciiBytes)]}
	}
	var out []string
	for len(w) > longWord {
		n := longWord
		for !utf8.RuneStart(w[n]) {
			n--
		}
		out, w = append(out, w[:n]), w[n:]
	}
	return append(out, w)
}

func ascii(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// Hash tells texts apart: what has the same hash has the same vector.
func (p Passage) Hash() uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(p.Text)) // a hash takes everything
	return h.Sum64()
}
