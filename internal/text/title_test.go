package text

import (
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/result"
)

// TestTitlesOfLists: the title of an item of a list takes one line, cut behind a word.
func TestTitlesOfLists(t *testing.T) {
	title := strings.TrimSpace(strings.Repeat("grown tokens ", 20))
	for width := 40; width <= 120; width++ {
		look := Look{Width: width, UTF8: true}
		for name, shown := range map[string]string{
			"log": Log(look, []result.Checkpoint{{
				Commit: strings.Repeat("a", 40), Sessions: []result.LogSession{{ID: "01KJW4MN", Title: title}},
			}}, func(string) string { return "" }),
			"results": Recall(look, result.Recall{Results: []result.Hit{{ID: "01KJW4MN", Kind: "session", Title: title}}}, nil),
			"others":  Recall(look, result.Recall{More: []result.Mention{{ID: "01KJW4MN", Title: title}}}, nil),
		} {
			n := 0
			for line := range strings.Lines(shown) {
				if strings.Contains(line, "grown") || strings.Contains(line, "tokens") {
					n++
					if !strings.HasSuffix(line, "grown…\n") && !strings.HasSuffix(line, "tokens…\n") {
						t.Errorf("%s at %d columns: cut within a word: %q", name, width, line)
					}
				}
			}
			if n != 1 {
				t.Errorf("%s at %d columns: %d lines:\n%s", name, width, n, shown)
			}
		}
	}
}
