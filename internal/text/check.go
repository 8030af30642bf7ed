package text

import (
	"strings"

	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Trailers is the lines that name who helped. Of one commit they stand alone, so that they can be piped on; of several
// each has its commit above.
func Trailers(look Look, commits []result.Helped, alone bool) string {
	p := &page{Look: look}
	for _, c := range commits {
		indent := ""
		if !alone {
			indent = "    "
			p.blankLine()
			p.writeLine("", "  ", p.commit(result.ShortOID(c.Commit)), printableSpan(unstyled, " "+c.Subject))
		}
		for _, line := range c.Trailers {
			p.writeLine(indent, indent+"  ", printableSpan(unstyled, line))
		}
		if c.Unseen != "" && !alone {
			p.writeLine(indent, indent+"  ", printableSpan(dim, c.Unseen))
		}
	}
	return p.String()
}

// Check is what is wrong with commits, and what could not be seen.
func Check(look Look, c result.Checked) string {
	p := &page{Look: look}
	last := ""
	for _, f := range append(c.Findings, c.Unseen...) {
		if f.Commit != last {
			p.blankLine()
			p.writeLine("", "  ", p.commit(result.ShortOID(f.Commit)), printableSpan(unstyled, " "+f.Subject))
			last = f.Commit
		}
		p.writeFinding(f)
	}
	p.blankLine()
	summary := session.CountNoun(c.Commits, "commit") + " checked by " + strings.Join(c.Rules, ", ") + ": " +
		session.CountNoun(len(c.Findings), "finding")
	if n := len(c.Unseen); n > 0 {
		summary += ", " + session.CountNoun(n, "commit") + " that can't be told of"
	}
	p.writeLine("", "  ", printableSpan(unstyled, summary))
	return p.String()
}

func (p *page) writeFinding(f result.CheckFinding) {
	look := map[string]style{"unseen": dim, "doubtful": yellow}[f.State]
	if look == unstyled {
		look = red
	}
	p.writeLine("    ", "      ", printableSpan(look, f.State), printableSpan(unstyled, ": "+f.Text))
	if f.Evidence != "" {
		p.writeLine("      ", "      ", printableSpan(dim, f.Evidence))
	}
}
