package text

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
)

// writeWhy says which lines were asked about, and which of them no session explains.
func (p *page) writeWhy(w *result.Why) {
	head := []span{printableSpanf(bold, "%s:%s", w.Path, rangeList(session.Ranges{{w.From, w.To}}))}
	if text := strings.TrimSpace(w.Text); text != "" {
		head = append(head, printableSpan(unstyled, "  "+text))
	}
	p.writeLine("", "  ", head...)
	p.writeUnexplained(w)
}

// writeUnexplained are the lines behind which no session is known.
func (p *page) writeUnexplained(w *result.Why) {
	if len(w.Uncommitted) > 0 {
		p.writeLine("", "  ", printableSpanf(unstyled, "%s: not committed yet", linesInWords(w.Uncommitted)))
	}
	for _, s := range w.Unexplained {
		said := append([]span{printableSpanf(unstyled, "%s: no session is known; commit ", linesInWords(s.Ranges))},
			p.origin(s.Origin)...)
		if s.Cut {
			said = append(said, span{text: " or one before it, which this shallow clone lacks"})
		}
		p.writeLine("", "  ", said...)
		for _, n := range s.Named {
			p.writeLine("  ", "    ", printableSpan(unstyled, n.String()))
		}
		for _, n := range s.Notes {
			p.writeLine("  ", "    ", printableSpanf(unstyled, "%s: %s", linesInWords(n.Ranges), n))
		}
	}
}

// writeBehind tells what stands behind lines, in the order in which one asks: which lines, what commit brought them,
// what was asked for, who did it through what, and how that is known.
func (p *page) writeBehind(rank int, h result.Hit, said result.Exchange) {
	const in, more = "   ", "     "
	e := h.Explains
	p.writeLine(fmt.Sprintf("%d. ", rank), in, printableSpan(bold, linesInWords(e.Ranges)))
	for _, o := range e.Origins {
		p.writeLine(in, more, append([]span{{text: "commit "}}, p.origin(o)...)...)
	}
	if n := len(e.Commits) - len(e.Origins); n > 0 {
		p.writeLine(in, more, printableSpanf(unstyled, "and %s", session.CountNoun(n, "other commit")))
	}
	asked, brief := said.Asked, ""
	if h.Asked != nil {
		asked, brief = h.Asked.Text, said.Asked
	}
	for _, part := range []struct{ who, text string }{
		{"Asked: ", asked},
		{"Began with: ", e.Purpose},
		{"Answered: ", said.Answered},
	} {
		if part.text != "" {
			p.writeLine(in, more, append([]span{{text: part.who, style: cyan}}, p.markMatches(part.text)...)...)
		}
	}
	if asked == "" && h.Snippet != "" {
		p.writeLine(in, in, p.markMatches(h.Snippet)...)
	}
	title := cmp.Or(h.Title, "(no title)")
	if len(h.Through) > 0 { // its brief, which follows
		title = ""
	}
	p.writeLine(in, more, p.joinFacts(unstyled, append(p.attribution(h), p.when(cmp.Or(h.StartedAt, h.LastTurnAt)),
		h.Branch, title)...)...)
	for i, by := range h.Through {
		text := by.Title
		if i == 0 && brief != "" {
			text = brief
		}
		p.writeLine(in, more, printableSpan(unstyled, "through a subagent: "), printableSpan(cyan, p.id(by.ID)),
			printableSpan(unstyled, "  "+text))
	}
	p.writeLine(in, more, howKnown(h))
	if notes := p.joinFacts(yellow, remarksOn(h, true)...); len(notes) > 0 {
		p.writeLine(in, more, notes...)
	}
	p.writeLine(in, more, unbrokenSpan(cyan, gitCommandIn(h.Repo)+" rekal show "+p.address(h)))
}

// origin is a commit with what it says.
func (p *page) origin(o result.Origin) []span {
	out := []span{p.commit(o.Commit)}
	if o.TS != "" {
		out = append(out, printableSpan(unstyled, " "+o.Subject+", "), unbrokenSpan(unstyled, p.day(o.TS)))
	}
	if o.Merge {
		out = append(out, span{text: ", a merge"})
	}
	return out
}

// howKnown says how it is known that a session stands behind lines.
func howKnown(h result.Hit) span {
	e, look := h.Explains, green
	var out []string
	if len(e.Exact) > 0 {
		out = append(out, "it wrote "+linesInWords(e.Exact)+": its edits and the commit were compared line by line")
	}
	if rest := subtractRanges(e.Ranges, e.Exact); len(rest) > 0 {
		look = yellow
		label := session.LabelOf(h.Tie)
		switch {
		case h.Tie == session.TieWrote.String():
			label = "wrote the lines around"
		case h.Inferred:
			label = "is " + label
		}
		out = append(out, "of "+linesInWords(rest)+" only that the session "+label)
	}
	if len(e.Shared) > 0 {
		out = append(out, linesInWords(e.Shared)+": so did another session here")
	}
	return printableSpan(look, "Known: "+strings.Join(out, "; "))
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
