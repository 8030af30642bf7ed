package story

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
)

// step is what a session said up to some commits, and what its agent answered then.
type step struct {
	commits []result.StoryCommit // none of what was said after all commits
	said    []result.Turn
}

// stepsOf parts what a session said by its commits: a step ends before the first prompt after its commits.
func stepsOf(s result.StorySession, commits []result.StoryCommit) (out []step) {
	commits = slices.Clone(commits)
	slices.SortStableFunc(commits, func(a, b result.StoryCommit) int { return cmp.Compare(a.TS, b.TS) })
	var now step
	for _, t := range s.Said {
		n := 0
		for n < len(commits) && commits[n].TS < t.TS {
			n++
		}
		if n > 0 && t.Role == session.RoleHuman {
			now.commits, commits = commits[:n], commits[n:]
			out, now = append(out, now), step{}
		}
		now.said = append(now.said, t)
	}
	now.commits = commits
	return append(out, now)
}

// leastPrompt is how many words of a prompt are quoted at least: of fewer nothing is understood.
const leastPrompt = 12

// fitPrompts quotes prompts, by turn: each whole if all are about so many words, else as many words of each as there is
// room for; at last those alone that led to a commit, and the longest.
func fitPrompts(asked []result.Turn, steps []step, words int) map[int]string {
	led := map[int]bool{}
	for _, at := range steps {
		if prompts := distinctPrompts(at.said); len(prompts) > 0 && len(at.commits) > 0 {
			led[prompts[len(prompts)-1].Turn] = true
		}
	}
	rank := func(i int) int {
		if led[asked[i].Turn] {
			return 0
		}
		return 1
	}
	texts := make([]string, len(asked))
	long := 0
	for i, t := range asked {
		texts[i] = strings.Join(strings.Fields(bullet.ReplaceAllString(session.PurposeOfPrompt(t.Content), "")), " ")
		long = max(long, countWords(texts[i]))
	}
	sum := func(most int) (n int) {
		for _, t := range texts {
			n += min(countWords(t), most)
		}
		return n
	}
	for long > leastPrompt && sum(long) > words {
		long--
	}
	order := make([]int, len(asked))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(rank(a)-rank(b),
			countWords(texts[b])-countWords(texts[a]))
	})
	out := map[int]string{}
	for _, i := range order {
		if words -= min(countWords(texts[i]), long); words < 0 && len(out) > 0 {
			break
		}
		out[asked[i].Turn] = inlineText(firstWords(texts[i], long))
	}
	return out
}

// quoted are the prompts of some turns that are quoted, in their order, and how many there are besides.
func quoted(turns []result.Turn, texts map[int]string) (out []string) {
	for _, t := range turns {
		if text, ok := texts[t.Turn]; ok {
			out = append(out, text)
		}
	}
	if more := len(turns) - len(out); more > 0 {
		out = append(out, "and "+session.CountNoun(more, "other prompt"))
	}
	return out
}

// writeSteps lists the commits of a session, each with the prompts that led to it and the last answer, in about so many
// words beside those of the prompts.
func (r *review) writeSteps(s result.StorySession, steps []step, asked []result.Turn, texts map[int]string, words int) {
	head := "\n**What was asked for each commit:**\n\n"
	tie := sharedTie(s, steps)
	if tie != "" {
		head = "\n**What was asked for each commit** (" + tie + "):\n\n"
	}
	r.WriteString(head)
	for i, at := range steps {
		for n, c := range at.commits {
			if n == 0 && i == stepsMost {
				fmt.Fprintf(r, "- and %s\n", session.CountNoun(len(steps)-i, "later step"))
				return
			}
			fmt.Fprintf(r, "- %s\n", r.tiedCommit(c, s, tie))
		}
		if len(at.commits) == 0 {
			r.WriteString("- after these:\n")
		}
		own := slices.DeleteFunc(slices.Clone(asked), func(t result.Turn) bool {
			return !slices.ContainsFunc(at.said, func(u result.Turn) bool { return u.Turn == t.Turn })
		})
		for _, text := range quoted(own, texts) {
			fmt.Fprintf(r, "  - %s\n", text)
		}
		if last := lastWords(s.Source, at.said); last != "" && i < len(steps)-1 {
			fmt.Fprintf(r, "  - *then the agent:* %s\n", inlineText(firstWords(plainWords(last),
				max(words/len(steps), leastPrompt))))
		}
	}
}

// stepsMost is how many steps of a session are told.
const stepsMost = 40

// plainWords is a text in one line, without the marks of Markdown, tables and code.
func plainWords(text string) string {
	var out []string
	code := false
	for l := range strings.Lines(text) {
		trimmed := strings.TrimSpace(l)
		fenced := strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~")
		if code = code != fenced; code || fenced || strings.HasPrefix(trimmed, "|") || rule.MatchString(l) {
			continue
		}
		out = append(out, withoutBold(heading.ReplaceAllString(bullet.ReplaceAllString(l, ""), "")))
	}
	return session.OneLine(strings.Join(out, " "))
}

// sharedTie is the label of the tie of a session to all of its commits here; "" where they differ.
func sharedTie(s result.StorySession, steps []step) string {
	labels := map[string]bool{}
	label := ""
	for _, at := range steps {
		for _, c := range at.commits {
			label = session.LabelOf(c.Ties[s.ID])
			labels[label] = true
		}
	}
	if len(labels) != 1 {
		return ""
	}
	return label
}
