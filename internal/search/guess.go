package search

import (
	"context"
	"fmt"
	"slices"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/search/analysis"
	"github.com/git-rekal/git-rekal/internal/search/lexical"
	"github.com/git-rekal/git-rekal/internal/search/query"
)

// maxGuesses is how many words are guessed at, the first ones: a long text that somebody pasted says
// enough without, and each is compared with every stem that there is.
const maxGuesses = 8

// correctSpelling reads each word of q that stands nowhere, nor in others, as the stem that is most like it, and
// fetches what belongs to that.
func (s *Searcher) correctSpelling(ctx context.Context, q query.Query, f lexical.Lists,
	others *lexical.Counts,
) (query.Query, lexical.Lists, error) {
	var unknown []lexical.Misspelt
	for _, stem := range q.Stems {
		had := slices.ContainsFunc(unknown, func(m lexical.Misspelt) bool { return m.Stem == stem })
		if f[stem] == nil && !others.Holds(stem) && !had && len(unknown) < maxGuesses {
			unknown = append(unknown, newMisspelt(q.Typed(stem), stem))
		}
	}
	if len(unknown) == 0 {
		return q, f, nil
	}
	guesses, err := s.similar(ctx, unknown)
	if err != nil {
		return q, nil, fmt.Errorf("search: similar words: %w", asCorrupt(err))
	}
	if len(guesses) == 0 {
		return q, f, nil
	}
	for _, g := range guesses {
		q = q.ReadAs(g.Word, g.Stem, g.Similarity)
	}
	f, err = s.fetch(ctx, q)
	return q, f, err
}

func newMisspelt(word, stem string) lexical.Misspelt {
	m, a := lexical.Misspelt{Word: word, Stem: stem, Fixed: make(map[string]bool)}, analysis.New()
	for _, w := range lexical.WithNeighboursSwapped(word) {
		for _, t := range a.Tokens(w) {
			if t.Word == w {
				m.Fixed[t.Term] = true
			}
		}
	}
	return m
}

// similar looks through the vocabularies of all runs.
func (s *Searcher) similar(ctx context.Context, words []lexical.Misspelt) ([]lexical.Guess, error) {
	var spans []db.Span
	for i, h := range s.heads.runs {
		run := s.state.Runs[i]
		spans = append(spans, db.Span{Run: run.ID, From: h.Fence.End(), To: run.Head})
	}
	vocabularies, err := db.ReadSpans(ctx, s.db, spans)
	if err != nil {
		return nil, err
	}
	return lexical.Similar(words, vocabularies)
}
