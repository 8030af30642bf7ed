// Package query turns a question into what the index is asked: terms, pairs of neighbouring stems, and the stems that
// carry a topic.
//
// There is no syntax: no operators, quotes or field names, and no query fails. No word is required. A text without a
// letter, digit or CJK character is an empty query. From a text longer than any question (a log, a file), the beginning
// and the end are asked.
package query

import (
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/search/analysis"
)

// Query is a question, analysed.
type Query struct {
	Terms []Term   // each once, sorted by Text
	Pairs []Pair   // each once, in the order of the question
	Stems []string // those that are no function words, as often as they stand there
	Read  []string // stems that words were read as; see As

	// Full is of how many terms, the rarest, the weight makes a whole score; 0: of all.
	Full int

	// Anchors is whether q is nothing but names: each word is part of an exact term.
	Anchors bool
}

// Term is one term of a question.
type Term struct {
	Text  string
	Exact bool // an identifier of several words, a path, an error code: matched whole
	Weak  bool // a function word: it ranks, but is no reason to name

	Word string // what was typed, in lower case, where Text is a stem of it; "" for all other terms

	// Like is how similar Text is to the word that was typed, which stands nowhere; 0 when Text is
	// what was typed.
	Like float64
}

// Pair is two stems in the question's order, neighbours or one apart once function words
// are left out.
type Pair struct{ First, Second string }

// reach is how far the second stem of a pair stands behind the first: 1 adjacent, 2 one apart.
const reach = 2

// What of a question is asked at most: terms, some 400 words, among so many bytes; of a longer one its beginning and
// its end, since a log says at its end what went wrong, and a stack trace at its beginning. Time grows faster than the
// terms do: with 5,000 words a recall of 11,000 turns took 20 seconds.
const (
	maxTerms = 1000
	maxBytes = 64 << 10
)

// Parse analyses text.
func Parse(text string) Query {
	text = beginningAndEnd(text)
	q := Query{Anchors: hasExactTerms(text)}
	tokens := analysis.New().Tokens(text)
	asked := distinct(tokens)
	seen := make(map[string]bool)
	for _, t := range tokens {
		if !asked[t.Term] {
			continue
		}
		if !seen[t.Term] {
			seen[t.Term] = true
			q.Terms = append(q.Terms, Term{
				Text: t.Term, Exact: t.Kind == analysis.Mark, Weak: t.Kind == analysis.Stop,
				Word: t.Word,
			})
		}
		if t.Kind == analysis.Word {
			q.Stems = append(q.Stems, t.Term)
		}
	}
	slices.SortFunc(q.Terms, func(a, b Term) int { return strings.Compare(a.Text, b.Text) })
	q.Pairs = neighbouringPairs(q.Stems)
	return q
}

// beginningAndEnd is the text itself, or, if it is too long, its beginning and its end.
func beginningAndEnd(text string) string {
	if len(text) <= maxBytes {
		return text
	}
	return text[:maxBytes/2] + "\n" + text[len(text)-maxBytes/2:]
}

// distinct are the terms of a text; of too many the first ones and the last ones.
func distinct(tokens []analysis.Token) map[string]bool {
	out := make(map[string]bool)
	for _, t := range tokens {
		if len(out) == maxTerms/2 {
			break
		}
		out[t.Term] = true
	}
	for _, t := range slices.Backward(tokens) {
		if len(out) == maxTerms {
			break
		}
		out[t.Term] = true
	}
	return out
}

// hasExactTerms reports whether each part of text that has a word has an exact term.
func hasExactTerms(text string) bool {
	a, found := analysis.New(), false
	for _, part := range strings.Fields(text) {
		tokens := a.Tokens(part)
		exact := slices.ContainsFunc(tokens, func(t analysis.Token) bool { return t.Kind == analysis.Mark })
		if !exact && slices.ContainsFunc(tokens, func(t analysis.Token) bool { return t.Kind == analysis.Word }) {
			return false
		}
		found = found || exact
	}
	return found
}

// IsOnlyStopWords reports whether q is nothing but function words.
func (q Query) IsOnlyStopWords() bool {
	return !slices.ContainsFunc(q.Terms, func(t Term) bool { return !t.Weak })
}

// Typed is what was typed where a stem stands, in lower case.
func (q Query) Typed(stem string) string {
	i := slices.IndexFunc(q.Terms, func(t Term) bool { return t.Text == stem })
	if i < 0 {
		return ""
	}
	return q.Terms[i].Word
}

// ReadAs returns q with a word read as a stem that is like it. The word's whole form, which stands nowhere either, is
// no longer asked for.
func (q Query) ReadAs(word, stem string, similarity float64) Query {
	q.Terms, q.Stems, q.Read = slices.Clone(q.Terms), slices.Clone(q.Stems), append(slices.Clone(q.Read), stem)
	had := slices.ContainsFunc(q.Terms, func(t Term) bool { return t.Text == stem })
	i := slices.IndexFunc(q.Terms, func(t Term) bool { return t.Text == word })
	if i < 0 {
		return q
	}
	whole := analysis.MarkIdent + q.Terms[i].Word
	switch {
	case had:
		q.Terms = slices.Delete(q.Terms, i, i+1)
	default:
		q.Terms[i].Text, q.Terms[i].Like = stem, similarity
	}
	q.Terms = slices.DeleteFunc(q.Terms, func(t Term) bool { return t.Text == whole })
	for i, s := range q.Stems {
		if s == word {
			q.Stems[i] = stem
		}
	}
	slices.SortFunc(q.Terms, func(a, b Term) int { return strings.Compare(a.Text, b.Text) })
	q.Pairs = neighbouringPairs(q.Stems)
	return q
}

func neighbouringPairs(stems []string) []Pair {
	var out []Pair
	seen := make(map[Pair]bool)
	for i := range stems {
		for j := i + 1; j <= i+reach && j < len(stems); j++ {
			p := Pair{stems[i], stems[j]}
			if !seen[p] {
				seen[p] = true
				out = append(out, p)
			}
		}
	}
	return out
}

// KeepTerms returns q without the terms that are not kept, and without the pairs of which one is not. The weight of
// full terms makes a whole score.
func (q Query) KeepTerms(keep func(term string) bool, full int) Query {
	q.Terms = slices.DeleteFunc(slices.Clone(q.Terms), func(t Term) bool { return !keep(t.Text) })
	q.Stems = slices.DeleteFunc(slices.Clone(q.Stems), func(s string) bool { return !keep(s) })
	q.Pairs = slices.DeleteFunc(slices.Clone(q.Pairs), func(p Pair) bool { return !keep(p.First) || !keep(p.Second) })
	q.Full = full
	return q
}
