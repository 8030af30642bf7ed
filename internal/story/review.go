package story

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
)

// A review is under two pages: so many words where sessions are few, and of each session that is told at least so many are quoted. Others are named.
const (
	reviewWords = 1000
	quotedMost  = 300
	quotedLeast = 70
	toldMost    = 12
	namedMost   = 20
	commitsMost = 12 // of one session
	failedMost  = 3
)

// review is one page under way.
type review struct {
	strings.Builder
	story result.Story
	told  []result.StorySession // at length
	named []result.StorySession

	failed map[string][]string // by session: the commands that failed when last run
}

// Review is a page of Markdown for who reviews the commits: of each session what was asked, the agent's last words, the commands that failed when they
// were last run, and the commits behind which it stands. It quotes, and never says itself what was decided, tried or done. Two pages are 1,000 words.
func Review(s result.Story) string {
	if s.Kind == "memory" {
		return memoriesPage(s)
	}
	failed := map[string][]string{}
	for _, one := range s.Sessions {
		for _, c := range failures(one.Tools) {
			cmd := strings.ReplaceAll(session.OneLine(result.Printable(c.Cmd)), "`", "'")
			failed[one.ID] = append(failed[one.ID], fmt.Sprintf("`%s` ended with status %d", cmd, c.Exit))
		}
	}
	for most := toldMost; ; most-- {
		r := &review{story: s, failed: failed}
		r.choose(most)
		for words := quotedMost; words >= quotedLeast; words = words * 4 / 5 {
			if text := r.page(words); count(text) <= reviewWords || most == 1 && words*4/5 < quotedLeast {
				return text
			}
		}
	}
}

// page quotes about so many words of each session.
func (r *review) page(words int) string {
	r.Reset()
	r.head()
	for i, one := range r.told {
		r.session(i, one, words)
	}
	r.memories()
	r.rest()
	r.silent()
	return r.String()
}

// choose parts the sessions that are told at length from those that are named: subagents are told with who spawned them. Of the others those come before
// whose tie is not inferred, then those that wrote most lines. What is inferred is only named where something is known.
func (r *review) choose(most int) {
	var all []result.StorySession
	for _, s := range r.story.Sessions {
		if !slices.ContainsFunc(r.story.Sessions, func(o result.StorySession) bool { return o.ID == s.Parent }) {
			all = append(all, s)
		}
	}
	ranked := slices.Clone(all)
	slices.SortStableFunc(ranked, func(a, b result.StorySession) int {
		return cmp.Or(cmp.Compare(r.known(b), r.known(a)), cmp.Compare(b.Lines, a.Lines), cmp.Compare(len(b.Said), len(a.Said)))
	})
	chosen := map[string]bool{}
	for _, s := range ranked[:min(most, len(ranked))] {
		chosen[s.ID] = r.known(s) >= min(1, r.known(ranked[0]))
	}
	for _, s := range all {
		if chosen[s.ID] {
			r.told = append(r.told, s)
		} else {
			r.named = append(r.named, s)
		}
	}
}

// known is behind how many commits of the story a session is known to stand, rather than inferred.
func (r *review) known(s result.StorySession) (n int) {
	if r.story.Kind == db.KindSession {
		return 1
	}
	for _, c := range r.story.Commits {
		if slices.Contains(c.Sessions, s.ID) && !slices.Contains(c.Inferred, s.ID) {
			n++
		}
	}
	return min(n, 1)
}

func (r *review) head() {
	fmt.Fprintf(r, "## The sessions behind %s\n\n", inert(cmp.Or(r.story.Branch, r.story.Show)))
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
	if n := len(r.story.Sessions) - len(r.told) - len(r.named); n > 0 {
		fmt.Fprintf(r, ", and %d that they spawned", n)
	}
	if n := len(r.story.Commits); n > 0 {
		fmt.Fprintf(r, "; %s (%s, +%d −%d)", session.Count(n, "commit"), session.Count(len(files), "file"), added, deleted)
	}
	r.WriteString(". All below is quoted or counted; nothing is judged.\n")
}

func (r *review) session(n int, s result.StorySession, words int) {
	fmt.Fprintf(r, "\n### %d. %s\n\n", n+1, cmp.Or(inert(session.Shorten(s.Title, 100)), "(no title)"))
	fmt.Fprintf(r, "%s\n", about(s))
	if s.Purpose != "" {
		fmt.Fprintf(r, "\n**Asked first:**\n\n%s", quote(s.Purpose, words*4/10))
	}
	asked, head := prompts(s.Said), "\n**Asked then:**\n\n"
	if len(asked) > 0 && asked[0].Turn == s.PurposeTurn {
		asked = asked[1:]
	}
	if s.Part {
		head = "\n**Asked in this part:**\n\n"
	}
	r.lines(head, chosen(asked, s.Tools, words*3/10), len(asked))
	if last := lastWords(s.Said); last != "" {
		fmt.Fprintf(r, "\n**The agent's last words:**\n\n%s", quote(last, words*3/10))
	}
	r.lines("\n**Failed when last run here:**\n\n", r.failed[s.ID], failedMost)
	r.lines("\n**Files:**\n\n", r.files(s), len(s.Left)+len(r.story.Undone))
	r.commits(s)
}

// about is who had a session, with which agent, when, and how long it was.
func about(s result.StorySession) string {
	about := []string{s.Short, inert(s.Author), inert(s.Source)}
	if at, err := time.Parse(time.RFC3339, s.StartedAt); err == nil {
		about = append(about, at.Format("2 Jan 2006"))
	}
	about = append(about, fmt.Sprintf("%s, %s", session.Count(s.Turns, "turn"), session.Count(s.ToolCalls, "tool call")))
	if s.Part && len(s.Said) > 0 {
		about = append(about, fmt.Sprintf("of these, turns %d to %d", s.Said[0].Turn, s.Said[len(s.Said)-1].Turn))
	}
	return strings.Join(slices.DeleteFunc(about, func(s string) bool { return s == "" }), " · ")
}

// promptWords is how many words of a prompt are told beside the first.
const promptWords = 30

// chosen are prompts of about so many words in all, in their order: those behind which most files were edited, then the longest; and how many there are
// more.
func chosen(asked []result.Turn, calls []result.Tool, words int) (out []string) {
	edits := make([]int, len(asked))
	for _, c := range calls {
		i, _ := slices.BinarySearchFunc(asked, c.Turn+1, func(t result.Turn, turn int) int { return cmp.Compare(t.Turn, turn) })
		if i > 0 && c.Path != "" {
			edits[i-1]++
		}
	}
	texts := make([]string, len(asked))
	order := make([]int, len(asked))
	for i, t := range asked {
		texts[i], order[i] = clip(bullet.ReplaceAllString(session.Purpose(t.Content), ""), promptWords), i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(min(1, edits[b]), min(1, edits[a])), cmp.Compare(count(texts[b]), count(texts[a])))
	})
	n := 0
	for n < len(order) && (n == 0 || words >= count(texts[order[n]])) {
		words -= count(texts[order[n]])
		n++
	}
	order = order[:n]
	slices.Sort(order)
	for _, i := range order {
		out = append(out, inert(texts[i]))
	}
	if more := len(asked) - n; more > 0 && n > 0 {
		out = append(out, "and "+session.Count(more, "other prompt"))
	}
	return out
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

// pathsMost is how many paths are named of a sort; of how many commits at most paths are named.
const pathsMost = 5

// files are what a session edited and no commit of its holds, and what its commits changed and changed back.
func (r *review) files(s result.StorySession) (out []string) {
	if len(s.Left) > 0 {
		out = append(out, "Edited, and changed by no commit that is tied to it: "+paths(s.Left))
	}
	var back []string
	for _, path := range r.story.Undone {
		if slices.ContainsFunc(r.story.Commits, func(c result.StoryCommit) bool { return slices.Contains(c.Sessions, s.ID) && changes(c, path) }) {
			back = append(back, path)
		}
	}
	if len(back) > 0 {
		out = append(out, "Changed, and at the end as before these commits: "+paths(back))
	}
	return out
}

func changes(c result.StoryCommit, path string) bool {
	return slices.ContainsFunc(c.Files, func(f result.Diffstat) bool { return f.Path == path || f.OldPath == path })
}

func paths(all []string) string {
	var out []string
	for _, p := range all[:min(len(all), pathsMost)] {
		out = append(out, "`"+strings.ReplaceAll(result.Printable(p), "`", "'")+"`")
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
		var changed []string
		for _, f := range c.Files {
			changed = append(changed, f.Path)
		}
		if len(changed) > 0 && len(r.story.Commits) <= pathsMost {
			text += ": " + paths(changed)
		}
		lines = append(lines, text)
	}
	r.lines("\n**Commits:**\n\n", lines, commitsMost)
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
		text := s.Short + " " + inert(session.Shorten(s.Title, 80))
		if r.known(s) == 0 {
			text += ", inferred"
		}
		lines = append(lines, text)
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
