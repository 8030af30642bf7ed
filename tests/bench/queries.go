package main

import (
	"math/rand/v2"
	"path"
	"regexp"
	"slices"
	"strings"
)

// perKind is how many queries there are of each kind.
const perKind = 10

// queries makes a mix from steps of the ledger, spread over its time: subjects, rare words, identifiers and questions.
func (r *remix) queries(steps int) (out []string) {
	rng := rand.New(rand.NewPCG(7, 7))
	for _, kind := range []string{"subject", "rare", "identifier", "question"} {
		for i := 0; i < perKind; {
			author, n := rng.IntN(r.authors), (i*steps+rng.IntN(steps))/perKind
			if q := ask(kind, r.step(author, n), r.lexicon, rng); q != "" {
				out = append(out, q)
				i++
			}
		}
	}
	return out
}

// ask makes a query of a kind from a step; "" where it gives none.
func ask(kind string, s step, lex *lexicon, rng *rand.Rand) string {
	said, calls := s.sessions[0].Turns, s.sessions[0].ToolCalls
	text := said[rng.IntN(len(said))].Content
	switch kind {
	case "subject":
		if words := strings.Fields(s.subject); len(words) >= 3 {
			return strings.Join(words, " ")
		}
	case "rare":
		return rare(text, lex, 1+rng.IntN(3))
	case "identifier":
		if found := identifier.FindAllString(text, -1); len(found) > 0 {
			return found[rng.IntN(len(found))]
		}
		if len(calls) > 0 {
			if p := path.Base(calls[rng.IntN(len(calls))].Path); len(p) > 3 {
				return p
			}
		}
	case "question":
		if found := sentence.FindAllString(text, -1); len(found) > 0 {
			return "why did we decide that " + strings.ToLower(found[rng.IntN(len(found))])
		}
	}
	return ""
}

var (
	identifier = regexp.MustCompile(`\b[a-z]+(?:[A-Z][a-z]+)+\b|\b[a-z]+_[a-z_]+\b|\b\w+\.go\b`)
	sentence   = regexp.MustCompile(`\b[A-Za-z]+(?: [a-z]+){5,11}\b`)
)

// rare picks the n words of a text that fewest sources have.
func rare(text string, lex *lexicon, n int) string {
	var out []string
	for range n {
		best, df := "", lex.sources
		for _, at := range wordsOf(text) {
			w := strings.ToLower(text[at[0]:at[1]])
			if d := lex.df[w]; len(w) > 3 && d < df && !slices.Contains(out, w) {
				best, df = w, d
			}
		}
		if best != "" {
			out = append(out, best)
		}
	}
	return strings.Join(out, " ")
}
