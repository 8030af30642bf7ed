package text

import (
	"strings"

	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
)

// writeWhy says which lines were asked about, and which of them no session explains.
func (p *page) writeWhy(w *result.Why) {
	p.writeLine("", "  ", printableSpanf(bold, "%s:%s", w.Path, rangeList(session.Ranges{{w.From, w.To}})))
	p.writeUnexplained(w)
}

// writeUnexplained are the lines behind which no session is known.
func (p *page) writeUnexplained(w *result.Why) {
	if len(w.Uncommitted) > 0 {
		p.writeLine("", "  ", printableSpanf(unstyled, "%s: not committed yet", linesInWords(w.Uncommitted)))
	}
	for _, s := range w.Unexplained {
		end := span{}
		if s.Cut {
			end.text = " or one before it, which this shallow clone lacks"
		}
		p.writeLine("", "  ", printableSpanf(unstyled, "%s: no session is known behind commit ", linesInWords(s.Ranges)), p.commit(s.Commit), end)
		for _, n := range s.Notes {
			p.writeLine("  ", "    ", printableSpanf(unstyled, "%s: %s", linesInWords(n.Ranges), n))
		}
	}
}

// explanation says which lines a session wrote, and which are tied to it by their commit alone: that is a guess, as people write lines, too.
func explanation(h result.Hit) span {
	e, look := h.Explains, green
	var out []string
	if len(e.Exact) > 0 {
		out = append(out, "wrote "+linesInWords(e.Exact)+" (compared line by line)")
	}
	if rest := subtractRanges(e.Ranges, e.Exact); len(rest) > 0 {
		guess := "a guess by its commit"
		if len(e.Exact) == 0 {
			guess += " (" + h.Tie + ")"
		}
		look = yellow
		out = append(out, guess+": no session is known to have written "+linesInWords(rest))
	}
	if len(e.Shared) > 0 {
		out = append(out, rangeList(e.Shared)+" may be another session's")
	}
	return printableSpan(look, strings.Join(out, "; "))
}

// subtractRanges are the lines of ranges that others do not hold; both are in order.
func subtractRanges(ranges, others []result.Range) (out []result.Range) {
	for _, r := range ranges {
		for _, o := range others {
			if o[1] < r[0] || o[0] > r[1] {
				continue
			}
			if o[0] > r[0] {
				out = append(out, result.Range{r[0], o[0] - 1})
			}
			r[0] = o[1] + 1
		}
		if r[0] <= r[1] {
			out = append(out, r)
		}
	}
	return out
}

// linesInWords names ranges of lines.
func linesInWords(ranges session.Ranges) string {
	if ranges.Count() == 1 {
		return "line " + rangeList(ranges)
	}
	return "lines " + rangeList(ranges)
}

// rangeList are ranges of lines: 3, 7-9.
func rangeList(ranges session.Ranges) string { return strings.ReplaceAll(ranges.String(), ",", ", ") }
