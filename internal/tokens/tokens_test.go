package tokens_test

import (
	"testing"

	"github.com/git-rekal/git-rekal/internal/tokens"
)

func TestCount(t *testing.T) {
	for _, tt := range []struct {
		text string
		want int
	}{
		{"", 0},
		{"word", 1},
		{"two words", 3},
		{"international", 4},
		{"camelCase", 3},
		{"3f2a91bc", 6},
		{"20261121", 4},
		{"x == y", 3},
		{"----------------", 4},
		{"日本", 3},
		{"🦊", 3},
		{"\n\n", 2},
	} {
		if got := tokens.Count(tt.text); got != tt.want {
			t.Errorf("%q: %d, want %d", tt.text, got, tt.want)
		}
	}
}
