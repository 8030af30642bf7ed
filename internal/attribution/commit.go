package attribution

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/session"
)

// When a capture, or an import, ties a session to a commit. An import ties a session to the commits whose lines it wrote. It also ties
// it, inferred, to earlier commits of this user that were made while the session was open and touched a file that it edited (TieImported).

// recent is how long an edit that no commit holds yet can tie its session to one.
const recent = 7 * 24 * time.Hour

// afterLast is how long after a session's last turn a commit may still be its work.
const afterLast = time.Hour

// SessionState is what a capture knows of a session.
type SessionState struct {
	ID, Parent string
	Last       time.Time            // of its last turn
	Edited     bool                 // it edited a file
	Pending    map[string]time.Time // files it edited, and when, that no checkpoint linked to it holds
	Commits    bool                 // git runs in its shell
}

// Waits reports whether an edit of the session waits for a commit, which one that is made now can be.
func (w SessionState) Waits(now time.Time) bool {
	return w.Commits || len(w.Pending) > 0 && w.isRecent(now)
}

func (w SessionState) isRecent(now time.Time) bool { return now.Sub(w.Last) <= recent }

// Committed are the files of a commit that was made at a moment.
type Committed struct {
	At    time.Time
	Files []session.File
	Wrote []session.Wrote // what sessions wrote in it
}

// Before reports whether a commit was made before a moment: git dates it to the second.
func Before(commit, moment time.Time) bool { return commit.Before(moment.Truncate(time.Second)) }

// WroteIn reports whether a session wrote lines of the commit.
func (c Committed) WroteIn(id string) bool {
	return slices.ContainsFunc(c.Wrote, func(w session.Wrote) bool { return w.Session == id })
}

func (c Committed) touches(is func(path string) bool) bool {
	return slices.ContainsFunc(c.Files, func(f session.File) bool { return is(f.Path) || f.OldPath != "" && is(f.OldPath) })
}

// TieKnown ties the sessions of which nothing is new to a commit: those that wrote lines of it, whenever that was, the one that commits,
// and the recent ones that edited one of its files before it was made.
func TieKnown(c Committed, workers []SessionState, now time.Time) (links []session.Link) {
	for _, w := range workers {
		waited := func(path string) bool {
			at, ok := w.Pending[path]
			return ok && !Before(c.At, at)
		}
		if c.WroteIn(w.ID) || w.Commits || w.isRecent(now) && c.touches(waited) {
			links = append(links, session.Link{Session: w.ID})
		}
	}
	return inOrder(links)
}

// OnlyTalks reports whether what is new of a session has nothing to do with a commit: the session, with what it spawned, has edited
// something, nothing of that waits for a commit, and what is new neither edits nor commits (the last words of an agent that committed by
// itself, which its hook can't have seen). A command that names a file of the commit may have edited it.
func OnlyTalks(id string, c Committed, workers []SessionState, fresh []session.Session) bool {
	if len(c.Files) == 0 || c.WroteIn(id) {
		return false
	}
	family := familyOf(id, workers)
	edited := false
	for _, w := range workers {
		if family[w.ID] {
			if len(w.Pending) > 0 || w.Commits {
				return false
			}
			edited = edited || w.Edited
		}
	}
	return edited && !slices.ContainsFunc(fresh, func(s session.Session) bool {
		return (family[s.ID] || family[s.Parent]) && slices.ContainsFunc(s.ToolCalls, c.mayBeOf)
	})
}

// mayBeOf reports whether a call may have had a part in the commit.
func (c Committed) mayBeOf(call session.ToolCall) bool {
	return call.Act == session.ActEdit && !call.Failed || strings.Contains(call.Cmd, "git commit") ||
		slices.ContainsFunc(c.Files, func(f session.File) bool { return strings.Contains(call.Cmd, path.Base(f.Path)) })
}

// familyOf is a session with those that it spawned, and theirs.
func familyOf(id string, workers []SessionState) map[string]bool {
	family := map[string]bool{id: true}
	for again := true; again; {
		again = false
		for _, w := range workers {
			if !family[w.ID] && family[w.Parent] {
				family[w.ID], again = true, true
			}
		}
	}
	return family
}

// Span is a session with the time in which it can have made commits.
type Span struct {
	ID       string
	From, To time.Time
	edited   map[string]bool
}

// Spans are those of the sessions that edited something.
func Spans(sessions []session.Session) (out []Span) {
	for _, s := range sessions {
		sp := Span{s.ID, s.FirstTS(), s.LastTS().Add(afterLast), map[string]bool{}}
		for _, c := range s.ToolCalls {
			if path := c.Edited(); path != "" {
				sp.edited[path] = true
			}
		}
		if len(sp.edited) > 0 && len(s.Turns) > 0 {
			out = append(out, sp)
		}
	}
	return out
}

// TieImported ties to a commit that no checkpoint saw the sessions that wrote lines of it, and those that were open and edited one of its
// files, which is inferred.
func TieImported(c Committed, spans []Span) (links []session.Link) {
	for _, sp := range spans {
		exact := c.WroteIn(sp.ID)
		open := !Before(c.At, sp.From) && !c.At.After(sp.To)
		if exact || open && c.touches(func(path string) bool { return sp.edited[path] }) {
			links = append(links, session.Link{Session: sp.ID, Inferred: !exact})
		}
	}
	return inOrder(links)
}

func inOrder(links []session.Link) []session.Link {
	slices.SortFunc(links, func(a, b session.Link) int { return cmp.Compare(a.Session, b.Session) })
	return links
}
