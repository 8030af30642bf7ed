package story

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/commits"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/session"
)

// part is what of a session led to some commits.
type part struct {
	asked []attribution.Tie
	lines int // of these, that it wrote
}

func (p *part) take(s commits.TiedSession) {
	p.asked, p.lines = append(p.asked, s.Ties...), p.lines+s.Lines
}

// work is when a session did what a commit holds: from its first edit that is known to be in it, which is zero for none.
type work func(attribution.Tie) (first, end time.Time)

// bounds are the first turn of a part and the one behind its last: what was said since the commit before, or since an earlier edit that the commit
// holds, up to these. It begins with a prompt, and goes on to the next one behind: an agent's last words come after its commit. A nil part is all of a
// session.
func (p *part) bounds(done work, ties []attribution.Tie, turns []session.Turn) (from, to int) {
	if p == nil || len(turns) == 0 {
		return 0, math.MaxInt
	}
	at := func(t attribution.Tie) int { return endOf(done, t, ties, turns) }
	from, to = -1, 0
	for _, t := range p.asked {
		end, start := at(t), 0
		for _, other := range ties {
			if e := at(other); e < end && !slices.Contains(p.asked, other) {
				start = max(start, e)
			}
		}
		if first, _ := done(t); !first.IsZero() {
			for _, u := range slices.Backward(turns) {
				if u.Role == session.RoleHuman && !u.TS.After(first) {
					start = min(start, u.Index)
					break
				}
			}
		}
		if from < 0 || start < from {
			from = start
		}
		to = max(to, end)
	}
	if from < 0 || from >= to {
		return 0, math.MaxInt
	}
	return from, to
}

// endOf is the index of the first prompt that came behind a commit. It is told by where the next part was captured that begins elsewhere, else by
// the time at which the commit was made.
func endOf(done work, t attribution.Tie, ties []attribution.Tie, turns []session.Turn) int {
	behind := math.MaxInt
	if t.Turn >= 0 && alone(t, ties) {
		for _, other := range ties {
			if other.Turn > t.Turn {
				behind = min(behind, other.Turn)
			}
		}
	} else {
		_, end := done(t)
		if i := slices.IndexFunc(turns, func(u session.Turn) bool { return u.TS.After(end) }); i > 0 {
			behind = turns[i].Index
		}
	}
	for _, u := range turns {
		if u.Index >= behind && u.Role == session.RoleHuman {
			return u.Index
		}
	}
	return turns[len(turns)-1].Index + 1
}

// alone reports whether no other commit was captured with the same part of its session, as it is of an import.
func alone(t attribution.Tie, ties []attribution.Tie) bool {
	return !slices.ContainsFunc(ties, func(o attribution.Tie) bool { return o.Turn == t.Turn && o.SHA != t.SHA })
}

// workTimes tells when the work for the commits of ties was done. It ended when they were first made, which a rebase keeps, or with the session's last edit
// in them, which an amend took in. Of a commit that is not here it ended when that was captured.
func (t *teller) workTimes(ctx context.Context, ties []attribution.Tie) (work, error) {
	var shas []string
	for _, tie := range ties {
		shas = append(shas, tie.SHA)
	}
	wrote, err := t.index.Wrote(ctx, shas)
	return func(tie attribution.Tie) (first, end time.Time) {
		c, err := t.repo.Commit(git.OID(tie.SHA))
		if err != nil {
			return first, tie.TS
		}
		end = c.Author.When
		for _, w := range wrote[tie.SHA] { // the latest first
			if w.Session == tie.Session {
				if first = w.TS; w.TS.After(end) && !w.TS.After(c.Committer.When) {
					end = w.TS
				}
			}
		}
		return first, end
	}, err
}

// currentCommits are the commits of ties as amends and rebases left them, the latest first.
func (t *teller) currentCommits(ctx context.Context, ties []attribution.Tie) (out []string, kinds map[string]string, err error) {
	all, err := commits.Shown(ctx, t.index, t.repo, ties)
	kinds = map[string]string{}
	for _, c := range all {
		sha := cmp.Or(c.Became, c.Commit)
		if sha != session.ZeroSHA && !slices.Contains(out, sha) {
			out = append(out, sha)
			kinds[sha] = c.Tie
		}
	}
	return out, kinds, err
}
