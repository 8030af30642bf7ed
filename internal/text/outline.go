package text

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
)

// outlinedFrom is from how many turns on a session is shown as an outline first: what fits on a few screens is read as
// it is.
const outlinedFrom = 30

// writeConversation is a session with its commits where they were made; of a long one an outline, if not all was asked
// for.
func (p *storyPage) writeConversation(s result.StorySession) {
	p.writeSessionHead(s)
	commits := p.story.Commits
	for len(commits) > 0 && commits[0].Missing {
		p.writeFact("Commit", result.ShortOID(commits[0].Commit)+" (not in this clone)")
		commits = commits[1:]
	}
	if p.outline = p.view == Brief && len(s.Said) > outlinedFrom && p.story.Turn == nil; p.outline {
		p.writeOutline(s, commits)
		return
	}
	p.writeSaid(s, commits)
}

// writeOutline is a line for each prompt and commit, and the last words.
func (p *storyPage) writeOutline(s result.StorySession, commits []result.StoryCommit) {
	p.blankLine()
	for _, t := range s.Said {
		if t.Role != session.RoleHuman {
			continue
		}
		commits = p.writeCommitsBefore(commits, t.TS)
		p.writeLine(fmt.Sprintf("%3d > ", t.Turn), "      ",
			printableSpan(bold, p.trimLeavingColumns(session.InformativePart(session.PromptTitle(t.Content)), len("  0 > "))))
	}
	p.writeCommitsBefore(commits, "")
	if i := lastAnswer(s.Said); i >= 0 {
		p.blankLine()
		p.marginBlock(unstyled, fmt.Sprintf("%3d ", s.Said[i].Turn), "    ", s.Said[i].Content)
	}
	p.blankLine()
	p.writeSentence(dim, fmt.Sprintf("A turn: git rekal show %s:%d; all %d: git rekal show --full %s", s.Short,
		s.Said[0].Turn, s.Turns, s.Short))
}

// lastAnswer is the place of the last thing that an agent said; -1 for none.
func lastAnswer(said []result.Turn) int {
	for i, t := range slices.Backward(said) {
		if t.Role != session.RoleHuman {
			return i
		}
	}
	return -1
}

// writeCommitsBefore is a line for each of the first commits that were made before a time, "" for the end, and gives
// the rest.
func (p *storyPage) writeCommitsBefore(commits []result.StoryCommit, stamp string) []result.StoryCommit {
	n := 0
	for n < len(commits) && (stamp == "" || commits[n].TS < stamp) {
		n++
	}
	for i, c := range commits[:n] {
		if i == 0 && !p.outline {
			p.blankLine()
		}
		changed := " (" + result.SumDiffstat(c.Files) + ")"
		if len(c.Files) == 0 {
			changed = ""
		}
		p.writeLine("    * ", "      ", p.commit(result.ShortOID(c.Commit)),
			printableSpan(unstyled, " "+cmp.Or(c.Subject, "(no subject)")), printableSpan(dim, changed))
	}
	return commits[n:]
}
