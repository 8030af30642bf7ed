package lexical

import (
	"math/bits"
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

// Misspelt is a word that stands nowhere.
type Misspelt struct {
	Word, Stem string
	// Fixed are the stems of what Word is with two characters swapped back. A slip in an ending keeps that from being cut
	// off, so the stem alone may be far from the one that was meant.
	Fixed map[string]bool
}

// WithNeighboursSwapped are the words that w is with two neighbours swapped.
func WithNeighboursSwapped(w string) (out []string) {
	r := []rune(w)
	for i := 1; i < len(r); i++ {
		r[i-1], r[i] = r[i], r[i-1]
		out = append(out, string(r))
		r[i-1], r[i] = r[i], r[i-1]
	}
	return out
}

// Similar finds the stems in vocabularies that words are most like: of equals, the first in order.
func Similar(misspelt []Misspelt, vocabularies [][]byte) ([]Guess, error) {
	var words []*word
	for _, m := range misspelt {
		if w := newWord(m); len(w.runes) >= minSimilar {
			words = append(words, w)
		}
	}
	for _, vocabulary := range vocabularies {
		stems := block.NewEntries(vocabulary)
		for stems.Next() {
			for _, w := range words {
				v := w.similarity(stems.Key)
				if v >= minSimilarity && (v > w.Similarity || v == w.Similarity && string(stems.Key) < w.Stem) {
					w.Stem, w.Similarity = string(stems.Key), v
				}
			}
		}
		if err := stems.Err(); err != nil {
			return nil, err
		}
	}
	var out []Guess
	for _, w := range words {
		if w.Similarity > 0 {
			out = append(out, w.Guess)
		}
	}
	return out, nil
}

// word compares itself with stems.
type word struct {
	Guess
	typed   int             // characters of what was typed
	fixed   map[string]bool // see Misspelt
	runes   []rune
	letters uint64
	firsts  uint64 // the first bytes of fixed, as letters: to look each stem up costs more than to compare it
	grams   []gram
	used    []bool   // by gram: whether the stem at hand has it
	rows    [3][]int // of the table of distances
	stem    []rune
}

func newWord(m Misspelt) *word {
	w := &word{
		Guess: Guess{Word: m.Stem}, typed: utf8.RuneCountInString(m.Word), fixed: m.Fixed, runes: []rune(m.Stem),
		letters: letterSet([]byte(m.Stem)),
	}
	for stem := range m.Fixed {
		w.firsts |= letterSet([]byte(stem[:1]))
	}
	eachGram(w.runes, func(g gram) { w.grams = append(w.grams, g) })
	w.used = make([]bool, len(w.grams))
	return w
}

// similarity is the larger of two measures, both 1 for the same word: how many groups of three
// characters are shared (Dice), which forgives a missing part, and how few characters must be
// changed, which forgives a slip of the fingers in a short word.
func (w *word) similarity(stem []byte) float64 {
	if w.firsts&letterSet(stem[:min(1, len(stem))]) != 0 && w.fixed[string(stem)] {
		return 1 - 1/float64(w.typed)
	}
	if !w.mayBeLike(stem) {
		return 0
	}
	w.stem = w.stem[:0]
	for i := 0; i < len(stem); {
		r, size := utf8.DecodeRune(stem[i:])
		w.stem = append(w.stem, r)
		i += size
	}
	return max(w.dice(), w.editSimilarity())
}

// mayBeLike reports whether a stem may be like the word: about as long, and of about the same
// letters. It spares most stems the comparison.
func (w *word) mayBeLike(stem []byte) bool {
	if n := len(stem) - len(w.Word); n > 2*maxSlips || n < -2*maxSlips {
		return false
	}
	has := letterSet(stem)
	return bits.OnesCount64(has&^w.letters) <= maxSlips+1 && bits.OnesCount64(w.letters&^has) <= maxSlips+1
}

// letterSet is the set of bytes of a word, by their last six bits.
func letterSet(word []byte) uint64 {
	var set uint64
	for _, c := range word {
		set |= 1 << (c & 63)
	}
	return set
}

// gram is three characters that follow each other; 0 stands before the first and behind the last.
type gram [3]rune

func eachGram(runes []rune, f func(gram)) {
	g := gram{}
	for _, r := range runes {
		if g[0], g[1], g[2] = g[1], g[2], r; g[1] != 0 || len(runes) == 1 {
			f(g)
		}
	}
	f(gram{g[1], g[2], 0})
}

// dice is twice the number of shared groups by the number of all.
func (w *word) dice() float64 {
	clear(w.used)
	total, shared := len(w.grams), 0
	eachGram(w.stem, func(g gram) {
		total++
		for i, own := range w.grams {
			if own == g && !w.used[i] {
				w.used[i] = true
				shared++
				break
			}
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

// editSimilarity is 1 less the share of characters to change; 0 for too many.
func (w *word) editSimilarity() float64 {
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
