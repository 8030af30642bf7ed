package web

import (
	"bytes"
	"fmt"
	"html/template"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/result"
	nouns "github.com/git-rekal/git-rekal/internal/session"
)

// functions are what templates call.
func (s *Site) functions() template.FuncMap {
	zone := s.process.Now().Location()
	return template.FuncMap{
		"when":      func(stamp string) string { return result.FormatTime(stamp, zone, "2 Jan 2006, 15:04") },
		"clock":     func(stamp string) string { return result.FormatTime(stamp, zone, "15:04") },
		"count":     nouns.Counted,
		"label":     nouns.LabelOf,
		"prose":     s.prose,
		"add":       func(a, b int) int { return a + b },
		"most":      func(a, b int) int { return max(a, b) },
		"thousands": nouns.Thousands,
		"lasts":     nouns.MinutesInWords,
		"folder":    func(path string) string { return path[:strings.LastIndexByte(path, '/')+1] },
		"base":      func(path string) string { return path[strings.LastIndexByte(path, '/')+1:] },
		"short":     result.ShortOID,
		"of":        func(p page, v any) partData { return partData{p.links, v} },
		"under":     func(s partData, v any) partData { return partData{s.links, v} },
		"within":    func(l links, v any) partData { return partData{l, v} },
		"calls":     func(tools []result.Tool, names string) calls { return calls{tools, names} },
		"pager":     func(name, back, backText, on, onText string) pager { return pager{name, back, backText, on, onText} },
		"policy":    func() string { return staticPolicy },
	}
}

// calls are tool calls, and the names of the tools.
type calls struct {
	Of    []result.Tool
	Names string
}

// pager are the links to the parts before and behind; "" for none.
type pager struct{ Name, Back, BackText, On, OnText string }

// escapeInvisible shows what reorders or hides text beside it, which html/template leaves as it is: each character as
// its number. No template has any.
func escapeInvisible(html []byte) []byte {
	if !bytes.ContainsFunc(html, isInvisible) {
		return html
	}
	var b bytes.Buffer
	for len(html) > 0 {
		r, n := utf8.DecodeRune(html)
		if isInvisible(r) {
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		} else {
			b.Write(html[:n])
		}
		html = html[n:]
	}
	return b.Bytes()
}

// isInvisible are controls other than line ends and tabs, bidi controls that last (the marks are part of ordinary
// right-to-left text), line separators, and tags.
func isInvisible(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r == '\r':
		return false
	case r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069', r == '\u2028', r == '\u2029', r == '\u200b',
		r == '\ufeff':
		return true
	case r >= 0xe0000 && r < 0xe1000:
		return true
	}
	return unicode.IsControl(r)
}

// foldedAt is how many bytes of a turn are shown at once.
const foldedAt = 1800

// prose is Markdown as HTML: the part that is shown, the part that is folded away, and the length of the latter.
type prose struct {
	Head, Rest template.HTML
	Bytes      int
}

func (s *Site) prose(content string) prose {
	head, rest := s.markdown.SplitLong(content, foldedAt)
	return prose{s.markdown.HTML(head), s.markdown.HTML(rest), len(rest)}
}

// piece is a part of a text, and whether the question has it.
type piece struct {
	Text string
	Hit  bool
}

// splitAtMatches parts a text at what answers the question.
func splitAtMatches(content, question string) (out []piece) {
	at := 0
	for _, m := range ask.Matches(content, question) {
		out = append(out, piece{content[at:m[0]], false}, piece{content[m[0]:m[1]], true})
		at = m[1]
	}
	if at < len(content) {
		out = append(out, piece{content[at:], false})
	}
	return out
}
