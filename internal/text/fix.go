package text

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Fix is where an error was mended before, the best first and whole, of the others a line.
func Fix(look Look, a result.Fix) string {
	p := &page{Look: look}
	for i, m := range a.Results {
		p.blankLine()
		if i == 0 {
			p.writeMended(m)
			continue
		}
		p.writeLine("", "  ", p.joinFacts(unstyled, "also "+p.id(m.ID), p.when(m.PassedAt), p.person(m.Author, ""),
			changedFiles(m), m.Address)...)
	}
	if len(a.Results) == 0 {
		p.writeLine("", "", span{text: "No failure like this one was mended here before."})
	}
	return p.String()
}

// writeMended is one pair: the error, what was changed, what was said.
func (p *page) writeMended(m result.Mended) {
	failed := "failed " + p.day(m.FailedAt)
	if m.FailedAt == "" {
		failed = "failed"
	}
	p.writeLine("", "  ", printableSpan(bold, m.Command))
	p.writeLine("", "  ", p.joinFacts(unstyled, failed, "passed "+p.day(m.PassedAt), p.person(m.Author, ""), m.Source,
		p.recordOrSession(m))...)
	for _, line := range m.Error {
		p.writeLine("    ", "    ", printableSpan(red, line))
	}
	if len(m.Error) == 0 {
		p.writeLine("    ", "    ", printableSpan(red, strings.Join(m.Terms, "; ")))
	}
	if m.PassedWith != "" {
		p.writeLine("  ", "    ", span{text: "passed as: ", style: cyan}, printableSpan(unstyled, m.PassedWith))
	}
	for _, f := range m.Files {
		p.writeLine("  ", "    ", p.joinFacts(unstyled, "changed "+f.Path+linesOf(f.Lines), f.Commit,
			freshnessInWords(f.Freshness))...)
	}
	if m.More > 0 {
		p.writeLine("  ", "    ", span{text: "and " + session.CountNoun(m.More, "other file")})
	}
	for _, o := range m.Commits {
		p.writeLine("  ", "    ", append([]span{{text: "commit "}}, p.origin(o)...)...)
	}
	if m.Said != "" {
		p.writeLine("  ", "    ", span{text: "said: ", style: cyan}, printableSpan(unstyled, m.Said))
	}
	if id, turn, ok := strings.Cut(m.Address, ":"); ok {
		p.writeLine("  ", "    ", unbrokenSpan(cyan, "git rekal show "+p.id(id)+":"+turn))
	}
}

func (p *page) recordOrSession(m result.Mended) string {
	if m.ID == "" {
		return fmt.Sprintf("record %d", m.Record)
	}
	return "session " + p.id(m.ID)
}

func linesOf(lines string) string {
	if lines == "" {
		return ""
	}
	return ":" + lines
}

func freshnessInWords(is string) string {
	return map[string]string{
		result.Fresh: "still so", result.StaleChanged: "changed since",
		result.StaleDeleted: "gone",
	}[is]
}

func changedFiles(m result.Mended) string {
	var paths []string
	for _, f := range m.Files {
		paths = append(paths, f.Path)
	}
	return strings.Join(paths[:min(len(paths), 3)], ", ")
}

// Failures is a table of commands that failed, or of files that errors name, and a list of what was dropped.
func Failures(look Look, f result.Failures) string {
	p := &page{Look: look}
	if len(f.Results) == 0 {
		p.writeLine("", "", span{text: "No command is known to have failed."})
	} else {
		table := [][]string{{strings.ToUpper(f.By), "FAILED", "SESSIONS", "LAST", "MENDED"}}
		for _, r := range f.Results {
			mended := r.Mended
			if mended != "" && r.Repo != "" {
				mended = repoName(r.Repo) + " " + mended
			}
			table = append(table, []string{
				session.Shorten(cmp.Or(r.Path, r.Command), 40), session.Thousands(r.Failed),
				session.Thousands(r.Sessions), p.day(r.LastAt), mended,
			})
		}
		p.writeTable(table, func(int) float64 { return 0 })
	}
	if f.More > 0 {
		p.writeLine("", "", printableSpanf(dim, "%s more: -n 0 shows all.", session.Thousands(f.More)))
	}
	if len(f.Dropped) > 0 {
		p.writeRow([]span{unbrokenSpan(unstyled, "")})
		p.writeRow([]span{unbrokenSpan(dim, "Tried and dropped:")})
	}
	for _, d := range f.Dropped {
		p.writeDropped(d)
	}
	return p.String()
}

// writeDropped says what was dropped, when, why, and what shows it.
func (p *page) writeDropped(d result.Dropped) {
	what := d.Named()
	if d.Commit != "" {
		what = d.Commit + " " + what + ", reverted by " + d.By
	}
	if d.Reason != "" {
		what += ": " + d.Reason
	}
	p.writeLine("", "  ", printableSpanf(unstyled, "%s  %s", p.day(d.At), what))
	p.writeLine("  ", "  ", unbrokenSpan(cyan, gitCommandIn(d.Repo)+" rekal show "+p.id(d.ID)))
}
