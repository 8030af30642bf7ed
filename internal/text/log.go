package text

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
)

// maxLogged is how many sessions of a checkpoint are shown.
const maxLogged = 20

// Log is checkpoints, as git log shows commits. A Look without a width is a contract: scripts read it. subject is the
// first line of a commit's message, "" where it is not here.
func Log(look Look, checkpoints []result.Checkpoint, subject func(sha string) string) string {
	p := &page{Look: look}
	for _, cp := range checkpoints {
		p.blankLine()
		p.writeCheckpoint(cp, subject(cp.Code()))
	}
	return p.String()
}

// Oneline is a line for each checkpoint: commit, day, what it is about, and its sessions.
func Oneline(look Look, checkpoints []result.Checkpoint, subject func(sha string) string) string {
	p := &page{Look: look}
	for _, cp := range checkpoints {
		sha := p.commit(result.ShortOID(cp.Code()))
		if cp.Commit == session.ZeroSHA {
			sha = printableSpan(unstyled, "-------")
		}
		day, _, _ := strings.Cut(p.day(cmp.Or(cp.LastTurnAt, cp.TS)), " ")
		p.writeLine("", "", append([]span{sha, printableSpan(unstyled, " "+day+" ")},
			p.subjectLine(cp, subject(cp.Code()))...)...)
	}
	return p.String()
}

// roomForTitle is how many columns a title is worth beginning in.
const roomForTitle = 12

// subjectLine is what a checkpoint is about, the ID of its first session and how many others it has; where there is
// room, also the title of that session. The ID leaves room for a word.
func (p *page) subjectLine(cp result.Checkpoint, subject string) []span {
	const but = len("1234567 2006-01-02 ")
	who, title := "", ""
	if cp.Repo != "" {
		subject = repoName(cp.Repo) + ": " + cmp.Or(subject, "-")
	}
	if len(cp.Sessions) > 0 {
		who, title = result.Printable(p.id(cp.Sessions[0].ID)), result.Printable(cp.Sessions[0].Title)
	}
	if more := len(cp.Sessions) - 1; more > 0 {
		who += fmt.Sprintf(" +%d", more)
	}
	if subject == "" {
		subject, title = title, ""
	}
	taken := but + width(who) + 2
	if who == "" || p.Width > 0 && p.Width < taken+roomForTitle/2 {
		return []span{printableSpan(unstyled, p.trimLeavingColumns(result.Printable(subject), but))}
	}
	out := []span{
		printableSpan(unstyled, p.trimLeavingColumns(result.Printable(subject), taken)),
		{text: "  "},
		printableSpan(cyan, who),
	}
	if taken += width(out[0].text) + 2; title != "" && (p.Width == 0 || p.Width >= taken+roomForTitle) {
		out = append(out, span{text: "  "}, printableSpan(unstyled, p.trimLeavingColumns(title, taken)))
	}
	return out
}

// trimLeavingColumns is a text that leaves some columns of a line.
func (p *page) trimLeavingColumns(s string, columns int) string {
	if p.Width == 0 {
		return s
	}
	ellipsis := "..."
	if p.UTF8 {
		ellipsis = "…"
	}
	return trimToWidth(s, max(p.Width-columns, 1), ellipsis)
}

// writeTitle adds the title of an item of a list behind its ID: one line, cut behind a word.
func (p *page) writeTitle(indent, id string, style style, title string) {
	title = p.trimLeavingColumns(result.Printable(title), width(indent+id))
	p.writeLine(indent, indent, printableSpan(cyan, id), span{text: title, style: style})
}

func (p *page) writeCheckpoint(cp result.Checkpoint, subject string) {
	p.writeLine("", "", printableSpan(yellow, "checkpoint "+p.trimLeavingColumns(cp.Checkpoint, len("checkpoint "))))
	if cp.Repo != "" {
		p.writeLine("Repo:   ", "        ", printableSpan(unstyled, cp.Repo))
	}
	p.writeLine("Code:   ", "        ", p.commitLine(cp, subject)...)
	p.writeLine("Author: ", "        ", printableSpan(unstyled, p.personAndAddress(cp.Author, cp.Actor)))
	p.writeLine("Date:   ", "        ", p.date(cmp.Or(cp.LastTurnAt, cp.TS))...)
	via := []span{printableSpan(unstyled, cp.Via)}
	if cp.LastTurnAt != "" {
		via = append(append(via, span{text: " on "}), p.date(cp.TS)...)
	}
	p.writeLine("Via:    ", "        ", append(via,
		printableSpanf(unstyled, ", %s", session.CountNoun(cp.Files, "file")))...)
	p.blankLine()
	sessions := cp.Folded()
	for i, s := range sessions {
		if i == maxLogged {
			p.writeLine("    ", "        ", printableSpanf(unstyled, `and %d more: "git rekal --commit %s"`, len(sessions)-i,
				result.ShortOID(cp.Code())))
			break
		}
		p.writeTitle("    ", p.id(s.ID)+"  ", bold, s.Title)
		note := ""
		for _, fact := range []string{session.LabelOf(s.Tie), s.Signature} {
			if fact != "" {
				note += ", " + fact
			}
		}
		if s.Private {
			note += ", private"
		}
		if s.Alike > 0 {
			note += fmt.Sprintf("; and %d that begin alike", s.Alike)
		}
		p.writeLine("        ", "        ", printableSpanf(unstyled, "%s, %s, %s%s", s.Source,
			session.CountNoun(s.Turns, "turn"), session.CountNoun(s.Tools, "tool call"), note))
	}
}

// commitLine is the commit of a checkpoint. Of one that was imported, the branch may not be known.
func (p *page) commitLine(cp result.Checkpoint, subject string) []span {
	if cp.Commit == session.ZeroSHA {
		return []span{{text: "before the first commit"}}
	}
	rest := ""
	if cp.Branch != "HEAD" || cp.Via != "import" {
		rest = " (" + cp.Branch + ")"
	}
	if subject != "" {
		rest += " " + subject
	}
	return []span{
		{text: "commit "},
		p.commit(result.ShortOID(cp.Code())),
		printableSpan(unstyled, strings.TrimRight(rest, " \n\t")),
	}
}

// date is a time as git log shows it; on a terminal how long ago that was, too.
func (p *page) date(stamp string) []span {
	const asGit = "Mon Jan 2 15:04:05 2006 -0700"
	t, err := time.Parse(time.RFC3339, stamp)
	switch {
	case err != nil:
		return []span{printableSpan(unstyled, stamp)}
	case p.Now.IsZero():
		return []span{unbrokenSpan(unstyled, t.Format(asGit))}
	}
	return []span{
		unbrokenSpan(unstyled, t.In(p.Now.Location()).Format(asGit)),
		{text: " "},
		unbrokenSpan(unstyled, "("+Ago(p.Now.Sub(t))+")"),
	}
}
