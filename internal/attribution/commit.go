package attribution

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"github.com/git-rekal/git-rekal/internal/session"
)

// A session is tied to a commit in one of four ways (session.TieKind). This is the table of the rules; docs/show.md explains them.
//
//	wrote     Lines that the commit brought are its, by Match.                                           a hook, an import, a later capture
//	edited    It wrote to a file of the commit through a tool, and no commit before took that.           a hook
//	talked    It was in use between the commit before and this one, or git runs in its shell.            a hook
//	talked    Another tool's records, or a line of the commit's message, name it.                        an import
//	inferred  It alone was in use within the hour before a commit of which no lines are any session's.   an import
//	inferred  What the commit was made of, or became, is tied to it by content or by the word of others. a reader
//
// What a subagent did counts for the session that spawned it. Where no rule holds, there is no tie: nobody guesses.

// recentEdit is how long an edit that no commit holds yet can tie its session to one.
const recentEdit = 7 * 24 * time.Hour

// inUseAfterTurn is how long after a turn its session still is in use, to an import.
const inUseAfterTurn = time.Hour

// SessionState is what a capture knows of a session.
type SessionState struct {
	ID          string
	Last        time.Time            // of its last turn
	NewSinceTie bool                 // something of it is in the ledger that was not there at the last commit to which it is tied
	Pending     map[string]time.Time // files it edited, and when, that no checkpoint linked to it holds
	Commits     bool                 // git runs in its shell
}

// HasUncommitted reports whether something of the session waits for a commit, which one that is made now can be.
func (w SessionState) HasUncommitted(now time.Time) bool {
	return w.Commits || (w.NewSinceTie || len(w.Pending) > 0) && w.isRecent(now)
}

func (w SessionState) isRecent(now time.Time) bool { return now.Sub(w.Last) <= recentEdit }

// Committed are the files of a commit that was made at a moment.
type Committed struct {
	At, Since time.Time // Since: when the commit before it was made
	Files     []session.File
	Wrote     []session.Wrote // what sessions wrote in it
}

// Before reports whether a commit was made before a moment: git dates it to the second.
func Before(commit, moment time.Time) bool { return commit.Before(moment.Truncate(time.Second)) }

// WroteIn reports whether lines that the commit brought are a session's. Lines that it took away say less: others did so before.
func (c Committed) WroteIn(id string) bool {
	return slices.ContainsFunc(c.Wrote, func(w session.Wrote) bool { return w.Session == id && len(w.Lines) > 0 })
}

func (c Committed) touches(is func(path string) bool) bool {
	return slices.ContainsFunc(c.Files, func(f session.File) bool { return is(f.Path) || f.OldPath != "" && is(f.OldPath) })
}

// TieKnown ties the sessions of which nothing is new to a commit: those that wrote lines of it, whenever that was, the one that commits,
// those in use since the commit before, and the recent ones that edited one of its files before it was made.
func TieKnown(c Committed, workers []SessionState, now time.Time) (links []session.Link) {
	for _, w := range workers {
		waited := func(path string) bool {
			at, ok := w.Pending[path]
			return ok && !Before(c.At, at)
		}
		used := w.NewSinceTie && Before(c.Since, w.Last) && !Before(c.At, w.Last)
		if c.WroteIn(w.ID) || w.Commits || used || w.isRecent(now) && c.touches(waited) {
			links = append(links, session.Link{Session: w.ID})
		}
	}
	return sortLinks(links)
}

// Span is when a session was in use, to the second.
type Span struct {
	ID, Top string      // Top: the session that spawned it, at the top; ID where none did
	Turns   []time.Time // those of its turns, in order, of one that this import read
	From    time.Time   // of another one: it may have been in use from here
	To      time.Time   // to here
}

// wasInUse reports whether it was in use when a commit was made.
func (s Span) wasInUse(commit time.Time) bool {
	from, to := s.From, s.To
	if i := sort.Search(len(s.Turns), func(i int) bool { return Before(commit, s.Turns[i]) }); len(s.Turns) > 0 {
		from, to = s.Turns[0], s.Turns[max(i-1, 0)]
	}
	return !Before(commit, from) && commit.Sub(to) <= inUseAfterTurn
}

// TieImported ties to a commit that no checkpoint saw the sessions that wrote lines of it. Where none did, it is inferred of the one
// that alone was in use.
func TieImported(c Committed, spans []Span) (links []session.Link) {
	alone := map[string]bool{}
	for _, s := range spans {
		if c.WroteIn(s.ID) {
			links = append(links, session.Link{Session: s.ID})
		}
		if s.wasInUse(c.At) {
			alone[s.Top] = alone[s.Top] || len(s.Turns) > 0
		}
	}
	for top, known := range alone {
		if len(links) == 0 && len(alone) == 1 && known {
			return []session.Link{{Session: top, Inferred: true, Tie: session.TieInferred}}
		}
	}
	return sortLinks(links)
}

func sortLinks(links []session.Link) []session.Link {
	slices.SortFunc(links, func(a, b session.Link) int { return cmp.Compare(a.Session, b.Session) })
	return links
}
