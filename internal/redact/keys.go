package redact

import "strings"

// maxKey is the size of a key at most.
const maxKey = 1 << 14

// privateKey is a key in PEM, SSH2's or PuTTY's form, whole or cut off at either end, on lines of its own, in a string with \n, or quoted
// line by line. A key that stands alone with the words for it is left: it is a sample.
func privateKey(s *scanner, at window) {
	t := s.t
	if at.lo < s.key {
		return
	}
	line := lineOf(t, at.lo, at.hi, 80)
	switch before := s.low[line.lo:at.lo]; {
	case t[at.lo] == 'L': // in base64
		hi := at.hi
		for hi < len(t) && hi-at.hi < 4*maxKey && inBase64(t[hi]) {
			hi++
		}
		s.work += hi - at.lo
		if s.key = hi; strings.Contains(decoded(strings.TrimRight(t[at.lo:min(hi, at.lo+64)], "=")), "PRIVATE KEY") {
			s.found(at.lo, hi, "private-key", at)
		}
	case s.low[at.lo:at.hi] == "private-lines:":
		lo := skip(t, at.hi, " "+digitSet)
		if hi := s.keyEnd(lo); hi > lo {
			s.key = hi
			s.found(skip(t, lo, `\rn`+"\r\n"), hi, "private-key", at)
		}
	case strings.Contains(before, "begin"):
		from := strings.LastIndex(before, "begin")
		lo := line.lo + len(strings.TrimRight(before[:from], " -"))
		lo = skip(t, lo, " ")
		dashes := strings.Index(t[at.hi:min(len(t), at.hi+16)], "---")
		if dashes < 0 || t[lo] != '-' {
			return
		}
		body := skip(t, at.hi+dashes, "-")
		if hi := s.keyEnd(body); hi > body {
			s.key = hi
			s.found(lo, hi, "private-key", at)
		}
	case strings.Contains(before, "end"):
		end := line.lo + len(strings.TrimRight(before[:strings.LastIndex(before, "end")], " -"))
		dashes := strings.Index(t[at.hi:min(len(t), at.hi+16)], "---")
		if lo := s.keyStart(end); lo < end && dashes >= 0 {
			s.key = skip(t, at.hi+dashes, "-")
			s.found(lo, s.key, "private-key", at)
		}
	}
}

// betweenLines are what stands between the lines of a key, also where it is quoted.
const betweenLines = " \t\r\n\\\"'`+,>|*.#-"

// keyEnd is the end of the key whose first line is behind i, its END line included; i when there is none.
func (s *scanner) keyEnd(i int) int {
	t, from, end := s.t, i, i
	lines := 0
	for i-from < maxKey {
		for i = skip(t, i, betweenLines); strings.HasPrefix(t[max(0, i-1):], `\n`); {
			i = skip(t, i+1, betweenLines)
		}
		i = skipLineNumber(t, i)
		run := i
		for i < len(t) && inBase64(t[i]) {
			i++
		}
		s.work += i - run + 1
		size := i - run
		switch {
		case strings.HasPrefix(t[run:], "END ") && lines > 0:
			rest := lineRest(t, run)
			if n := strings.Index(rest, "--"); n >= 0 {
				return skip(t, run+n, "-")
			}
			return end
		case size >= 16 && (lines > 0 || size >= 24 || i == len(t)), size > 0 && lines > 0 && (t[i-1] == '=' || t[run] == '=' || strings.HasPrefix(strings.TrimLeft(lineRest(t, i), betweenLines+"n"), "END ") || strings.HasPrefix(strings.TrimLeft(t[i:min(len(t), i+40)], betweenLines), "END ")):
			end = i
			lines++
		case size > 0 && (i < len(t) && (t[i] == ':' || t[i] == '-')): // a header, such as Proc-Type
			if rest := lineRest(t, run); strings.Contains(rest, ": ") && len(rest) < 100 {
				i = run + len(rest)
				continue
			}
			return end
		default:
			return end
		}
	}
	return end
}

// skipLineNumber is where a line begins that a viewer printed behind its number, as "    12\tMIIE…": i when there is no number.
func skipLineNumber(t string, i int) int {
	const digits = 6
	n := skip(t, i, digitSet)
	if n == i || n-i > digits {
		return i
	}
	if n = skip(t, n, " "); n == len(t) || !strings.HasPrefix(t[n:], "→") && strings.IndexByte("\t:|", t[n]) < 0 {
		return i
	}
	return skip(t, n, betweenLines+":→")
}

// keyStart is where the lines of a key begin that end at i; i when there are none.
func (s *scanner) keyStart(i int) int {
	t, from, start := s.t, i, i
	lines := 0
	for from-i < maxKey {
		for i > 0 && (strings.IndexByte(betweenLines, t[i-1]) >= 0 || i > 1 && t[i-1] == 'n' && t[i-2] == '\\') {
			i--
		}
		run := i
		for i > 0 && inBase64(t[i-1]) {
			i--
		}
		s.work += run - i + 1
		if run == i || run-i < 16 && (lines > 0 || start < from) {
			break
		}
		if start = i; run-i >= 16 {
			lines++
		}
	}
	if lines == 0 {
		return from
	}
	return start
}

// jwk finds the private parts of a JSON Web Key: its name says which.
func jwk(s *scanner, at window) {
	const reach = 1 << 12
	lo := max(0, at.lo-reach)
	lo += strings.LastIndexByte(s.t[lo:at.lo], '{') + 1
	hi := min(len(s.t), at.hi+reach)
	if n := strings.IndexByte(s.t[at.hi:hi], '}'); n >= 0 {
		hi = at.hi + n
	}
	if lo < s.key {
		return
	}
	s.key = hi
	s.work += hi - lo
	for i := lo; i < hi; {
		n := strings.IndexByte(s.t[i:hi], '"')
		if n < 0 {
			return
		}
		nameLo, nameHi, closed := quotedAt(s.t, i+n)
		if i = nameHi + 1; !closed {
			return
		}
		value := skip(s.t, i, " :")
		a, b, closed := quotedAt(s.t, value)
		if value == i || !closed {
			continue
		}
		i = b + 1
		switch s.t[nameLo:nameHi] {
		case "d", "k", "p", "q", "dp", "dq", "qi":
			if b-a >= minHinted {
				s.found(a, b, "private-key", at)
			}
		}
	}
}

// rawKey is a key of 32 bytes in hexadecimal digits or base64, in the line of its name.
func rawKey(s *scanner, at window) {
	for i, end := at.hi, min(len(s.t), at.hi+80); i < end && s.t[i] != '\n'; i++ {
		lo := skip(s.t, i, "0x")
		hi := lo
		for hi < len(s.t) && hi-lo <= 64 && inBase64(s.t[hi]) {
			hi++
		}
		s.work += hi - i + 1
		if v := s.t[lo:hi]; len(v) == 64 && isSumForm(v) || len(v) == 44 && v[43] == '=' && mixed(v) {
			s.found(lo, hi, "private-key", at)
			return
		}
		i = max(i, hi)
	}
}
