package web

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/result"
	nouns "github.com/git-rekal/git-rekal/internal/session"
)

// Bounds of what is shown of the course of a session.
const (
	stripLeast     = 10  // turns that need a strip
	outlineLeast   = 6   // prompts that need an outline
	outlineMost    = 300 // prompts
	stripLinks     = 60
	commitsMost    = 300
	stripWidth     = 6000
	stripStep      = 8 // of the places of marks
	stripRowHeight = 16
	ticks          = 5
)

// course is a session from its first turn to its last.
type course struct {
	turns   []ask.StripTurn
	commits []change // that are here, in the order in which they were made
	missing []string
	more    int // commits that are not looked at
}

// courseOf reads what happened when. Each commit is said once, also where a session is tied to it in several ways.
func (r *request) courseOf(s *result.Session) (out course, err error) {
	if out.turns, err = r.at.TurnSizes(r, s.ID); err != nil {
		return out, err
	}
	had := map[string]bool{}
	for _, c := range s.Commits {
		sha := cmp.Or(c.Became, c.Commit)
		if strings.Trim(sha, "0") == "" || had[sha] {
			continue
		}
		if had[sha] = true; len(had) > commitsMost {
			out.more++
			continue
		}
		made, err := r.Repo.Commit(git.OID(sha))
		if err != nil {
			out.missing = append(out.missing, sha)
			continue
		}
		out.commits = append(out.commits, change{
			Commit: made, SHA: string(made.OID), At: result.Time(made.Author.When), Tie: c.Tie,
			Turn: out.turnBefore(made.Author.When),
		})
	}
	slices.SortStableFunc(out.commits, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.Turn, b.Turn), a.Author.When.Compare(b.Author.When))
	})
	return out, nil
}

// turnBefore is the last turn that was said before a time; -1 for none.
func (c course) turnBefore(when time.Time) int {
	for _, t := range slices.Backward(c.turns) {
		if !t.At.IsZero() && !t.At.After(when) {
			return t.Turn
		}
	}
	return -1
}

// strip is the course as a picture: a row for each kind of thing, a column for each turn.
type strip struct {
	Marks   []mark
	Kinds   []kind
	Columns []column
	Scale   []int // turns at the same distance, the first and the last one among them
	From    string
	To      string
	Width   int
}

// mark is a rectangle in a row of the strip.
type mark struct {
	X, Y, W int
	Kind    string // prompt, edit, failed or made
}

// kind is a row of the strip, as the legend says it.
type kind struct {
	Class string
	Count int
	Noun  string
}

// column is some turns of the strip, and where it leads.
type column struct {
	X, W        int
	Href, Title string
}

// strip draws the course; the zero value is for one that is too short.
func (c course) strip(l links, id string) (out strip) {
	if len(c.turns) < stripLeast {
		return out
	}
	out.Width = stripWidth
	out.Kinds = []kind{{"prompt", 0, "prompt"}, {"edit", 0, "edit"}, {"failed", 0, "failure"}, {"made", 0, "commit"}}
	had := map[mark]bool{}
	add := func(turn, row, n int) {
		if n == 0 {
			return
		}
		x := turn * stripWidth / len(c.turns)
		m := mark{x - x%stripStep, row * stripRowHeight, c.markWidth(), out.Kinds[row].Class}
		if out.Kinds[row].Count += n; !had[m] {
			had[m], out.Marks = true, append(out.Marks, m)
		}
	}
	for i, t := range c.turns {
		if t.Human {
			add(i, 0, 1)
		}
		add(i, 1, t.Edits)
		add(i, 2, t.Failed)
	}
	for _, made := range c.commits {
		add(max(0, slices.IndexFunc(c.turns, func(t ask.StripTurn) bool { return t.Turn == made.Turn })), 3, 1)
	}
	out.Columns, out.Scale = c.columns(l, id), c.scale()
	out.From, out.To = result.Time(c.turns[0].At), result.Time(c.turns[len(c.turns)-1].At)
	return out
}

// markWidth leaves a gap between the marks of two turns, and is never a block.
func (c course) markWidth() int { return min(max(stripWidth/len(c.turns)*3/4, stripStep), 72) }

// columns part the strip into links, each to the first prompt in it.
func (c course) columns(l links, id string) (out []column) {
	n := min(len(c.turns), stripLinks)
	for i := range n {
		from, to := i*len(c.turns)/n, (i+1)*len(c.turns)/n
		part := c.turns[from:to]
		at := part[max(0, slices.IndexFunc(part, func(t ask.StripTurn) bool { return t.Human }))]
		edits, failed := 0, 0
		for _, t := range part {
			edits, failed = edits+t.Edits, failed+t.Failed
		}
		x := from * stripWidth / len(c.turns)
		out = append(out, column{
			X: x, W: to*stripWidth/len(c.turns) - x, Href: l.Turn(id, max(0, at.Turn)),
			Title: fmt.Sprintf("#%d: %s, %s", max(0, at.Turn), nouns.CountNoun(edits, "edit"), nouns.CountNoun(failed, "failure")),
		})
	}
	return out
}

// scale is some turns at the same distance, and the last one.
func (c course) scale() (out []int) {
	last := len(c.turns) - 1
	for i := 0; i < last && len(out) < ticks-1; i += last / (ticks - 1) {
		out = append(out, max(0, c.turns[i].Turn))
	}
	return append(out, c.turns[last].Turn)
}

// stop is a prompt or a commit of an outline.
type stop struct {
	Href, Text string
	SHA        string // of a commit
	Turn       int
	Here       bool // it stands on the page
}

// outline is the prompts of a long session with the commits between them, and how many prompts are left out.
func (c course) outline(r *request, id string) (out []stop, more int, err error) {
	prompts := 0
	for _, t := range c.turns {
		if t.Human {
			prompts++
		}
	}
	if prompts < outlineLeast {
		return nil, 0, nil
	}
	said, _, err := r.at.Item(r, ask.Page{ID: id, Limit: outlineMost, Role: nouns.RoleHuman, Whole: true})
	if err != nil {
		return nil, 0, err
	}
	commits := c.commits
	for _, t := range said.Page {
		for len(commits) > 0 && commits[0].Turn < t.Turn {
			out, commits = append(out, c.stopOf(r, id, commits[0])), commits[1:]
		}
		out = append(out, stop{
			Href: r.Turn(id, t.Turn), Turn: t.Turn,
			Text: cmp.Or(nouns.InformativePart(nouns.PromptTitle(t.Content)), nouns.OneLine(nouns.Shorten(t.Content, 80)), "…"),
		})
	}
	if more = prompts - len(said.Page); more > 0 {
		return out, more, nil
	}
	for _, made := range commits {
		out = append(out, c.stopOf(r, id, made))
	}
	return out, 0, nil
}

// stopOf leads to a commit in the conversation.
func (c course) stopOf(r *request, id string, made change) stop {
	page, _, _ := strings.Cut(r.Turn(id, max(0, made.Turn)), "#")
	return stop{Href: page + "#c" + result.ShortOID(made.SHA), Text: made.Subject(), SHA: made.SHA, Turn: made.Turn}
}
