package story

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Bounds of a page: its words, and what it lists.
const (
	reviewWords = 1000
	quotedMost  = 3000 // words of a session
	quotedLeast = 15
	firstMost   = 150 // of its first prompt
	lastMost    = 150 // of its last words
	fullMost    = 6   // sessions at length
	listedMost  = 15
	commitsMost = 12 // of a session
	failedMost  = 3  // commands
	pathsMost   = 5  // of a commit, where there are no more commits than that
)

// review is one page under way.
type review struct {
	strings.Builder
	story        result.Story
	lines        result.Lines          // that its commits brought
	full, listed []result.StorySession // at length, and only named
	failed       map[string][]string   // by session: the commands that failed when last run
}

// ReviewText is a page of Markdown for who reviews the commits, which brought some lines: of each session what was
// asked, the agent's last words, the commands that failed when they were last run, and the commits behind which it
// stands. It quotes, and never says itself what was decided, tried or done. Two pages are 1,000 words.
func ReviewText(s result.Story, brought result.Lines) string {
	if s.Kind == db.KindMemory && len(s.Memories) > 0 {
		return MemoryPage(s.Memories[0])
	}
	r := &review{story: s, lines: brought, failed: map[string][]string{}}
	r.chooseSessions()
	for _, one := range r.full {
		for _, c := range failures(one.Tools) {
			r.failed[one.ID] = append(r.failed[one.ID], fmt.Sprintf("%s ended with status %d", asCode(c.Cmd), c.Exit))
		}
	}
	for words := quotedMost; ; words = words * 9 / 10 {
		if r.page(words); words < quotedLeast || countWords(r.String()) <= reviewWords {
			return r.String()
		}
	}
}

// page writes the page with about so many quoted words of each session.
func (r *review) page(words int) {
	r.Reset()
	r.writeHead()
	for i, one := range r.full {
		r.writeSession(i, one, words)
	}
	r.writeRest()
}

// chooseSessions parts the sessions that are told at length from those that are named: subagents are told with who
// spawned them. Who is inferred is named beside the others; of many sessions those are told whose tie is stronger, then
// those that wrote most lines.
func (r *review) chooseSessions() {
	var all, known []result.StorySession
	for _, s := range r.story.Sessions {
		if !slices.ContainsFunc(r.story.Sessions, func(o result.StorySession) bool { return o.ID == s.Parent }) {
			if all = append(all, s); !r.strongestTie(s).IsWeak() {
				known = append(known, s)
			}
		}
	}
	if len(known) == 0 {
		known = slices.Clone(all)
	}
	slices.SortStableFunc(known, func(a, b result.StorySession) int {
		return cmp.Or(cmp.Compare(r.strongestTie(a), r.strongestTie(b)), cmp.Compare(b.Lines, a.Lines),
			cmp.Compare(len(b.Said), len(a.Said)))
	})
	known = known[:min(len(known), fullMost)]
	for _, s := range all {
		if slices.ContainsFunc(known, func(o result.StorySession) bool { return o.ID == s.ID }) {
			r.full = append(r.full, s)
		} else {
			r.listed = append(r.listed, s)
		}
	}
}

// strongestTie is the strongest tie of a session to a commit of the story; 0 for none.
func (r *review) strongestTie(s result.StorySession) (best session.TieKind) {
	for _, c := range r.story.Commits {
		if kind, ok := session.ParseTie(c.Ties[s.ID]); ok && (best == 0 || kind < best) {
			best = kind
		}
	}
	return best
}

func (r *review) writeHead() {
	fmt.Fprintf(r, "## The sessions behind %s\n\n", inlineText(r.story.Show))
	var files []result.Diffstat
	for _, c := range r.story.Commits {
		files = append(files, c.Files...)
	}
	if why := r.story.Why; why != nil {
		fmt.Fprintf(r, "Lines %d to %d of %s. ", why.From, why.To, inlineText(why.Path))
	}
	r.WriteString(session.CountNoun(len(r.full)+len(r.listed), "session"))
	if n := len(r.story.Sessions) - len(r.full) - len(r.listed); n > 0 {
		fmt.Fprintf(r, ", and %d that they spawned", n)
	}
	if n := len(r.story.Commits); n > 0 {
		fmt.Fprintf(r, "; %s (%s)", session.CountNoun(n, "commit"), result.SumDiffstat(files))
	}
	if n := len(r.story.Commits); n > 1 && r.story.Commits[n-1].Merged > 0 {
		fmt.Fprintf(r, ", of which the last merges the others")
	}
	r.WriteString(". All below is quoted or counted; nothing is judged.\n")
	r.writeShare()
	r.writeTokens()
}

// writeShare writes one sentence on who wrote the lines that the commits added. It never says that a person wrote a
// line: nobody knows that, even if no session is behind a commit.
func (r *review) writeShare() {
	all := r.lines.Lines
	if all == 0 {
		return
	}
	of := func(n int) string { return fmt.Sprintf("%d (%d %%)", n, (100*n+all/2)/all) }
	fmt.Fprintf(r, "\nOf %s sessions wrote %s, compared line by line", session.CountNoun(all, "added line"),
		of(r.lines.Wrote))
	if n := r.lines.NoSession; n > 0 {
		fmt.Fprintf(r, "; behind %s no session is known", of(n))
	}
	if n := r.lines.Unknown; n > 0 {
		fmt.Fprintf(r, "; of %s it is not known who wrote them", of(n))
	}
	r.WriteString(".\n")
}

// writeTokens writes how many tokens the sessions and their subagents took, as far as transcripts count them.
func (r *review) writeTokens() {
	var sum result.Tokens
	for _, s := range r.story.Sessions {
		if s.Tokens != nil {
			sum.Add(*s.Tokens)
		}
	}
	if sum.Sessions > 0 {
		fmt.Fprintf(r, "\nTokens of the whole sessions: %s (counted by %s).\n", sum,
			session.CountNoun(sum.Sessions, "transcript"))
	}
}

func (r *review) writeSession(n int, s result.StorySession, words int) {
	fmt.Fprintf(r, "\n### %d. %s\n\n", n+1, cmp.Or(inlineText(session.Shorten(s.Title, 100)), "(no title)"))
	fmt.Fprintf(r, "%s\n", sessionFacts(s))
	if s.Purpose != "" {
		fmt.Fprintf(r, "\n**Asked first:**\n\n%s", blockQuote(s.Purpose, min(words*3/10, firstMost)))
	}
	asked, head := distinctPrompts(s.Said), "\n**Asked then:**\n\n"
	if len(asked) > 0 && asked[0].Turn == s.PurposeTurn {
		asked = asked[1:]
	}
	if s.Part {
		head = "\n**Asked in this part:**\n\n"
	}
	steps := stepsOf(s, r.commitsOf(s))
	texts := fitPrompts(asked, steps, words*5/10)
	if len(steps) > 2 || len(steps) == 2 && len(steps[1].commits) > 0 {
		r.writeSteps(s, steps, asked, texts, words*2/10)
	} else {
		writeList(&r.Builder, head, quoted(asked, texts), len(asked))
	}
	if last := lastWords(s.Source, s.Said); last != "" {
		fmt.Fprintf(r, "\n**The agent's last words:**\n\n%s", blockQuote(last, min(words*3/10, lastMost)))
	}
	writeList(&r.Builder, "\n**Failed when last run here:**\n\n", r.failed[s.ID], failedMost)
	if len(s.Left) > 0 {
		fmt.Fprintf(r, "\n**Edited, and changed by no commit that is tied to it:** %s\n", pathList(s.Left))
	}
	if len(steps) < 2 || len(steps) == 2 && len(steps[1].commits) == 0 {
		r.writeCommits(s)
	}
}

// sessionFacts is a session's author, agent, time and length.
func sessionFacts(s result.StorySession) string {
	about := []string{s.Short, inlineText(s.Author), inlineText(s.Source)}
	about = append(about, formatTime(s.StartedAt, "2 Jan 2006"),
		fmt.Sprintf("%s, %s", session.CountNoun(s.Turns, "turn"), session.CountNoun(s.ToolCalls, "tool call")))
	if s.Part && len(s.Said) > 0 {
		about = append(about, fmt.Sprintf("of these, turns %d to %d", s.Said[0].Turn, s.Said[len(s.Said)-1].Turn))
	}
	return strings.Join(slices.DeleteFunc(about, func(s string) bool { return s == "" }), " · ")
}

func pathList(all []string) string {
	var out []string
	for _, p := range all[:min(len(all), pathsMost)] {
		out = append(out, asCode(p))
	}
	text := strings.Join(out, ", ")
	if n := len(all) - pathsMost; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// commitsOf are the commits of the story to which a session is tied.
func (r *review) commitsOf(s result.StorySession) (out []result.StoryCommit) {
	for _, c := range r.story.Commits {
		if slices.Contains(c.Sessions, s.ID) {
			out = append(out, c)
		}
	}
	return out
}

// writeCommits lists them.
func (r *review) writeCommits(s result.StorySession) {
	var lines []string
	for _, c := range r.commitsOf(s) {
		lines = append(lines, r.tiedCommit(c, s, ""))
	}
	writeList(&r.Builder, "\n**Commits:**\n\n", lines, commitsMost)
}

// tiedCommit is a commit with the tie of a session, if that is not told yet, and of few commits its files.
func (r *review) tiedCommit(c result.StoryCommit, s result.StorySession, told string) string {
	text := commitLine(c)
	var changed []string
	for _, f := range c.Files {
		changed = append(changed, f.Path)
	}
	if len(changed) > 0 && len(r.story.Commits) <= pathsMost {
		text += " in " + pathList(changed)
	}
	if told == "" {
		text += " – " + session.LabelOf(c.Ties[s.ID])
	}
	return text
}

// commitLine is "70ee311 Read expires_at as UTC (2 files, +12 −3)"; the host makes a link of its beginning.
func commitLine(c result.StoryCommit) string {
	if c.Missing {
		return result.ShortOID(c.Commit) + " (not in this clone)"
	}
	return fmt.Sprintf("%s %s (%s)", result.ShortOID(c.Commit), inlineText(session.Shorten(c.Subject, 80)),
		result.SumDiffstat(c.Files))
}

// writeRest lists the memories, the sessions for which there is no room, and the commits without a known session.
func (r *review) writeRest() {
	var saved, others, silent []string
	for _, m := range r.story.Memories {
		text := m.Content
		if !strings.HasPrefix(text, m.Title) {
			text = m.Title + ": " + text
		}
		saved = append(saved, inlineText(firstWords(text, 45)))
	}
	for _, s := range r.listed {
		text := s.Short + " " + inlineText(session.Shorten(s.Title, 80))
		if tie := r.strongestTie(s); tie.IsWeak() {
			text += ", " + tie.Label()
		}
		others = append(others, text)
	}
	for _, c := range r.story.Commits {
		if len(c.Sessions) == 0 && !c.Merge {
			silent = append(silent, commitLine(c))
		}
	}
	writeList(&r.Builder, "\n### Saved as memories meanwhile\n\n", saved, listedMost/2)
	writeList(&r.Builder, "\n### Other sessions\n\n", others, listedMost)
	writeList(&r.Builder, "\n### Without a session\n\n", silent, listedMost)
}
