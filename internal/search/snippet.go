package search

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/git-rekal/git-rekal/internal/search/analysis"
	"github.com/git-rekal/git-rekal/internal/search/query"
)

// snippetScan is how many bytes of a text are searched for a passage: reading on costs more
// time than the rare longer turn is worth.
const snippetScan = 256 << 10

// Snippet returns, on one line and at most limit characters long, the passage of content that
// holds the most different words of a question; the beginning where none is held. An ellipsis
// stands where something is left out.
func Snippet(content, question string, limit int) string {
	if len(content) > snippetScan {
		content = strings.ToValidUTF8(content[:snippetScan], "")
	}
	words := strings.Fields(content)
	if len(words) == 0 || limit < 1 {
		return ""
	}
	return bestParts(words, " ", "…", question, limit)
}

// SnippetLines is Snippet in whole lines, as they are: of a text that is longer than limit characters.
func SnippetLines(content, question string, limit int) string {
	if utf8.RuneCountInString(content) <= limit {
		return content
	}
	return bestParts(slices.Collect(strings.Lines(content)), "", "…\n", question, limit)
}

// bestParts joins the parts of a text that hold the most different words of a question, with an ellipsis where
// something is left out in front.
func bestParts(parts []string, separator, ellipsis, question string, limit int) string {
	from, to := bestPassage(termsOfWords(parts, query.Parse(question)), limit-2)
	out := strings.Join(parts[from:to], separator)
	if from > 0 {
		out = ellipsis + out
	}
	return shortenTo(out, limit, to < len(parts))
}

// shortenTo shortens s to limit characters, with an ellipsis if anything is, or was, left out.
func shortenTo(s string, limit int, more bool) string {
	if n := utf8.RuneCountInString(s); n > limit || n == limit && more {
		r := []rune(s)
		return string(r[:limit-1]) + "…"
	}
	if more {
		return s + "…"
	}
	return s
}

// termsInWord is which of a question's terms a word holds.
type termsInWord struct {
	terms []int // numbers of terms
	runes int   // the word's length
}

// termsOfWords finds the terms of q in each word. Function words count only when q has no other.
func termsOfWords(words []string, q query.Query) []termsInWord {
	number := make(map[string]int)
	for _, weak := range []bool{false, true} {
		for i, t := range q.Terms {
			if t.Weak == weak {
				number[t.Text] = i
			}
		}
		if len(number) > 0 {
			break
		}
	}
	a := analysis.Seeking(slices.Collect(maps.Keys(number)))
	out := make([]termsInWord, len(words))
	for i, w := range words {
		out[i].runes = utf8.RuneCountInString(w)
		for _, t := range a.Tokens(w) {
			if n, ok := number[t.Term]; ok {
				out[i].terms = append(out[i].terms, n)
			}
		}
	}
	return out
}

// bestPassage returns the range of words, at most limit characters with the spaces between, that
// holds the most different terms; the first of equals, centred on what it holds.
func bestPassage(weights []termsInWord, limit int) (from, to int) {
	counts := make(map[int]int) // of terms in words[start:end]
	start, length, best := 0, -1, 0
	for end, w := range weights {
		length += w.runes + 1
		for _, t := range w.terms {
			counts[t]++
		}
		for ; length > limit && start < end; start++ {
			length -= weights[start].runes + 1
			for _, t := range weights[start].terms {
				if counts[t]--; counts[t] == 0 {
					delete(counts, t)
				}
			}
		}
		if len(counts) > best {
			best, from, to = len(counts), start, end+1
		}
	}
	for from < to && len(weights[from].terms) == 0 {
		from++
	}
	return widenPassage(weights, from, max(to, from+1), limit)
}

// widenPassage takes in words on both sides until limit characters are reached.
func widenPassage(weights []termsInWord, from, to, limit int) (int, int) {
	length := -1
	for _, w := range weights[from:to] {
		length += w.runes + 1
	}
	for {
		grown := false
		if from > 0 && length+weights[from-1].runes+1 <= limit {
			from--
			length += weights[from].runes + 1
			grown = true
		}
		if to < len(weights) && length+weights[to].runes+1 <= limit {
			length += weights[to].runes + 1
			to++
			grown = true
		}
		if !grown {
			return from, to
		}
	}
}

// SharesTerm reports whether a text holds a term of a question: function words count only when it has no other.
func SharesTerm(text, question string) bool {
	return slices.ContainsFunc(termsOfWords(strings.Fields(text), query.Parse(question)),
		func(w termsInWord) bool { return len(w.terms) > 0 })
}

// Matches finds the words of a text that hold a term of a question, without what encloses them: ranges of bytes, in
// order.
func Matches(text, question string) (out [][2]int) {
	words := strings.Fields(text)
	at := 0
	for i, w := range termsOfWords(words, query.Parse(question)) {
		from := at + strings.Index(text[at:], words[i])
		at = from + len(words[i])
		if len(w.terms) == 0 {
			continue
		}
		left := strings.IndexFunc(words[i], inWord)
		right := strings.LastIndexFunc(words[i], inWord)
		_, size := utf8.DecodeRuneInString(words[i][right:])
		out = append(out, [2]int{from + left, from + right + size})
	}
	return out
}

func inWord(r rune) bool { return r == '_' || unicode.In(r, unicode.L, unicode.N, unicode.M) }
