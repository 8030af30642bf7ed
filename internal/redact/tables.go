package redact

import (
	"regexp"
	"strings"
)

// cell is the next cell of a row: what stands between the separators of a table.
func cell(t string, i int, n name) (int, int) {
	lo := i + skipped(t[i:], "| \t*`\"'")
	hi := lo + strings.IndexAny(t[lo:]+"\n", "|]\t\n \"'`")
	if !n.written(t[lo:hi]) {
		return 0, 0
	}
	return lo, hi
}

// maxRows is how many rows of a table are looked at.
const maxRows = 20

// below finds the values in a table's column that a name heads: in CSV, Markdown, columns of spaces, and
// INSERT INTO.
func below(t string, n name) []window {
	from := max(0, n.lo-maxStatement)
	from += strings.LastIndexAny(t[from:n.lo], "\n(") + 1
	size := strings.IndexAny(t[n.end:min(len(t), n.end+maxStatement)], "\n)")
	if size < 0 {
		return nil
	}
	head, end := t[from:n.end+size], n.end+size
	rows := lines
	if t[end] == ')' {
		rows = tuples
	}
	if !header.MatchString(head) {
		return nil
	}
	for _, sep := range []string{"|", "\t", ";", ",", "  "} {
		if !strings.Contains(head, sep) {
			continue
		}
		k, size := len(cells(head[:n.lo-from], sep))-1, len(cells(head, sep))
		var out []window
		for _, row := range rows(t, end) {
			all := cells(t[row.lo:row.hi], sep)
			if len(all) != size {
				continue
			}
			lo, hi := row.lo+all[k].lo, row.lo+all[k].hi
			if v := t[lo:hi]; v != "" && (!strings.ContainsAny(strings.TrimRight(v, "="), " =(") && n.written(v) && strict(v) || n.password && sep != "  " && phrase(v)) {
				out = append(out, window{lo, hi})
			}
		}
		return out
	}
	return nil
}

// header is a row of names.
var header = regexp.MustCompile(`^[|\s]*["'` + "`" + `]?[\pL_*#][\pL_* #-]{0,30}(?:["'` + "`" + `]?(?:\s*\|\s*|\t|;|,| {2,}|, )["'` + "`" + `]?[\pL_*#][\pL_* #-]{0,30})*["'` + "`" + `]?[|\s]*$`)

// lines are those behind i.
func lines(t string, i int) []window {
	var out []window
	for len(out) < maxRows && i < len(t) {
		lo := i + 1
		i = lo + strings.IndexByte(t[min(lo, len(t)):]+"\n", '\n')
		if i > lo+2*maxStatement || i <= lo {
			break
		}
		out = append(out, window{lo, min(i, len(t))})
	}
	return out
}

// tuples are what stands in parentheses behind i.
func tuples(t string, i int) []window {
	var out []window
	rest := t[i:min(len(t), i+4*maxStatement)]
	if !values.MatchString(rest) {
		return nil
	}
	for _, m := range tuple.FindAllStringIndex(rest, maxRows) {
		out = append(out, window{i + m[0] + 1, i + m[1] - 1})
	}
	return out
}

var (
	values = regexp.MustCompile(`(?i)^\)\s*values\b`)
	tuple  = regexp.MustCompile(`\([^()\n]*\)`)
)

// cells are those of a row, without what stands around their values.
func cells(t, sep string) []window {
	const around = " \t\"'`*"
	var out []window
	for i := 0; ; {
		n := strings.Index(t[i:], sep)
		hi := len(t)
		if n >= 0 {
			hi = i + n
		}
		lo := i + skipped(t[i:hi], around)
		out = append(out, window{lo, lo + len(strings.TrimRight(t[lo:hi], around))})
		if n < 0 {
			return out
		}
		for i = hi + len(sep); sep == "  " && i < len(t) && t[i] == ' '; {
			i++
		}
	}
}
