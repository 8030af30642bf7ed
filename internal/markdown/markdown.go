// Package markdown shows the Markdown of prompts, answers and memories as HTML.
//
// In: text that anybody wrote. Out: elements and classes of our own alone. HTML in the text stays text, links lead to
// http, https or within the page, pictures are links, and nothing that was written is left out of what is shown. Code
// has colours where its fence names a language of lexers/: each token in a span of class "com", "key", "str", "num",
// "fun", "ins" or "del".
package markdown

import (
	"bytes"
	"html/template"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/git-rekal/git-rekal/internal/lazy"
)

// Renderer may be used by several goroutines at once.
type Renderer struct {
	markdown goldmark.Markdown
	lexers   lexers
	slow     slowCode
}

// New makes one, with a clock. Lexers are read when code is first shown.
func New(now func() time.Time) *Renderer {
	r := &Renderer{slow: slowCode{now: now}}
	// the policy of the pages allows no style attribute
	tables := extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignNone))
	r.markdown = goldmark.New(
		// Without the parsers of HTML, which would leave it out, and of link definitions, which show nothing of themselves.
		goldmark.WithParser(parser.NewParser(
			parser.WithBlockParsers(
				util.Prioritized(parser.NewSetextHeadingParser(), 100), util.Prioritized(parser.NewThematicBreakParser(), 200),
				util.Prioritized(parser.NewListParser(), 300), util.Prioritized(parser.NewListItemParser(), 400),
				util.Prioritized(parser.NewCodeBlockParser(), 500), util.Prioritized(parser.NewATXHeadingParser(), 600),
				util.Prioritized(parser.NewFencedCodeBlockParser(), 700), util.Prioritized(parser.NewBlockquoteParser(), 800),
				util.Prioritized(parser.NewParagraphParser(), 1000),
			),
			parser.WithInlineParsers(
				util.Prioritized(parser.NewCodeSpanParser(), 100), util.Prioritized(parser.NewLinkParser(), 200),
				util.Prioritized(parser.NewAutoLinkParser(), 300), util.Prioritized(asterisks{parser.NewEmphasisParser()}, 500),
			),
		)),
		goldmark.WithExtensions(tables, extension.Strikethrough,
			extension.NewLinkify(extension.WithLinkifyAllowedProtocols([]string{"http:", "https:"}))),
		goldmark.WithRendererOptions(html.WithHardWraps(), renderer.WithNodeRenderers(util.Prioritized(r, 100))),
	)
	return r
}

// asterisks leaves underscores alone, which rather are names here: __init__.
type asterisks struct{ parser.InlineParser }

func (asterisks) Trigger() []byte { return []byte{'*'} }

// nested are lists in lists, or quotes in quotes, so deep that nobody means them, and that take seconds.
var nested = lazy.Expr(`(?m)^(?:[ \t]*(?:(?:[-*+]|\d+[.)])[ \t]|>)){50}`)

// shownMost is how many bytes of a text are read as Markdown: each turn and memory is cut before that.
const shownMost = 64 << 10

// isTooMuch reports whether a text is shown as it is: nobody means such Markdown, and it takes seconds.
func isTooMuch(content string) bool {
	return len(content) > shownMost || nested.MatchString(content) || isDense(content)
}

// denseMost bounds the work in one block, in bytes times the links that begin in it: the parser of links reads on to
// the end of the block for each, 5 ns a byte, so this is 20 ms. A block of 4 KB may have 1,000 links.
const denseMost = 4_000_000

// isDense reports whether a block holds more links than anybody means.
func isDense(content string) bool {
	begin, links := 0, 0
	for at := 0; at < len(content); {
		end := at + strings.IndexByte(content[at:], '\n') + 1
		if end == at {
			end = len(content)
		}
		line := content[at:end]
		if blockStart.MatchString(line) {
			begin, links = at, 0
		}
		if links += strings.Count(line, "]("); links*(end-begin) > denseMost {
			return true
		}
		at = end
	}
	return false
}

// blockStart matches a line that begins a block, or stands between two.
var blockStart = lazy.Expr(`^\s*(?:$|[-*+>#|]|\d+[.)])`)

// HTML is a text as HTML.
func (r *Renderer) HTML(content string) template.HTML {
	var b bytes.Buffer
	if isTooMuch(content) || r.markdown.Convert([]byte(content), &b) != nil { // a Buffer takes everything
		return template.HTML(`<pre class="code">` + template.HTMLEscapeString(content) + "</pre>") //nolint:gosec // G203: it is escaped
	}
	//nolint:gosec // G203: made by the functions below, and by goldmark without html.WithUnsafe
	return template.HTML(b.String())
}

// Plain is a line without the marks of Markdown around words and before headings, quotes and items. A link is what it
// says.
func Plain(line string) string {
	line = blockMarks.ReplaceAllString(line, "$1$2")
	for range 2 { // code in emphasis
		line = inlineMarks.ReplaceAllString(line, "$1$2$3")
	}
	return strings.TrimSpace(line)
}

var (
	blockMarks  = lazy.Expr("^(\\s*)(?:[-*+>]|#{1,6})\\s+|(\\s)#{1,6}\\s|```\\w*")
	inlineMarks = lazy.Expr("\\*\\*([^*\\s](?:[^*]*[^*\\s])?)\\*\\*|`([^`]+)`|!?\\[([^\\]\\[]*)\\]\\([^()\\s]*\\)")
)

// SplitLong parts a text that is longer than half as much again as so many bytes: before the block that reaches beyond
// them, or within it, if it is the first. Code that is parted stays code.
func (r *Renderer) SplitLong(content string, most int) (head, rest string) {
	if len(content) <= most+most/2 {
		return content, ""
	}
	if isTooMuch(content) {
		cut := CutPosition(content, most)
		return content[:cut], content[cut:]
	}
	source := []byte(content)
	cut := 0
	var block ast.Node
	for n := r.markdown.Parser().Parse(text.NewReader(source)).FirstChild(); n != nil &&
		n.Pos() <= most; n = n.NextSibling() {
		if n.Pos() >= 0 {
			cut, block = lineStart(content, n.Pos()), n
		}
	}
	if cut >= most/4 {
		return content[:cut], content[cut:]
	}
	cut = CutPosition(content, most)
	if code, ok := block.(*ast.FencedCodeBlock); ok && code.Lines().Len() > 0 && cut > code.Lines().At(0).Start {
		opening := content[lineStart(content, code.Pos()):code.Lines().At(0).Start]
		return content[:cut], opening + content[cut:]
	}
	return content[:cut], content[cut:]
}

func lineStart(s string, at int) int { return strings.LastIndexByte(s[:at], '\n') + 1 }

// CutPosition is a place at or before so many bytes where a text may be parted: behind a line where there is one, else
// between characters.
func CutPosition(s string, most int) int {
	if most >= len(s) {
		return len(s)
	}
	if at := strings.LastIndexByte(s[:most], '\n'); at > most/2 {
		return at + 1
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return most
}

// RegisterFuncs implements renderer.NodeRenderer.
func (r *Renderer) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(ast.KindHeading, heading)
	reg.Register(ast.KindLink, link)
	reg.Register(ast.KindImage, link)
	reg.Register(ast.KindAutoLink, autoLink)
	reg.Register(ast.KindCodeBlock, r.code)
	reg.Register(ast.KindFencedCodeBlock, r.code)
}

// heading stands below the headings of the page, whatever its level is.
func heading(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	h, ok := n.(*ast.Heading)
	if ok && entering {
		_, _ = w.WriteString(`<h3 class="h` + strconv.Itoa(h.Level) + `">`)
	} else {
		_, _ = w.WriteString("</h3>\n")
	}
	return ast.WalkContinue, nil
}

// link shows where it leads, if the page does not lead there. A picture is a link: it would tell its server who looks.
func link(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	var to []byte
	switch n := n.(type) {
	case *ast.Link:
		to = n.Destination
	case *ast.Image:
		to = n.Destination
	}
	switch href := openingTag(to); {
	case href != "" && entering:
		_, _ = w.WriteString(href)
	case href != "":
		_, _ = w.WriteString("</a>")
	case !entering:
		_, _ = w.WriteString(" <code>")
		_, _ = w.Write(util.EscapeHTML(to))
		_, _ = w.WriteString("</code>")
	}
	return ast.WalkContinue, nil
}

func autoLink(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	l, ok := n.(*ast.AutoLink)
	if !ok || !entering {
		return ast.WalkContinue, nil
	}
	href := openingTag(l.URL(source))
	_, _ = w.WriteString(href)
	_, _ = w.Write(util.EscapeHTML(l.Label(source)))
	if href != "" {
		_, _ = w.WriteString("</a>")
	}
	return ast.WalkContinue, nil
}

// openingTag is the opening tag of a link; "" where no page may lead.
func openingTag(to []byte) string {
	to = util.URLEscape(to, true)
	if u, err := url.Parse(string(to)); err != nil ||
		!bytes.HasPrefix(to, []byte("#")) && (u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		return ""
	}
	return `<a rel="nofollow noreferrer" href="` + string(util.EscapeHTML(to)) + `">`
}
