package text

import (
	"cmp"
	"fmt"

	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Notes are what agents noted, by file.
func Notes(look Look, all result.Notes) string {
	p := &page{Look: look}
	if len(all.Notes) == 0 {
		p.writeLine("", "", span{text: "No agent noted anything."})
	}
	file := ""
	for _, m := range all.Notes {
		if at := m.Author + " " + m.Note.Agent + " " + m.Note.File; at != file {
			file = at
			p.writeLine("", "  ", p.joinFacts(bold, m.Note.Agent+" "+m.Note.File, p.person(m.Author, ""))...)
		}
		private := ""
		if m.Private {
			private = "stays in this clone"
		}
		p.writeLine("  ", "    ", printableSpan(cyan, p.id(m.ID)),
			printableSpan(unstyled, "  "+cmp.Or(m.Title, "(no title)")))
		p.writeLine("    ", "      ", p.joinFacts(unstyled, p.when(m.CapturedAt), m.Signature, private)...)
		for _, r := range m.Note.Remarks()[1:] {
			p.writeLine("    ", "      ", printableSpan(yellow, r))
		}
	}
	return p.String()
}

// NoteCheck is what does not hold of notes and rules, a line each.
func NoteCheck(look Look, out result.NoteCheck) string {
	p := &page{Look: look}
	for _, problem := range out.Problems {
		where := problem.Where
		if problem.Heading != "" {
			where += "#" + problem.Heading
		}
		p.writeLine("", "  ", printableSpan(yellow, where+": "+saysOf(look, problem)))
	}
	p.writeLine("", "", printableSpanf(unstyled, "%s in %s", session.CountNoun(len(out.Problems)+out.More, "problem"),
		session.CountNoun(out.Sections, "section")))
	return p.String()
}

func saysOf(look Look, n result.NoteProblem) string {
	whose := ""
	if n.Author != "" {
		whose = " (memory " + n.ID + " of " + n.Author + ")"
	}
	switch n.Kind {
	case "gone":
		at := "is not there"
		if n.Thing.When != "" {
			at = "is gone since " + result.FormatTime(n.Thing.When, look.Now.Location(), "2006-01-02")
		}
		return fmt.Sprintf("%s %s %s%s", n.Thing.Kind, n.Thing, at, whose)
	case "conflict":
		return "it holds marks of a conflict: resolve it in the file"
	case "contradiction":
		return fmt.Sprintf("it contradicts %s on %s%s", n.Other, n.Thing.Name, whose)
	}
	return "your ledger has a later version, " + n.Other + ": git rekal memory pull"
}

// NotePull is what a pull wrote, or would.
func NotePull(look Look, out result.NotePull) string {
	p := &page{Look: look}
	did, removed := "took", "removed"
	if out.DryRun {
		did, removed = "would take", "would remove"
	}
	if len(out.Files) == 0 {
		p.writeLine("", "", span{text: "Nothing to pull."})
	}
	for _, f := range out.Files {
		p.writeLine("", "  ", printableSpan(bold, f.Agent+" "+f.Path))
		for _, s := range f.Sections {
			from := ""
			if f.From != "" {
				from = ", quoted, of " + f.From
			}
			p.writeLine("  ", "    ", printableSpan(unstyled, did+" "+s+from))
		}
		for _, s := range f.Removed {
			p.writeLine("  ", "    ", printableSpan(unstyled, removed+" "+s))
		}
		for _, s := range f.InConflict {
			p.writeLine("  ", "    ", printableSpan(yellow, "conflict in "+s+": resolve it in the file"))
		}
		for _, s := range f.Left {
			p.writeLine("  ", "    ", printableSpan(yellow, "left "+s))
		}
	}
	return p.String()
}
