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
		"when":   func(stamp string) string { return result.At(stamp, zone, "2 Jan 2006, 15:04") },
		"clock":  func(stamp string) string { return result.At(stamp, zone, "15:04") },
		"count":  nouns.Counted,
		"blocks": blocks,
		"spans":  spans,
		"folder": func(path string) string { return path[:strings.LastIndexByte(path, '/')+1] },
		"base":   func(path string) string { return path[strings.LastIndexByte(path, '/')+1:] },
		"short":  result.Short,
		"of":     func(p page, v any) scope { return scope{p.links, v} },
		"under":  func(s scope, v any) scope { return scope{s.links, v} },
		"within": func(l links, v any) scope { return scope{l, v} },
		"calls":  func(tools []result.Tool, names string) calls { return calls{tools, names} },
		"pager":  func(name, back, backText, on, onText string) pager { return pager{name, back, backText, on, onText} },
		"policy": func() string { return staticPolicy },
	}
}

// calls are tool calls, and the names of the tools.
type calls struct {
	Of    []result.Tool
	Names string
}

// pager are the links to the parts before and behind; "" for none.
type pager struct{ Name, Back, BackText, On, OnText string }

// visible shows what reorders or hides text beside it, which html/template leaves as it is: each character as its number. No template has any.
func visible(html []byte) []byte {
	if !bytes.ContainsFunc(html, concealed) {
		return html
	}
	var b bytes.Buffer
	for len(html) > 0 {
		r, n := utf8.DecodeRune(html)
		if concealed(r) {
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		} else {
			b.Write(html[:n])
		}
		html = html[n:]
	}
	return b.Bytes()
}

// concealed are controls other than line ends and tabs, bidi controls that last (the marks are part of ordinary right-to-left text), line
// separators, and tags.
func concealed(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r == '\r':
		return false
	case r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069', r == '\u2028', r == '\u2029', r == '\u200b', r == '\ufeff':
		return true
	case r >= 0xe0000 && r < 0xe1000:
		return true
	}
	return unicode.IsControl(r)
}

// block is a part of a turn: prose, or code between fences.
type block struct {
	Code bool
	Text string
}

// folded is a turn in two parts: what is shown, and what is folded.
type folded struct {
	Head, Rest []block
	Bytes      int // of the rest
}

// foldedAt is how many bytes of a turn are shown at once.
const foldedAt = 1800

// blocks parts a turn at its fences, and folds what is long.
func blocks(content string) folded {
	var out folded
	size := 0
	for _, b := range fenced(content) {
		head, rest := b, block{}
		if left := foldedAt - size; len(b.Text) > left+foldedAt/2 {
			cut := cutAt(b.Text, max(left, 0))
			head.Text, rest = b.Text[:cut], block{b.Code, strings.TrimLeft(b.Text[cut:], "\n")}
		}
		if len(out.Rest) > 0 {
			head, rest = block{}, b
		}
		if size += len(head.Text); head.Text != "" {
			out.Head = append(out.Head, head)
		}
		if rest.Text != "" {
			out.Rest, out.Bytes = append(out.Rest, rest), out.Bytes+len(rest.Text)
		}
	}
	return out
}

// cutAt is a place at or before so many bytes where a text may be parted: behind a line where there is one, else between characters.
func cutAt(s string, most int) int {
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

func fenced(content string) (out []block) {
	var b strings.Builder
	code := false
	end := func() {
		if text := strings.Trim(b.String(), "\n"); text != "" {
			out = append(out, block{code, text})
		}
		b.Reset()
	}
	for line := range strings.Lines(content) {
		if strings.HasPrefix(strings.TrimLeft(line, " "), "```") {
			end()
			code = !code
			continue
		}
		b.WriteString(line)
	}
	end()
	return out
}

// spans parts prose at what stands between backticks on one line.
func spans(prose string) (out []piece) {
	for line := range strings.Lines(prose) {
		parts := strings.Split(line, "`")
		for i, p := range parts {
			code := i%2 == 1 && i+1 < len(parts) && p != ""
			if !code && i%2 == 1 {
				p = "`" + p
				if i+1 < len(parts) {
					p += "`"
				}
			}
			out = append(out, piece{p, code})
		}
	}
	return out
}

// piece is a part of a text that is set off (what the question has, or code), or not.
type piece struct {
	Text string
	Hit  bool
}

// marked parts a text at what answers the question.
func marked(content, question string) (out []piece) {
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
