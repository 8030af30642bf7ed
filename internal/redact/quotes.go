package redact

import (
	"strings"
	"unicode/utf8"
)

// stringAt is the content of the string that begins at i; one in simple quotes ends on its line. found is false where
// there is none, or nothing in it.
func stringAt(t string, i int) (lo, hi int, found bool) {
	if lo, hi := longStringAt(t, i); lo < hi {
		return lo, hi, true
	}
	if isQuoteAt(t, i) {
		rest := t[i+1 : min(len(t), i+longestValue)]
		if n := strings.IndexByte(rest, t[i]); n > 0 && strings.IndexByte(rest[:n], '\n') < 0 {
			return i + 1, i + 1 + n, true
		}
	}
	return i, i, false
}

// longStringAt is the content of a string that begins at i with three quotes, or as only Perl, Ruby or Elixir write
// one; 0, 0 for none.
func longStringAt(t string, i int) (int, int) {
	if i >= len(t) || strings.IndexByte("'\"q%~", t[i]) < 0 {
		return 0, 0
	}
	for _, open := range []string{
		"'''", `"""`, "q{", "q(", "q[", "qq{", "qq(", "%q(", "%q{", "%Q(", "%Q{", "~s(", "~s{",
		"~S(",
	} {
		if t[i] == open[0] && strings.HasPrefix(t[i:], open) {
			end := open
			if n := strings.IndexByte("{([", open[len(open)-1]); n >= 0 {
				end = "})]"[n : n+1]
			}
			i += len(open)
			if n := strings.Index(t[i:min(len(t), i+maxReach)], end); n > 0 {
				return i, i + n
			}
			break
		}
	}
	return 0, 0
}

// skipTags passes over at most two tags of HTML or XML, and white space between them.
func skipTags(t string, i int) int {
	for n := 0; n < 2 && i+1 < len(t) && t[i] == '<'; n++ {
		size := strings.IndexByte(t[i:min(len(t), i+80)], '>')
		switch {
		case strings.HasPrefix(t[i:], "<![CDATA["):
			i += len("<![CDATA[")
		case size > 0 && (isLetter(t[i+1]) || t[i+1] == '/') && !strings.ContainsAny(t[i+1:i+size], "<\n"):
			i = skip(t, i+size+1, " \t\n")
		default:
			return i
		}
	}
	return i
}

// isQuoteAt reports whether t[i] is a quote.
func isQuoteAt(t string, i int) bool {
	return i >= 0 && i < len(t) && (t[i] == '"' || t[i] == '\'' || t[i] == '`')
}

// skip is the first place from i on whose byte is not in set.
func skip(t string, i int, set string) int {
next:
	for ; i < len(t); i++ {
		for j := range len(set) {
			if set[j] == t[i] {
				continue next
			}
		}
		break
	}
	return i
}

// userPrefixSize is the size of a user's name and a colon at the start of v; 0 when there are none, or nothing follows.
func userPrefixSize(v string) int { return prefixSize(v, ':') }

// prefixSize is userPrefixSize for another sign than the colon.
func prefixSize(v string, sign byte) int {
	n := strings.IndexByte(v[:min(len(v), 33)], sign)
	if n < 1 || n+1 == len(v) || !isLower(v[0]) || strings.HasPrefix(v[n:], "://") ||
		strings.IndexFunc(v[:n], func(r rune) bool {
			return r >= utf8.RuneSelf ||
				!isWordByte(byte(r)) && r != '.' && r != '-'
		}) >= 0 {
		return 0
	}
	return n + 1
}

const (
	opening = " \t\"'`*“„«‘‚「『（("
	closers = "\"'`“”„»’‘」』（）。、，；！？"
)

// valueAt is the value at i, without the quotes around it. A value that begins in ASCII ends where another
// script begins: a particle of Japanese is written right behind it (hunter2です).
func (s *scanner) valueAt(i int) (lo, hi int) {
	t := s.t
	if i < len(t) && !isAlphanumeric(t[i]) {
		i = len(t) - len(strings.TrimLeft(t[i:], opening))
	}
	hi = s.valueEnd(i, i < len(t) && t[i] < utf8.RuneSelf)
	if i < hi {
		hi = s.endOfPieces(i, hi)
	}
	around := ".:?"
	if i > 0 && t[i-1] == '*' { // emphasis
		around += "*"
	}
	return i, i + len(strings.TrimRight(t[i:hi], around))
}

// maxPieces is how many pieces of a value separators part: of 256 random signs, 11 are separators.
const maxPieces = 16

// endOfPieces is the end of a value whose first piece is lo to hi, and that may hold separators, as passwords do.
// A value that begins at a later piece ends there, too: s.joined keeps that.
func (s *scanner) endOfPieces(lo, hi int) int {
	t, at := s.t, []int(nil)
	for n := 1; n < maxPieces && hi < len(t) && strings.IndexByte(separators, t[hi]) >= 0 && hi-lo < longestValue; n++ {
		if end, ok := s.joined[hi]; ok {
			hi = end
			break
		}
		next := s.valueEnd(hi+1, true)
		s.work += hi - lo
		if next == hi+1 || t[hi+1] == '\\' || !continuesValue(t[lo:hi], t[hi:min(len(t), next+2)], next-hi) {
			break
		}
		at = append(at, hi)
		hi = next
	}
	for _, i := range at {
		if s.joined == nil {
			s.joined = map[int]int{}
		}
		s.joined[i] = hi
	}
	return hi
}

// separators end values in queries, lists, tables and shells, and stand in passwords alike.
const separators = ",;&|"

// continuesValue reports whether what follows a separator is a part of the value before it: it is no name that is given
// something, no list, and no expression of names. rest begins with the separator, and rest[1:n] is the piece.
func continuesValue(v, rest string, n int) bool {
	sign, piece := rest[0], rest[1:n]
	if k := strings.IndexAny(piece, "=:"); k > 0 && isName(piece[:k]) ||
		(sign == ';' || sign == ',') && !strings.ContainsAny(piece, digitSet+strongSigns) {
		return false
	}
	if n > 1 && strings.IndexByte(separators, rest[1]) >= 0 || entity.MatchString(rest) ||
		strings.ContainsAny(piece, "=\\") || strings.HasPrefix(rest[n:], "=") || strings.HasPrefix(rest[n:], ":") ||
		isPlaceholder(v) || isChain(piece) || isChain(v) || isCommonFormat(piece) || isCommonFormat(v) ||
		!isAlphanumeric(piece[0]) && strings.IndexByte(strongSigns, piece[0]) < 0 {
		return false
	}
	if hasBothCasesAndDigit(v) && len(v) > 3 { // "Nutmeg3&Clove12"
		return true
	}
	if l := gradeOf(v, false); l >= passwordLike || l == wordPlus && twoDigits(v) {
		return true
	}
	names := Wordy(v) && (Wordy(piece) || isName(v)) || isConstant(v) || len(v) < 4 && !hasUpper(v+piece) // "u1,v22"
	return !names && hasDigit(v+piece) && (sign != ',' ||
		gradeOf(v+piece, false) >= passwordLike && lower(v+piece) != v+piece)
}

// valueEnd is the end of what stands at i up to white space, a separator or what closes it; i when that is too long for
// a value. ascii says that it began in ASCII, and ends where another script begins.
func (s *scanner) valueEnd(i int, ascii bool) int {
	t, from, run := s.t, i, &s.runs[0]
	if ascii {
		run = &s.runs[1]
	}
	if run.lo <= i && i < run.hi { // all that begins within a run ends with it
		i = run.hi
	} else {
		for i < s.limit {
			c := t[i]
			if c >= utf8.RuneSelf {
				r, size := utf8.DecodeRuneInString(t[i:])
				if ascii && r >= caseless || strings.ContainsRune(closers, r) {
					break
				}
				i += size
				continue
			}
			last := i+1 == len(t)
			if c == '\\' && !last && strings.IndexByte("nrt", t[i+1]) >= 0 ||
				valueStops[c] && (c != ')' || last || !isAlphanumeric(t[i+1])) {
				break
			}
			i++
		}
		s.work += i - from
		*run = window{from, i}
	}
	if i-from > longestValue {
		return from
	}
	return i
}

var valueStops = bytesIn(" \t\r\n\"'`<>)]}" + separators) //nolint:gochecknoglobals // read-only
