package web_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/git-rekal/git-rekal/tests/web/world"
)

// written is what templates write: the attributes of each element. What is not here came from somebody's text.
var written = map[string]string{
	"html": "lang", "head": "", "meta": "charset name content http-equiv", "title": "", "link": "rel type href",
	"script": "src defer", "body": "",
	"a": "class href rel title aria-current aria-label data-item tabindex", "header": "class",
	"div": "class id dir role tabindex aria-label aria-hidden", "img": "src alt width height", "bdi": "class title",
	"nav": "aria-label class",
	"ul":  "class", "ol": "class start", "li": "class", "main": "id class tabindex", "footer": "class",
	"p": "class id role dir title aria-hidden", "code": "", "kbd": "", "b": "", "i": "class title",
	"h1": "class", "h2": "class id", "h3": "class", "form": "role id action method class", "label": "class for",
	"select": "name", "option": "value selected",
	"input":  "id name type value placeholder autocomplete spellcheck autofocus dir aria-describedby list",
	"button": "type", "details": "class open data-wide", "summary": "", "datalist": "id",
	"section": "id class aria-label aria-labelledby", "article": "class id aria-label tabindex autofocus",
	"time": "class datetime", "span": "class id aria-hidden", "mark": "", "wbr": "", "pre": "class dir role aria-label tabindex", "ins": "class", "del": "",
	"table": "class", "thead": "", "tbody": "", "tr": "", "th": "scope class", "td": "class aria-hidden",
	"meter": "min max value",
	"svg":   "class viewBox width height role aria-label aria-hidden preserveAspectRatio", "text": "x y", "rect": "class x y width height rx", "line": "class x1 y1 x2 y2",
	"circle": "class cx cy r", "g": "transform",
}

// Markdown also writes these, and links that lead out.
var (
	ofMarkdown = []string{"br", "strong", "em", "hr", "blockquote"}
	leadsOut   = "nofollow noreferrer"
)

// TestLongHostileText goes to every page of a repository full of markup: nothing of it becomes any.
func TestLongHostileText(t *testing.T) {
	v := world.Visit(t, world.Hostile(t).Web())
	queue := []string{"", "?q=mark", "?q=" + url.QueryEscape(world.Texts[1]) + "&author=" +
		url.QueryEscape(world.Texts[2]), "?since=" + url.QueryEscape(world.Texts[1])}
	for _, text := range world.Texts {
		queue = append(queue, "files?name="+url.QueryEscape(text), "timeline?author="+url.QueryEscape(text))
	}
	had := map[string]bool{}
	kinds := map[string]int{}
	for ; len(queue) > 0; queue = queue[1:] {
		page, _, _ := strings.Cut(queue[0], "#")
		if had[page] {
			continue
		}
		had[page] = true
		kind, _, _ := strings.Cut(page, "?")
		kinds[kind]++
		text, doc := v.Page(page)
		if strings.ContainsAny(text, "\u202e\u2066") {
			t.Errorf("%s: a bidi control", page)
		}
		if strings.Contains(text, "ZgotmplZ") {
			t.Errorf("%s: html/template found something where it may not stand", page)
		}
		for n := range doc.Descendants() {
			if n.Type == html.CommentNode {
				t.Errorf("%s: comment %q", page, n.Data)
			}
			if n.Type != html.ElementNode {
				continue
			}
			attributes, ok := written[n.Data]
			if !ok && !slices.Contains(ofMarkdown, n.Data) {
				t.Errorf("%s: element <%s>", page, n.Data)
			}
			for _, a := range n.Attr {
				if !slices.Contains(strings.Fields(attributes), a.Key) {
					t.Errorf("%s: <%s %s=%q>", page, n.Data, a.Key, a.Val)
				}
				if (a.Key == "href" || a.Key == "src" || a.Key == "action") && !ours(a.Val) && !out(n, a.Val) {
					t.Errorf("%s: <%s %s=%q> leads elsewhere", page, n.Data, a.Key, a.Val)
				}
			}
			if n.Data == "script" && n.FirstChild != nil {
				t.Errorf("%s: script %q", page, n.FirstChild.Data)
			}
		}
		for _, l := range world.Links(doc) {
			if !strings.HasPrefix(l, "#") && ours(l) {
				queue = append(queue, strings.TrimPrefix(l, "./"))
			}
		}
	}
	for _, kind := range []string{
		"", "sessions", "session", "commit", "timeline", "files", "file", "activity",
		"lines", "failures",
	} {
		if kinds[kind] == 0 {
			t.Errorf("no page %q was reached", kind)
		}
	}
	t.Logf("%d pages: %v", len(had), kinds)
}

// ours reports whether an address leads to a page or a file of ours.
func ours(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Scheme == "" && u.Host == "" && !strings.Contains(u.Path, "/../") &&
		!strings.HasPrefix(u.Path, "/")
}

// out reports whether an address is where a link of Markdown may lead.
func out(n *html.Node, address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") &&
		slices.Contains(n.Attr, html.Attribute{Key: "rel", Val: leadsOut})
}
