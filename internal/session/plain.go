package session

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// PlainText is the normal form of a text: what a person who reads it sees. Line ends are "\n"; terminal
// sequences, control characters but for tabs, and signs without width are gone. What may be stored is
// in this form before it is shortened, compared or redacted, so that a text which stands in two
// places is the same in both. The form of it is itself.
//
// Signs without width stay between letters outside ASCII: Persian spelling and emoji need them there.
func PlainText(s string) string {
	i := FirstHidden(s)
	if i == len(s) {
		return s
	}
	out := append(make([]byte, 0, len(s)), s[:i]...)
	for i < len(s) {
		switch n := HiddenSize(s, i); {
		case n > 0:
			i += n
			continue
		case endsLine(s[i]):
			out = append(out, '\n')
		default:
			out = append(out, s[i])
		}
		i++
	}
	return string(out)
}

// HiddenSize is the size in bytes of what stands at s[i] and is not in the normal form; 0 for what is.
// A line end that is not "\n" counts only where one follows.
func HiddenSize(s string, i int) int {
	switch c := s[i]; {
	case c == '\x1b':
		return sequenceSize(s[i:])
	case c == '\r':
		if strings.HasPrefix(s[i+1:], "\n") {
			return 1
		}
		return 0
	case c < utf8.RuneSelf:
		if c < ' ' && c != '\n' && c != '\t' && !endsLine(c) || c == 0x7f {
			return 1
		}
		return 0
	case !utf8.RuneStart(c):
		return 0
	}
	r, n := utf8.DecodeRuneInString(s[i:])
	switch {
	case r == 0x9b: // ESC [ in one
		return n + parametersSize(s[i+n:], '0', '?')
	case r >= 0x80 && r < 0xa0:
		return n
	case !isWidthless(r):
		return 0
	}
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i+n:])
	if isVisibleForeign(before) && isVisibleForeign(after) {
		return 0
	}
	return n
}

// FirstHidden is where something may stand in s that is not in the normal form; its length if nothing is.
func FirstHidden(s string) int {
	for i := range len(s) {
		switch c := s[i]; {
		case c < utf8.RuneSelf:
			if c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
				return i
			}
		case utf8.RuneStart(c):
			if r, _ := utf8.DecodeRuneInString(s[i:]); r < 0xa0 || isWidthless(r) {
				return i
			}
		}
	}
	return len(s)
}

// endsLine reports whether a byte ends a line on paper or screen: CR, VT, FF.
func endsLine(c byte) bool { return c == '\r' || c == '\v' || c == '\f' }

// isWidthless reports whether a sign takes up no room: zero width, direction, soft hyphens.
func isWidthless(r rune) bool {
	return r == 0xad || r >= 0x200b && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2060 && r <= 0x2069 ||
		r == 0xfeff
}

// isVisibleForeign reports whether a rune is visible and outside ASCII.
func isVisibleForeign(r rune) bool { return r >= 0xa0 && r != utf8.RuneError && !isWidthless(r) }

// longestSequence bounds the title or link that a terminal sequence may carry, in bytes.
const longestSequence = 4096

// sequenceSize is the size of the terminal sequence (ECMA-48) that begins s, which begins with ESC.
func sequenceSize(s string) int {
	if len(s) < 2 {
		return 1
	}
	switch s[1] {
	case '[':
		return 2 + parametersSize(s[2:], '0', '?')
	case ']', 'P', 'X', '^', '_': // a string: a title, a link
		body := s[2:min(len(s), longestSequence)]
		if n := strings.IndexAny(body, "\a\x1b\n"); n >= 0 && body[n] == '\a' {
			return 2 + n + 1
		} else if n >= 0 && strings.HasPrefix(body[n:], "\x1b\\") {
			return 2 + n + 2
		}
		return 1
	}
	return 1 + parametersSize(s[1:], ' ', '/')
}

// parametersSize is the size of a sequence's parameters, in the given range, with what stands between them and
// its last byte, and of that; 0 when there is no last byte.
func parametersSize(s string, from, to byte) int {
	i := 0
	for i < len(s) && (from <= s[i] && s[i] <= to || ' ' <= s[i] && s[i] <= '/') {
		i++
	}
	if i < len(s) && '0' <= s[i] && s[i] <= '~' {
		return i + 1
	}
	return 0
}

// CountNoun is a number of things: "1 turn", "2 turns".
func CountNoun(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// Counted is Count as a person reads large numbers: "1 line", "1,204 lines".
func Counted(n int, noun string) string {
	return Thousands(n) + strings.TrimPrefix(CountNoun(n, noun), strconv.Itoa(n))
}

// Thousands is a number as a person reads it: 18,204.
func Thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// IsFiller reports whether a line holds no letter and no digit: blank lines and lone brackets say nothing by
// themselves.
func IsFiller(line string) bool {
	return !strings.ContainsFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// MinutesInWords is how long something takes, as people say it: "27 minutes", "5 hours", "4 days". The steps are those
// of "ago".
func MinutesInWords(n int) string {
	const hour, day = 60, 24 * 60
	switch {
	case n < hour*3/2:
		return CountNoun(n, "minute")
	case n < day*3/2:
		return CountNoun((n+hour/2)/hour, "hour")
	}
	return CountNoun((n+day/2)/day, "day")
}
