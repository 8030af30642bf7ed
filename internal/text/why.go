package text

import (
	"fmt"
	"strings"

	"github.com/git-rekal/git-rekal/internal/result"
)

// why says which lines were asked about, and which of them no session explains.
func (p *page) why(w *result.Why) {
	p.line("", "  ", sayf(bold, "%s:%s", w.Path, lines([]result.Range{{w.From, w.To}})))
	p.unexplained(w)
}

// unexplained are the lines behind which no session is known.
func (p *page) unexplained(w *result.Why) {
	if len(w.Uncommitted) > 0 {
		p.line("", "  ", sayf(plain, "%s: not committed yet", spoken(w.Uncommitted)))
	}
	for _, s := range w.Unexplained {
		end := span{}
		if s.Cut {
			end.text = " or one before it, which this shallow clone lacks"
		}
		p.line("", "  ", sayf(plain, "%s: no session is known behind commit ", spoken(s.Ranges)), p.commit(s.Commit), end)
	}
}

// explains says which lines a session explains, and how that is known.
func explains(h result.Hit) string {
	e := h.Explains
	out := "its commit brought " + spoken(e.Ranges)
	switch {
	case h.Inferred:
		out = "probably brought " + spoken(e.Ranges) + " (inferred: nothing recorded says so)"
	case len(e.Exact) > 0 && lines(e.Exact) == lines(e.Ranges):
		out = "wrote " + spoken(e.Ranges) + " (compared line by line)"
	case len(e.Exact) > 0:
		out += ", of which it wrote " + lines(e.Exact) + " (compared line by line)"
	}
	if len(e.Shared) > 0 {
		out += "; " + lines(e.Shared) + " may be another session's"
	}
	return out
}

// spoken names ranges of lines.
func spoken(ranges []result.Range) string {
	if len(ranges) == 1 && ranges[0][0] == ranges[0][1] {
		return "line " + lines(ranges)
	}
	return "lines " + lines(ranges)
}

// lines are ranges of lines: 3, 7-9.
func lines(ranges []result.Range) string {
	out := make([]string, len(ranges))
	for i, r := range ranges {
		if out[i] = fmt.Sprint(r[0]); r[1] != r[0] {
			out[i] += fmt.Sprintf("-%d", r[1])
		}
	}
	return strings.Join(out, ", ")
}
