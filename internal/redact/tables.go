package redact

import (
	"strings"
	"unicode"
)

// maxRows is how many rows of a table, and how many values in a list, are looked at.
const maxRows = 20

// valuesBelow finds the values in a table's column that a name heads: in CSV, Markdown, columns of spaces, and INSERT
// INTO.
func (s *scanner) valuesBelow(n name) {
	head, sep := s.header(n)
	if sep == "" {
		return
	}
	end := min(len(s.t), head.hi+8*maxReach)
	tuples := head.hi < end && s.t[head.hi] == ')'
	if tuples && !strings.HasPrefix(strings.TrimLeft(s.low[head.hi+1:end], " \n"), "values") {
		return
	}
	k, size := len(cells(s.t, window{head.lo, n.lo}, sep))-1, len(cells(s.t, head, sep))
	for row, at := 0, head.hi+1; row < maxRows && at < end; row++ {
		next := window{at, lineOf(s.t, at, at, 2*maxReach).hi}
		if tuples {
			next.lo = at + strings.IndexByte(s.t[at:end], '(') + 1
			next.hi = next.lo + strings.IndexByte(s.t[next.lo:end], ')')
			if next.lo == at || next.hi < next.lo {
				return
			}
		}
		s.work += next.hi - at
		at = next.hi + 1
		all := cells(s.t, next, sep)
		if len(all) == size {
			s.checkCell(n, all[k], sep)
		} else if row > 2 || strings.TrimSpace(s.t[next.lo:next.hi]) == "" {
			return
		}
	}
}

// checkCell notes a cell that looks like a value of the name.
func (s *scanner) checkCell(n name, c window, sep string) {
	v, want := s.t[c.lo:c.hi], requiredGrade[n.kind][assigned]
	if isQuoteAt(s.t, c.lo-1) && isQuoteAt(s.t, c.hi) {
		want = requiredGrade[n.kind][certain]
	}
	field := sep == "  " && isName(v) && !hasDigit(v) // of a type
	if !field && gradeOf(v, true) >= max(wordPlus, want) || n.kind == password && isPhrase(v) {
		s.addFound(c.lo, c.hi, "generic-secret", n.at)
	}
}

// header is the row of names in which one stands, and what parts its cells; "" for no header.
func (s *scanner) header(n name) (row window, sep string) {
	if n.lo >= s.line.hi {
		s.line = lineOf(s.t, n.lo, n.lo, len(s.t))
	}
	if s.line.hi-n.end > 2*maxReach {
		return row, ""
	}
	row = lineOf(s.t, n.lo, n.end, maxReach)
	row.lo += strings.LastIndexByte(s.t[row.lo:n.lo], '(') + 1
	before, _, _ := strings.Cut(s.t[n.end:row.hi], ")")
	row.hi = n.end + len(before)
	text := strings.TrimSpace(s.t[row.lo:row.hi])
	for _, sep = range []string{"|", "\t", ";", ",", "  ", ""} {
		if strings.Contains(text, sep) {
			break
		}
	}
	above := lineOf(s.t, max(0, row.lo-1), max(0, row.lo-1), maxReach)
	// a row among others
	if !isHeader(text) || sep != "" && above.hi < row.lo && isHeader(s.t[above.lo:above.hi]) &&
		len(cells(s.t, above, sep)) == len(cells(s.t, row, sep)) {
		return row, ""
	}
	return row, sep
}

// isHeader reports whether a row holds nothing but names.
func isHeader(row string) bool {
	return row != "" && strings.IndexFunc(row, func(r rune) bool {
		return !unicode.IsLetter(r) &&
			!strings.ContainsRune(" _*#-\"'`|\t;,", r)
	}) < 0
}

// cells are those of a row, without what stands around their values.
func cells(t string, row window, sep string) (out []window) {
	const around = " \t()\"'`*"
	lo, inQuotes := row.lo, false
	for i := row.lo; i <= row.hi; i++ {
		if i < row.hi && t[i] == '"' {
			inQuotes = !inQuotes
		}
		if i < row.hi && (inQuotes || !strings.HasPrefix(t[i:row.hi], sep)) {
			continue
		}
		a := skip(t[:i], lo, around)
		out = append(out, window{a, max(a, lo+len(strings.TrimRight(t[lo:i], around)))})
		if lo = i + len(sep); sep == "  " {
			lo = skip(t[:row.hi], lo, " ")
		}
		i = max(i, lo-1)
	}
	return out
}
