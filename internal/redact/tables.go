package redact

import (
	"strings"
	"unicode"
)

// maxRows is how many rows of a table, and how many values in a list, are looked at.
const maxRows = 20

// below finds the values in a table's column that a name heads: in CSV, Markdown, columns of spaces, and
// INSERT INTO.
func (s *scanner) below(n name) {
	if n.lo >= s.line.hi {
		s.line = window{n.lo, len(s.t)}
		if end := strings.IndexByte(s.t[n.lo:], '\n'); end >= 0 {
			s.line.hi = n.lo + end
		}
	}
	if s.line.hi-n.end > 2*maxReach { // no header
		return
	}
	line := lineOf(s.t, n.lo, n.end, maxReach)
	if at := strings.LastIndexByte(s.t[line.lo:n.lo], '('); at >= 0 {
		line.lo += at + 1
	}
	if at := strings.IndexByte(s.t[n.end:line.hi], ')'); at >= 0 {
		line.hi = n.end + at
	}
	head := s.t[line.lo:line.hi]
	sep := separatorOf(head)
	if sep == "" || !isHeader(head, sep) || line.hi >= len(s.t) {
		return
	}
	above := lineOf(s.t, max(0, line.lo-1), max(0, line.lo-1), maxReach)
	k, size := len(cells(s.t, window{line.lo, n.lo}, sep))-1, len(cells(s.t, line, sep))
	if over := s.t[above.lo:above.hi]; above.hi < line.lo && len(cells(s.t, above, sep)) == size && isHeader(over, sep) { // a row among others
		return
	}
	tuples := s.t[line.hi] == ')'
	if tuples && !strings.HasPrefix(strings.TrimLeft(s.low[line.hi+1:min(len(s.t), line.hi+20)], " \n"), "values") {
		return
	}
	end := min(len(s.t), line.hi+8*maxReach)
	for row, at := 0, line.hi+1; row < maxRows && at < end; row++ {
		next := lineOf(s.t, at, at, 2*maxReach)
		next.lo = at
		if tuples {
			open := strings.IndexByte(s.t[at:end], '(')
			if open < 0 {
				return
			}
			shut := strings.IndexAny(s.t[at+open:end], ")\n")
			if shut < 0 {
				return
			}
			next = window{at + open + 1, at + open + shut}
		}
		at = next.hi + 1
		s.work += at - next.lo
		all := cells(s.t, next, sep)
		if len(all) != size {
			if strings.TrimSpace(s.t[next.lo:next.hi]) == "" || row > 2 {
				return
			}
			continue
		}
		c := all[k]
		v := s.t[c.lo:c.hi]
		want := least[n.kind][given]
		if quoteAt(s.t, c.lo-1) && quoteAt(s.t, c.hi) {
			want = least[n.kind][sure]
		}
		field := isName(v) && sep == "  " && !strings.ContainsAny(v, digitSet) // of a type, in columns of spaces
		if v != "" && (!field && lookOf(v, true) >= max(marked, want) || n.kind == password && isPhrase(v)) {
			s.found(c.lo, c.hi, "generic-secret", n.at)
		}
	}
}

// separatorOf is what stands between the cells of a row, the most telling first; "" when nothing does.
func separatorOf(row string) string {
	row = strings.TrimSpace(row)
	for _, sep := range []string{"|", "\t", ";", ",", "  "} {
		if strings.Contains(row, sep) {
			return sep
		}
	}
	return ""
}

// isHeader reports whether a row holds nothing but names.
func isHeader(row, sep string) bool {
	return len(row) < 2*maxReach && strings.IndexFunc(strings.ReplaceAll(row, sep, " "), func(r rune) bool {
		return !unicode.IsLetter(r) && !strings.ContainsRune(" _*#-\"'`", r)
	}) < 0
}

// cells are those of a row, without what stands around their values.
func cells(t string, row window, sep string) []window {
	const around = " \t()\"'`*"
	var out []window
	lo, inQuotes := row.lo, false
	add := func(hi int) {
		a := skip(t[:hi], lo, around)
		out = append(out, window{a, max(a, lo+len(strings.TrimRight(t[lo:hi], around)))})
	}
	for i := row.lo; i < row.hi; i++ {
		if t[i] == '"' {
			inQuotes = !inQuotes
		}
		if inQuotes || !strings.HasPrefix(t[i:row.hi], sep) {
			continue
		}
		add(i)
		for lo = i + len(sep); sep == "  " && lo < row.hi && t[lo] == ' '; lo++ {
		}
		i = lo - 1
	}
	add(row.hi)
	return out
}
