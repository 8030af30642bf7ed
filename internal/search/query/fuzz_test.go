package query_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/git-rekal/git-rekal/internal/search/query"
)

// FuzzParse: no question fails; its terms are valid, sorted, each once and not too many, and its
// pairs are of its stems. Reading a word as another one keeps that.
func FuzzParse(f *testing.F) {
	f.Fuzz(func(t *testing.T, text, word, stem string) {
		q := query.Parse(text)
		check(t, q)
		if utf8.ValidString(stem) && stem != "" {
			check(t, q.ReadAs(word, stem, 0.5))
			if len(q.Terms) > 0 {
				check(t, q.ReadAs(q.Terms[0].Text, stem, 0.5))
			}
		}
	})
}

func check(t *testing.T, q query.Query) {
	t.Helper()
	if len(q.Terms) > 1000 || !slices.IsSortedFunc(q.Terms,
		func(a, b query.Term) int { return strings.Compare(a.Text, b.Text) }) {
		t.Fatalf("terms %+v", q.Terms)
	}
	for i, term := range q.Terms {
		if term.Text == "" || !utf8.ValidString(term.Text) || i > 0 && term.Text == q.Terms[i-1].Text {
			t.Fatalf("term %+v of %+v", term, q.Terms)
		}
	}
	if len(q.Pairs) > 2*len(q.Stems) {
		t.Fatalf("%d pairs of %d stems", len(q.Pairs), len(q.Stems))
	}
	for _, p := range q.Pairs {
		if !slices.Contains(q.Stems, p.First) || !slices.Contains(q.Stems, p.Second) {
			t.Fatalf("pair %+v of %q", p, q.Stems)
		}
	}
}
