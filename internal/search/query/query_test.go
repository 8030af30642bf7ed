package query_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/search/query"
	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	tests := []struct {
		name, text string
		want       query.Query
	}{
		{"nothing", " ?! ", query.Query{}},
		{
			"words, sorted, each once", "the tests the test",
			query.Query{
				Terms: []query.Term{{Text: "'the", Weak: true}, {Text: "=test"}, {Text: "=tests"}, {Text: "test", Word: "tests"}},
				Pairs: []query.Pair{{First: "test", Second: "test"}},
				Stems: []string{"test", "test"},
			},
		},
		{
			"neighbours and one apart", "alpha of beta gamma delta",
			query.Query{
				Terms: []query.Term{
					{Text: "'of", Weak: true},
					{Text: "=alpha"},
					{Text: "=beta"},
					{Text: "=delta"},
					{Text: "=gamma"},
					{Text: "alpha", Word: "alpha"},
					{Text: "beta", Word: "beta"},
					{Text: "delta", Word: "delta"},
					{Text: "gamma", Word: "gamma"},
				},
				Pairs: []query.Pair{
					{"alpha", "beta"},
					{"alpha", "gamma"},
					{"beta", "gamma"},
					{"beta", "delta"},
					{"gamma", "delta"},
				},
				Stems: []string{"alpha", "beta", "gamma", "delta"},
			},
		},
		{
			"an error code", "E42",
			query.Query{
				Terms: []query.Term{{Text: "42", Word: "42"}, {Text: "=e42", Exact: true}, {Text: "e", Word: "e"}},
				Pairs: []query.Pair{{"e", "42"}},
				Stems: []string{"e", "42"},

				Anchors: true,
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, query.Parse(tt.text)); diff != "" {
				t.Errorf("Parse(%q) (-want +got):\n%s", tt.text, diff)
			}
		})
	}
}

// What is longer than any question is asked by its beginning, whatever it repeats.
func TestParseIsBounded(t *testing.T) {
	var text strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&text, "word%dx ", i)
	}
	for _, text := range []string{text.String(), strings.Repeat("word ", 1<<20)} {
		q := query.Parse(text)
		if len(q.Terms) > 1000 || len(q.Stems) > 1<<16 ||
			!slices.ContainsFunc(q.Terms, func(t query.Term) bool { return t.Text == "word" }) {
			t.Errorf("Parse(%.20q… of %d bytes) has %d terms, %d stems", text, len(text), len(q.Terms), len(q.Stems))
		}
	}
}

func TestAs(t *testing.T) {
	typed := query.Parse("the brakcet of brackets")
	got := typed.ReadAs("brakcet", "bracket", 0.7)
	want := query.Query{
		Terms: []query.Term{
			{Text: "'of", Weak: true},
			{Text: "'the", Weak: true},
			{Text: "=brackets"},
			{Text: "bracket", Word: "brackets"},
		},
		Pairs: []query.Pair{{First: "bracket", Second: "bracket"}},
		Stems: []string{"bracket", "bracket"},
		Read:  []string{"bracket"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("a stem that was asked for, too (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(query.Parse("the brakcet of brackets"), typed); diff != "" {
		t.Errorf("the question itself changed (-want +got):\n%s", diff)
	}
	got = query.Parse("brakcet").ReadAs("brakcet", "bracket", 0.7)
	want = query.Query{
		Terms: []query.Term{{Text: "bracket", Word: "brakcet", Like: 0.7}},
		Stems: []string{"bracket"},
		Read:  []string{"bracket"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("a stem that was not asked for (-want +got):\n%s", diff)
	}
}

func TestAnchors(t *testing.T) {
	for text, want := range map[string]bool{
		"jwt.go":                       true,
		"the ErrTokenExpired of E4042": true,
		"3f2a91b":                      true,
		"jwt.go expiry":                false,
		"404":                          false,
		"the":                          false,
		"":                             false,
	} {
		if got := query.Parse(text).Anchors; got != want {
			t.Errorf("Parse(%q).Anchors = %v, want %v", text, got, want)
		}
	}
}
