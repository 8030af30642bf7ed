package attribution

import (
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/session"
)

// Revision is the set of commits that count as one commit: itself, the commits that it was before and became by
// rewrites, and those that it was made of by a squash.
type Revision struct {
	SHAPrefix string // an OID, or the beginning of one that is not here
	Maker     Maker
	strongest map[Commit]session.TieKind // the strongest kind that a tie to the commit can have
	makerTied bool                       // the ledger of the commit's maker ties a session to it
}

// NewRevision is the set of a commit and its family; shaPrefix is as in Revision.SHAPrefix.
func NewRevision(shaPrefix string, by Maker, family []Commit) Revision {
	a := Revision{SHAPrefix: shaPrefix, Maker: by, strongest: map[Commit]session.TieKind{}}
	for _, c := range family {
		if c.Email == "" || by.Made(c.Email) {
			a.Add(session.TieWrote, c)
		} else {
			a.Add(session.TieAlleged, c)
		}
	}
	return a
}

// Add adds commits; a tie to them counts as s at most. A commit that is there with a stronger kind keeps that.
func (a Revision) Add(s session.TieKind, commits ...Commit) {
	for _, c := range commits {
		if was, ok := a.strongest[c]; !ok || s < was {
			a.strongest[c] = s
		}
	}
}

// Commits lists the commits of the set.
func (a Revision) Commits() (out []Commit) {
	for c := range a.strongest {
		out = append(out, c)
	}
	return out
}

// Judge takes in all known ties of the commit, before TieKind is called. If the commit is not in this clone, and some
// ledgers tie sessions to it, what other ledgers say becomes session.TieAlleged.
func (a *Revision) Judge(ties []Tie) {
	direct := map[string]bool{}
	for _, t := range ties {
		if a.IsDirect(t) {
			direct[t.Email] = true
			a.makerTied = a.makerTied || a.Maker.Made(t.Email)
		}
	}
	for c := range a.strongest {
		if !a.Maker.Here && len(direct) > 0 && c.Email != "" && !direct[c.Email] {
			a.strongest[c] = session.TieAlleged
		}
	}
}

// IsDirect reports whether a tie is to the commit itself.
func (a Revision) IsDirect(t Tie) bool { return strings.HasPrefix(t.SHA, a.SHAPrefix) }

// TieKind is the kind of a tie as it counts for the revision; ok is false if the tie is to another commit.
func (a Revision) TieKind(t Tie) (s session.TieKind, ok bool) {
	s, ok = a.strongest[Commit{SHA: t.SHA}]
	if own, said := a.strongest[Commit{t.Email, t.SHA}]; said && (!ok || own < s) {
		s, ok = own, true
	}
	if a.IsDirect(t) {
		switch s, ok = session.TieWrote, true; {
		case a.Maker.believes(t):
		case a.makerTied || t.Lines == 0: // somebody captured at a commit that is not theirs
			s = session.TieAlleged
		default: // the session wrote lines of it, as a ledger says: a squash merge on a server has another maker
			s = session.TieInferred
		}
	}
	return max(s, t.Kind), ok
}

// Revisions are the commits of a range, asked for together.
type Revisions []Revision

// Commits lists the commits of all sets.
func (all Revisions) Commits() []Commit {
	out := []Commit{}
	for _, a := range all {
		out = append(out, a.Commits()...)
	}
	return out
}

// Starts are, for each commit of the sets, the one of its set that is in this clone: for such a one itself.
func (all Revisions) Starts() map[Commit]string {
	out, isStart := map[Commit]string{}, map[string]bool{}
	for _, a := range all {
		isStart[a.SHAPrefix] = a.Maker.Here
	}
	for _, a := range slices.Backward(all) {
		for c := range a.strongest {
			if isStart[c.SHA] {
				out[c] = c.SHA
			} else if a.Maker.Here {
				out[c] = a.SHAPrefix
			}
		}
	}
	return out
}

// Judge calls Judge of each.
func (all Revisions) Judge(ties []Tie) {
	for i := range all {
		all[i].Judge(ties)
	}
}

// IsDirect reports whether a tie is to one of the commits themselves.
func (all Revisions) IsDirect(t Tie) bool {
	return slices.ContainsFunc(all, func(a Revision) bool { return a.IsDirect(t) })
}

// TieKind is the strongest kind of all.
func (all Revisions) TieKind(t Tie) (best session.TieKind, ok bool) {
	for _, a := range all {
		if s, ties := a.TieKind(t); ties && (!ok || s < best) {
			best, ok = s, true
		}
	}
	return best, ok
}
