package web

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/result"
	nouns "github.com/git-rekal/git-rekal/internal/session"
)

// Bounds of what a page shows of a session.
const (
	turnsShown  = 30
	turnsBefore = 2      // of the page before, so that no turn stands without what led to it
	turnBytes   = 20_000 // of one turn
	diffsShown  = 10     // of the commits of a page
)

// sessionPage is the page of a session.
type sessionPage struct {
	result.Session
	Turns          []turn
	Before         []result.Tool // calls made before the first turn of the page
	Count          int
	Earlier, Later string   // links; "" for none
	First          []change // commits made before the first turn
	Missing        []string // commits that are not in this clone, on the last page
	MoreCommits    int      // that are not shown
	Strip          strip
	Outline        []stop
	More           int // prompts that have no stop
}

type turn struct {
	result.Turn
	Human   bool
	Who     string // Person, Agent, or Prompt where an agent or a program asked
	Tools   []result.Tool
	Names   string   // of the tools, each once, with how often
	Commits []change // made after the turn and before the next one
	Named   bool     // by the address, without an anchor
}

func makeSession(r *request) (page, error) {
	from := r.queryNumber("from", 0, listMost)
	ref := nouns.OnlyRef(r.query.Get("id"))
	if ref.Turn >= 0 && from == 0 {
		from = ref.Turn
	}
	offset := max(0, from-turnsBefore)
	s, m, err := r.at.Item(r, ask.Page{
		ID: r.query.Get("id"), Offset: offset, Limit: from + turnsShown - offset,
		Full: true, Whole: true,
	})
	if err != nil {
		return page{}, err
	}
	if m != nil {
		return page{Template: "memory", Title: cmp.Or(m.Title, "Memory"), Here: "search", Body: m}, nil
	}
	out := sessionPage{Session: *s, Count: s.Turns}
	out.Before, out.Turns = turnsWithTools(s)
	if i := ref.Turn - offset; ref.Turn >= 0 && i >= 0 && i < len(out.Turns) {
		out.Turns[i].Named = true
	}
	if from > 0 {
		out.Earlier = r.To("session", "id", s.ID, "from", max(0, from-turnsShown))
	}
	if s.Next != nil {
		out.Later = r.To("session", "id", s.ID, "from", *s.Next)
	}
	course, err := r.courseOf(s)
	if err != nil {
		return page{}, err
	}
	if err := out.place(r, course.commits); err != nil {
		return page{}, err
	}
	if s.Next == nil {
		out.Missing, out.MoreCommits = course.missing, course.more
	}
	out.Strip = course.strip(r.links, s.ID)
	if out.Outline, out.More, err = course.outline(r, s.ID); err != nil {
		return page{}, err
	}
	for i := range out.Outline {
		n := out.Outline[i].Turn
		out.Outline[i].Here = n >= from && (s.Next == nil || n < *s.Next)
	}
	return page{Template: "session", Title: cmp.Or(s.Title, "Session "+s.ID), Here: "search", Body: out}, nil
}

// turnsWithTools puts each tool call behind its turn.
func turnsWithTools(s *result.Session) (before []result.Tool, out []turn) {
	by := map[int][]result.Tool{}
	for _, t := range s.Tools {
		by[t.Turn] = append(by[t.Turn], t)
	}
	for _, t := range s.Page {
		t.Truncate(turnBytes)
		human, who := t.Role == "human", "Agent"
		switch {
		case human && s.Actor == "agent":
			who = "Prompt"
		case human:
			who = "Person"
		}
		out = append(out, turn{Turn: t, Human: human, Who: who, Tools: by[t.Turn], Names: countedNames(by[t.Turn])})
		delete(by, t.Turn)
	}
	return by[-1], out
}

// countedNames is "Read ×3, Edit".
func countedNames(tools []result.Tool) string {
	var order []string
	n := map[string]int{}
	for _, t := range tools {
		if n[t.Tool]++; n[t.Tool] == 1 {
			order = append(order, t.Tool)
		}
	}
	for i, name := range order {
		if n[name] > 1 {
			order[i] = fmt.Sprintf("%s ×%d", name, n[name])
		}
	}
	return strings.Join(order, ", ")
}

// place puts commits behind the turns of the page after which they were made.
func (p *sessionPage) place(r *request, commits []change) error {
	left, diffs := bounds{150, 900}, 0
	for _, c := range commits {
		i := slices.IndexFunc(p.Turns, func(t turn) bool { return t.Turn.Turn == c.Turn })
		if i < 0 && (c.Turn >= 0 || p.Earlier != "") {
			continue
		}
		if diffs++; diffs <= diffsShown {
			if err := r.readDiff(&c, p.ID, &left); err != nil {
				return err
			}
		}
		if i < 0 {
			p.First = append(p.First, c)
		} else {
			p.Turns[i].Commits = append(p.Turns[i].Commits, c)
		}
	}
	return nil
}
