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
	p.line("", "  ", safe(bold, cmp.Or(s.Title, "(no title)")))
	p.line("", "  ", p.facts(unstyled, "session "+p.id(s.ID), p.when(cmp.Or(s.StartedAt, s.CapturedAt)), p.person(s.Author, s.Actor), s.Signature, agentAndModel(s.Source, s.Model), s.Branch, privateMark(s.Private))...)
	p.line("", "  ", p.facts(unstyled, append([]string{session.Count(s.Turns, "turn"), session.Count(s.ToolCalls, "tool call")}, p.relatives(s)...)...)...)
	rest := p.tools(s.Tools, -1)
	for _, t := range s.Page {
		p.turn(s, t)
		rest = p.tools(rest, t.Turn)
	}
	p.details(s)
	if s.Next != nil {
		p.blankLine()
		p.line("", "  ", unbroken(cyan, fmt.Sprintf("git rekal query --session %s --offset %d", p.id(s.ID), *s.Next)), span{text: " reads on"})
	}
	return p.String()
}

// privateMark says that a session is private; "" where it is not.
func privateMark(is bool) string {
	if is {
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
		out = append(out, "spawned "+session.Count(len(s.Children), "session"))
	}
	return out
}

// turn is what one of both said.
func (p *page) turn(s result.Session, t result.Turn) {
	who, look := cmp.Or(p.person(s.Author, ""), "human"), cyan
	if t.Role != "human" {
		who, look = s.Source, green
	}
	p.blankLine()
	p.line("", "  ", append([]span{safe(look, who), {text: " "}}, p.facts(unstyled, fmt.Sprintf("[%d]", t.Turn), p.day(t.TS))...)...)
	p.lines("  ", t.Content)
	if t.ContentNext > 0 {
		p.line("  ", "  ", safef(yellow, "(the beginning of %d bytes)", t.ContentBytes))
	}
}

// tools are the calls behind a turn, those of one tool folded into a line; what it returns came later.
func (p *page) tools(calls []result.Tool, turn int) (rest []result.Tool) {
	for len(calls) > 0 && calls[0].Turn <= turn {
		n := 1
		for n < len(calls) && calls[n].Turn <= turn && calls[n].Tool == calls[0].Tool {
			n++
		}
		spans := []span{safe(bold, calls[0].Tool)}
		for i, c := range calls[:n] {
			what := cmp.Or(c.Path, c.Cmd)
			if c.Failed {
				what = strings.TrimSpace(what + " (failed)")
			}
			between := " "
			if i > 0 {
				between = ", "
			}
			spans = append(spans, safe(unstyled, between+what))
		}
		p.line("  > ", "    ", spans...)
		calls = calls[n:]
	}
	return calls
}

// details is what --full tells besides.
func (p *page) details(s result.Session) {
	p.list("Commits", len(s.Commits), 0, func(i int) []span {
		c := s.Commits[i]
		out := []span{p.commit(result.Short(cmp.Or(c.Became, c.Commit))), {text: " "}, unbroken(unstyled, p.when(c.TS)), safe(unstyled, " "+c.Tie)}
		if c.Missing {
			out[0] = safe(unstyled, result.Short(cmp.Or(c.Became, c.Commit)))
			out = append(out, span{text: " not here"})
		}
		return out
	})
	p.list("Files", len(s.Files), s.FilesTotal, func(i int) []span {
		f := s.Files[i]
		note := map[string]string{result.StaleChanged: " (changed since)", result.StaleDeleted: " (gone since)"}[f.Freshness]
		return []span{safe(unstyled, f.Change+" "+f.Path), safe(yellow, note)}
	})
	p.list("Files that change with these", len(s.Related), 0, func(i int) []span {
		return []span{safe(unstyled, s.Related[i].Path+" ("+session.Count(s.Related[i].Sessions, "session")+")")}
	})
	p.list("Next to it", len(s.Family), 0, func(i int) []span {
		f := s.Family[i]
		return []span{safe(cyan, p.id(f.ID)), safe(unstyled, " "+f.As+": "+f.Title+" ("+session.Count(f.Turns, "turn")+")")}
	})
}

// list is a heading with a line for each of n things; of total there are more.
func (p *page) list(heading string, n, total int, one func(i int) []span) {
	if n == 0 {
		return
	}
	p.blankLine()
	p.line("", "  ", safe(bold, heading))
	for i := range n {
		p.line("  ", "    ", one(i)...)
	}
	if total > n {
		p.line("  ", "    ", safef(unstyled, "and %d more", total-n))
	}
}

// Memory is what was saved.
func Memory(look Look, m result.Memory) string {
	p := &page{Look: look}
	p.line("", "  ", safe(bold, cmp.Or(m.Title, "(no title)")))
	p.line("", "  ", p.facts(unstyled, "memory "+p.id(m.ID), p.when(m.CapturedAt), p.person(m.Author, ""), m.Signature, m.Source)...)
	p.blankLine()
	p.lines("", m.Content)
	return p.String()
}
