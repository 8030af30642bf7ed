package result

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Text of others may hold what a screen obeys instead of showing it (escape sequences, C1
// controls), what reorders its neighbours (bidi controls), and what nobody sees (zero width
// characters, tags), with which a text says one thing to a person and another to an agent.

// Printable is text in one line that is safe to show on a terminal: white space becomes a space,
// and each character that is not shown U+FFFD.
func Printable(s string) string {
	prev := rune(0)
	return strings.Map(func(r rune) rune {
		out := r
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			out = ' '
		case isHiddenRune(prev, r):
			out = utf8.RuneError
		}
		prev = r
		return out
	}, s)
}

// isHiddenRune reports whether a rune is none that is shown by itself, behind prev. The joiners of
// emoji and of scripts that need them are, and have no business behind an ASCII character.
func isHiddenRune(prev, r rune) bool {
	switch {
	case r < ' ' || r >= 0x7f && r < 0xa0: // C0, DEL, C1
		return true
	case r < 0xa0:
		return false
	case r == '\u200c' || r == '\u200d':
		return prev < utf8.RuneSelf
	case r >= 0xe0000 && r < 0xe1000: // tags, and variation selectors by the hundred
		return true
	case r == '\u2028' || r == '\u2029':
		return true
	}
	return unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// writeEscaped writes JSON in which nothing hidden stands as it is but for line ends: it is the same
// JSON, because beyond ASCII there is nothing but characters of strings.
func writeEscaped(w io.Writer, json []byte) error {
	var out []byte
	done, prev := 0, rune(0)
	for i := 0; i < len(json); {
		if c := json[i]; c >= ' ' && c < 0x7f {
			prev, i = rune(c), i+1
			continue
		}
		r, n := utf8.DecodeRune(json[i:])
		if r != '\n' && isHiddenRune(prev, r) {
			out = append(out, json[done:i]...)
			out = appendEscape(out, r)
			done = i + n
		}
		prev, i = r, i+n
	}
	_, err := w.Write(append(out, json[done:]...))
	return err
}

func appendEscape(out []byte, r rune) []byte {
	if a, b := utf16.EncodeRune(r); a != utf8.RuneError {
		return fmt.Appendf(out, `\u%04x\u%04x`, a, b)
	}
	return fmt.Appendf(out, `\u%04x`, r)
}
