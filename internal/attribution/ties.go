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
	Email                    string // address of the ledger that records the tie, in lower case
	Kind                     session.TieKind
	TS                       time.Time // of the checkpoint
	Turn                     int       // index of the first turn that was captured at the checkpoint; -1 for none
	Lines                    int       // how many lines of the commit the session wrote
	Evidence                 string    // as of Evidence.Tie
}

// LineRecord says which of the lines that a code commit added to a file a session wrote, as one ledger records it.
type LineRecord struct {
	SHA, Path, Session string
	Lines              session.Ranges
	TS                 time.Time // of the edit; in older records, of the session's last edit that the commit holds
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

// believes reports whether a tie counts in full: the maker's ledger says it, or a ledger of this clone, which compared
// the lines.
func (m Maker) believes(t Tie) bool {
	return m.Made(t.Email) || t.Lines > 0 && m.BelievedOnLines(t.Email)
}

// CredibleTies are the ties of a commit that its makers' ledgers record, and those by lines that a ledger of this clone
// records. If there is no such tie, they are the ties that other ledgers record, as inferred ties.
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

// maxWriters is how many line records of one file of a commit count, so that a hostile ledger can't make an answer
// slow.
const maxWriters = 1000

// CredibleLines parts the line records of a commit, without edits later than the commit: makers are those in the
// ledgers of its makers or of this clone, others are in other ledgers, and only a guess.
func CredibleLines(all []LineRecord, by Maker) (makers, others []LineRecord) {
	for _, w := range all {
		switch {
		case by.Here && IsCommittedBefore(by.When, w.TS):
		case by.BelievedOnLines(w.Email):
			makers = append(makers, w)
		default:
			others = append(others, w)
		}
	}
	// Who made the commit had the edits in the folder: that comes before what others compared.
	slices.SortStableFunc(makers, func(x, y LineRecord) int { return madeFirst(by, x, y) })
	of := map[string]int{}
	tooMany := func(w LineRecord) bool { of[w.Path]++; return of[w.Path] > maxWriters }
	return slices.DeleteFunc(makers, tooMany), slices.DeleteFunc(others, tooMany)
}

func madeFirst(by Maker, x, y LineRecord) int {
	switch made := by.Made(x.Email); {
	case made == by.Made(y.Email):
		return 0
	case made:
		return -1
	}
	return 1
}

// Writer is the session that wrote a line (from 1 on) of a file by the first record that covers it, and when; "" for
// none.
func Writer(possible []LineRecord, path string, line int) (string, time.Time) {
	i := slices.IndexFunc(possible, func(w LineRecord) bool { return w.Path == path && w.Lines.Has(line) })
	if i < 0 {
		return "", time.Time{}
	}
	return possible[i].Session, possible[i].TS
}

// maxCounted is how many lines of a commit are counted: a hostile ledger may claim billions.
const maxCounted = 1 << 20

// CountLines counts the lines of a commit that are each session's by the first record that covers them, as Writer says;
// nil for too many.
func CountLines(possible []LineRecord) map[string]int {
	all := 0
	for _, w := range possible {
		if all += w.Lines.Count(); all > maxCounted {
			return nil
		}
	}
	type place struct {
		path string
		line int
	}
	out, taken := map[string]int{}, map[place]bool{}
	for _, w := range possible {
		for _, span := range w.Lines {
			for n := span[0]; n <= span[1]; n++ {
				if at := (place{w.Path, n}); !taken[at] {
					taken[at] = true
					out[w.Session]++
				}
			}
		}
	}
	return out
}

// Claim names a session that may have written a line.
type Claim struct {
	Session string
	Kind    session.TieKind
	Exact   bool      // it is known to have written the line
	At      time.Time // when it wrote the line; zero: not known
	Turn    int       // index of the first turn that was captured at the commit; -1: not known

	Evidence string // of Kind, if that is of a tie
}

// FileTie says that a file of a checkpoint belongs to a session.
type FileTie struct{ Checkpoint, Session, Path string }

// FileOwners says which files of checkpoints belong to which sessions, and by which rule; see Share.
type FileOwners map[FileTie]session.TieKind

// OwnersOf are the sessions among some ties to which the file with a path belongs.
func (o FileOwners) OwnersOf(ties []Tie, path string) (out []Claim) {
	for _, t := range ties {
		if kind, ok := o[FileTie{t.Checkpoint, t.Session, path}]; ok {
			t.Kind = max(t.Kind, kind)
			out = addClaim(out, t)
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, t := range ties { // a ledger lists no file of an odd name
		if t.Kind.IsOfWhole() {
			out = addClaim(out, t)
		}
	}
	return out
}

// addClaim adds the session of a tie as a claim. If it is there already, the stronger kind and the earlier turn count.
func addClaim(to []Claim, t Tie) []Claim {
	for i := range to {
		if to[i].Session == t.Session {
			if t.Kind < to[i].Kind {
				to[i].Kind, to[i].Evidence = t.Kind, t.Evidence
			}
			if to[i].Turn < 0 || t.Turn >= 0 && t.Turn < to[i].Turn {
				to[i].Turn = t.Turn
			}
			return to
		}
	}
	return append(to, Claim{Session: t.Session, Kind: t.Kind, Turn: t.Turn, Evidence: t.Evidence})
}
