// Package text lays results out for people: lines for a terminal instead of JSON.
//
// In: a value of package result, and a Look (width, colours, how commits and IDs are shown). Out: text. It is pure: no
// file, clock or terminal.
//
// Promises: no line is wider than the Look's, also with wide characters. Others' text is shown and never obeyed:
// control characters, bidi overrides and invisible characters are replaced (result.Printable). Only texts that are laid
// out in lines keep their line breaks.
package text

import (
	"fmt"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Look is how a text shall look. The zero value is plain: no colour, lines of any width, ASCII.
type Look struct {
	Width   int                        // columns, at least narrowest; 0: a line is as long as it is
	Color   bool                       // colours, and links where Commit knows an address
	UTF8    bool                       // marks beyond ASCII
	Now     time.Time                  // in the reader's zone; zero: no "3 days ago"
	Short   func(id string) string     // an ID as it is shown; nil: whole
	People  result.People              // who they are; of others the address is shown
	Commit  func(sha string) string    // where a browser finds a commit, "" for nowhere; nil: nowhere
	Matches func(text string) [][2]int // what of a text answers the question: ranges of bytes, in order; nil: nothing
}

// narrowest is the width below which nothing is laid out: a word and its indentation.
const narrowest = 20

// style is what a piece of text looks like: parameters of SGR (ECMA-48, 8.3.117); "" for nothing special. Colours are
// git's own: commits yellow, what is good green, what is bad red.
type style string

const (
	unstyled style = ""
	bold     style = "1"
	dim      style = "2"
	red      style = "31"
	green    style = "32"
	yellow   style = "33"
	cyan     style = "36"
)

// span is a piece of text in one style.
type span struct {
	text     string
	style    style
	link     string // an address; "" for none
	unbroken bool   // in one line where that is wide enough
}

// page is a text under way.
type page struct {
	Look
	b strings.Builder
}

func (p *page) String() string { return p.b.String() }

// writeLine adds a paragraph of one source line, folded where it is too long: what follows is indented by rest.
func (p *page) writeLine(indent, rest string, spans ...span) {
	room := 0
	if p.Width > 0 {
		room = max(p.Width, narrowest) - max(width(indent), width(rest))
	}
	for _, line := range fold(spans, room) {
		p.b.WriteString(strings.TrimRight(indent, " "))
		if len(line) > 0 {
			p.b.WriteString(indent[len(strings.TrimRight(indent, " ")):])
		}
		for _, s := range line {
			p.writeSpan(s)
		}
		p.b.WriteByte('\n')
		indent = rest
	}
}

// blankLine is one empty line, but not at the top and not behind another one.
func (p *page) blankLine() {
	if text := p.String(); text != "" && !strings.HasSuffix(text, "\n\n") {
		p.b.WriteByte('\n')
	}
}

func (p *page) writeSpan(s span) {
	if !p.Color || s.style == unstyled && s.link == "" {
		p.b.WriteString(s.text)
		return
	}
	text := s.text
	if s.style != unstyled {
		text = "\x1b[" + string(s.style) + "m" + text + "\x1b[m"
	}
	if s.link != "" { // OSC 8: gist.github.com/egmontkob/eb114294efbcd5adb1944c9f3cb5feda
		text = "\x1b]8;;" + s.link + "\x1b\\" + text + "\x1b]8;;\x1b\\"
	}
	p.b.WriteString(text)
}

// printableSpan is text from anywhere, on one line.
func printableSpan(style style, text string) span {
	return span{text: result.Printable(text), style: style}
}

// unbrokenSpan is a printableSpan that is not broken over two lines if it fits on one.
func unbrokenSpan(style style, text string) span {
	s := printableSpan(style, text)
	s.unbroken = true
	return s
}

func printableSpanf(style style, format string, a ...any) span {
	return printableSpan(style, fmt.Sprintf(format, a...))
}

// commit shows a commit, with its page where that is known.
func (p *page) commit(sha string) span {
	s := printableSpan(yellow, sha)
	if p.Commit == nil {
		return s
	}
	// else it would end early
	if link := p.Commit(sha); !strings.ContainsFunc(link, func(r rune) bool { return r <= ' ' || r > '~' }) {
		s.link = link
	}
	return s
}

// id is an ID as it is shown.
func (p *page) id(id string) string {
	if p.Short != nil {
		return p.Short(id)
	}
	return id
}

// person is the name of the owner of an address.
func (p *page) person(email, actor string) string { return withActor(p.People.Name(email), actor) }

// personAndAddress is the name and the address.
func (p *page) personAndAddress(email, actor string) string {
	return withActor(p.People.NameAndAddress(email), actor)
}

// withActor adds "(agent)" if an agent acted without a person.
func withActor(name, actor string) string {
	if actor == session.ActorAgent {
		name += " (agent)"
	}
	return name
}

// markMatches shows a text with what answers the question in bold.
func (p *page) markMatches(text string) (out []span) {
	text = result.Printable(text)
	at := 0
	if p.Matches != nil {
		for _, m := range p.Matches(text) {
			out = append(out, span{text: text[at:m[0]]}, span{text: text[m[0]:m[1]], style: bold})
			at = m[1]
		}
	}
	return append(out, span{text: text[at:]})
}

// writeLines adds a text of several lines, each folded by itself; of empty ones in a row one is left.
func (p *page) writeLines(indent, text string) {
	empty := false
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\t", "    ").Replace(text)
	for line := range strings.SplitSeq(strings.Trim(text, "\n"), "\n") {
		if line = strings.TrimRight(line, " "); line == "" {
			empty = true
			continue
		}
		if empty {
			p.blankLine()
			empty = false
		}
		p.writeLine(indent, indent, p.markMatches(line)...)
	}
}

// joinFacts shows those of some facts that are not "", with separators; none is broken over two lines.
func (p *page) joinFacts(style style, facts ...string) (out []span) {
	dot := ","
	if p.UTF8 {
		dot = " ·"
	}
	for _, s := range facts {
		if s == "" {
			continue
		}
		if last := len(out) - 1; last >= 0 {
			out[last].text += dot
			out = append(out, span{text: " "})
		}
		out = append(out, unbrokenSpan(style, s))
	}
	return out
}

// when is a time: on which day, at what hour, and how long ago.
func (p *page) when(stamp string) string {
	t, err := time.Parse(time.RFC3339, stamp)
	if err != nil || p.Now.IsZero() {
		return p.day(stamp)
	}
	return p.day(stamp) + " (" + Ago(p.Now.Sub(t)) + ")"
}

// Ago is a span of time in git's words and steps (date.c, show_date_relative).
func Ago(d time.Duration) string {
	const day = 24 * time.Hour
	if d < 0 {
		return "in the future"
	}
	for _, u := range []struct {
		name        string
		size, below time.Duration
	}{
		{"second", time.Second, 90 * time.Second},
		{"minute", time.Minute, 90 * time.Minute},
		{"hour", time.Hour, 36 * time.Hour},
		{"day", day, 14 * day},
		{"week", 7 * day, 70 * day},
		{"month", 365 * day / 12, 365 * day},
	} {
		if d < u.below {
			return session.CountNoun(int((d+u.size/2)/u.size), u.name) + " ago"
		}
	}
	return session.CountNoun(int(d/(365*day)), "year") + " ago"
}
