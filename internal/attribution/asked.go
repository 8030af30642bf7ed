package attribution

import (
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/session"
)

// Alleged is weaker than each kind of tie: at what somebody who did not make the commit says that it was, or became. Its word is that of an
// inferred one.
const Alleged = session.TieInferred + 1

// Revision is the set of commits that a revision stands for: the commit itself, those that it was before and became, and those that it was
// made of.
type Revision struct {
	Start     string // an OID, or the beginning of one that is not here
	By        Maker
	ties      map[Commit]session.TieKind // as a tie to it counts at most
	makerTied bool                       // who made the commit says whose it is
}

// NewRevision is a commit with its family.
func NewRevision(start string, by Maker, family []Commit) Revision {
	a := Revision{Start: start, By: by, ties: map[Commit]session.TieKind{}}
	for _, c := range family {
		if c.Email == "" || by.Made(c.Email) {
			a.Add(session.TieWrote, c)
		} else {
			a.Add(Alleged, c)
		}
	}
	return a
}

// Add adds commits to which a tie counts as a kind at most, unless they are there with a better one.
func (a Revision) Add(s session.TieKind, commits ...Commit) {
	for _, c := range commits {
		if was, ok := a.ties[c]; !ok || s < was {
			a.ties[c] = s
		}
	}
}

// Commits lists them.
func (a Revision) Commits() (out []Commit) {
	for c := range a.ties {
		out = append(out, c)
	}
	return out
}

// Judge takes in all ties that are known of the commit: whether who made it says anything. Of a commit that is not here those
// may speak whose ledgers tie their own sessions to it, where any does.
func (a *Revision) Judge(ties []Tie) {
	direct := map[string]bool{}
	for _, t := range ties {
		if a.Is(t) {
			direct[t.Email] = true
			a.makerTied = a.makerTied || a.By.Made(t.Email)
		}
	}
	for c := range a.ties {
		if !a.By.Here && len(direct) > 0 && c.Email != "" && !direct[c.Email] {
			a.ties[c] = Alleged
		}
	}
}

// Is reports whether a tie is to the commit itself.
func (a Revision) Is(t Tie) bool { return strings.HasPrefix(t.SHA, a.Start) }

// Kind tells how a tie ties to what is asked for; ok is false where it does not.
func (a Revision) Kind(t Tie) (s session.TieKind, ok bool) {
	s, ok = a.ties[Commit{SHA: t.SHA}]
	if own, said := a.ties[Commit{t.Email, t.SHA}]; said && (!ok || own < s) {
		s, ok = own, true
	}
	if a.Is(t) {
		switch s, ok = session.TieWrote, true; {
		case a.By.believes(t):
		case a.makerTied || t.Lines == 0: // a checkpoint of somebody else's commit
			s = Alleged
		default: // who wrote its lines has a part in it all the same (a squash merge on a server), or so they say
			s = session.TieInferred
		}
	}
	return max(s, t.Kind), ok
}

// Revisions are those of a range, asked for together.
type Revisions []Revision

// Commits lists what they stand for.
func (all Revisions) Commits() []Commit {
	out := []Commit{}
	for _, a := range all {
		out = append(out, a.Commits()...)
	}
	return out
}

// Judge is that of each.
func (all Revisions) Judge(ties []Tie) {
	for i := range all {
		all[i].Judge(ties)
	}
}

// Is reports whether a tie is to one of the commits themselves.
func (all Revisions) Is(t Tie) bool {
	return slices.ContainsFunc(all, func(a Revision) bool { return a.Is(t) })
}

// Kind is the best of all.
func (all Revisions) Kind(t Tie) (best session.TieKind, ok bool) {
	for _, a := range all {
		if s, ties := a.Kind(t); ties && (!ok || s < best) {
			best, ok = s, true
		}
	}
	return best, ok
}
