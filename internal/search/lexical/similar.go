package lexical

import (
	"unicode/utf8"

	"github.com/git-rekal/git-rekal/internal/search/block"
)

// A word that stands nowhere is read as the stem that is most like it, when that is at least
// so similar; a shorter word is like too many.
const (
	minSimilarity = 0.6
	minSimilar    = 3 // characters
)

// Guess is a stem that a word may have been meant to be.
type Guess struct {
	Word       string
	Stem       string
	Similarity float64 // 0 to 1; 0 while there is none
}

// Speller looks for the stems that are most like some words.
type Speller struct{ words []*word }

// NewSpeller begins to look.
func NewSpeller(words []string) *Speller {
	s := &Speller{}
	for _, text := range words {
		w := &word{Guess: Guess{Word: text}, runes: []rune(text), grams: make(map[[3]rune]int)}
		if len(w.runes) < minSimilar {
			continue
		}
		eachGram(w.runes, func(g [3]rune) { w.grams[g]++ })
		s.words = append(s.words, w)
	}
	return s
}

// Look looks through a vocabulary.
func (s *Speller) Look(vocabulary *block.Entries) error {
	for vocabulary.Next() {
		for _, w := range s.words {
			v := w.similarity(vocabulary.Key)
			if v >= minSimilarity && (v > w.Similarity || v == w.Similarity && string(vocabulary.Key) < w.Stem) {
				w.Stem, w.Similarity = string(vocabulary.Key), v
			}
		}
	}
	return vocabulary.Err()
}

// Guesses returns what was found: of equals, the first in order.
func (s *Speller) Guesses() []Guess {
	var out []Guess
	for _, w := range s.words {
		if w.Similarity > 0 {
			out = append(out, w.Guess)
		}
	}
	return out
}

// word compares itself with stems.
type word struct {
	Guess
	runes []rune
	grams map[[3]rune]int
	rows  [3][]int // of the table of distances
	stem  []rune
}

// similarity is the larger of two measures, both 1 for the same word: how many groups of three
// characters are shared (Dice), which forgives a missing part, and how few characters must be
// changed, which forgives a slip of the fingers in a short word.
func (w *word) similarity(stem []byte) float64 {
	// Words of very different length are not alike; telling that from bytes saves most of the work.
	if n := len(stem) - len(w.Word); n > 2*maxSlips || n < -2*maxSlips {
		return 0
	}
	w.stem = w.stem[:0]
	for i := 0; i < len(stem); {
		r, size := utf8.DecodeRune(stem[i:])
		w.stem = append(w.stem, r)
		i += size
	}
	return max(w.dice(), w.slips())
}

// eachGram calls f with the overlapping groups of three characters of a word, whose ends are
// marked.
func eachGram(runes []rune, f func([3]rune)) {
	at := func(i int) rune {
		if i < 0 || i == len(runes) {
			return 0
		}
		return runes[i]
	}
	for i := range runes {
		f([3]rune{at(i - 1), runes[i], at(i + 1)})
	}
}

// dice is twice the number of shared groups by the number of all.
func (w *word) dice() float64 {
	total, shared := len(w.runes)+len(w.stem), 0
	seen := make(map[[3]rune]int)
	eachGram(w.stem, func(g [3]rune) {
		if seen[g] < w.grams[g] {
			seen[g]++
			shared++
		}
	})
	return 2 * float64(shared) / float64(total)
}

// So many slips make one word of another: characters that are missing, added, replaced, or
// swapped with the next. A short word has one.
const (
	maxSlips = 2
	oneSlip  = 6 // characters below which there is but one
)

// slips is 1 less the share of characters to change; 0 for too many.
func (w *word) slips() float64 {
	allowed := maxSlips
	if len(w.runes) < oneSlip {
		allowed = 1
	}
	n := w.distance()
	if n > allowed {
		return 0
	}
	return 1 - float64(n)/float64(max(len(w.runes), len(w.stem)))
}

// distance is the optimal string alignment distance (Damerau, 1964).
func (w *word) distance() int {
	for i := range w.rows {
		if len(w.rows[i]) <= len(w.stem) {
			w.rows[i] = make([]int, len(w.stem)+1)
		}
	}
	before, prev, row := w.rows[0], w.rows[1], w.rows[2]
	for j := range len(w.stem) + 1 {
		prev[j] = j
	}
	for i, a := range w.runes {
		row[0] = i + 1
		for j, b := range w.stem {
			cost := 1
			if a == b {
				cost = 0
			}
			n := min(prev[j+1]+1, row[j]+1, prev[j]+cost)
			if i > 0 && j > 0 && a == w.stem[j-1] && w.runes[i-1] == b {
				n = min(n, before[j-1]+1)
			}
			row[j+1] = n
		}
		before, prev, row = prev, row, before
	}
	return prev[len(w.stem)]
}
