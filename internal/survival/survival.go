// Package survival counts what became of lines that sessions wrote: how many reached a commit, and how many of those
// that came into the history of HEAD live after some days, and in HEAD.
//
// In: the index, the edits that captures kept in this clone, the repository. Out: a result.Survival. Nothing here
// decides whose a line is: attribution compared edits with commits, and package why follows squashes, rewrites and
// reverts. It reads only.
//
//   - A line is written where an edit of a session added it, also if the same session soon wrote another one in its
//     place. Only this clone's edits are known: ledgers hold none.
//   - It reached a commit where a commit has it, of any branch, as the line of that edit. A rewritten commit does not
//     count it again.
//   - It lives from the commit that brought it into the history of HEAD to the first one that took it out, by the times
//     of their committers. With a file go its lines; one that can't be compared any more is lost sight of.
//   - Of an age count only lines that could have reached it by now, as a survival curve leaves out what is younger.
//
// Blank lines do not count, nor lines of which nobody knows who wrote them.
package survival

import (
	"cmp"
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/result"
)

// Request asks about lines.
type Request struct {
	By           string    // one of ask.SurvivalGroupings
	Agent        string    // of sessions of this agent; "" for all
	Author       string    // of sessions of this address; "" for all
	Since, Until time.Time // when they were written: Since ≤ t < Until; zero: open
	Now          time.Time
	Limit        int // at most so many results; 0: all
}

// Ages are how many days old lines are when they are looked for.
func ages() []int { return []int{1, 7, 14, 30, 60, 90, 180, 365} }

// maxCommits is how many commits of HEAD's history are looked into, the newest.
const maxCommits = 20_000

// Counter counts.
type Counter struct {
	Index    *db.DB
	Repo     *git.Repo
	Dir      string                // git-rekal's folder of the repository
	Progress func(done, total int) // in commits; may be nil

	request  Request
	sessions map[string]db.Facet
	models   map[string][]db.ModelAt
	total    *tally
	rows     map[string]*tally
}

// Count answers a request. A repository without commits has no lines.
func (c *Counter) Count(ctx context.Context, req Request) (result.Survival, error) {
	c.request, c.rows, c.total = req, map[string]*tally{}, newTally()
	out := result.Survival{Schema: result.Schema, By: req.By, Agent: req.Agent, Results: []result.Surviving{}}
	ids, err := c.Index.MatchingIDs(ctx, db.Filter{Kind: db.KindSession})
	if err != nil {
		return out, err
	}
	if c.sessions, err = c.Index.Facets(ctx, ids); err != nil {
		return out, err
	}
	if c.models, err = c.Index.Models(ctx, ids); err != nil {
		return out, err
	}
	if out.Edited, out.Whole, err = c.countWritten(ctx); err != nil {
		return out, err
	}
	head, err := c.Repo.Head()
	if err == nil && head.OID != "" {
		out.Head = string(head.OID)
		out.Commits, out.Cut, err = c.countLived(ctx, head.OID)
	}
	if err != nil && !errors.Is(err, git.ErrNotFound) {
		return out, err
	}
	c.sum(&out)
	return out, nil
}

func (c *Counter) sum(out *result.Survival) {
	out.Total = c.total.row("")
	for key, t := range c.rows {
		out.Results = append(out.Results, t.row(key))
	}
	slices.SortFunc(out.Results, func(a, b result.Surviving) int {
		if c.request.By == "month" {
			return strings.Compare(b.Key, a.Key)
		}
		return cmp.Or(cmp.Compare(b.Written+b.Brought, a.Written+a.Brought), strings.Compare(a.Key, b.Key))
	})
	if n := len(out.Results); c.request.Limit > 0 && n > c.request.Limit {
		out.Results, out.More = out.Results[:c.request.Limit], n-c.request.Limit
	}
	if c.request.By == "month" {
		slices.Reverse(out.Results)
	}
}

// isAsked reports whether a request is about what a session wrote at a time.
func (c *Counter) isAsked(id string, at time.Time) bool {
	s, ok := c.sessions[id]
	return ok && (c.request.Agent == "" || s.Source == c.request.Agent) &&
		(c.request.Author == "" || cmp.Or(s.Person, s.Email) == c.request.Author) &&
		(c.request.Since.IsZero() || !at.Before(c.request.Since)) &&
		(c.request.Until.IsZero() || at.Before(c.request.Until))
}

// tallies are where a line counts that a session wrote in a file at a time.
func (c *Counter) tallies(id, file string, at time.Time) []*tally {
	key := c.key(id, file, at)
	if c.rows[key] == nil {
		c.rows[key] = newTally()
	}
	c.total.sessions[id], c.rows[key].sessions[id] = true, true
	return []*tally{c.total, c.rows[key]}
}

func (c *Counter) key(id, file string, at time.Time) string {
	s := c.sessions[id]
	switch c.request.By {
	case "agent":
		return s.Source
	case "author":
		return cmp.Or(s.Person, s.Email)
	case "folder":
		return path.Dir(file) + "/"
	case "month":
		return at.UTC().Format("2006-01")
	}
	for _, m := range slices.Backward(c.models[id]) {
		if !m.From.After(at) {
			return m.Model
		}
	}
	return s.Model
}

// tally counts lines.
type tally struct {
	sessions  map[string]bool
	sum       result.Surviving // without Key, Sessions and Ages
	old, live []int            // by age
}

func newTally() *tally {
	return &tally{sessions: map[string]bool{}, old: make([]int, len(ages())), live: make([]int, len(ages()))}
}

func (t *tally) row(key string) result.Surviving {
	out := t.sum
	out.Key, out.Sessions, out.Ages = key, len(t.sessions), []result.Age{}
	for i, days := range ages() {
		if t.old[i] > 0 {
			out.Ages = append(out.Ages, result.Age{Days: days, Lines: t.old[i], Live: t.live[i]})
		}
	}
	return out
}
