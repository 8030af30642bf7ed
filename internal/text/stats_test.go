package text

import (
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/result"
)

func TestStatsFits(t *testing.T) {
	stats := result.Stats{
		By: "session", Total: result.Tokens{Requests: 2, Output: 3e9}, Uncounted: 1, More: 3,
		Results: []result.Tokens{
			{
				Key: "01KJW4MN48AJBF1NFJ2X4RZ873", Title: strings.Repeat("日本 long title ", 9), Sessions: 1, Requests: 1, Output: 2e9,
				CacheRead: 1e9, Price: 12.5,
			},
			{Key: "01KJW4MN48AJBF1NFJ2X4RZ874", Title: "\x1b[31mred", Sessions: 1, Requests: 1, Output: 1e9},
		},
	}
	for _, columns := range []int{40, 80, 200} {
		for line := range strings.Lines(Stats(Look{Width: columns, UTF8: true}, stats)) {
			if line = strings.TrimSuffix(line, "\n"); width(line) > max(columns, 60) || strings.Contains(line, "\x1b") {
				t.Errorf("in %d columns: %q", columns, line)
			}
		}
	}
	if wide := Stats(Look{Width: 120, UTF8: true}, stats); !strings.Contains(wide, "████") ||
		!strings.Contains(wide, "12.50") {
		t.Error(wide)
	}
	if pipe := Stats(Look{}, stats); strings.Contains(pipe, "#") {
		t.Error(pipe)
	}
}
