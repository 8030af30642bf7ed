package search_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/git-rekal/git-rekal/internal/search"
)

func TestSnippet(t *testing.T) {
	long := strings.Repeat("padding ", 100)
	tests := []struct {
		name, content, query string
		limit                int
		want                 string
	}{
		{"all of it", "the exp claim\n\twas wrong", "exp", 240, "the exp claim was wrong"},
		{
			"the best passage", long + "the exp claim was compared " + long, "claims compared", 40,
			"…the exp claim was compared padding…",
		},
		{"nothing matches", "alpha beta gamma delta", "zeta", 14, "alpha beta…"},
		{"at the end", "alpha beta gamma delta", "delta", 14, "…gamma delta"},
		{"at the beginning", "alpha beta gamma delta", "alpha", 14, "alpha beta…"},
		{"function words do not attract", "of the of the of the xx yy zz needle", "the needle of", 16, "…yy zz needle"},
		{"only function words", "xx yy zz of the", "of the", 10, "…of the"},
		{"one long word", strings.Repeat("x", 50), "x", 10, "xxxxxxxxx…"},
		{"empty", "", "x", 10, ""},
		{"blank", " \n ", "x", 10, ""},
		{"no room", "alpha", "x", 0, ""},
		{"CJK", strings.Repeat("漢字", 30), "漢字", 10, "漢字漢字漢字漢字漢…"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := search.Snippet(tt.content, tt.query, tt.limit)
			if got != tt.want {
				t.Errorf("Snippet = %q, want %q", got, tt.want)
			}
		})
	}
}

func FuzzSnippet(f *testing.F) {
	f.Add("the exp claim was compared in local time", "exp claim", 20)
	f.Add("漢字 \xff\x00 x", "x", 3)
	f.Fuzz(func(t *testing.T, content, query string, limit int) {
		got := search.Snippet(content, query, limit%300)
		if n := utf8.RuneCountInString(got); n > max(limit%300, 0) {
			t.Errorf("%d characters of %d", n, limit%300)
		}
		if strings.ContainsAny(got, "\n\t") {
			t.Errorf("%q has several lines", got)
		}
	})
}

func TestMatches(t *testing.T) {
	for _, tt := range []struct {
		name, text, question string
		want                 []string
	}{
		{"nothing", "some words", "others", nil},
		{
			"other forms, and what encloses them", `Tokens ("expired"), re-read.`, "token expiry expire",
			[]string{"Tokens", "expired"},
		},
		{"function words only by themselves", "what the token was", "what is the token", []string{"token"}},
		{"a question of function words", "what is it", "what", []string{"what"}},
		{"a path and its name", "see `src/auth/jwt.go:12`.", "jwt.go", []string{"src/auth/jwt.go:12"}},
		{"the same word twice, and white space", "jwt\n\tjwt  x", "JWT", []string{"jwt", "jwt"}},
		{"beyond ASCII", "die größte, 日本語", "größte 日本", []string{"größte", "日本語"}},
		{"no text", "", "jwt", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, m := range search.Matches(tt.text, tt.question) {
				got = append(got, tt.text[m[0]:m[1]])
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}
