package model

import (
	"encoding/binary"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Tokens that stand for no text, by their rows, and how many tokens a text has at most (bert.h).
const (
	unknownToken, firstToken, lastToken = 100, 101, 102

	maxTokens = 256
	maxWord   = 100 // characters; a longer word is unknown
)

// vocabulary is the pieces of words that the model knows, sorted.
type vocabulary struct {
	offsets string // uint32: where each text begins, and one more
	ids     string // uint16 of each
	texts   string
}

func (v *vocabulary) text(i int) string {
	at := func(i int) uint32 { return binary.LittleEndian.Uint32([]byte(v.offsets[4*i : 4*i+4])) }
	return v.texts[at(i):at(i+1)]
}

// find returns the row of a piece.
func (v *vocabulary) find(piece string) (row int32, ok bool) {
	low, high := 0, len(v.ids)/2
	for low < high {
		middle := (low + high) / 2
		switch c := strings.Compare(v.text(middle), piece); {
		case c == 0:
			return int32(binary.LittleEndian.Uint16([]byte(v.ids[2*middle : 2*middle+2]))), true
		case c < 0:
			low = middle + 1
		default:
			high = middle
		}
	}
	return 0, false
}

// tokens cuts a text as BERT does (uncased WordPiece): words without case and accents, then the longest pieces that the
// vocabulary has.
func (v *vocabulary) tokens(text string) []int32 {
	out := []int32{firstToken}
	for word := range words(text) {
		if len(out) >= maxTokens-1 {
			break
		}
		out = v.pieces(out, word)
	}
	return append(out[:min(len(out), maxTokens-1)], lastToken)
}

// pieces appends the pieces of a word. A word of which some part is in no piece is unknown as a whole.
func (v *vocabulary) pieces(out []int32, word string) []int32 {
	if utf8.RuneCountInString(word) > maxWord {
		return append(out, unknownToken)
	}
	before, prefix := len(out), ""
	for word != "" {
		row, n := v.longest(prefix, word)
		if n == 0 {
			return append(out[:before], unknownToken)
		}
		out, word, prefix = append(out, row), word[n:], "##"
	}
	return out
}

// longest finds the longest beginning of word, of n bytes, that is a piece behind prefix.
func (v *vocabulary) longest(prefix, word string) (row int32, n int) {
	for n = len(word); n > 0; n-- {
		if row, ok := v.find(prefix + word[:n]); ok {
			return row, n
		}
	}
	return 0, 0
}

// words yields the words of a text: runs between blanks, where each punctuation mark and each Chinese character is a
// word of its own.
func words(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		var word []byte
		flush := func() bool {
			ok := len(word) == 0 || yield(string(word))
			word = word[:0]
			return ok
		}
		for _, r := range norm.NFD.String(text) {
			switch {
			case unicode.Is(unicode.Mn, r) || isDropped(r):
			case unicode.IsSpace(r):
				if !flush() {
					return
				}
			case isPunctuation(r) || isChinese(r):
				if !flush() || !yield(string(unicode.ToLower(r))) {
					return
				}
			default:
				word = utf8.AppendRune(word, unicode.ToLower(r))
			}
		}
		flush()
	}
}

// isDropped reports whether r says nothing: a control character that is no blank, or what stands for broken bytes.
func isDropped(r rune) bool {
	return r == 0 || r == utf8.RuneError || unicode.In(r, unicode.Other) && !slices.Contains([]rune("\t\n\r"), r)
}

func isPunctuation(r rune) bool {
	return r > ' ' && r < utf8.RuneSelf && !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != 0x7f || unicode.IsPunct(r)
}

// isChinese reports whether r is an ideograph, as BERT's own tokenizer lists them.
func isChinese(r rune) bool {
	return r >= 0x4e00 && r <= 0x9fff || r >= 0x3400 && r <= 0x4dbf || r >= 0x20000 && r <= 0x2a6df ||
		r >= 0x2a700 && r <= 0x2ceaf ||
		r >= 0xf900 && r <= 0xfaff || r >= 0x2f800 && r <= 0x2fa1f
}
