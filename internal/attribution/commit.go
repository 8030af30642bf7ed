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

// recentEdit is for how long after a session's last turn its uncommitted edits can tie it to a commit.
const recentEdit = 7 * 24 * time.Hour

// inUseAfterTurn is how long after a turn an import takes the session to be in use.
const inUseAfterTurn = time.Hour

// SessionState is what a capture knows of a session whose turns are all in the ledger.
type SessionState struct {
	ID          string
	Last        time.Time            // time of its last turn
	NewSinceTie bool                 // the ledger got turns of it since the last commit to which it is tied
	Pending     map[string]time.Time // files it edited, and when, that no checkpoint linked to it holds
	RunsGit     bool                 // git runs in its shell
}

// HasUncommitted reports whether a commit made now could be tied to the session.
func (w SessionState) HasUncommitted(now time.Time) bool {
	return w.RunsGit || (w.NewSinceTie || len(w.Pending) > 0) && w.isRecent(now)
}

func (w SessionState) isRecent(now time.Time) bool { return now.Sub(w.Last) <= recentEdit }

// Committed is a commit with the files that it changed.
type Committed struct {
	At, PreviousAt time.Time // when the commit was made, and the one before it
	Files          []session.File
	Wrote          []session.Wrote // which of its lines sessions wrote
}

// clockLag is how far git's clock may lag behind that of an agent. git asks time(2), which Linux brings up to date with each tick: it was 7 ms
// late in a quiet virtual machine. An edit right before a commit may so seem to be made in the second behind it.
const clockLag = 100 * time.Millisecond

// IsCommittedBefore reports whether a commit was made before a moment. The moment is cut to the second, as git cuts the commit's time.
func IsCommittedBefore(commit, moment time.Time) bool {
	return commit.Before(moment.Add(-clockLag).Truncate(time.Second))
}

// WroteIn reports whether a session wrote lines that the commit added. Removed lines don't count: an earlier edit may have removed them, too.
func (c Committed) WroteIn(id string) bool {
	return slices.ContainsFunc(c.Wrote, func(w session.Wrote) bool { return w.Session == id && len(w.Lines) > 0 })
}

func (c Committed) touches(matches func(path string) bool) bool {
	return slices.ContainsFunc(c.Files, func(f session.File) bool { return matches(f.Path) || f.OldPath != "" && matches(f.OldPath) })
}

// TieKnown ties sessions without new turns to a commit: those that wrote lines of it at any time, the one in whose shell git runs,
// those in use since the previous commit, and recent ones that edited one of its files before it was made.
func TieKnown(c Committed, sessions []SessionState, now time.Time) (links []session.Link) {
	for _, s := range sessions {
		editedBefore := func(path string) bool {
			at, ok := s.Pending[path]
			return ok && !IsCommittedBefore(c.At, at)
		}
		wasInUse := s.NewSinceTie && IsCommittedBefore(c.PreviousAt, s.Last) && !IsCommittedBefore(c.At, s.Last)
		if c.WroteIn(s.ID) || s.RunsGit || wasInUse || s.isRecent(now) && c.touches(editedBefore) {
			links = append(links, session.Link{Session: s.ID})
		}
	}
	return sortLinks(links)
}

// Span is when a session was in use, to the second: by its Turns or, for a session that this import did not read, by From and To.
type Span struct {
	ID, Top string      // Top: the session that spawned it, at the top; ID where none did
	Turns   []time.Time // times of its turns, in order, if this import read it
	From    time.Time   // else: when it may have been in use first
	To      time.Time   // and last
}

// wasInUse reports whether the session was in use at the time of a commit.
func (s Span) wasInUse(commit time.Time) bool {
	from, to := s.From, s.To
	if i := sort.Search(len(s.Turns), func(i int) bool { return IsCommittedBefore(commit, s.Turns[i]) }); len(s.Turns) > 0 {
		from, to = s.Turns[0], s.Turns[max(i-1, 0)]
	}
	return !IsCommittedBefore(commit, from) && commit.Sub(to) <= inUseAfterTurn
}

// TieImported ties a commit without a checkpoint to the sessions that wrote lines of it. If there is none, it infers a tie to the one
// top-level session that was in use, if no other was, and this import read it.
func TieImported(c Committed, spans []Span) (links []session.Link) {
	inUse := map[string]bool{} // by Span.Top: whether this import read the session
	for _, s := range spans {
		if c.WroteIn(s.ID) {
			links = append(links, session.Link{Session: s.ID})
		}
		if s.wasInUse(c.At) {
			inUse[s.Top] = inUse[s.Top] || len(s.Turns) > 0
		}
	}
	for top, wasRead := range inUse {
		if len(links) == 0 && len(inUse) == 1 && wasRead {
			return []session.Link{{Session: top, Inferred: true, Tie: session.TieInferred}}
		}
	}
	return sortLinks(links)
}

func sortLinks(links []session.Link) []session.Link {
	slices.SortFunc(links, func(a, b session.Link) int { return cmp.Compare(a.Session, b.Session) })
	return links
}
