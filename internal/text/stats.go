package text

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Stats is a table of what requests took. On a terminal each line ends in a bar, which has the share of the largest
// one.
func Stats(look Look, s result.Stats) string {
	p := &page{Look: look}
	if s.Total.Requests == 0 {
		p.writeLine("", "", printableSpan(unstyled, "No session here counts its tokens."))
		p.writeUncounted(s)
		return p.String()
	}
	rows := append([]result.Tokens{}, s.Results...)
	rows = append(rows, s.Total)
	table := [][]string{{strings.ToUpper(s.By), "SESSIONS", "REQUESTS", "INPUT", "OUTPUT", "CACHED", "WRITTEN", "COST"}}
	for i, r := range rows {
		first := cmp.Or(p.rowName(s.By, r), "none")
		if i == len(s.Results) {
			first = "total"
		}
		table = append(table, []string{
			first, session.Thousands(r.Sessions), session.Thousands(r.Requests),
			result.RoundTokens(r.Input), result.RoundTokens(r.Output), result.RoundTokens(r.CacheRead),
			result.RoundTokens(r.CacheWrite), money(cmp.Or(r.Price, r.Cost)),
		})
	}
	p.writeTable(table, func(row int) float64 {
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
		p.writeLine("", "", printableSpanf(dim, "%s more: -n 0 shows all.", session.Thousands(s.More)))
	}
	p.writeUncounted(s)
	return p.String()
}

// writeUncounted says of how many sessions nothing is known.
func (p *page) writeUncounted(s result.Stats) {
	if s.Uncounted > 0 {
		p.writeLine("", "", printableSpanf(dim,
			"%s without counts: their transcripts hold none, or were captured before counts were kept.",
			session.CountNoun(s.Uncounted, "session")))
	}
}

// rowName is what a row sums up, as it is shown.
func (p *page) rowName(by string, r result.Tokens) string {
	key := r.Key
	switch by {
	case "commit":
		key = result.ShortOID(r.Key)
	case "session":
		key = p.id(r.Key)
	case "author":
		key = p.People.Name(r.Key)
	case "repository":
		key = repoName(r.Key)
	}
	if r.Repo != "" {
		key = repoName(r.Repo) + ": " + cmp.Or(key, "none")
	}
	return strings.TrimSpace(key + " " + r.Title)
}

// money is an amount with two digits; empty for none.
func money(n float64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", n)
}

// writeTable lays rows out in columns: the first one to the left, numbers to the right, a column in which nothing
// stands left out. Where there is room, a line ends in a bar of its share of a row's largest, from 0 to 1. Where the
// columns find no room, each figure has its name beside it.
func (p *page) writeTable(rows [][]string, share func(row int) float64) {
	const firstColumn, leastFirst, barRoom = 44, 8, 24
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
	if p.Width > 0 && total+leastFirst > p.Width {
		p.writeRowsAsLines(rows, widths)
		return
	}
	widths[0] = min(widths[0], firstColumn)
	if p.Width > 0 {
		widths[0] = min(widths[0], p.Width-total)
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
		spans := []span{unbrokenSpan(look, strings.TrimRight(b.String(), " "))}
		if length := int(share(n)*float64(bar) + .5); bar > 2 && length > 0 {
			mark := "#"
			if p.UTF8 {
				mark = "█"
			}
			gap := widths[0] + total + 2 - width(spans[0].text)
			spans = append(spans, span{text: strings.Repeat(" ", gap)}, span{text: strings.Repeat(mark, length), style: cyan})
		}
		p.writeRow(spans)
	}
}

// writeRowsAsLines writes the rows of a table for a narrow terminal; a column without width is left out.
func (p *page) writeRowsAsLines(rows [][]string, widths []int) {
	for _, row := range rows[1:] {
		var figures []string
		for i, cell := range row[1:] {
			if widths[i+1] > 0 && cell != "" {
				figures = append(figures, strings.ToLower(rows[0][i+1])+" "+cell)
			}
		}
		p.writeLine("", "", printableSpan(unstyled, row[0]))
		p.writeLine("  ", "  ", printableSpan(dim, strings.Join(figures, ", ")))
	}
}

// writeRow adds a line that is not folded.
func (p *page) writeRow(spans []span) {
	for _, s := range spans {
		p.writeSpan(s)
	}
	p.b.WriteByte('\n')
}

// Lines is a table of who wrote lines. On a terminal a bar is the share that sessions wrote.
func Lines(look Look, s result.LineStats) string {
	p := &page{Look: look}
	if s.Total.Lines == 0 {
		p.writeLine("", "", printableSpan(unstyled, "There are no lines to count."))
		return p.String()
	}
	table := [][]string{{"", "LINES", "SESSIONS", "WROTE", "NO SESSION", "UNKNOWN"}}
	rows := append(append([]result.Lines{}, s.Results...), s.Total)
	for i, r := range rows {
		first := r.Key
		switch {
		case i == len(s.Results):
			first = "total"
		case r.Title != "":
			first = result.ShortOID(r.Key) + " " + r.Title
		}
		of := func(n int) string { return fmt.Sprintf("%d%%", (100*n+r.Lines/2)/r.Lines) }
		table = append(table, []string{
			first, session.Thousands(r.Lines), session.Thousands(r.Sessions), of(r.Wrote),
			of(r.NoSession), of(r.Unknown),
		})
	}
	p.writeTable(table, func(row int) float64 {
		if row == 0 {
			return 0
		}
		return float64(rows[row-1].Wrote) / float64(rows[row-1].Lines)
	})
	if s.More > 0 {
		p.writeLine("", "", printableSpanf(dim, "%s more: -n 0 shows all.", session.Thousands(s.More)))
	}
	if n := s.Total.Named; n > 0 {
		p.writeLine("", "", printableSpanf(dim, "Commits without a session name an agent for %s.",
			session.CountNoun(n, "line")))
	}
	if s.Of == "" && s.Writers > 0 {
		p.writeLine("", "", printableSpanf(dim, "Of %s that wrote lines, %s left some that stand today.",
			session.CountNoun(s.Writers, "session"), session.Thousands(s.Total.Sessions)))
	}
	return p.String()
}

// Work is how much was worked in sessions, with a calendar of the last year.
func Work(look Look, s result.WorkStats) string {
	p := &page{Look: look}
	p.writeLine("", "", printableSpanf(unstyled, "%s, %s, %s. %s of them led to %s.",
		session.Counted(s.Sessions, "session"), session.Counted(s.Turns, "turn"),
		session.Counted(s.ToolCalls, "tool call"), session.Thousands(s.Committed), session.Counted(s.Commits, "commit")))
	if s.Sessions == 0 {
		return p.String()
	}
	p.writeTable([][]string{
		{"", "MEDIAN", "9 OF 10", "MOST"},
		spreadRow("length of a session", s.Minutes, session.MinutesInWords),
		spreadRow("sessions behind a commit", s.PerCommit, session.Thousands),
		spreadRow("commits of a session", s.PerSession, session.Thousands),
	}, func(int) float64 { return 0 })
	p.writeCalendar(s.Days)
	if len(s.Together) > 0 {
		p.writeRow([]span{unbrokenSpan(unstyled, "")})
		p.writeRow([]span{unbrokenSpan(dim, "Changed together, by how many sessions:")})
		for _, pair := range s.Together {
			p.writeLine(fmt.Sprintf("%5s  ", session.Thousands(pair.Sessions)), "       ",
				printableSpan(unstyled, pair.A+" "+pair.B))
		}
	}
	return p.String()
}

func spreadRow(of string, s result.Spread, say func(int) string) []string {
	return []string{of, say(s.Median), say(s.Ninth), say(s.Most)}
}

// writeCalendar shows how many sessions began on each day of the year that ends with the last one: a column for each
// week, as many as there is room for.
func (p *page) writeCalendar(days []result.Day) {
	if len(days) == 0 {
		return
	}
	last, err := time.Parse(time.DateOnly, days[len(days)-1].Day)
	if err != nil {
		return
	}
	weeks := 53
	if p.Width > 0 {
		weeks = min(weeks, p.Width-4)
	}
	marks := []rune(" .:*#")
	if p.UTF8 {
		marks = []rune("·░▒▓█")
	}
	on, most := map[string]int{}, 1
	for _, d := range days {
		on[d.Day] = d.Sessions
		most = max(most, d.Sessions)
	}
	monday := last.AddDate(0, 0, -(int(last.Weekday())+6)%7-7*(weeks-1))
	months := []byte(strings.Repeat(" ", weeks+4))
	for week, next := 0, 0; week < weeks; week++ {
		if at := monday.AddDate(0, 0, 7*week); at.Day() <= 7 && week >= next && week+3 <= weeks {
			copy(months[4+week:], at.Format("Jan"))
			next = week + 4
		}
	}
	p.writeRow([]span{unbrokenSpan(unstyled, "")})
	p.writeRow([]span{unbrokenSpan(dim, strings.TrimRight(string(months), " "))})
	for weekday := range 7 {
		var b strings.Builder
		for week := range weeks {
			at := monday.AddDate(0, 0, 7*week+weekday)
			n := on[at.Format(time.DateOnly)]
			switch {
			case at.After(last):
			case n == 0:
				b.WriteRune(marks[0])
			default:
				b.WriteRune(marks[1+(n-1)*3/max(most-1, 1)])
			}
		}
		p.writeRow([]span{
			unbrokenSpan(dim, monday.AddDate(0, 0, weekday).Format("Mon ")),
			unbrokenSpan(green, strings.TrimRight(b.String(), " ")),
		})
	}
	p.writeRow([]span{unbrokenSpan(dim, fmt.Sprintf("    %c 1 to %c %d sessions on a day", marks[1], marks[len(marks)-1],
		most))})
}
