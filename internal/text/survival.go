package text

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Survival is a table of what became of lines that sessions wrote, and how many of all of them live at some ages. On a
// terminal bars draw the latter as a curve.
func Survival(look Look, s result.Survival) string {
	p := &page{Look: look}
	if s.Total.Written+s.Total.Waiting+s.Total.Brought == 0 {
		p.writeLine("", "", printableSpan(unstyled, "No lines are known that sessions wrote."))
		return p.String()
	}
	noBar := func(int) float64 { return 0 }
	p.writeTable(p.survivalTable(s), noBar)
	if s.More > 0 {
		p.writeLine("", "", printableSpanf(dim, "%s more: -n 0 shows all.", session.Thousands(s.More)))
	}
	if len(s.Total.Ages) > 0 {
		p.writeRow([]span{unbrokenSpan(unstyled, "")})
		p.writeCurve(s.Total.Ages)
	}
	p.writeSurvivalNotes(s)
	return p.String()
}

// partOf is a share in per cent; "-" of nothing.
func partOf(n, all int) string {
	if all == 0 {
		return "-"
	}
	return fmt.Sprintf("%d%%", (100*n+all/2)/all)
}

func (p *page) survivalTable(s result.Survival) [][]string {
	table := [][]string{{strings.ToUpper(s.By), "WRITTEN", "REPLACED", "REACHED", "BROUGHT", "30 DAYS", "90 DAYS", "TODAY"}}
	for i, r := range append(slices.Clone(s.Results), s.Total) {
		first := cmp.Or(r.Key, "none")
		switch {
		case i == len(s.Results):
			first = "total"
		case s.By == "author":
			first = p.People.Name(r.Key)
		}
		row := []string{
			first, session.Thousands(r.Written), partOf(r.Replaced, r.Written), partOf(r.Reached, r.Written),
			session.Thousands(r.Brought),
		}
		for _, days := range []int{30, 90} {
			at := slices.IndexFunc(r.Ages, func(a result.Age) bool { return a.Days == days })
			if at < 0 {
				row = append(row, "-")
				continue
			}
			row = append(row, partOf(r.Ages[at].Live, r.Ages[at].Lines))
		}
		table = append(table, append(row, partOf(r.Live, r.Brought)))
	}
	return table
}

// writeCurve writes how many lines live at some ages.
func (p *page) writeCurve(ages []result.Age) {
	table := [][]string{{"DAYS", "LINES", "LIVE"}}
	for _, a := range ages {
		table = append(table, []string{fmt.Sprint(a.Days), session.Thousands(a.Lines), partOf(a.Live, a.Lines)})
	}
	p.writeTable(table, func(row int) float64 {
		if row == 0 {
			return 0
		}
		return float64(ages[row-1].Live) / float64(ages[row-1].Lines)
	})
}

// writeSurvivalNotes says what the figures are of.
func (p *page) writeSurvivalNotes(s result.Survival) {
	p.writeLine("", "", printableSpanf(dim,
		"Written: by edits of %s that this clone read. Reached: a commit has them. Brought: by %s of HEAD's history; these are followed.",
		session.CountNoun(s.Edited, "session"), session.CountNoun(s.Commits, "commit")))
	if n := s.Total.Waiting; n > 0 {
		p.writeLine("", "", printableSpanf(dim, "Left out: %s that may still be committed.", session.CountNoun(n, "line")))
	}
	if s.Whole > 0 {
		p.writeLine("", "", printableSpanf(dim, "Left out: %s that wrote whole files, of which nobody knows what is new.",
			session.CountNoun(s.Whole, "edit")))
	}
	if n := s.Total.Lost; n > 0 {
		p.writeLine("", "", printableSpanf(dim, "Lost sight of %s: their files can't be compared any more.",
			session.CountNoun(n, "line")))
	}
	if s.Cut {
		p.writeLine("", "", printableSpan(dim, "Older commits are not here, or too many to look into."))
	}
}
