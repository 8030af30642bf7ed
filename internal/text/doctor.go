package text

import (
	"fmt"
	"strings"

	"github.com/git-rekal/git-rekal/internal/result"
)

// statusMark is how a check's status is shown.
func statusMark(status string) (sign string, look style) {
	switch status {
	case "ok":
		return "✓", green
	case "note":
		return "!", yellow
	}
	return "✗", red
}

// Doctor is what doctor found; with values, also what stands there. A Look without a width is a contract: scripts read
// it.
func Doctor(look Look, d result.Doctor, values bool) string {
	p := &page{Look: look}
	signs := p.UTF8 && p.Width > 0
	for _, c := range d.Checks {
		sign, look := statusMark(c.Status)
		head, in := fmt.Sprintf("%-6s", c.Status), "       "
		if signs {
			head, in = sign, "  "
		}
		p.writeLine("", in, printableSpan(look, head), printableSpan(unstyled, " "), printableSpan(bold, c.Name),
			printableSpan(unstyled, ": "+c.Says))
		if c.Fix != "" && c.Status != "ok" {
			p.writeLine(in+"-> ", in+"   ", printableSpan(cyan, c.Fix))
		}
	}
	p.writeLeaks(d, values)
	return p.String()
}

// writeLeaks are what today's redaction would take out, by ledger.
func (p *page) writeLeaks(d result.Doctor, values bool) {
	others := false
	for i, l := range d.Leaks {
		if i == 0 || l.Author != d.Leaks[i-1].Author {
			p.blankLine()
			p.writeLine("", "  ", printableSpanf(unstyled, "in the ledger of %s:", l.Author))
		}
		p.writeLine("  ", "    ", printableSpan(red, l.Rule),
			printableSpan(unstyled, ": "+FindingPlace(l)+FindingCause(l)+": "+l.Around))
		if values && l.Value != "" {
			p.writeLine("     = ", "       ", printableSpan(yellow, l.Value))
		}
		if l.Scrub != "" {
			p.writeLine("       -> ", "          ", printableSpan(cyan, "git rekal scrub "+l.Scrub))
		}
		others = others || l.Scrub == ""
	}
	if d.More > 0 {
		p.writeLine("", "", printableSpanf(unstyled, "and %d more", d.More))
	}
	if others {
		p.blankLine()
		p.writeLine("", "", span{text: `Only its author can scrub a ledger; your next "git rekal sync" takes that over.`})
	}
}

// FindingCause says what made the rule look, behind the place; and the commit of the ledger, where one holds it.
func FindingCause(f result.Finding) string {
	var about []string
	if f.Commit != "" {
		about = append(about, "commit "+result.ShortOID(f.Commit))
	}
	if f.Trigger != "" && f.Trigger != f.Rule {
		about = append(about, fmt.Sprintf("by %q", strings.TrimSpace(f.Trigger)))
	}
	if len(about) == 0 {
		return ""
	}
	return " (" + strings.Join(about, ", ") + ")"
}

// FindingPlace says where a finding is, for a person.
func FindingPlace(f result.Finding) string {
	if f.Turn == nil {
		return strings.TrimSpace(f.Session + " " + f.In)
	}
	if f.In == "turn" {
		return fmt.Sprintf("%s turn %d", f.Session, *f.Turn)
	}
	return fmt.Sprintf("%s %s behind turn %d", f.Session, f.In, *f.Turn)
}
