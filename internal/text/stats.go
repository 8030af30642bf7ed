package text

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Stats is a table of what requests took. On a terminal each line ends in a bar, which has the share of the largest one.
func Stats(look Look, s result.Stats) string {
	p := &page{Look: look}
	if s.Total.Requests == 0 {
		p.line("", "", safe(unstyled, "No session here counts its tokens."))
		p.uncounted(s)
		return p.String()
	}
	rows := append([]result.Tokens{}, s.Results...)
	rows = append(rows, s.Total)
	table := [][]string{{strings.ToUpper(s.By), "SESSIONS", "REQUESTS", "INPUT", "OUTPUT", "CACHED", "WRITTEN", "COST"}}
	for i, r := range rows {
		first := cmp.Or(p.keyOf(s.By, r), "none")
		if i == len(s.Results) {
			first = "total"
		}
		table = append(table, []string{
			first, session.Thousands(r.Sessions), session.Thousands(r.Requests),
			result.Rounded(r.Input), result.Rounded(r.Output), result.Rounded(r.CacheRead), result.Rounded(r.CacheWrite), money(cmp.Or(r.Price, r.Cost)),
		})
	}
	p.table(table, func(row int) float64 {
		if row < 1 || row > len(s.Results) {
			return 0
		}
		largest := int64(1)
		for _, r := range s.Results {
			largest = max(largest, r.Sum())
		}
		return float64(s.Results[row-1].Sum()) / float64(largest)
	})
	if s.More > 0 {
		p.line("", "", safef(dim, "%s more: -n 0 shows all.", session.Thousands(s.More)))
	}
	p.uncounted(s)
	return p.String()
}

// uncounted says of how many sessions nothing is known.
func (p *page) uncounted(s result.Stats) {
	if s.Uncounted > 0 {
		p.line("", "", safef(dim, "%s without counts: their transcripts hold none, or were captured before counts were kept.", session.Count(s.Uncounted, "session")))
	}
}

// keyOf is what a row sums up, as it is shown.
func (p *page) keyOf(by string, r result.Tokens) string {
	switch by {
	case "commit":
		return strings.TrimSpace(result.Short(r.Key) + " " + r.Title)
	case "session":
		return strings.TrimSpace(p.id(r.Key) + " " + r.Title)
	case "author":
		return p.People.Name(r.Key)
	}
	return r.Key
}

// money is an amount with two digits; empty for none.
func money(n float64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", n)
}

// table lays rows out in columns: the first one to the left, numbers to the right, a column in which nothing stands left out. Where there is
// room, a line ends in a bar of its share of a row's largest, from 0 to 1.
func (p *page) table(rows [][]string, share func(row int) float64) {
	const firstColumn, barRoom = 44, 24
	widths := make([]int, len(rows[0]))
	for n, row := range rows {
		for i, cell := range row {
			if w := width(result.Printable(cell)); i == 0 || n > 0 && cell != "" && cell != "0" {
				widths[i] = max(widths[i], w, width(rows[0][i]))
			}
		}
	}
	total := 0
	for _, w := range widths[1:] {
		if w > 0 {
			total += w + 2
		}
	}
	widths[0] = min(widths[0], firstColumn)
	if p.Width > 0 {
		widths[0] = max(min(widths[0], p.Width-total), 8)
	}
	bar := min(barRoom, p.Width-total-widths[0]-2)
	for n, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			cell = result.Printable(cell)
			switch {
			case i == 0:
				cell = trimToWidth(cell, widths[0], "...")
				b.WriteString(cell + strings.Repeat(" ", widths[0]-width(cell)))
			case widths[i] > 0:
				b.WriteString(strings.Repeat(" ", 2+widths[i]-width(cell)) + cell)
			}
		}
		look := unstyled
		if n == 0 {
			look = dim
		}
		spans := []span{unbroken(look, strings.TrimRight(b.String(), " "))}
		if length := int(share(n)*float64(bar) + .5); bar > 2 && length > 0 {
			mark := "#"
			if p.UTF8 {
				mark = "█"
			}
			gap := widths[0] + total + 2 - width(spans[0].text)
			spans = append(spans, span{text: strings.Repeat(" ", gap)}, span{text: strings.Repeat(mark, length), style: cyan})
		}
		p.row(spans)
	}
}

// row adds a line that is not folded.
func (p *page) row(spans []span) {
	for _, s := range spans {
		p.writeSpan(s)
	}
	p.b.WriteByte('\n')
}
