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

// TestLongFileRows: a line of a file is a row of 20 px, beside which a bar marks what a session wrote, and one line of
// text says who. The rest of that opens where the pointer or the focus is.
func TestLongFileRows(t *testing.T) {
	s := open(t, chromium(t), world.Long(t))
	for _, width := range widths {
		s.looks(width, 900, false)
		s.open(s.base + "file?path=src/auth/clock.go")
		var got struct{ Code, Wrong, Bars, Bare, Titles, High, Cards int }
		s.eval(`(() => {
			const all = (q) => [...document.querySelectorAll(q)], height = (e) => e.getBoundingClientRect().height;
			const code = all(".lines code"), bars = all(".bar"), top = (e) => Math.round(e.getBoundingClientRect().top);
			return { Code: code.length, Wrong: code.filter((c, i) => height(c) !== 20 || top(c) !== top(bars[i])).length,
				Bars: bars.filter((b) => getComputedStyle(b).borderLeftWidth === "4px").length,
				Bare: bars.filter((b) => getComputedStyle(b).borderLeftWidth === "0px").length,
				Titles: all(".by a:not(.dim)").length, High: all(".by").filter((b) => height(b) > 20).length,
				Cards: all(".card").filter((c) => c.checkVisibility()).length };
		})()`, &got)
		want := got
		want.Code, want.Wrong, want.Bars, want.Bare, want.Titles, want.High, want.Cards = 42, 0, 30, 12, 1, 0, 0
		if got != want {
			t.Errorf("at %d px: %+v, want %+v", width, got, want)
		}
		s.eval(`document.querySelector(".by a:not(.dim)").focus()`, nil)
		s.until(`document.querySelectorAll(".part:focus-within .card p").length > 2`)
		s.until(`[...document.querySelectorAll(".card")].filter((c) => c.checkVisibility()).length === 1`)
	}
	s.clean()
}
