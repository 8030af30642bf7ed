package story

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
)

// A review is under two pages: at most so many words where sessions are few, of which each that is told has at least so many. Others are named.
const (
	reviewWords  = 1000
	sessionWords = 80
	namedMost    = 20
	commitsMost  = 12 // of one session
)

// review is one page under way.
type review struct {
	strings.Builder
	story result.Story
	told  []result.StorySession // at length
	read  []material            // of these
	named []result.StorySession
}

// Review is a page of Markdown for who reviews the commits: of each session what was asked, decided, tried and dropped, and which commits came of it. It
// chooses sentences and never writes one of its own about the work. Two pages are 1,000 words: of five sessions it has fewer.
func Review(s result.Story) string {
	if s.Kind == "memory" {
		return memoriesPage(s)
	}
	r := &review{story: s}
	r.choose()
	for _, one := range r.told {
		r.read = append(r.read, materialOf(one))
	}
	text := ""
	for words := reviewWords; words > 0; words -= reviewWords / 20 {
		if text = r.page(words); count(text) <= reviewWords {
			break
		}
	}
	return text
}

// page has about so many words of what was said, and besides what frames them.
func (r *review) page(words int) string {
	r.Reset()
	r.head()
	for i, one := range r.told {
		r.session(i, one, r.read[i].choose(min(words/len(r.told), 3*sessionWords+60)))
	}
	r.memories()
	r.rest()
	r.silent()
	return r.String()
}

// choose parts the sessions that are told at length from those that are named: subagents are told with who spawned them; of the others those that wrote most
// lines come before.
func (r *review) choose() {
	here := map[string]bool{}
	for _, s := range r.story.Sessions {
		here[s.ID] = true
	}
	var top []result.StorySession
	for _, s := range r.story.Sessions {
		if !here[s.Parent] {
			top = append(top, s)
		}
	}
	most := reviewWords / sessionWords
	if len(top) <= most {
		r.told = top
		return
	}
	ranked := slices.Clone(top)
	slices.SortStableFunc(ranked, func(a, b result.StorySession) int {
		return cmp.Or(cmp.Compare(b.Lines, a.Lines), cmp.Compare(len(b.Said), len(a.Said)))
	})
	chosen := map[string]bool{}
	for _, s := range ranked[:most] {
		chosen[s.ID] = true
	}
	for _, s := range top {
		if chosen[s.ID] {
			r.told = append(r.told, s)
		} else {
			r.named = append(r.named, s)
		}
	}
}

func (r *review) head() {
	fmt.Fprintf(r, "## What was asked and decided: %s\n\n", inert(cmp.Or(r.story.Branch, r.story.Show)))
	files, added, deleted := map[string]bool{}, 0, 0
	for _, c := range r.story.Commits {
		for _, f := range c.Files {
			files[f.Path] = true
			added, deleted = added+f.Added, deleted+f.Deleted
		}
	}
	if why := r.story.Why; why != nil {
		fmt.Fprintf(r, "Lines %d to %d of %s. ", why.From, why.To, inert(why.Path))
	}
	r.WriteString(session.Count(len(r.told)+len(r.named), "session"))
	if n := len(r.story.Commits); n > 0 {
		fmt.Fprintf(r, " in %s (%s, +%d −%d)", session.Count(n, "commit"), session.Count(len(files), "file"), added, deleted)
	}
	if n := len(r.story.Sessions) - len(r.told) - len(r.named); n > 0 {
		fmt.Fprintf(r, ", and %s that they spawned", session.Count(n, "session"))
	}
	r.WriteString(".\n")
}

func (r *review) session(n int, s result.StorySession, d digest) {
	fmt.Fprintf(r, "\n### %d. %s\n\n", n+1, cmp.Or(inert(session.Shorten(s.Title, 100)), "(no title)"))
	fmt.Fprintf(r, "%s\n", r.about(s))
	r.list("\n**Asked:**\n", d.asked)
	r.list("\n**Decided, and why:**\n", d.decided)
	r.list("\n**Tried and dropped:**\n", slices.Concat(d.dropped, r.undone(s)))
	if d.outcome != "" {
		fmt.Fprintf(r, "\n**Result, as the agent put it:** %s\n", inert(d.outcome))
	}
	r.commits(s)
}

// about is who had a session, with which agent, when, and how long it was.
func (r *review) about(s result.StorySession) string {
	about := []string{s.Short, inert(s.Author), inert(s.Source)}
	if at, err := time.Parse(time.RFC3339, s.StartedAt); err == nil {
		about = append(about, at.Format("2 Jan 2006"))
	}
	about = append(about, fmt.Sprintf("%s, %s", session.Count(s.Turns, "turn"), session.Count(s.ToolCalls, "tool call")))
	if s.Part {
		about = append(about, "the part behind these commits")
	}
	return strings.Join(slices.DeleteFunc(about, func(s string) bool { return s == "" }), " · ")
}

func (r *review) list(head string, items []string) {
	lines := make([]string, len(items))
	for i, item := range items {
		lines[i] = inert(item)
	}
	r.lines(head, lines, len(lines))
}

// lines lists the first lines below a heading, and says how many there are more; without lines it is nothing.
func (r *review) lines(head string, lines []string, most int) {
	if len(lines) > 0 {
		r.WriteString(head)
	}
	for i, l := range lines {
		if i == most {
			fmt.Fprintf(r, "- and %d more\n", len(lines)-i)
			return
		}
		fmt.Fprintf(r, "- %s\n", l)
	}
}

// pathsMost is how many paths are named of those that came to nothing.
const pathsMost = 5

// undone are what a session edited and no commit of its holds, and what the commits changed and changed back.
func (r *review) undone(s result.StorySession) (out []string) {
	if len(s.Left) > 0 {
		out = append(out, "Edited, and in none of its commits: "+paths(s.Left)+".")
	}
	var back []string
	for _, path := range r.story.Undone {
		if slices.ContainsFunc(r.story.Commits, func(c result.StoryCommit) bool { return slices.Contains(c.Sessions, s.ID) && changes(c, path) }) {
			back = append(back, path)
		}
	}
	if len(back) > 0 {
		out = append(out, "Committed, and taken back by a later commit: "+paths(back)+".")
	}
	var reverts []string
	for _, c := range r.story.Commits {
		if slices.Contains(c.Sessions, s.ID) && strings.HasPrefix(c.Subject, "Revert ") {
			reverts = append(reverts, c.Subject)
		}
	}
	return append(out, reverts...)
}

func changes(c result.StoryCommit, path string) bool {
	return slices.ContainsFunc(c.Files, func(f result.Diffstat) bool { return f.Path == path || f.OldPath == path })
}

func paths(all []string) string {
	var out []string
	for _, p := range all[:min(len(all), pathsMost)] {
		out = append(out, "`"+strings.ReplaceAll(p, "`", "'")+"`")
	}
	text := strings.Join(out, ", ")
	if n := len(all) - pathsMost; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// commits are those of the story behind which a session stands.
func (r *review) commits(s result.StorySession) {
	var lines []string
	for _, c := range r.story.Commits {
		if !slices.Contains(c.Sessions, s.ID) {
			continue
		}
		text := commitLine(c)
		if slices.Contains(c.Inferred, s.ID) {
			text += ", inferred"
		}
		lines = append(lines, text)
	}
	r.lines("\n**Came of it:**\n", lines, commitsMost)
}

// commitLine is "70ee311 Read expires_at as UTC (2 files, +12 −3)"; the host makes a link of its beginning.
func commitLine(c result.StoryCommit) string {
	if c.Missing {
		return result.Short(c.Commit) + " (not in this clone)"
	}
	added, deleted := 0, 0
	for _, f := range c.Files {
		added, deleted = added+f.Added, deleted+f.Deleted
	}
	return fmt.Sprintf("%s %s (%s, +%d −%d)", result.Short(c.Commit), inert(session.Shorten(c.Subject, 80)), session.Count(len(c.Files), "file"), added, deleted)
}

// memories are what was saved on purpose.
func (r *review) memories() {
	var lines []string
	for _, m := range r.story.Memories {
		text := clip(session.Beyond(m.Title, m.Content), 40)
		if m.Title == "" || strings.HasPrefix(m.Content, m.Title) {
			text = clip(m.Content, 45)
		} else {
			text = m.Title + ": " + text
		}
		lines = append(lines, inert(text))
	}
	r.lines("\n### Saved as memories meanwhile\n\n", lines, namedMost/2)
}

// rest names the sessions for which there is no room.
func (r *review) rest() {
	var lines []string
	for _, s := range r.named {
		lines = append(lines, s.Short+" "+inert(session.Shorten(s.Title, 80)))
	}
	r.lines("\n### Other sessions\n\n", lines, namedMost)
}

// silent names the commits behind which no session is known.
func (r *review) silent() {
	var lines []string
	for _, c := range r.story.Commits {
		if len(c.Sessions) == 0 && !c.Merge {
			lines = append(lines, commitLine(c))
		}
	}
	r.lines("\n### Without a session\n\n", lines, namedMost)
}

func memoriesPage(s result.Story) string {
	var b strings.Builder
	for _, m := range s.Memories {
		fmt.Fprintf(&b, "## %s\n\n%s\n", cmp.Or(inert(m.Title), "Memory"), fence(m.Content))
	}
	return b.String()
}
