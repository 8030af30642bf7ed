package notes

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Rename puts another name in the place of a name wherever that stands as a whole in a line: not as a part of a longer
// path or word. isNamed is false where it does not.
func Rename(line, name, now string) (out string, isNamed bool) {
	var b strings.Builder
	rest, before := line, ' '
	for name != "" {
		at := strings.Index(rest, name)
		if at < 0 {
			break
		}
		if left := strings.TrimSuffix(rest[:at], "./"); left != "" {
			before, _ = utf8.DecodeLastRuneInString(left)
		}
		b.WriteString(rest[:at])
		if rest = rest[at+len(name):]; isPartOfPath(before) || continuesPath(rest) {
			b.WriteString(name)
		} else {
			b.WriteString(now)
			isNamed = true
		}
		before, _ = utf8.DecodeLastRuneInString(name)
	}
	b.WriteString(rest)
	return b.String(), isNamed
}

func isPartOfPath(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_-./", r)
}

// continuesPath reports whether a path or word goes on; a full stop ends a sentence, unless more follows it.
func continuesPath(rest string) bool {
	r, n := utf8.DecodeRuneInString(rest)
	if r == '.' {
		r, _ = utf8.DecodeRuneInString(rest[n:])
	}
	return n > 0 && r != utf8.RuneError && isPartOfPath(r)
}
