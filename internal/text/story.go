package text

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
)

// View says what of a story is shown.
type View int

// The views of Story.
const (
	Brief   View = iota // of a long session an outline
	Full                // all that was said
	Stat                // commits with what they changed, and one line a session
	Prompts             // of what was said, what people asked
)

// textMost is how many lines one turn has at most on a screen; --json has them all.
const textMost = 400

// Story lays out what stands behind commits, as `git show` prints a commit. start is the line of the turn that was
// asked for, counted from 0 on.
func Story(look Look, s result.Story, v View) (text string, start int) {
	p := &storyPage{page: &page{Look: look}, story: s, view: v}
	switch {
	case s.Kind == "session" && v != Stat && len(s.Sessions) > 0:
		p.writeConversation(s.Sessions[0])
	default:
		p.writeBehind()
	}
	for _, m := range s.Memories {
		p.writeMemory(m)
	}
	return p.String(), p.start
}

// writeBehind is commits, each with the sessions behind it.
func (p *storyPage) writeBehind() {
	if why := p.story.Why; why != nil {
		p.writeSentence(yellow, linesInWords(session.Ranges{{why.From, why.To}})+" of "+why.Path)
		p.writeUnexplained(why)
	}
	told := map[string]bool{}
	for _, c := range p.story.Commits {
		p.commitBlock(c)
		if n := len(c.Talked); n > 0 {
			p.blankLine()
			p.writeSentence(dim, session.CountNoun(n, "session")+" talked meanwhile.")
		}
		if len(c.Sessions) == 0 && c.Merged == 0 {
			p.blankLine()
			p.writeSentence(dim, "No session is known behind this commit.")
			for _, n := range c.Named {
				p.writeSentence(dim, n.String()+".")
			}
		}
		if p.view == Stat {
			continue
		}
		for _, one := range p.story.Sessions {
			if slices.Contains(c.Sessions, one.ID) && !told[one.ID] {
				told[one.ID] = true
				p.writeSession(one)
			}
		}
	}
	for _, one := range p.story.Sessions {
		if !told[one.ID] {
			p.writeSession(one)
		}
	}
}

// storyPage is one Story under way.
type storyPage struct {
	*page
	story result.Story
	view  View

	outline bool // lines of commits follow one another without a blank line
	start   int  // see Story
}

func (p *storyPage) writeSentence(style style, text string) {
	p.writeLine("", "  ", printableSpan(style, text))
}

// writeFact is a line such as "Author: Alice".
func (p *storyPage) writeFact(name, text string) {
	p.writeLine(fmt.Sprintf("%-8s", name+":"), "        ", printableSpan(unstyled, text))
}

func (p *storyPage) commitBlock(c result.StoryCommit) {
	p.blankLine()
	p.writeLine("", "  ", printableSpan(yellow, "commit "), p.commit(c.Commit))
	if c.Missing {
		p.writeSentence(dim, "not in this clone")
		return
	}
	p.writeFact("Author", c.Author+" <"+c.Email+">")
	p.writeLine("Date:   ", "        ", p.date(c.TS)...)
	if c.Merged > 0 {
		p.writeFact("Merges", session.CountNoun(c.Merged, "commit")+", told above")
	}
	p.writeSessionsBehind(c)
	for _, id := range c.Links {
		p.writeFact("Links", "rekal:"+id)
	}
	p.blankLine()
	p.marginBlock(unstyled, "    ", "    ", c.Subject+"\n\n"+c.Body)
	p.blankLine()
	p.writeDiffstat(c.Files)
}

// writeSessionsBehind names the sessions behind a commit, and behind each those through which it came.
func (p *storyPage) writeSessionsBehind(c result.StoryCommit) {
	told := map[string]bool{}
	for _, id := range c.Sessions {
		if s := p.session(id); s == nil || !slices.Contains(c.Sessions, s.Parent) || p.session(s.Parent) == nil {
			p.writeBehindCommit(c, "Behind", id, told)
		}
	}
	for _, id := range c.Sessions {
		if !told[id] { // a ledger may have sessions spawn each other
			p.writeBehindCommit(c, "Behind", id, told)
		}
	}
}

func (p *storyPage) writeBehindCommit(c result.StoryCommit, label, id string, told map[string]bool) {
	told[id] = true
	s := p.session(id)
	if s == nil {
		p.writeFact(label, id)
		return
	}
	p.writeFact(label, s.Short+"  "+s.Title+" ("+session.LabelOf(c.Ties[id])+")")
	for _, of := range c.Sessions {
		if through := p.session(of); through != nil && through.Parent == id && !told[of] {
			p.writeBehindCommit(c, "By", of, told)
		}
	}
}

// session is one of the story; nil for none.
func (p *storyPage) session(id string) *result.StorySession {
	i := slices.IndexFunc(p.story.Sessions, func(s result.StorySession) bool { return s.ID == id })
	if i < 0 {
		return nil
	}
	return &p.story.Sessions[i]
}

// writeDiffstat is a diffstat as git's, without the bars.
func (p *storyPage) writeDiffstat(files []result.Diffstat) {
	wide := 0
	for _, f := range files {
		wide = min(max(wide, width(result.Printable(pathOrRename(f)))), 60)
	}
	for _, f := range files {
		change := fmt.Sprintf("+%d −%d", f.Added, f.Deleted)
		if f.Binary {
			change = "binary"
		}
		if f.Uncounted {
			change = "not in this clone"
		}
		name := result.Printable(pathOrRename(f))
		p.writeLine(" ", "   ", printableSpan(unstyled, name+strings.Repeat(" ", max(0, wide-width(name)))+" | "+change))
	}
	if len(files) > 0 {
		p.writeLine(" ", " ", printableSpan(dim, result.SumDiffstat(files)))
	}
}

func pathOrRename(f result.Diffstat) string {
	if f.OldPath != "" {
		return f.OldPath + " => " + f.Path
	}
	return f.Path
}

func (p *storyPage) writeSession(s result.StorySession) {
	p.blankLine()
	if p.view == Stat {
		p.writeSentence(yellow, "session "+s.Short+"  "+s.Title)
		p.writeLine("    ", "    ", printableSpanf(dim, "%s, %s, %s", p.person(s.Author, s.Actor), s.Source, sessionSize(s)))
		return
	}
	p.writeSessionHead(s)
	p.writeSaid(s, nil)
}

// writeSessionHead is whose a session is, and what it is.
func (p *storyPage) writeSessionHead(s result.StorySession) {
	p.writeSentence(yellow, "session "+s.ID)
	p.writeFact("Title", cmp.Or(s.Title, "(no title)"))
	p.writeFact("Author", p.personAndAddress(s.Author, s.Actor))
	if s.Signature != "" {
		p.writeFact("Signed", s.Signature)
	}
	agent := agentAndFacts(s.Source, s.Facts) + ", " + sessionSize(s)
	if s.Private {
		agent += ", private"
	}
	p.writeFact("Agent", agent)
	if s.Tokens != nil {
		p.writeFact("Tokens", s.Tokens.String())
	}
	p.writeLine("Date:   ", "        ", p.beginTime(s.StartedAt)...)
	if s.Part && len(s.Said) > 0 {
		p.writeSentence(dim, fmt.Sprintf("turns %d to %d; the whole: git rekal show --full %s", s.Said[0].Turn,
			s.Said[len(s.Said)-1].Turn, s.Short))
	}
}

// writeSaid is what was said and done, with commits where they were made.
func (p *storyPage) writeSaid(s result.StorySession, commits []result.StoryCommit) {
	calls := p.writeCalls(s.Tools, -1)
	for _, t := range s.Said {
		commits = p.writeCommitsBefore(commits, t.TS)
		if p.story.Turn != nil && t.Turn == *p.story.Turn {
			p.blankLine()
			p.start = strings.Count(p.String(), "\n")
		}
		p.writeTurn(t)
		calls = p.writeCalls(calls, t.Turn)
	}
	p.writeCommitsBefore(commits, "")
	if n := len(s.Said); p.story.Turn != nil && n > 0 && s.Said[n-1].Turn < s.Turns-1 {
		p.blankLine()
		p.writeSentence(dim, fmt.Sprintf("on: git rekal show %s:%d", s.Short, s.Said[n-1].Turn+1))
	}
	if len(s.Left) > 0 {
		p.blankLine()
		p.writeSentence(dim, "edited, and changed by no commit that is tied to it: "+strings.Join(s.Left, ", "))
	}
}

// sessionSize is how long a session is.
func sessionSize(s result.StorySession) string {
	return session.CountNoun(s.Turns, "turn") + ", " + session.CountNoun(s.ToolCalls, "tool call")
}

// beginTime is when a session began, in words as on other screens. For scripts it is a date as git prints it, with its
// zone.
func (p *storyPage) beginTime(stamp string) []span {
	if p.Now.IsZero() {
		return p.date(stamp)
	}
	return []span{unbrokenSpan(unstyled, p.when(stamp))}
}

func (p *storyPage) writeTurn(t result.Turn) {
	switch human := t.Role == session.RoleHuman; {
	case human:
		p.blankLine()
		p.marginBlock(bold, fmt.Sprintf("%3d > ", t.Turn), "    > ", t.Content)
	case p.view != Prompts:
		p.blankLine()
		p.marginBlock(unstyled, fmt.Sprintf("%3d ", t.Turn), "    ", t.Content)
	}
}

// callsMost is how many different things a folded line names of a tool, callMost how many characters of each, and
// foldedMost how many the line has of all.
const (
	callsMost  = 6
	callMost   = 60
	foldedMost = 320
)

// trimPathToEnd is a path of at most so many characters: the name of the file tells more than the folders around it.
func trimPathToEnd(path string, most int) string {
	runes := []rune(path)
	if len(runes) <= most {
		return path
	}
	end := string(runes[len(runes)-most+1:])
	if i := strings.IndexByte(end, '/'); i >= 0 && i < len(end)-1 {
		end = end[i:]
	}
	return "…" + end
}

// writeCalls folds the calls up to those behind a turn into a line or two, and gives the rest.
func (p *storyPage) writeCalls(all []result.Tool, turn int) []result.Tool {
	n := 0
	var order []string
	named := map[string][]string{}
	times := map[string]int{}
	for ; n < len(all) && all[n].Turn <= turn; n++ {
		c := all[n]
		if times[c.Tool]++; times[c.Tool] == 1 {
			order = append(order, c.Tool)
		}
		what := session.Shorten(session.OneLine(c.Cmd), callMost)
		if c.Path != "" {
			what = trimPathToEnd(session.OneLine(c.Path), callMost)
		}
		if c.Failed {
			what += " (failed)"
		}
		if what != "" && !slices.Contains(named[c.Tool], what) {
			named[c.Tool] = append(named[c.Tool], what)
		}
	}
	if n == 0 || p.view == Prompts {
		return all[n:]
	}
	var folded []string
	for _, tool := range order {
		text := tool
		if times[tool] > 1 {
			text += fmt.Sprintf(" ×%d", times[tool])
		}
		if what := named[tool]; len(what) > 0 {
			text += " " + strings.Join(what[:min(len(what), callsMost)], ", ")
			if len(what) > callsMost {
				text += ", …"
			}
		}
		folded = append(folded, text)
	}
	p.blankLine()
	p.marginBlock(dim, "    · ", "      ", trimCalls(strings.Join(folded, "; ")))
	return all[n:]
}

// trimCalls is a folded line, cut between what it names.
func trimCalls(line string) string {
	short := session.Shorten(line, foldedMost)
	if i := strings.LastIndex(short, ", "); short != line && i > foldedMost/2 {
		short = short[:i] + ", …"
	}
	return short
}

func (p *storyPage) writeMemory(m result.Memory) {
	p.blankLine()
	p.writeSentence(yellow, "memory "+m.ID)
	p.writeFact("Title", cmp.Or(m.Title, "(no title)"))
	p.writeFact("Author", p.personAndAddress(m.Author, ""))
	p.writeLine("Date:   ", "        ", p.beginTime(m.CapturedAt)...)
	for _, line := range m.Lines(p.id, m.Title) {
		p.writeLine("State:  ", "        ", printableSpan(unstyled, line))
	}
	for _, r := range m.Note.Remarks() {
		p.writeFact("Note", r)
	}
	p.blankLine()
	if p.view != Stat {
		p.marginBlock(unstyled, "    ", "    ", m.Content)
	}
}

// marginBlock is a text of several lines, each behind a margin, the first one behind another.
func (p *storyPage) marginBlock(style style, first, margin, text string) {
	lines := strings.Split(strings.TrimSpace(strings.ReplaceAll(text, "\t", "    ")), "\n")
	for i, l := range lines {
		if i == textMost {
			p.writeLine(margin, margin, printableSpanf(dim, "… %d lines more; --json has them", len(lines)-i))
			return
		}
		p.writeLine(first, margin, printableSpan(style, strings.TrimRight(l, " \r")))
		first = margin
	}
}
