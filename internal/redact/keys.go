package redact

import (
	"strings"
	"unicode/utf8"

	"github.com/git-rekal/git-rekal/internal/lazy"
)

// maxKey is the size of a key at most.
const maxKey = 1 << 14

// privateKey is a key in PEM, SSH2's or PuTTY's form, whole or cut off at either end, on lines of its own, in a string
// with \n, or quoted line by line. A key that stands alone with the words for it is left: it is a sample.
func privateKey(s *scanner, at window) {
	t := s.t
	if at.lo < s.key {
		return
	}
	line := lineOf(t, at.lo, at.hi, 80)
	dashes := strings.Index(t[at.hi:min(len(t), at.hi+16)], "---")
	switch before := s.low[line.lo:at.lo]; {
	case t[at.lo] == 'L': // in base64
		hi := at.hi
		for hi < len(t) && hi-at.hi < 4*maxKey && isBase64Byte(t[hi]) {
			hi++
		}
		s.work += hi - at.lo
		if s.key = hi; strings.Contains(decoded(strings.TrimRight(t[at.lo:min(hi, at.lo+64)], "=")), "PRIVATE KEY") {
			s.addFound(at.lo, hi, "private-key", at)
		}
	case s.low[at.lo:at.hi] == "private-lines:":
		lo := skip(t, at.hi, " "+digitSet)
		if hi := s.keyEnd(lo); hi > lo {
			s.addFound(skip(t, lo, `\rn`+"\r\n"), hi, "private-key", at)
		}
	case strings.Contains(before, "begin"):
		lo := line.lo + len(strings.TrimRight(before[:strings.LastIndex(before, "begin")], " -"))
		lo = skip(t, lo, " ")
		if dashes < 0 || t[lo] != '-' {
			return
		}
		body := skip(t, at.hi+dashes, "-")
		hi := s.keyEnd(body)
		if hi == body || strings.Count(s.t[body:hi], "\n") < 3 {
			hi = max(hi, s.labelledKeyEnd(body))
		}
		if hi > body {
			s.addFound(lo, hi, "private-key", at)
		}
	case strings.Contains(before, "end"): // of a key whose beginning was cut off
		end := line.lo + len(strings.TrimRight(before[:strings.LastIndex(before, "end")], " -"))
		from := max(0, s.key, end-maxKey)
		if m := keyTail.FindStringIndex(t[min(from, end):end]); m != nil && dashes >= 0 {
			s.addFound(from+m[0], skip(t, at.hi+dashes, "-"), "private-key", at)
		}
		s.work += end - min(from, end)
		s.key = at.hi
	}
}

// keyEnd is the end of the key whose first line is behind i, its END line included; i when there is none.
func (s *scanner) keyEnd(i int) int {
	m := keyLines.FindStringIndex(s.t[i:min(len(s.t), i+maxKey)])
	if m == nil {
		s.work++
		return i
	}
	s.work += m[1]
	s.key = i + m[1]
	return s.key
}

// labelledKeyEnd is the end of a key with something before each line, as logs, searches and scripts have it; i where
// the END line is not here, or less than half of what is before it looks like a key.
func (s *scanner) labelledKeyEnd(i int) int {
	part, _, _ := strings.Cut(s.t[i:min(len(s.t), i+maxKey)], "BEGIN") // of the next one
	m := keyEndLine.FindStringIndex(part)
	s.work += len(part)
	if m == nil {
		return i
	}
	size := 0
	for _, run := range keyRun.FindAllStringIndex(part[:m[0]], -1) {
		size += run[1] - run[0]
	}
	if 2*size < m[0] || !looksRandom(keyRun.FindString(part)) {
		return i
	}
	s.key = i + m[1]
	return s.key
}

var (
	keyEndLine = lazy.Expr(`END [\w ]*PRIVATE KEY[\w ]*--+`)
	keyRun     = lazy.Expr(`[A-Za-z\d+/=]{40,}`)
)

const (
	// betweenLines is what stands between the lines of a key, also where it is quoted, or printed behind the numbers of
	// its lines.
	betweenLines = "(?:[ \t\r\n\\\\\"'`+,>|*.#-]|\\\\n)*"
	lineNumber   = `(?:\d{1,6} *[\t:|→][ \t:→]*)?`
	keyHeaders   = `(?:` + betweenLines + `[A-Za-z\d]+(?:-[\w-]+)?: [^\n]{0,80}\n)*`
)

var (
	keyLines = lazy.Expr(`^` + keyHeaders + betweenLines + lineNumber + `(?:[A-Za-z\d+/=]{24,}|[A-Za-z\d+/=]{16,}$)` +
		`(?:` + keyHeaders + betweenLines + lineNumber + `(?:[A-Za-z\d+/=]{16,}|[A-Za-z\d+/=]*=))*(?:` + betweenLines +
		lineNumber + `(?:[A-Za-z\d+/=]+` + betweenLines + lineNumber + `)?END [\w ]*--+)?`)
	keyTail = lazy.Expr(`(?:[A-Za-z\d+/=]{16,}` + betweenLines + `)+(?:[A-Za-z\d+/=]+` + betweenLines + `)?$`)
)

// jwk finds the private parts of a JSON Web Key: its name says which.
func jwk(s *scanner, at window) {
	const reach = 1 << 12
	lo, hi := max(0, at.lo-reach), min(len(s.t), at.hi+reach)
	lo += strings.LastIndexByte(s.t[lo:at.lo], '{') + 1
	if n := strings.IndexByte(s.t[at.hi:hi], '}'); n >= 0 {
		hi = at.hi + n
	}
	if lo < s.key {
		return
	}
	s.key = hi
	s.work += hi - lo
	for _, m := range privatePart.FindAllStringSubmatchIndex(s.t[lo:hi], -1) {
		s.addFound(lo+m[2], lo+m[3], "private-key", at)
	}
}

var privatePart = lazy.Expr(`["'](?:d|k|p|q|dp|dq|qi)["'] *: *["']([^"'\n]{16,})["']`)

// rawKey is a key of 32 bytes in hexadecimal digits or base64, in the line of its name.
func rawKey(s *scanner, at window) {
	rest := lineRest(s.t, at.hi)
	s.work += len(rest)
	for part := range strings.FieldsFuncSeq(rest, func(r rune) bool {
		return r >= utf8.RuneSelf ||
			!isBase64Byte(byte(r))
	}) {
		v := strings.TrimPrefix(strings.TrimLeft(part, "="), "0x")
		if len(v) == 64 && isHashOrID(v) || len(v) == 44 && v[43] == '=' && hasBothCasesAndDigit(v) {
			lo := at.hi + strings.Index(rest, v)
			s.addFound(lo, lo+len(v), "private-key", at)
			return
		}
	}
}
