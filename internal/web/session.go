package web

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/ask"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/internal/markdown"
	"github.com/git-rekal/git-rekal/internal/result"
	nouns "github.com/git-rekal/git-rekal/internal/session"
)

// Bounds of what a page shows of a session and its commits.
const (
	turnsShown   = 30
	turnsBefore  = 2      // of the page before, so that no turn stands without what led to it
	turnBytes    = 20_000 // of one turn
	commitsShown = 20
	diffsShown   = 5 // of these, the latest that are here
)

// bounds are how many lines of diffs are shown: of a file, and of all.
type bounds struct{ file, all int }

// sessionPage is the page of a session.
type sessionPage struct {
	result.Session
	Turns                   []turn
	Before                  []result.Tool // calls made before the first turn of the page
	Count                   int
	Earlier, Later          string // links; "" for none
	Commits                 []change
	MoreCommits, CommitsAll int
	Strip                   strip
}

type turn struct {
	result.Turn
	Human bool
	Who   string // Person, Agent, or Prompt where an agent or a program asked
	Tools []result.Tool
	Names string // of the tools, each once, with how often
	Named bool   // by the address, without an anchor
}

// change is a commit of a session, with its diff where that is shown.
type change struct {
	SHA    string
	Commit *git.Commit // nil: not here
	Tie    string
	Diff   *diff
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
	out := sessionPage{Session: *s, Count: s.Turns, CommitsAll: len(s.Commits)}
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
	if out.Commits, err = r.changes(s.Commits); err != nil {
		return page{}, err
	}
	out.MoreCommits = len(s.Commits) - len(out.Commits)
	if out.Strip, err = r.turnStrip(s); err != nil {
		return page{}, err
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

// changes reads the commits of a session, the latest of them with their diffs.
func (r *request) changes(commits []result.Commit) ([]change, error) {
	left, diffs := bounds{150, 900}, 0
	var out []change
	for _, c := range commits {
		sha := cmp.Or(c.Became, c.Commit)
		if strings.Trim(sha, "0") == "" || slices.ContainsFunc(out, func(o change) bool { return o.SHA == sha }) {
			continue
		}
		if len(out) == commitsShown {
			break
		}
		one := change{SHA: sha, Tie: c.Tie}
		if diffs < diffsShown && !c.Missing {
			commit, files, err := r.patch(sha)
			if err != nil {
				return nil, err
			}
			diffs++
			one.Commit, one.Diff = &commit, diffLines(files, &left)
		} else if !c.Missing {
			commit, err := r.Repo.Commit(git.OID(sha))
			if err != nil {
				return nil, err
			}
			one.Commit = &commit
		}
		out = append(out, one)
	}
	return out, nil
}

// commitPage is the page of a commit.
type commitPage struct {
	git.Commit
	SHA  string
	Body string // of the message
	At   string
	Diff *diff
	Hits []hit

	Merged int // how many commits a merge brought, whose sessions these are
}

func makeCommit(r *request) (page, error) {
	c, files, err := r.patch(r.query.Get("rev"))
	if err != nil {
		return page{}, err
	}
	_, body, _ := strings.Cut(strings.TrimSpace(c.Message), "\n")
	out := commitPage{
		Commit: c, SHA: string(c.OID), Body: strings.TrimSpace(body), At: result.Time(c.Author.When),
		Diff: diffLines(files, &bounds{1000, 10_000}),
	}
	found, err := r.at.Recall(r, ask.Question{
		Long:    true,
		Request: ask.Request{Commit: string(c.OID), Limit: foundShown, Snippet: 600, Stale: true},
	})
	if err != nil {
		return page{}, err
	}
	out.Hits, out.Merged = hits(found.Recall, ""), found.Merged
	return page{Template: "commit", Title: cmp.Or(c.Subject(), string(c.OID)), Here: "timeline", Body: out}, nil
}

// patch reads a commit that a revision names, and what it changed.
func (r *request) patch(rev string) (git.Commit, []history.FilePatch, error) {
	id, err := r.Repo.Resolve(rev)
	if err != nil {
		return git.Commit{}, nil, &ask.UsageError{Err: err}
	}
	c, err := r.Repo.Commit(id)
	if err != nil {
		return git.Commit{}, nil, err
	}
	files, err := history.Patch(r, r.Repo, id)
	return c, files, err
}

// diff is what a commit changed.
type diff struct {
	Files          []fileDiff
	Added, Deleted int
}

type fileDiff struct {
	history.FilePatch
	Lines          []line
	Added, Deleted int
	Cut            int  // lines that are not shown
	Open           bool // short enough to be shown at once
}

// line is a line of a diff, without its sign.
type line struct{ Sign, Text string }

// openLines is how many lines of one file's diff are shown at once.
const openLines = 80

// diffLines parts the diffs of files into lines, as many as are left to be shown.
func diffLines(files []history.FilePatch, left *bounds) *diff {
	out := &diff{}
	for _, f := range files {
		d := fileDiff{FilePatch: f}
		for l := range strings.Lines(f.Text) {
			l = strings.TrimRight(l, "\r\n")
			sign := l[:min(1, len(l))]
			switch sign {
			case "+":
				d.Added++
			case "-":
				d.Deleted++
			case `\`:
				continue
			}
			if len(d.Lines) == left.file || left.all == 0 {
				d.Cut++
				continue
			}
			left.all--
			if sign != "@" {
				l = l[len(sign):]
			}
			d.Lines = append(d.Lines, line{sign, l[:markdown.CutPosition(l, maxLine)]})
		}
		d.Open = len(d.Lines) <= openLines
		out.Added, out.Deleted = out.Added+d.Added, out.Deleted+d.Deleted
		out.Files = append(out.Files, d)
	}
	return out
}

// maxLine is how many bytes of one line of code are shown.
const maxLine = 2000
