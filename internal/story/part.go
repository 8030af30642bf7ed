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

// sessionPart is the part of a session that led to some commits.
type sessionPart struct {
	ties         []attribution.Tie // of the session to these commits
	linesWritten int               // lines of these commits that the session wrote
}

func (p *sessionPart) add(s commits.TiedSession) {
	p.ties, p.linesWritten = append(p.ties, s.Ties...), p.linesWritten+s.Lines
}

// workTimes tells when a session worked for the commit of a tie: first is the time of its first edit that the commit
// holds (zero: unknown), end is when the work was done.
type workTimes func(attribution.Tie) (first, end time.Time)

// turnRange are the turns of a part, from ≤ turn < to. It begins with a prompt: the first one after the session's
// previous commit, or an earlier one that led to an edit in these commits. It ends before the first prompt after these
// commits, because an agent's last words come after its commit. ties are all ties of the session, also those to commits
// before which it only talked. A nil part is all of a session.
func (p *sessionPart) turnRange(timesOf workTimes, ties []attribution.Tie, turns []session.Turn) (from, to int) {
	if p == nil || len(turns) == 0 {
		return 0, math.MaxInt
	}
	at := func(t attribution.Tie) int { return endTurn(timesOf, t, ties, turns) }
	from, to = -1, 0
	for _, t := range p.ties {
		end, start := at(t), 0
		for _, other := range ties {
			if e := at(other); e < end && other.Kind != session.TieTalked && !slices.Contains(p.ties, other) {
				start = max(start, e)
			}
		}
		if first, _ := timesOf(t); !first.IsZero() {
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

// endTurn is the index of the first prompt after a commit: the one at which the next captured part begins or, if
// several commits were captured with the same part, the first one later than the work for the commit.
func endTurn(timesOf workTimes, t attribution.Tie, ties []attribution.Tie, turns []session.Turn) int {
	behind := math.MaxInt
	if t.Turn >= 0 && isCapturedAlone(t, ties) {
		for _, other := range ties {
			if other.Turn > t.Turn {
				behind = min(behind, other.Turn)
			}
		}
	} else {
		_, end := timesOf(t)
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

// isCapturedAlone reports whether no other commit was captured with the same part of the session, as happens in an
// import.
func isCapturedAlone(t attribution.Tie, ties []attribution.Tie) bool {
	return !slices.ContainsFunc(ties, func(o attribution.Tie) bool { return o.Turn == t.Turn && o.SHA != t.SHA })
}

// loadWorkTimes prepares workTimes for some ties. The work for a commit ended at its author date, which a rebase keeps,
// or with a later edit of the session that an amend added. For a commit that is not here, it ended when the commit was
// captured.
func (t *builder) loadWorkTimes(ctx context.Context, ties []attribution.Tie) (workTimes, error) {
	var shas []string
	for _, tie := range ties {
		shas = append(shas, tie.SHA)
	}
	wrote, err := t.index.LinesWritten(ctx, shas)
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

// currentCommits are what amends and rebases made of the commits of ties, the latest first, and by SHA the kind of the
// tie.
func (t *builder) currentCommits(ctx context.Context,
	ties []attribution.Tie,
) (out []string, kinds map[string]string, err error) {
	behind := slices.DeleteFunc(slices.Clone(ties),
		func(tie attribution.Tie) bool { return tie.Kind == session.TieTalked })
	all, err := commits.OfSession(ctx, t.index, t.repo, behind)
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
