package compress

import "strings"

// kind is what a line is worth. Beyond ordinary, a higher kind is worth more.
type kind uint8

const (
	ordinary kind = iota // of the rest: beginning, end, and what was asked for
	noise                // progress: it only counts
	detail               // explains the failure, error or warning before it
	heading              // names the file or place of what follows, and is kept with it
	landmark             // names a thing: a file of a diff, a resource of a plan, a package that passed
	warning
	trivial // an error by its words alone
	fault   // an error with its place
	failure // a failing test
	total   // a sum
)

// tool recognises the lines of one tool. It says what a line is, and reports false where the line is none of its own.
// It may hand earlier lines to the keeper that only now turn out to matter.
type tool interface {
	line(text string, s scanned, k *keeper) (kind, bool)
}

// newTools are the recognisers, in the order in which they are asked: those that know a line by its whole form before
// those that go by a word.
func newTools(first *goTest) []tool {
	return []tool{first, &trace{}, &suite{}, &eslint{}, &compiler{}, &gitTool{}}
}

// kindOfAny is the kind of a line that no tool knows.
func kindOfAny(text string, s scanned, k *keeper) kind {
	switch {
	case text == "":
		return noise
	case s.signals&(saysTests|saysSum) != 0 && isChecksum(text):
		return total
	case s.signals&(saysError|saysZero) == saysError:
		return trivial
	case s.signals&(saysWarning|saysZero) == saysWarning:
		return warning
	case k.inDetails && indent(text) > indent(k.at.text):
		if s.signals&saysPlace != 0 && len(k.at.details) == 0 {
			return landmark // its place
		}
		return detail
	}
	return ordinary
}

// startsWithAny reports whether text begins with one of the prefixes.
func startsWithAny(text string, prefixes ...string) bool {
	if text == "" {
		return false
	}
	first := text[0]
	for _, p := range prefixes {
		if p[0] == first && strings.HasPrefix(text, p) {
			return true
		}
	}
	return false
}

// endsWithByteOf reports whether the last byte of text is one of the bytes in some.
func endsWithByteOf(text, bytes string) bool {
	return text != "" && strings.IndexByte(bytes, text[len(text)-1]) >= 0
}

// indent counts the spaces and tabs that text begins with.
func indent(text string) int { return len(text) - len(strings.TrimLeft(text, " \t")) }

func indented(text string) bool { return text != "" && (text[0] == ' ' || text[0] == '\t') }

// countDigits counts the digits that text begins with.
func countDigits(text string) int {
	n := 0
	for n < len(text) && '0' <= text[n] && text[n] <= '9' {
		n++
	}
	return n
}

// readPlace reads a file with line, as "src/a.go:12:7: " or "src/a.ts(12,7): ", at the beginning of text: how many
// numbers it has and what stands behind. Without one, numbers is 0.
func readPlace(text string) (numbers int, rest string) {
	i := strings.IndexAny(text, ":( \t")
	if i < 1 || !looksLikeFile(text[:i]) {
		return 0, ""
	}
	rest = text[i:]
	if rest[0] == '(' {
		if n := countDigits(rest[1:]); n > 0 && len(rest) > n+1 && rest[n+1] == ',' {
			if m := countDigits(rest[n+2:]); m > 0 {
				return 2, strings.TrimPrefix(strings.TrimPrefix(rest[n+2+m:], ")"), ":")
			}
		}
		return 0, ""
	}
	if after, ok := strings.CutPrefix(rest, ": line "); ok { // as jshint and shells say it
		numbers, rest = 1, ":"+after
	}
	for numbers < 2 && len(rest) > 1 && rest[0] == ':' {
		n := countDigits(rest[1:])
		if n == 0 {
			break
		}
		numbers, rest = numbers+1, rest[1+n:]
	}
	return numbers, strings.TrimPrefix(rest, ":")
}

// looksLikeFile reports whether a word reads like the name of a file: an extension, or a slash.
func looksLikeFile(word string) bool {
	if word == "Makefile" || strings.HasSuffix(word, "/Makefile") {
		return true
	}
	i := strings.LastIndexByte(word, '.')
	if i < 1 || i == len(word)-1 || len(word)-i > 8 || strings.Contains(word, "://") {
		return false
	}
	for _, c := range word[i+1:] {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			return false
		}
	}
	return countDigits(word[i+1:]) == 0
}
