package attribution

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/git-rekal/git-rekal/internal/session"
)

// Evidence is what is known of a session and a commit, by the kind of tie that it proves; each kind says what that is.
// Tie decides by it, when the commit is captured and when a ledger is read. docs/show.md explains the rules. What a
// subagent did counts for the session that spawned it. Where no rule holds, there is no tie: nobody guesses.
type Evidence map[session.TieKind]string

// Tie decides how a session is tied to a commit, and by which evidence: by the strongest. The kind is 0 where it is
// not.
func (e Evidence) Tie() (session.TieKind, string) {
	for kind := session.TieWrote; kind <= session.TieTalked; kind++ {
		if said := e[kind]; said != "" {
			return kind, said
		}
	}
	return 0, ""
}

// Links are what a capture stores of the evidence: one for each kind but for lines, of which there are records, and one
// for a session without new turns.
func (e Evidence) Links(id string, isPart bool) (out []session.Link) {
	for kind := session.TieEdited; kind < session.TieTalked; kind++ {
		if e[kind] != "" {
			out = append(out, session.Link{Session: id, Tie: kind, Evidence: e[kind]})
		}
	}
	wrote, active := e[session.TieWrote] != "", e[session.TieTalked]
	switch {
	case len(out) > 0:
	case !wrote && active != "" && isPart:
		out = append(out, session.Link{Session: id, Tie: session.TieTalked, Evidence: active})
	case wrote && !isPart:
		out = append(out, session.Link{Session: id})
	}
	return out
}

// add takes what a capture stored. Of lines there are records.
func (e Evidence) add(l session.Link) {
	if l.Tie > session.TieWrote {
		e[l.Tie] = cmp.Or(l.Evidence, byUse)
	}
}

// What evidence says of calls and prompts.
const (
	ByShell   = "shell"   // git ran below the session
	ByAnswer  = "answer"  // of git, in the transcript
	ByCommand = "command" // that had git make the commit, and to which git said nothing
	ByTrailer = "trailer" // of the commit's message
	ByRecord  = "record"  // of another tool
	byPrompt  = "prompt"  // somebody asked for something
	byUse     = "in use"  // as a link of an earlier version says, without what was new
)

// ByCall is the evidence of a call of the session.
func ByCall(c session.ToolCall) string { return fmt.Sprintf("call %d", c.Index) }

// ActiveIn is what says that a part of a session is more than closing words; "" for nothing.
func ActiveIn(part session.Session) string {
	if slices.ContainsFunc(part.Turns, func(t session.Turn) bool { return t.Role == session.RoleHuman }) {
		return byPrompt
	}
	if len(part.ToolCalls) > 0 {
		return ByCall(part.ToolCalls[0])
	}
	return ""
}

// CommitRunning is the evidence that a part of a session ends with a call that has git make a commit, of which no
// failure is known: git called its hook meanwhile. It is "" for none.
func CommitRunning(part session.Session) string {
	if len(part.ToolCalls) == 0 {
		return ""
	}
	c := part.ToolCalls[len(part.ToolCalls)-1]
	if !c.MakesCommit() || c.Failed {
		return ""
	}
	if n := len(part.Turns); n > 0 && part.Turns[n-1].Index > c.Turn {
		return "" // something was said behind it: it has ended
	}
	return ByCall(c)
}

// recentEdit is for how long after a session's last turn its uncommitted edits can tie it to a commit.
const recentEdit = 7 * 24 * time.Hour

// IsRecent reports whether edits of a session still wait for a commit. last is the time of its last turn.
func IsRecent(last, now time.Time) bool { return now.Sub(last) <= recentEdit }

// clockLag is how far git's clock may lag behind that of an agent. git asks time(2), which Linux brings up to date with
// each tick: it was 7 ms late in a quiet virtual machine. An edit right before a commit may so seem to be made in the
// second behind it.
const clockLag = 100 * time.Millisecond

// firstYear is when RCS came out: who dates a commit earlier has made the date up.
const firstYear = 1982

// IsMadeUp reports whether a commit's date tells nothing.
func IsMadeUp(commit time.Time) bool { return commit.Year() < firstYear }

// IsCommittedBefore reports whether a commit was made before a moment. The moment is cut to the second, as git cuts the
// commit's time. A date that was made up, as one before 1970 is, tells nothing: then what the hook of the commit saw
// counts.
func IsCommittedBefore(commit, moment time.Time) bool {
	return !IsMadeUp(commit) && commit.Before(moment.Add(-clockLag).Truncate(time.Second))
}

// LinesOf is the evidence that a session wrote lines that a commit added: the first of them, and how many there are.
// Removed lines don't count: an earlier edit may have removed them, too.
func LinesOf(wrote []session.Wrote, sha, id string) string {
	first, n := "", 0
	for _, w := range wrote {
		if w.Session == id && w.GitSHA == sha && len(w.Lines) > 0 {
			if n += w.Lines.Count(); first == "" {
				first = fmt.Sprintf("%s:%d", w.Path, w.Lines[0][0])
			}
		}
	}
	if n > 1 {
		return fmt.Sprintf("%s and %s more", first, session.CountNoun(n-1, "line"))
	}
	return first
}
