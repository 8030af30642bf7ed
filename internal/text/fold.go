package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	eastasian "golang.org/x/text/width"

	"github.com/git-rekal/git-rekal/internal/session"
)

// width is how many columns a text takes at most: terminals differ in what they make of joined emoji, and none makes
// them wider than their parts.
func width(s string) (n int) {
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

// runeWidth is 0 for what stands above or below its neighbour, 2 for what is wide (UAX #11), and 1 for the rest. The
// selector that makes a character an emoji may make it one column wider.
func runeWidth(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case r == '\ufe0f':
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me) || r == '\u200c' || r == '\u200d':
		return 0
	}
	switch eastasian.LookupRune(r).Kind() {
	case eastasian.EastAsianWide, eastasian.EastAsianFullwidth:
		return 2
	}
	return 1
}

// folding is a paragraph on its way into lines.
type folding struct {
	room  int
	lines [][]span
	line  []span
	at    int  // columns of line
	gap   span // the spaces before the next word
}

// fold breaks spans into lines of at most room columns: between words, and within one only where it is wider than a
// line. Spaces at a break go. A room of 0 is without end.
func fold(spans []span, room int) [][]span {
	if room <= 0 {
		return [][]span{spans}
	}
	f := folding{room: room}
	var word []span
	for _, s := range spans {
		whole := s.unbroken && width(s.text) <= room
		for s.text != "" {
			n := len(s.text) - len(strings.TrimLeft(s.text, " "))
			if n > 0 {
				f.addWord(word)
				word, f.gap = nil, f.gap.withSpaces(s, n)
			} else {
				n = strings.IndexByte(s.text, ' ')
				if n < 0 || whole {
					n = len(s.text)
				}
				word = append(word, s.withText(s.text[:n]))
			}
			s.text = s.text[n:]
		}
	}
	f.addWord(word)
	return append(f.lines, f.line)
}

// Message lays out a line to the user: the first line of it behind a prefix, the others behind rest. What stands
// between quotes, as a command to copy, is not broken where it fits into a line. Columns of 0 are without end.
func Message(columns int, prefix, rest, line string) string {
	p := page{Look: Look{Width: columns}}
	var spans []span
	for i, part := range strings.SplitAfter(line, `"`) {
		spans = append(spans, span{text: part, unbroken: i%2 == 1})
	}
	p.writeLine(prefix, rest, spans...)
	return p.String()
}

// withText is another text in the same style.
func (s span) withText(text string) span { return span{text: text, style: s.style, link: s.link} }

// withSpaces is a gap with more spaces; one between words of a style has it, too.
func (s span) withSpaces(next span, n int) span { return next.withText(s.text + next.text[:n]) }

// addWord adds a word.
func (f *folding) addWord(word []span) {
	wide := 0
	for _, s := range word {
		wide += width(s.text)
	}
	if wide == 0 {
		return
	}
	gap := len(f.gap.text)
	if f.at == 0 { // how far a line is indented shows what it is, but must leave room
		gap = min(gap, f.room/2)
	}
	if f.at > 0 && f.at+gap+wide > f.room {
		f.breakLine()
		gap = 0
	}
	if gap > 0 {
		f.addSpan(f.gap.withText(f.gap.text[:gap]))
	}
	f.gap = span{}
	for _, s := range word {
		f.addPiece(s)
	}
}

// addPiece adds a piece of a word, broken where it must be.
func (f *folding) addPiece(s span) {
	for s.text != "" {
		n := bytesThatFit(s.text, f.room-f.at)
		if n == 0 {
			f.breakLine()
			if n = bytesThatFit(s.text, f.room); n == 0 {
				_, n = utf8.DecodeRuneInString(s.text)
			}
		}
		f.addSpan(s.withText(s.text[:n]))
		s.text = s.text[n:]
	}
}

func (f *folding) addSpan(s span) {
	f.at += width(s.text)
	if last := len(f.line) - 1; last >= 0 && f.line[last].style == s.style && f.line[last].link == s.link {
		f.line[last].text += s.text
		return
	}
	f.line = append(f.line, s)
}

func (f *folding) breakLine() {
	f.lines, f.line, f.at, f.gap = append(f.lines, f.line), nil, 0, span{}
}

// bytesThatFit is how many bytes of a text fit into some columns; marks stay with what they stand on, and joined emoji
// together.
func bytesThatFit(s string, room int) (n int) {
	for next := 0; next < len(s); {
		r, size := utf8.DecodeRuneInString(s[next:])
		if room -= runeWidth(r); room < 0 {
			return n
		}
		if next += size; !continuesCharacter(s[next:]) && r != '\u200d' {
			n = next
		}
	}
	return len(s)
}

// continuesCharacter reports whether a text begins with what belongs to the character before.
func continuesCharacter(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return s != "" && (runeWidth(r) == 0 || r == '\ufe0f')
}

// trimToWidth is a text of at most so many columns, with an ellipsis where something is left out, which is behind a
// word where one ends near.
func trimToWidth(s string, room int, ellipsis string) string {
	if room <= 0 || width(s) <= room {
		return s
	}
	head := s[:bytesThatFit(s, room-width(ellipsis))]
	if s[len(head)] != ' ' {
		head = session.WithoutHalfWord(head)
	}
	return strings.TrimRight(head, " ,;:") + ellipsis
}
