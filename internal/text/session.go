package text

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Session is a page of a session as a conversation; what --full tells stands behind it.
func Session(look Look, s result.Session) string {
	p := &page{Look: look}
	p.writeLine("", "  ", printableSpan(bold, cmp.Or(s.Title, "(no title)")))
	p.writeLine("", "  ", p.joinFacts(unstyled, "session "+p.id(s.ID), p.when(cmp.Or(s.StartedAt, s.CapturedAt)),
		p.person(s.Author, s.Actor), s.Signature, agentAndFacts(s.Source, s.Facts), s.Branch, privateMark(s.Private))...)
	p.writeLine("", "  ", p.joinFacts(unstyled, append([]string{
		session.CountNoun(s.Turns, "turn"),
		session.CountNoun(s.ToolCalls, "tool call"),
	}, p.relatives(s)...)...)...)
	rest := p.writeTools(s.Tools, -1)
	for _, t := range s.Page {
		p.writeTurn(s, t)
		rest = p.writeTools(rest, t.Turn)
	}
	p.writeDetails(s)
	if s.Next != nil {
		p.blankLine()
		p.writeLine("", "  ", unbrokenSpan(cyan, fmt.Sprintf("git rekal query --session %s --offset %d", p.id(s.ID),
			*s.Next)), span{text: " reads on"})
	}
	return p.String()
}

// privateMark says that a session is private; "" where it is not.
func privateMark(isPrivate bool) string {
	if isPrivate {
		return "private"
	}
	return ""
}

// relatives are the sessions next to this one, where --full does not list them.
func (p *page) relatives(s result.Session) (out []string) {
	if len(s.Family) > 0 {
		return nil
	}
	if s.Parent != "" {
		out = append(out, "spawned by "+p.id(s.Parent))
	}
	if s.ForkedFrom != "" {
		out = append(out, "forked from "+p.id(s.ForkedFrom))
	}
	if len(s.Children) > 0 {
		out = append(out, "spawned "+session.CountNoun(len(s.Children), "session"))
	}
	return out
}

// writeTurn is what one of both said.
func (p *page) writeTurn(s result.Session, t result.Turn) {
	who, look := cmp.Or(p.person(s.Author, ""), "human"), cyan
	if t.Role != "human" {
		who, look = s.Source, green
	}
	p.blankLine()
	p.writeLine("", "  ", append([]span{printableSpan(look, who), {text: " "}},
		p.joinFacts(unstyled, fmt.Sprintf("[%d]", t.Turn), p.day(t.TS), undoneMark(t.Undone))...)...)
	p.writeLines("  ", t.Content)
	if t.ContentNext > 0 {
		p.writeLine("  ", "  ", printableSpanf(yellow, "(the beginning of %d bytes)", t.ContentBytes))
	}
}

// undoneMark says that a turn was taken back; "" where it was not.
func undoneMark(undone bool) string {
	if undone {
		return "undone"
	}
	return ""
}

// writeTools are the calls behind a turn, those of one tool folded into a line; what it returns came later.
func (p *page) writeTools(calls []result.Tool, turn int) (rest []result.Tool) {
	for len(calls) > 0 && calls[0].Turn <= turn {
		n := 1
		for n < len(calls) && calls[n].Turn <= turn && calls[n].Tool == calls[0].Tool {
			n++
		}
		spans := []span{printableSpan(bold, calls[0].Tool)}
		for i, c := range calls[:n] {
			what := cmp.Or(c.Path, c.Cmd)
			if c.Failed {
				what = strings.TrimSpace(what + " (failed)")
			}
			between := " "
			if i > 0 {
				between = ", "
			}
			spans = append(spans, printableSpan(unstyled, between+what))
		}
		p.writeLine("  > ", "    ", spans...)
		calls = calls[n:]
	}
	return calls
}

// writeDetails is what --full tells besides.
func (p *page) writeDetails(s result.Session) {
	p.writeList("Commits", len(s.Commits), 0, func(i int) []span {
		c := s.Commits[i]
		out := []span{
			p.commit(result.ShortOID(cmp.Or(c.Became, c.Commit))),
			{text: " "},
			unbrokenSpan(unstyled, p.when(c.TS)), printableSpan(unstyled, " "+session.LabelOf(c.Tie)),
		}
		if c.Missing {
			out[0] = printableSpan(unstyled, result.ShortOID(cmp.Or(c.Became, c.Commit)))
			out = append(out, span{text: " not here"})
		}
		return out
	})
	p.writeList("Files", len(s.Files), s.FilesTotal, func(i int) []span {
		f := s.Files[i]
		note := map[string]string{result.StaleChanged: " (changed since)", result.StaleDeleted: " (gone since)"}[f.Freshness]
		if f.Branch != "" {
			note = " (only on " + f.Branch + ")"
		}
		return []span{printableSpan(unstyled, f.Change+" "+f.Path), printableSpan(yellow, note)}
	})
	p.writeList("Files that change with these", len(s.Related), 0, func(i int) []span {
		return []span{printableSpan(unstyled, s.Related[i].Path+" ("+session.CountNoun(s.Related[i].Sessions, "session")+")")}
	})
	p.writeList("Next to it", len(s.Family), 0, func(i int) []span {
		f := s.Family[i]
		return []span{
			printableSpan(cyan, p.id(f.ID)),
			printableSpan(unstyled, " "+f.As+": "+f.Title+" ("+session.CountNoun(f.Turns, "turn")+")"),
		}
	})
}

// writeList is a heading with a line for each of n things; of total there are more.
func (p *page) writeList(heading string, n, total int, line func(i int) []span) {
	if n == 0 {
		return
	}
	p.blankLine()
	p.writeLine("", "  ", printableSpan(bold, heading))
	for i := range n {
		p.writeLine("  ", "    ", line(i)...)
	}
	if total > n {
		p.writeLine("  ", "    ", printableSpanf(unstyled, "and %d more", total-n))
	}
}

// Memory is what was saved.
func Memory(look Look, m result.Memory) string {
	p := &page{Look: look}
	p.writeLine("", "  ", printableSpan(bold, cmp.Or(m.Title, "(no title)")))
	p.writeLine("", "  ", p.joinFacts(unstyled, "memory "+p.id(m.ID), p.when(m.CapturedAt), p.person(m.Author, ""),
		m.Signature, m.Source)...)
	for _, line := range append(m.Note.Remarks(), m.Lines(p.id, m.Title)...) {
		p.writeLine("", "  ", printableSpan(yellow, line))
	}
	p.blankLine()
	p.writeLines("", m.Content)
	return p.String()
}
