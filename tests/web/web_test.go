// Package web_test looks at `git rekal web` in a real browser.
package web_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/tests/harness"
	"github.com/git-rekal/git-rekal/tests/web/world"
)

// site is a repository's pages in a tab.
type site struct {
	*tab
	w     *world.World
	base  string
	pages map[string]string // one page of each kind, by its name
}

func open(t *testing.T, b *browser, w *world.World) *site {
	t.Helper()
	s := &site{tab: b.tab(), w: w}
	s.do("Page.addScriptToEvaluateOnNewDocument",
		map[string]any{"source": "window.marks = 0; window.mark = () => { window.marks++ };"}, nil)
	s.open(w.Web())
	s.eval("location.href", &s.base)
	s.pages = map[string]string{
		"search": "?q=token", "sessions": "sessions", "timeline": "timeline", "files": "files",
		"nothing": "?q=zzzz", "activity": "activity", "failures": "failures", "lines": "lines?count=1",
	}
	for kind, from := range map[string]string{
		"session": "?kind=session", "memory": "?kind=memory", "commit": "timeline",
		"file": "files",
	} {
		prefix := map[string]string{"memory": "session?"}[kind]
		if prefix == "" {
			prefix = kind + "?"
		}
		s.open(s.base + from)
		var href string
		s.eval(`[...document.querySelectorAll("main a[href]")].map((a) => a.getAttribute("href")).find((h) => h.startsWith(`+quoted(prefix)+`)) ?? ""`, &href)
		if href == "" {
			t.Fatalf("no link to a %s on %q", kind, from)
		}
		s.pages[kind], _, _ = strings.Cut(href, "#")
	}
	return s
}

func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

// clean fails where a script failed, a policy stopped something, or a page asked another server.
func (s *site) clean() {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.problems {
		s.t.Errorf("the console says: %s", p)
	}
	u, err := url.Parse(s.base)
	if err != nil {
		s.t.Fatal(err)
	}
	asked := 0
	for _, r := range s.requests {
		if to, err := url.Parse(r); err != nil || to.Host != u.Host {
			if r != "about:blank" {
				s.t.Errorf("a request to %s", r)
			}
		}
		asked++
	}
	if asked == 0 {
		s.t.Error("no request was seen, so nothing was looked at")
	}
	s.requests, s.problems = nil, nil
}

func TestLongSearchAsOneTypes(t *testing.T) {
	s := open(t, chromium(t), world.Team(t))
	s.open(s.base)
	var cookie, token string
	s.eval("document.cookie", &cookie)
	s.eval("location.search", &token)
	harness.Equal(t, "what a script sees of the cookie, and the address of the token", []string{"", ""},
		[]string{cookie, token})
	s.until(`document.activeElement.id === "q"`)
	s.keys("=frankfurt")
	s.until(`document.querySelectorAll("#results .hit").length === 1 && document.querySelector("#results mark") !== null`)
	s.until(`document.getElementById("status").textContent.includes("1 result")`)
	s.until(`location.search === "?q=frankfurt"`)
	var same bool
	if s.eval(`document.activeElement.id === "q" && document.getElementById("q").value === "frankfurt"`, &same); !same {
		t.Error("the focus or the text was lost")
	}
	s.keys("ArrowDown")
	s.until(`document.activeElement.matches("#results [data-item]")`)
	s.keys("ArrowUp")
	s.until(`document.activeElement.id === "q"`)
	s.keys("ArrowDown", "Enter")
	s.wait()
	s.until(`document.querySelector("h1").textContent.includes("Fix JWT expiry")`)
	s.keys("Ctrl+k")
	s.wait()
	s.until(`document.activeElement.id === "q"`)
	s.keys("=zzzz")
	s.until(`document.getElementById("status").textContent.includes("Nobody wrote") && document.querySelectorAll(".hit").length === 0`)
	s.clean()
}

// TestLongKeyboard goes by Tab alone: every link, field and fold of each page is reached, in order, and seen when it
// is.
func TestLongKeyboard(t *testing.T) {
	s := open(t, chromium(t), world.Team(t))
	s.looks(1280, 800, false)
	for name, page := range s.pages {
		s.open(s.base + page)
		var want int
		s.eval(`document.activeElement.blur(); window.getSelection().removeAllRanges();
			window.all = [...document.querySelectorAll("a[href]:not([tabindex='-1']), input, select, button, summary")].filter((e) => e.checkVisibility()); all.length`, &want)
		had := map[int]bool{}
		for range want + 3 {
			s.keys("Tab")
			var at int
			s.eval(`all.indexOf(document.activeElement)`, &at)
			if at < 0 {
				continue
			}
			had[at] = true
			var shown bool
			if s.eval(`(() => { const e = document.activeElement, s = getComputedStyle(e), r = e.getBoundingClientRect();
				return s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 2 && r.bottom > 0 && r.top < innerHeight })()`, &shown); !shown {
				var what string
				s.eval(`document.activeElement.outerHTML.slice(0, 200)`, &what)
				t.Errorf("%s: the focus is not seen on %s", name, what)
			}
		}
		if len(had) != want || want < 6 {
			t.Errorf("%s: %d of %d are reached", name, len(had), want)
		}
		s.open(s.base + page)
		s.keys("Shift+Tab", "Tab") // from wherever the focus was
		var skips bool
		if s.eval(`document.querySelector("a").className === "skip" && document.querySelector(document.querySelector("a").getAttribute("href")) !== null`, &skips); !skips {
			t.Errorf("%s: the first link does not skip to the content", name)
		}
	}
	s.open(s.base + s.pages["session"])
	s.eval(`document.querySelector(".tools summary").focus()`, nil)
	s.keys("Enter")
	s.until(`document.querySelector(".tools").open`)
	s.clean()
}

// TestLongNarrowAndWide looks for text that is cut off, from the narrowest phone to a wide screen.
func TestLongNarrowAndWide(t *testing.T) {
	b := chromium(t)
	for _, w := range []*world.World{world.Team(t), world.Hostile(t)} {
		s := open(t, b, w)
		for _, width := range []int{320, 375, 768, 1280, 3840} {
			s.looks(width, 900, false)
			for name, page := range s.pages {
				s.open(s.base + page)
				var over string
				s.eval(`(() => { const w = document.documentElement.clientWidth;
					if (document.documentElement.scrollWidth <= w) return "";
					return [...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > w + 1).map((e) => e.outerHTML.slice(0, 150)).slice(-2).join("\n") || "?" })()`, &over)
				if over != "" {
					t.Errorf("%s at %d px is wider than the screen: %s", name, width, over)
				}
			}
		}
		s.clean()
	}
}

// TestLongHostileScripts goes to pages of a repository in which everybody tried to run a script: none runs, and nobody
// else is asked.
func TestLongHostileScripts(t *testing.T) {
	s := open(t, chromium(t), world.Hostile(t))
	queue := []string{"", "timeline", "files", "sessions", "?author=" + url.QueryEscape(world.Texts[1])}
	for _, text := range world.Texts {
		queue = append(queue, "?q="+url.QueryEscape(text))
	}
	had := map[string]bool{}
	for ; len(queue) > 0; queue = queue[1:] {
		page, _, _ := strings.Cut(queue[0], "#")
		if had[page] || len(had) > 120 {
			continue
		}
		had[page] = true
		s.open(s.base + page)
		var marks int
		if s.eval("window.marks", &marks); marks > 0 {
			t.Errorf("%s: a script ran", page)
		}
		var links []string
		s.eval(`[...document.querySelectorAll("main a[href]")].map((a) => a.getAttribute("href")).filter((h) => !h.startsWith("#") && !h.startsWith("http"))`, &links)
		queue = append(queue, links...)
	}
	s.open(s.base)
	for _, text := range world.Texts { // also by the way of search as one types
		s.eval(`document.getElementById("q").value = ""; document.getElementById("q").focus()`, nil)
		s.keys("=" + strings.ReplaceAll(text, "\n", " "))
		s.until(`document.getElementById("results").getAttribute("aria-busy") === null && location.search !== ""`)
		var marks int
		if s.eval("window.marks", &marks); marks > 0 {
			t.Errorf("a script ran behind a search for %q", text)
		}
	}
	t.Logf("%d pages", len(had))
	s.clean()
}

// TestLongAccessible asks axe-core for what a screen reader or an eye can't use: AXE names axe.min.js (`make web-check`
// gets it).
func TestLongAccessible(t *testing.T) {
	b := chromium(t)
	axe, err := os.ReadFile(os.Getenv("AXE"))
	if err != nil {
		t.Skip("SKIPPED: AXE does not name axe.min.js: make web-check")
	}
	team, long := open(t, b, world.Team(t)), open(t, b, world.Long(t))
	maps.DeleteFunc(long.pages, func(name, _ string) bool { return name != "session" && name != "file" })
	for _, s := range []*site{team, long} {
		for _, width := range []int{1280, 375} {
			for _, dark := range []bool{false, true} {
				s.looks(width, 900, dark)
				for name, page := range s.pages {
					s.open(s.base + page)
					s.checkAxe(string(axe), fmt.Sprintf("%s, %d px, dark %v", name, width, dark))
				}
			}
		}
	}
}

// checkAxe fails for each violation of the page, and for each text whose contrast can't be told.
func (s *site) checkAxe(axe, name string) {
	s.t.Helper()
	s.eval(`document.querySelectorAll("details").forEach((d) => d.open = true)`, nil)
	s.eval(axe+"; 0", nil)
	var found struct {
		Passes     int
		Violations []string
	}
	s.eval(`axe.run().then((r) => ({passes: r.passes.length,
		violations: [...r.violations, ...r.incomplete.filter((v) => v.id === "color-contrast")].map((v) => v.id + ": " + v.help + ": " +
			v.nodes.slice(0, 3).map((n) => n.html + " " + n.failureSummary).join(" | "))}))`, &found)
	for _, v := range found.Violations {
		s.t.Errorf("%s: %s", name, v)
	}
	if found.Passes < 10 {
		s.t.Errorf("%s: only %d rules were looked at", name, found.Passes)
	}
}

// TestLongExport goes through an export as somebody who opens its files.
func TestLongExport(t *testing.T) {
	b := chromium(t)
	w := world.Hostile(t)
	w.Run("web", "--export", "../pages")
	dir := w.At("home/pages")
	s := &site{tab: b.tab(), w: w}
	s.do("Page.addScriptToEvaluateOnNewDocument",
		map[string]any{"source": "window.marks = 0; window.mark = () => { window.marks++ };"}, nil)
	files, err := filepath.Glob(filepath.Join(dir, "*.html"))
	if err != nil || len(files) < 30 {
		t.Fatalf("%d pages, %v", len(files), err)
	}
	for _, file := range files {
		s.open("file://" + file)
		var page struct {
			Marks int
			Links []string
			Font  string
		}
		s.eval(`({marks, links: [...document.querySelectorAll("a[href]")].map((a) => a.getAttribute("href")), font: getComputedStyle(document.body).display})`, &page)
		if page.Marks > 0 || page.Font != "flex" {
			t.Errorf("%s: a script ran, or the style was not read: %+v", file, page)
		}
		for _, l := range page.Links {
			name, _, _ := strings.Cut(l, "#")
			if name != "" && !strings.HasPrefix(name, "http") && !slices.Contains(files, filepath.Join(dir, name)) {
				t.Errorf("%s: nothing is at %q", file, l)
			}
		}
	}
	for _, r := range s.requests {
		if !strings.HasPrefix(r, "file://") && r != "about:blank" {
			t.Errorf("a request to %s", r)
		}
	}
	if len(s.problems) > 0 {
		t.Errorf("the console says: %s", s.problems)
	}
}

// TestLongScreenshots writes pictures of the pages into the folder SHOTS.
func TestLongScreenshots(t *testing.T) {
	b := chromium(t)
	into := os.Getenv("SHOTS")
	if into == "" {
		t.Skip("SKIPPED: SHOTS names no folder: make web-check")
	}
	s := open(t, b, world.Team(t))
	s.pages["search"] = "?q=why+does+the+token+expire+early"
	s.pages["file"] = "file?path=src/auth/jwt.go"
	s.open(s.base + s.pages["search"])
	var href string
	s.eval(`document.querySelector("#results h3 a").getAttribute("href")`, &href)
	s.pages["session"], _, _ = strings.Cut(href, "#")
	delete(s.pages, "nothing")
	for name, page := range s.pages {
		for width, height := range map[int]int{1280: 800, 375: 760} {
			for _, dark := range []bool{false, true} {
				s.looks(width, height, dark)
				s.open(s.base + page)
				s.eval(`document.activeElement.blur()`, nil)
				if name == "session" { // what it says, and the commit that came of it
					s.eval(`document.querySelector(".changes").open = true; scrollTo(0, document.querySelector(".commit").getBoundingClientRect().top + scrollY - 400)`, nil)
				}
				file := filepath.Join(into, name+"-"+map[bool]string{
					false: "light",
					true:  "dark",
				}[dark]+"-"+map[int]string{1280: "1280", 375: "375"}[width]+".png")
				if err := os.WriteFile(file, small(t, s.screenshot()), 0o666); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// small is a picture in 64 colors, those that it has most of, which is a quarter of its size.
func small(t *testing.T, shot []byte) []byte {
	t.Helper()
	full, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		t.Fatal(err)
	}
	count := map[color.RGBA]int{}
	for y := range full.Bounds().Dy() {
		for x := range full.Bounds().Dx() {
			c, ok := color.RGBAModel.Convert(full.At(x, y)).(color.RGBA)
			if ok {
				count[c]++
			}
		}
	}
	colors := make([]color.RGBA, 0, len(count))
	for c := range count {
		colors = append(colors, c)
	}
	slices.SortFunc(colors, func(a, b color.RGBA) int { return count[b] - count[a] })
	palette := color.Palette{}
	for _, c := range colors[:min(64, len(colors))] {
		palette = append(palette, c)
	}
	out := image.NewPaletted(full.Bounds(), palette)
	draw.Draw(out, out.Bounds(), full, image.Point{}, draw.Src)
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, out); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
