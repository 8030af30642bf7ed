package web_test

import (
	"testing"

	"github.com/git-rekal/git-rekal/tests/web/world"
)

// widths are those of a phone, a tablet and a laptop.
//
//nolint:gochecknoglobals // a table
var widths = []int{390, 768, 1280}

// lineCount is an expression: in how many lines the first element that a selector finds stands, and 0 where there is none.
func lineCount(selector string) string {
	return `(() => { const e = document.querySelector(` + quoted(selector) + `); if (!e) return 0;
		return Math.round(e.getBoundingClientRect().height / parseFloat(getComputedStyle(e).lineHeight)) })()`
}

// TestLongTitles: a title takes at most two lines of a page, and one of a list.
func TestLongTitles(t *testing.T) {
	s := open(t, chromium(t), world.Long(t))
	for _, width := range widths {
		s.looks(width, 900, false)
		for _, test := range []struct {
			page, selector string
			most           int
		}{
			{s.pages["session"], "h1", 2},
			{"?q=expiry", ".hit h3 a", 2},
			{"sessions", ".rows a", 1},
			{"timeline", ".events ul a", 1},
			{"pictures", ".meta a", 1},
		} {
			s.open(s.base + test.page)
			var lines int
			if s.eval(lineCount(test.selector), &lines); lines < 1 || lines > test.most {
				t.Errorf("%s at %d px: %s takes %d lines, at most %d", test.page, width, test.selector, lines, test.most)
			}
		}
	}
	s.clean()
}
