package web_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/tests/web/world"
)

// widths are those of a phone, a tablet and a laptop.
var widths = []int{390, 768, 1280}

// lineCount is an expression: in how many lines the first element that a selector finds stands, and 0 where there is
// none.
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
			{"activity", ".begins a", 1},
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
		s.keys("Escape")
		s.until(`[...document.querySelectorAll(".card")].every((c) => !c.checkVisibility())`)
	}
	s.clean()
}

// TestLongCourse: the strip of a session has its whole length at each width, with a scale as long, and leads to a turn;
// j and k go through prompts and commits, also to the next page.
func TestLongCourse(t *testing.T) {
	s := open(t, chromium(t), world.Long(t))
	for _, width := range widths {
		s.looks(width, 900, false)
		s.open(s.base + s.pages["session"])
		var got struct {
			Strip, Scale, Last, Room float64
			Kinds                    []string
		}
		s.eval(`(() => {
			const box = (q) => document.querySelector(q).getBoundingClientRect(), marks = [...document.querySelectorAll(".strip > rect")];
			return { Strip: box(".strip").width, Scale: box(".scale").width, Room: box("main .head").width,
				Last: Math.max(...marks.map((m) => m.getBoundingClientRect().right)) - box(".strip").left,
				Kinds: [...document.querySelectorAll(".legends span")].map((e) => e.textContent.trim()) };
		})()`, &got)
		if got.Strip != got.Room || got.Scale != got.Room || got.Last > got.Room || got.Last < 0.95*got.Room ||
			strings.Join(got.Kinds, ", ") != "90 prompts, 30 edits, 0 failures, 3 commits" {
			t.Errorf("at %d px: %+v", width, got)
		}
		var open bool
		if s.eval(`document.querySelector(".outline").open`, &open); open != (width == 1280) {
			t.Errorf("at %d px the outline is open: %v", width, open)
		}
	}
	var at struct{ X, Y float64 }
	s.eval(`(() => { const r = document.querySelector(".strip").getBoundingClientRect(); return { X: r.left + r.width / 2 + 2, Y: r.top + 30 } })()`, &at)
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		s.do("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": at.X, "y": at.Y, "button": "left", "clickCount": 1}, nil)
	}
	s.wait()
	s.until(`location.hash.startsWith("#t") && document.querySelector(location.hash) !== null && location.search.includes("from=90")`)

	s.open(s.base + s.pages["session"])
	s.eval(`document.activeElement.blur()`, nil)
	for _, step := range []struct{ key, at string }{{"j", "t0"}, {"j", "t2"}, {"j", "t4"}, {"k", "t2"}} {
		s.keys(step.key)
		s.until(`document.activeElement.id === ` + quoted(step.at))
	}
	s.eval(`document.getElementById("t28").tabIndex = -1; document.getElementById("t28").focus()`, nil)
	s.keys("j")
	s.wait()
	s.until(`location.search.includes("from=30")`)
	s.clean()
}

// TestLongResultsThatArrive: whoever typed and went down before the results came has the focus among those that did.
func TestLongResultsThatArrive(t *testing.T) {
	s := open(t, chromium(t), world.Team(t))
	s.open(s.base)
	s.until(`document.activeElement.id === "q"`)
	s.keys("=token", "ArrowDown")
	s.until(`document.activeElement.matches("#results [data-item]")`)
	s.until(`location.search === "?q=token"`)
	s.until(`document.activeElement.matches("#results [data-item]") && document.querySelector("#results mark") !== null`)
	s.keys("ArrowDown")
	s.until(`[...document.querySelectorAll("[data-item]")].indexOf(document.activeElement) > 0`)
	s.clean()
}

// TestLongMenu: it is one row on a phone.
func TestLongMenu(t *testing.T) {
	s := open(t, chromium(t), world.Team(t))
	for _, width := range widths {
		s.looks(width, 900, false)
		s.open(s.base)
		var rows, items int
		s.eval(`new Set([...document.querySelectorAll(".top nav a")].map((a) => a.getBoundingClientRect().top)).size`, &rows)
		s.eval(`document.querySelectorAll(".top nav a").length`, &items)
		if rows != 1 || items != 4 {
			t.Errorf("at %d px: %d items in %d rows", width, items, rows)
		}
	}
}

// TestLongForcedColors: where somebody's own colors are forced upon a page, what only a color tells keeps its own.
func TestLongForcedColors(t *testing.T) {
	s := open(t, chromium(t), world.Long(t))
	for page, selector := range map[string]string{
		"lines?count=1": ".legend.wrote, .legend.none", "activity": ".days .l1, .legend.l2", s.pages["session"]: ".legends .legend",
	} {
		var want, got []string
		color := `[...document.querySelectorAll(` + quoted(selector) + `)].map((e) => getComputedStyle(e).backgroundColor)`
		s.do("Emulation.setEmulatedMedia", map[string]any{"features": []any{}}, nil)
		s.open(s.base + page)
		s.eval(color, &want)
		s.do("Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]any{"name": "forced-colors", "value": "active"}}}, nil)
		s.until(`matchMedia("(forced-colors: active)").matches`)
		if s.eval(color, &got); len(want) < 2 || !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", page, got, want)
		}
	}
}
