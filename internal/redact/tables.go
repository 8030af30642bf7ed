package redact

import (
	"strings"

	"github.com/git-rekal/git-rekal/internal/lazy"
)

// maxRows is how many rows of a table are looked at.
const maxRows = 20

var (
	// header is a row of names.
	header = lazy.Expr(`^[|\s]*["'` + "`" + `]?[\pL_*#][\pL_* #-]{0,30}(?:["'` + "`" + `]?(?:\s*\|\s*|\t|;|,| {2,}|, )["'` + "`" + `]?[\pL_*#][\pL_* #-]{0,30})*["'` + "`" + `]?[|\s]*$`)
	// separates are what stands between cells, the most telling first.
	separates = []*lazy.Regexp{lazy.Expr(`\|`), lazy.Expr(`\t`), lazy.Expr(`;`), lazy.Expr(`,`), lazy.Expr(` {2,}`)}
	line      = lazy.Expr(`\n[^\n]*`)
	tuple     = lazy.Expr(`\([^()\n]*\)`)
	values    = lazy.Expr(`(?i)^\)\s*values\b`)
)

// below finds the values in a table's column that a name heads: in CSV, Markdown, columns of spaces, and
// INSERT INTO.
func below(t string, n name) []window {
	from := max(0, n.lo-maxReach)
	from += strings.LastIndexAny(t[from:n.lo], "\n(") + 1
	size := strings.IndexAny(t[n.end:min(len(t), n.end+maxReach)], "\n)")
	if size < 0 || !header.MatchString(t[from:n.end+size]) {
		return nil
	}
	above := t[max(0, from-1-maxReach):max(0, from-1)]
	above = above[strings.LastIndexByte(above, '\n')+1:]
	head, end, rows := t[from:n.end+size], n.end+size, line
	rest := t[end:min(len(t), end+8*maxReach)]
	if values.MatchString(rest) {
		rows = tuple
	} else if rest[0] == ')' {
		return nil
	}
	for _, sep := range separates {
		if !sep.MatchString(strings.TrimSpace(head)) {
			continue
		}
		k, size := len(cells(head[:n.lo-from], sep))-1, len(cells(head, sep))
		if size > 1 && size == len(cells(above, sep)) && header.MatchString(above) { // a row among others
			return nil
		}
		var out []window
		for _, m := range rows.FindAllStringIndex(rest, maxRows) {
			row := window{end + m[0], end + m[1]}
			if all := cells(t[row.lo:row.hi], sep); len(all) == size {
				c := window{row.lo + all[k].lo, row.lo + all[k].hi}
				v := t[c.lo:c.hi]
				field := identifier.MatchString(v) && sep == separates[len(separates)-1] // of a type, in columns of spaces
				if !field && lookOf(v, true) >= max(marked, least[n.kind][n.tieOf(t, c)]) || n.kind == password && phrase(v) {
					out = append(out, c)
				}
			}
		}
		return out
	}
	return nil
}

// tieOf is how a cell ties: one in quotes as a string does.
func (n name) tieOf(t string, c window) tie {
	if quoteAt(t, c.lo-1) && quoteAt(t, c.hi) {
		return sure
	}
	return given
}

// inTable reports whether the line around i is a row of Markdown.
func inTable(t string, i int) bool {
	before := t[max(0, i-maxReach):i]
	return strings.HasPrefix(strings.TrimLeft(before[strings.LastIndexByte(before, '\n')+1:], " \t"), "|")
}

// cells are those of a row, without what stands around their values.
func cells(row string, sep *lazy.Regexp) []window {
	const around = " \t\n()\"'`*"
	var out []window
	lo := 0
	for _, m := range append(sep.FindAllStringIndex(row, -1), []int{len(row), len(row)}) {
		if strings.Count(row[lo:m[0]], `"`)%2 == 1 && m[0] < len(row) { // within quotes
			continue
		}
		c := row[lo:m[0]]
		a := lo + skipped(c, around)
		out = append(out, window{a, max(a, lo+len(strings.TrimRight(c, around)))})
		lo = m[1]
	}
	return out
}
