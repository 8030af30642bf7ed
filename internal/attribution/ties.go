package attribution

import (
	"slices"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/session"
)

// Tie ties a session to a code commit.
type Tie struct {
	Session, Checkpoint, SHA string
	Email                    string // of the ledger that says so, in lower case
	Kind                     session.TieKind
	TS                       time.Time // of the checkpoint
	Turn                     int       // where the part of the session begins that was captured at it; -1 for none
	Lines                    int       // how many of its lines the session wrote
}

// LineRecord says which lines that a code commit brought into a file a session wrote, as the ledger of its author says.
type LineRecord struct {
	SHA, Path, Session string
	Lines              session.Ranges
	TS                 time.Time // of the edit; in older records of the session's last one that is in it
	Email              string
}

// Maker is who made a commit. Only the ledgers of its author and committer may say which sessions it is from, and
// what it was before a rewrite.
type Maker struct {
	Here              bool // the commit is in this clone
	Author, Committer string
	When              time.Time // it was committed
	Own               []string  // addresses, in lower case, of the ledgers of this clone: it compared the lines for them
}

// Made reports whether the owner of an address made the commit. If the commit is not here, anybody may have.
func (m Maker) Made(email string) bool {
	return !m.Here || strings.EqualFold(email, m.Committer) || strings.EqualFold(email, m.Author)
}

// BelievedOnLines reports whether the ledger of an address is believed about which lines sessions wrote in the commit.
func (m Maker) BelievedOnLines(email string) bool {
	return m.Made(email) || slices.Contains(m.Own, strings.ToLower(email))
}

// believes reports whether a tie counts in full: the maker's ledger says it, or a ledger of this clone, which compared the lines.
func (m Maker) believes(t Tie) bool {
	return m.Made(t.Email) || t.Lines > 0 && m.BelievedOnLines(t.Email)
}

// CredibleTies are the ties that the makers of a commit tell, and those by lines that were compared here. Where they tell none, others may, which is inferred: they were at it, or so
// their ledgers say.
func CredibleTies(ties []Tie, by Maker) []Tie {
	made := slices.DeleteFunc(slices.Clone(ties), func(t Tie) bool { return !by.believes(t) })
	if len(made) > 0 {
		return made
	}
	others := slices.Clone(ties)
	for i := range others {
		others[i].Kind = session.TieInferred
	}
	return others
}

// maxWriters is how many records count of one file of a commit: nobody's many make an answer slow.
const maxWriters = 1000

// CredibleLines are the records of what sessions wrote in a commit, without edits that are later than it: those of who made it or of this
// clone's own ledgers, and what others say, which is a guess.
func CredibleLines(all []LineRecord, by Maker) (makers, others []LineRecord) {
	for _, w := range all {
		switch {
		case by.Here && w.TS.After(by.When.Add(time.Second)):
		case by.BelievedOnLines(w.Email):
			makers = append(makers, w)
		default:
			others = append(others, w)
		}
	}
	of := map[string]int{}
	tooMany := func(w LineRecord) bool { of[w.Path]++; return of[w.Path] > maxWriters }
	return slices.DeleteFunc(makers, tooMany), slices.DeleteFunc(others, tooMany)
}

// Writer is the session that wrote a line (from 1 on) of a file, by what is possible, and when; "" where nobody says so.
func Writer(possible []LineRecord, path string, line int) (string, time.Time) {
	i := slices.IndexFunc(possible, func(w LineRecord) bool { return w.Path == path && w.Lines.Has(line) })
	if i < 0 {
		return "", time.Time{}
	}
	return possible[i].Session, possible[i].TS
}

// Claim says that a session brought a line; one of several that are behind a line did.
type Claim struct {
	Session string
	Kind    session.TieKind
	Exact   bool      // it wrote the line
	At      time.Time // when it did; zero: not known
	Turn    int       // where the part begins that was captured at the commit; -1: not known
}

// FileTie is a file that a checkpoint gives a session.
type FileTie struct{ Checkpoint, Session, Path string }

// FileOwners says of files of checkpoints whose they are, and of each whether that is inferred. Without a path: the session has a file
// of the checkpoint.
type FileOwners map[FileTie]bool

// Add adds a file.
func (o FileOwners) Add(f FileTie, inferred bool) {
	o[f] = inferred
	f.Path = ""
	o[f] = true
}

// Of are those of some sessions tied to commits whose a file is there.
func (o FileOwners) Of(ties []Tie, path string) (out []Claim) {
	for _, t := range ties {
		if inferred, ok := o[FileTie{t.Checkpoint, t.Session, path}]; ok {
			if inferred {
				t.Kind = session.TieInferred
			}
			out = claimed(out, t)
		}
	}
	return out
}

// OfOrAll are those whose a file is. Where it is nobody's they are, inferred, those who have another one; and where nobody has any
// those who were at work at the commit (a talk, of which the user typed what it said).
func (o FileOwners) OfOrAll(ties []Tie, path string) []Claim {
	if out := o.Of(ties, path); len(out) > 0 {
		return out
	}
	var others, talks []Claim
	for _, t := range ties {
		if o[FileTie{t.Checkpoint, t.Session, ""}] {
			t.Kind = session.TieInferred
			others = claimed(others, t)
		} else if t.Kind < session.TieInferred {
			t.Kind = session.TieTalked
			talks = claimed(talks, t)
		}
	}
	if len(others) > 0 {
		return others
	}
	return talks
}

// claimed adds what a tie says: of several of a session the strongest counts.
func claimed(to []Claim, t Tie) []Claim {
	for i := range to {
		if to[i].Session == t.Session {
			to[i].Kind = min(to[i].Kind, t.Kind)
			if to[i].Turn < 0 || t.Turn >= 0 && t.Turn < to[i].Turn {
				to[i].Turn = t.Turn
			}
			return to
		}
	}
	return append(to, Claim{Session: t.Session, Kind: t.Kind, Turn: t.Turn})
}
