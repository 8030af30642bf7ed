package story

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Role says what a line of a story is, for who gives it a colour.
type Role int

// The roles of lines.
const (
	Plain  Role = iota
	Title       // "commit 70ee311…", "session 01KJW4MN…"
	Prompt      // what a person asked
	Dim         // tool calls, and what was left out
	Added       // a line of a diffstat
)

// Line is one line of a story on a screen: it holds no line end and nothing that a terminal obeys.
type Line struct {
	Role Role
	Text string
}

// View says what of a story is shown.
type View int

// The views of Text.
const (
	Full    View = iota
	Stat         // commits with what they changed, and one line a session
	Prompts      // of what was said, what people asked
)

// textMost is how many lines one turn has at most on a screen; --json has them all.
const textMost = 400

// Text is a story as plain text, as `git show` prints a commit. Lines longer than width, in characters, are broken between words; 0 breaks none.
func Text(s result.Story, v View, width int) []Line {
	p := &page{story: s, view: v, width: width}
	if s.Why != nil {
		p.add(Title, "lines %d,%d of %s", s.Why.From, s.Why.To, s.Why.Path)
		for _, u := range s.Why.Unexplained {
			p.add(Dim, "no session is known behind %s", u.Commit)
		}
		p.gap()
	}
	told := map[string]bool{}
	for _, c := range s.Commits {
		p.commit(c)
		if s.Kind == "session" || v == Stat {
			continue
		}
		for _, one := range s.Sessions {
			if slices.Contains(c.Sessions, one.ID) && !told[one.ID] {
				told[one.ID] = true
				p.session(one)
			}
		}
	}
	for _, one := range s.Sessions {
		if !told[one.ID] {
			p.session(one)
		}
	}
	for _, m := range s.Memories {
		p.memory(m)
	}
	return slices.Clip(p.lines)
}

// page is one Text under way.
type page struct {
	story result.Story
	view  View
	width int
	lines []Line
}

func (p *page) add(r Role, format string, a ...any) {
	p.lines = append(p.lines, Line{r, result.Printable(fmt.Sprintf(format, a...))})
}

// gap is one empty line, but not at the top and not behind another one.
func (p *page) gap() {
	if n := len(p.lines); n > 0 && p.lines[n-1].Text != "" {
		p.lines = append(p.lines, Line{})
	}
}

func (p *page) commit(c result.StoryCommit) {
	p.gap()
	p.add(Title, "commit %s", c.Commit)
	if c.Missing {
		p.add(Dim, "not in this clone")
		return
	}
	p.add(Plain, "Author: %s <%s>", c.Author, c.Email)
	p.add(Plain, "Date:   %s", gitDate(c.TS))
	for _, id := range c.Sessions {
		p.add(Plain, "Behind: %s", p.behind(c, id))
	}
	p.gap()
	p.block(Plain, "    ", c.Subject+"\n\n"+c.Body)
	p.gap()
	p.stat(c.Files)
}

// behind names a session behind a commit.
func (p *page) behind(c result.StoryCommit, id string) string {
	i := slices.IndexFunc(p.story.Sessions, func(s result.StorySession) bool { return s.ID == id })
	if i < 0 {
		return id
	}
	text := p.story.Sessions[i].Short + "  " + p.story.Sessions[i].Title
	if slices.Contains(c.Inferred, id) {
		text += " (inferred)"
	}
	return text
}

// stat is a diffstat as git's, without the bars.
func (p *page) stat(files []result.Diffstat) {
	wide, added, deleted := 0, 0, 0
	for _, f := range files {
		wide = min(max(wide, utf8.RuneCountInString(nameOf(f))), 60)
		added, deleted = added+f.Added, deleted+f.Deleted
	}
	for _, f := range files {
		change := fmt.Sprintf("+%d −%d", f.Added, f.Deleted)
		if f.Binary {
			change = "binary"
		}
		p.add(Added, " %-*s | %s", wide, nameOf(f), change)
	}
	if len(files) > 0 {
		p.add(Dim, " %s, +%d −%d", several(len(files), "file"), added, deleted)
	}
}

func nameOf(f result.Diffstat) string {
	if f.OldPath != "" {
		return f.OldPath + " => " + f.Path
	}
	return f.Path
}

func (p *page) session(s result.StorySession) {
	p.gap()
	if p.view == Stat {
		p.add(Title, "session %s  %s", s.Short, s.Title)
		p.add(Dim, "    %s, %s, %s, %s", s.Author, s.Source, several(s.Turns, "turn"), several(s.ToolCalls, "tool call"))
		return
	}
	p.add(Title, "session %s", s.ID)
	p.add(Plain, "Title:  %s", s.Title)
	p.add(Plain, "Author: %s", s.Author+map[bool]string{true: " (agent)"}[s.Actor == session.ActorAgent])
	p.add(Plain, "Agent:  %s, %s, %s", s.Source, several(s.Turns, "turn"), several(s.ToolCalls, "tool call"))
	p.add(Plain, "Date:   %s", gitDate(s.StartedAt))
	if s.Part && len(s.Said) > 0 {
		p.add(Dim, "turns %d to %d; the whole: git rekal show %s", s.Said[0].Turn, s.Said[len(s.Said)-1].Turn, s.Short)
	}
	calls := slices.Clone(s.Tools)
	calls = p.calls(calls, -1)
	for _, t := range s.Said {
		p.turn(t)
		calls = p.calls(calls, t.Turn)
	}
	if len(s.Left) > 0 {
		p.gap()
		p.add(Dim, "edited, and in none of its commits: %s", strings.Join(s.Left, ", "))
	}
}

func (p *page) turn(t result.Turn) {
	switch human := t.Role == session.RoleHuman; {
	case human:
		p.gap()
		p.block(Prompt, "    > ", t.Content)
	case p.view == Full:
		p.gap()
		p.block(Plain, "    ", t.Content)
	}
}

// callsMost is how many different things a folded line names.
const callsMost = 6

// calls folds the calls up to those behind a turn into a line or two, and gives the rest.
func (p *page) calls(all []result.Tool, turn int) []result.Tool {
	n := 0
	var order []string
	named := map[string][]string{}
	times := map[string]int{}
	for ; n < len(all) && all[n].Turn <= turn; n++ {
		c := all[n]
		if times[c.Tool]++; times[c.Tool] == 1 {
			order = append(order, c.Tool)
		}
		what := session.Shorten(session.OneLine(cmp.Or(c.Path, c.Cmd)), 60)
		if c.Failed {
			what += " (failed)"
		}
		if what != "" && !slices.Contains(named[c.Tool], what) {
			named[c.Tool] = append(named[c.Tool], what)
		}
	}
	if n == 0 || p.view != Full {
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
	p.gap()
	p.block(Dim, "    · ", session.Shorten(strings.Join(folded, "; "), 320))
	return all[n:]
}

func (p *page) memory(m result.Memory) {
	p.gap()
	p.add(Title, "memory %s", m.ID)
	p.add(Plain, "Title:  %s", m.Title)
	p.add(Plain, "Author: %s", m.Author)
	p.add(Plain, "Date:   %s", gitDate(m.CapturedAt))
	p.gap()
	if p.view != Stat {
		p.block(Plain, "    ", m.Content)
	}
}

// block is a text of several lines, each behind a margin.
func (p *page) block(r Role, margin, text string) {
	lines := strings.Split(strings.TrimSpace(strings.ReplaceAll(text, "\t", "    ")), "\n")
	for i, l := range lines {
		if i == textMost {
			p.add(Dim, "%s… %d lines more; --json has them", margin, len(lines)-i)
			return
		}
		for _, piece := range wrap(result.Printable(strings.TrimRight(l, " \r")), p.width-utf8.RuneCountInString(margin)) {
			p.lines = append(p.lines, Line{r, strings.TrimRight(margin+piece, " ")})
		}
	}
}

// wrap breaks a line between words; a word that is longer stays whole.
func wrap(l string, width int) []string {
	if width < 20 || utf8.RuneCountInString(l) <= width {
		return []string{l}
	}
	indent := l[:len(l)-len(strings.TrimLeft(l, " "))]
	var out []string
	at := indent
	for _, w := range strings.Fields(l) {
		if at != indent && utf8.RuneCountInString(at)+1+utf8.RuneCountInString(w) > width {
			out, at = append(out, at), indent
		}
		if at != indent {
			at += " "
		}
		at += w
	}
	return append(out, at)
}

// gitDate is a time as git log shows it.
func gitDate(ts string) string {
	t, err := time.Parse(time.RFC3339, ts)
	if err != nil {
		return ts
	}
	return t.Format("Mon Jan 2 15:04:05 2006 -0700")
}
