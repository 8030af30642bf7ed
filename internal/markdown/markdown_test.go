package markdown

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/yuin/goldmark/util"
	"golang.org/x/net/html"

	"github.com/git-rekal/git-rekal/tests/harness"
)

func TestHTML(t *testing.T) {
	r := New(time.Now)
	for _, test := range []struct{ name, content, want string }{
		{"lines stay lines", "one\ntwo\n\nthree", "<p>one<br>\ntwo</p>\n<p>three</p>\n"},
		{
			"emphasis", "**all** *of* ~~it~~ `a<b`",
			"<p><strong>all</strong> <em>of</em> <del>it</del> <code>a&lt;b</code></p>\n",
		},
		{"names are not emphasis", "__init__ and _x_, 2 * 3 * 4", "<p>__init__ and _x_, 2 * 3 * 4</p>\n"},
		{"headings", "# a\n### b", "<h3 class=\"h1\">a</h3>\n<h3 class=\"h3\">b</h3>\n"},
		{"lists", "- a\n  1. b\n", "<ul>\n<li>a\n<ol>\n<li>b</li>\n</ol>\n</li>\n</ul>\n"},
		{
			"table", "|a|b|\n|-|:-:|\n|1|<2|",
			"<table>\n<thead>\n<tr>\n<th>a</th>\n<th>b</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>1</td>\n<td>&lt;2</td>\n</tr>\n</tbody>\n</table>\n",
		},
		{
			"code", "```go\nvar x = \"<a>\" // y\n```",
			"<pre class=\"code\"><span class=\"key\">var</span> x = <span class=\"str\">&quot;&lt;a&gt;&quot;</span> <span class=\"com\">// y</span>\n</pre>\n",
		},
		{
			"code of no language", "```klingon\n<a>\n```\n    b",
			"<pre class=\"code\">&lt;a&gt;\n</pre>\n<pre class=\"code\">b\n</pre>\n",
		},
		{"a fence without an end", "a\n```\nb", "<p>a</p>\n<pre class=\"code\">b\n</pre>\n"},
		{
			"elements", "<b>x</b>\n\n<script>mark()</script>\n<!-- y -->",
			"<p>&lt;b&gt;x&lt;/b&gt;</p>\n<p>&lt;script&gt;mark()&lt;/script&gt;<br>\n&lt;!-- y --&gt;</p>\n",
		},
		{
			"links", "[a](https://b.example/?c&d \"e\") https://f.example [g](#t3)",
			`<p><a rel="nofollow noreferrer" href="https://b.example/?c&amp;d">a</a> <a rel="nofollow noreferrer" href="https://f.example">https://f.example</a> <a rel="nofollow noreferrer" href="#t3">g</a></p>` + "\n",
		},
		{
			"links that lead nowhere", "[a](javascript:mark()) <data:text/html,x> [b](c.go) [d](//e.example) ![f](file:///g)",
			"<p>a <code>javascript:mark()</code> data:text/html,x b <code>c.go</code> d <code>//e.example</code> f <code>file:///g</code></p>\n",
		},
		{
			"a picture", "![a](https://b.example/c.png)",
			"<p><a rel=\"nofollow noreferrer\" href=\"https://b.example/c.png\">a</a></p>\n",
		},
		{
			"definitions are shown", "[a]: https://b.example\n\n[//]: # (hidden)",
			"<p>[a]: <a rel=\"nofollow noreferrer\" href=\"https://b.example\">https://b.example</a></p>\n<p>[//]: # (hidden)</p>\n",
		},
		{
			"lists too deep", strings.Repeat("- ", 60) + "<a",
			"<pre class=\"code\">" + strings.Repeat("- ", 60) + "&lt;a</pre>",
		},
		{"nothing", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) { harness.Equal(t, "HTML", test.want, string(r.HTML(test.content))) })
	}
}

func TestFold(t *testing.T) {
	r := New(time.Now)
	line := "0123456789\n"
	for _, test := range []struct {
		name, content string
		head, rest    string
	}{
		{"short", strings.Repeat(line, 13), strings.Repeat(line, 13), ""},
		{
			"before a block", strings.Repeat(line, 5) + "\n- " + strings.Repeat(line, 20), strings.Repeat(line, 5) + "\n",
			"- " + strings.Repeat(line, 20),
		},
		{
			"before code", strings.Repeat(line, 5) + "```go\n" + strings.Repeat(line, 20) + "```\n", strings.Repeat(line, 5),
			"```go\n" + strings.Repeat(line, 20) + "```\n",
		},
		{
			"in code", "```go\n" + strings.Repeat(line, 20) + "```\nend", "```go\n" + strings.Repeat(line, 8),
			"```go\n" + strings.Repeat(line, 12) + "```\nend",
		},
		{"in a long line", strings.Repeat("é", 200), strings.Repeat("é", 50), strings.Repeat("é", 150)},
	} {
		t.Run(test.name, func(t *testing.T) {
			head, rest := r.SplitLong(test.content, 100)
			harness.Equal(t, "head", test.head, head)
			harness.Equal(t, "rest", test.rest, rest)
		})
	}
}

// FuzzHTML has any text shown: its elements, attributes and links are those of this package, and its words are there.
func FuzzHTML(f *testing.F) {
	f.Add("# a\n\n| b |\n|---|\n| `c` |\n\n> - **d** [e](https://f.example)\n\n```go\nvar x = `y`\n```\n")
	f.Add("<script>mark()</script> ![a](javascript:mark()) <https://b.example/\">")
	f.Add("\u202e``\x00\xff` &lt;b&gt; &#x202e; \\<i>")
	f.Add(strings.Repeat("> ", 300) + "a")
	written := map[string]string{
		"p": "", "br": "", "strong": "", "em": "", "del": "", "code": "", "pre": "class", "span": "class", "h3": "class",
		"ul": "", "ol": "start", "li": "", "hr": "",
		"blockquote": "", "table": "", "thead": "", "tbody": "", "tr": "", "th": "", "td": "", "a": "rel href",
	}
	r := New(time.Now)
	f.Fuzz(func(t *testing.T, content string) {
		head, rest := r.SplitLong(content, 100)
		for _, part := range []string{content, head, rest} {
			z := html.NewTokenizer(strings.NewReader(string(r.HTML(part))))
			for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
				token := z.Token()
				if kind == html.TextToken {
					continue
				}
				attributes, ok := written[token.Data]
				if !ok || kind == html.CommentToken {
					t.Fatalf("%q: %s", part, token)
				}
				for _, a := range token.Attr {
					if !slices.Contains(strings.Fields(attributes), a.Key) || a.Key == "href" && openingTag([]byte(a.Val)) == "" {
						t.Fatalf("%q: %s", part, token)
					}
				}
			}
		}
	})
}

func TestPlain(t *testing.T) {
	for line, want := range map[string]string{
		"# Plan: **read** `x.go` first":               "Plan: read x.go first",
		"see [the docs](https://a.example), then":     "see the docs, then",
		"- **`Content`** is a string ## Why - so":     "Content is a string Why - so",
		"2**3 is 8, x * y, #12, a_b, [x] and f(`…":    "2**3 is 8, x * y, #12, a_b, [x] and f(`…",
		"> ```go var x = 1 ``` and ![a](b.png) __c__": "var x = 1  and a __c__",
	} {
		harness.Equal(t, line, want, Plain(line))
	}
}

// FuzzLines colours lines of a file: what is shown is what was there, line by line.
func FuzzLines(f *testing.F) {
	f.Add("a.go", "package a\n\nvar x = `y\nz` // <b>")
	f.Add("Makefile", "all: $(x)\n\t@echo \r\n\n")
	f.Add("x.py", "\"\"\"a\n\xff\n\"\"\"\u2028\x00")
	r := New(time.Now)
	f.Fuzz(func(t *testing.T, name, content string) {
		lines := strings.Split(content, "\n")
		shown := r.Lines(name, lines)
		if len(shown) != len(lines) {
			t.Fatalf("%d lines of %d", len(shown), len(lines))
		}
		for i, l := range shown {
			if plain := spans.ReplaceAllString(string(l), ""); plain != string(util.EscapeHTML([]byte(lines[i]))) {
				t.Errorf("line %d is %q, want %q", i, l, lines[i])
			}
		}
	})
}

var spans = regexp.MustCompile(`</?span[^>]*>`)

// FuzzRepeated has a text shown that says the same again and again, 64 KB of it: no text takes a second.
func FuzzRepeated(f *testing.F) {
	for _, seed := range []string{
		"[a](", "[]([a](", "*a **", "a|b\n-|-\n", "- ", "```make\n$(\n```\n", "<a:",
		"http://a.b(", "~a~~", "[a][", "`a``",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content string) {
		if content == "" {
			return
		}
		r, long := New(time.Now), strings.Repeat(content, max(1, shownMost/len(content)))
		for _, text := range []string{long, "```make\n" + long[:min(len(long), colouredMost)] + "\n```\n"} {
			took := harness.Worked(func() {
				head, _ := r.SplitLong(text, shownMost/4)
				r.HTML(text)
				r.HTML(head)
			})
			if took > time.Second {
				t.Errorf("%q takes %v", content, took)
			}
		}
	})
}
