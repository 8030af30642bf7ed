package passages_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/search/passages"
)

// count is the words w<from> to w<to-1>.
func count(from, to int) string {
	var out []string
	for i := from; i < to; i++ {
		out = append(out, fmt.Sprintf("w%d", i))
	}
	return strings.Join(out, " ")
}

func TestOf(t *testing.T) {
	long := strings.Repeat("x", 79)
	for _, tt := range []struct {
		name  string
		texts []string
		want  []passages.Passage
	}{
		{"nothing", nil, nil},
		{"blanks", []string{" \n", ""}, nil},
		{"a word", []string{"", " hello\n"}, []passages.Passage{{1, "hello"}}},
		{"several turns", []string{"why?", "it  is\nlocal"}, []passages.Passage{{0, "why? it is local"}}},
		{"as many words as fit", []string{count(0, 100)}, []passages.Passage{{0, count(0, 100)}}},
		{"overlapping", []string{count(0, 70), count(70, 200)}, []passages.Passage{{0, count(0, 100)}, {1, count(75, 175)}, {1, count(150, 200)}}},
		{
			"as many bytes as fit",
			[]string{strings.Repeat(long+" ", 11)},
			[]passages.Passage{{0, strings.TrimSpace(strings.Repeat(long+" ", 10))}, {0, strings.TrimSpace(strings.Repeat(long+" ", 6))}},
		},
		{"a long word", []string{"a " + strings.Repeat("0", 1000) + " b"}, []passages.Passage{{0, "a " + strings.Repeat("0", 160) + " b"}}},
		{"text without blanks", []string{strings.Repeat("語", 30)}, []passages.Passage{{0, strings.Repeat("語", 26) + " " + strings.Repeat("語", 4)}}},
		{"what is no text", []string{"a\xff b"}, []passages.Passage{{0, "a b"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var turns []int
			for i := range tt.texts {
				turns = append(turns, i)
			}
			if diff := cmp.Diff(tt.want, passages.Of(tt.texts, turns)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Whatever the text: passages are bounded, and a session that grows keeps all but the last.
func TestOfGrowing(t *testing.T) {
	var texts []string
	var turns []int
	for i := range 40 {
		texts = append(texts, count(i*i, i*i+3*i)+" "+strings.Repeat("é", i*9)+strings.Repeat("/a/b", i*7))
		turns = append(turns, 2*i)
	}
	all := passages.Of(texts, turns)
	for n := range texts {
		had := passages.Of(texts[:n], turns[:n])
		if keep := len(had) - 1; keep > 0 && !cmp.Equal(had[:keep], all[:keep]) {
			t.Errorf("%d turns: (-had +has):\n%s", n, cmp.Diff(had[:keep], all[:keep]))
		}
	}
	for _, p := range all {
		if len(p.Text) > passages.Bytes+1 || !utf8.ValidString(p.Text) {
			t.Errorf("%d bytes: %q", len(p.Text), p.Text)
		}
	}
}
