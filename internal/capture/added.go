package capture

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/transcript"
)

// What a session adds to the ledger: new turns and calls, with the indexes that follow what is stored. A fork leaves
// out what it copied.

// actor is who acted in a session: who this capture says it was, else who the transcript records.
func (g *collector) actor(recorded string) string {
	switch {
	case g.Actor != "":
		return g.Actor
	case g.CI:
		return session.ActorAgent
	}
	return recorded
}

// addNew adds what is new of a session to g.fresh.
func (g *collector) addNew(ctx context.Context, r *reading, s transcript.Part) error {
	k := g.st.Sessions[sessionKey(s.Source, s.NativeID)]
	fresh := g.freshSession(s.Source, s.NativeID)
	if k == nil && fresh == nil {
		return g.beginSession(ctx, r, s)
	}
	if s.TitleKind <= transcript.TitlePrompt && (fresh != nil || k.keepsTitle(s.Title)) {
		s.Title = "" // the first prompt of this read, not of the session
	}
	g.noteCommits(s, k.lastTurn(fresh))
	if k != nil && fresh == nil && r.continues(k, s) {
		g.addContent(r, renumber(s.Session, k.Turns, k.Tools), k)
		return nil
	}
	whole, err := g.wholeSession(ctx, k, fresh)
	if err != nil {
		return err
	}
	clean, err := g.asStored(ctx, s.Session)
	if err != nil {
		return err
	}
	view := session.Piece
	switch own := s.NativeID == r.file.NativeID; {
	case own && r.offset == 0:
		view = session.Whole
	case k != nil && (own || r.offset > 0): // what a subagent did in its parent's file goes on, too
		view, clean = session.Continued, renumber(clean, k.Turns, k.Tools)
	}
	if r.file.Timeless && view == session.Whole {
		clean = withStoredTimes(clean, whole)
	}
	if whole.ForkedFrom != "" && view == session.Whole {
		if clean, err = g.withoutOrigin(ctx, whole, clean); err != nil {
			return err
		}
	}
	added := whole.Absorb(clean, view)
	if fresh != nil {
		added.ActorType = fresh.ActorType // who started it shows at its beginning
		fresh.Absorb(added, session.Piece)
		g.newBytes += memorySize(added)
		return nil
	}
	g.addContent(r, added, k)
	return nil
}

// keepsTitle reports whether the title of a session stays although a later prompt gives another one.
func (k *ledgerSession) keepsTitle(later string) bool {
	says := session.IsInformative(k.Title) && k.TitleBy != session.ByCommit
	return k.Title != "" && (says || !session.IsInformative(later))
}

// withStoredTimes gives the turns of a transcript without times the times with which they were stored. Only their order
// is known.
func withStoredTimes(read, stored session.Session) session.Session {
	read.Turns = slices.Clone(read.Turns)
	for i := range read.Turns {
		if n := i - stored.FirstTurn; n >= 0 && n < len(stored.Turns) && stored.Turns[n].Role == read.Turns[i].Role {
			read.Turns[i].TS = stored.Turns[n].TS
		}
	}
	return read
}

// beginSession keeps a session that the ledger does not hold. Where its leading turns are
// another session's, it is a fork, and only what follows is kept. One without a turn, or
// with nothing but a copy, begins when its transcript goes on.
func (g *collector) beginSession(ctx context.Context, r *reading, s transcript.Part) error {
	if len(s.Turns) == 0 {
		return nil
	}
	out := s.Session
	out.StartedAt = s.Turns[0].TS
	out.ID = session.NewID(out.StartedAt, s.Source, s.NativeID)
	out.Parent = g.sessionID(s.Source, s.ParentNative)
	out.ForkedFrom = g.sessionID(s.Source, s.ForkNative)
	out, err := g.asFork(ctx, out)
	if err != nil || len(out.Turns) == 0 {
		return err
	}
	g.noteCommits(s, out.FirstTS())
	g.addContent(r, out, nil)
	return nil
}

// asFork is a new session without the leading turns that it shares with another one: it is a fork of that one.
func (g *collector) asFork(ctx context.Context, s session.Session) (session.Session, error) {
	family, err := g.readSessionsStartingAt(ctx, s.StartedAt)
	if err != nil || len(family) == 0 {
		return s, err
	}
	clean, err := g.asStored(ctx, s)
	if err != nil {
		return s, err
	}
	n, origin := session.SharedPrefix(clean, family)
	if n == 0 {
		return s, nil
	}
	s = s.WithoutFirstTurns(n)
	s.ForkedFrom = origin
	s.Title = clean.Title // the prompt that it was made of, and is redacted with, is gone with the tail
	if slices.ContainsFunc(family, func(f session.Session) bool { return f.Title == session.Scrubbed }) {
		s.Title = session.Scrubbed // mostly it is the first prompt, which was copied, too
	}
	return s, nil
}

// withoutOrigin is what was read of a stored fork, without the turns that it shares with its origin.
func (g *collector) withoutOrigin(ctx context.Context, stored, read session.Session) (session.Session, error) {
	family, err := g.readSessionsStartingAt(ctx, stored.StartedAt)
	if err != nil {
		return read, err
	}
	family = slices.DeleteFunc(family, func(s session.Session) bool { return s.ID == stored.ID })
	n, _ := session.SharedPrefix(read, family)
	return read.WithoutFirstTurns(n), nil
}

// readSessionsStartingAt reads the sessions whose first turn is of that time, from the ledger and from
// this capture.
func (g *collector) readSessionsStartingAt(ctx context.Context, first time.Time) ([]session.Session, error) {
	var out []session.Session
	for _, k := range g.st.sessionsStartingAt(first) {
		whole, err := g.wholeSession(ctx, k, g.freshSession(k.Source, k.NativeID))
		if err != nil {
			return nil, err
		}
		out = append(out, whole)
	}
	for _, s := range g.fresh {
		if s.StartedAt.Equal(first) && s.Parent == "" && g.st.Sessions[sessionKey(s.Source, s.NativeID)] == nil {
			clean, err := g.asStored(ctx, *s)
			if err != nil {
				return nil, err
			}
			out = append(out, clean)
		}
	}
	return out, nil
}

// wholeSession is all that is known of a session: from the ledger, then from this capture, both
// as the ledger holds it.
func (g *collector) wholeSession(ctx context.Context, k *ledgerSession,
	fresh *session.Session,
) (session.Session, error) {
	var whole session.Session
	if k != nil {
		var err error
		if whole, err = k.readStored(g.Repo); err != nil {
			return whole, fmt.Errorf("capture: read session %s back: %w", k.ID, err)
		}
	}
	if fresh != nil {
		clean, err := g.asStored(ctx, *fresh)
		if err != nil {
			return whole, err
		}
		whole.Absorb(clean, session.Piece)
	}
	return whole, nil
}

// asStored is a session as the ledger would hold it, to compare it with what it holds.
func (g *collector) asStored(ctx context.Context, s session.Session) (session.Session, error) {
	e, _, err := g.Redactor.Apply(ctx, session.Entry{Sessions: []session.Session{s}})
	if err != nil {
		return s, fmt.Errorf("capture: %w", err)
	}
	return e.Entry().Sessions[0], nil
}

// addContent takes a session with new content into the capture.
func (g *collector) addContent(r *reading, s session.Session, k *ledgerSession) {
	if k != nil && k.Title == session.Scrubbed {
		s.Title = ""
	}
	retitled := k != nil && s.Title != "" && !session.SameBeforeRedaction(session.Truncate(s.Title, session.MaxTitle),
		k.Title)
	if len(s.Turns) == 0 && len(s.ToolCalls) == 0 && !retitled {
		return
	}
	if k != nil {
		s.ID, s.StartedAt, s.Parent, s.ForkedFrom, s.ActorType = k.ID, k.First, k.Parent, k.ForkedFrom, k.ActorType
	}
	s.Hash = r.hash
	switch {
	case s.NativeID != r.file.NativeID:
	case r.file.ReadWhole:
		s.Cursor = cursorOf(r.file)
	default:
		s.Bytes = r.offset + r.doc.Bytes
	}
	g.fresh = append(g.fresh, &s)
	g.newBytes += memorySize(s)
}

// memorySize is about how much memory a session takes.
func memorySize(s session.Session) int {
	n := 0
	for _, t := range s.Turns {
		n += len(t.Content) + 64
	}
	for _, c := range s.ToolCalls {
		n += len(c.Tool) + len(c.Path) + len(c.Cmd) + len(c.Terms) + 64
	}
	return n
}

func (g *collector) freshSession(source, nativeID string) *session.Session {
	for _, s := range g.fresh {
		if s.Source == source && s.NativeID == nativeID {
			return s
		}
	}
	return nil
}

// sessionID is the ID of a session that is known by its native ID, "" when it is not.
func (g *collector) sessionID(source, nativeID string) string {
	if nativeID == "" {
		return ""
	}
	if k := g.st.Sessions[sessionKey(source, nativeID)]; k != nil {
		return k.ID
	}
	if s := g.freshSession(source, nativeID); s != nil {
		return s.ID
	}
	return ""
}

// renumber puts a read's turns, tool calls and counts, numbered from 0, behind what is known.
func renumber(s session.Session, turns, tools int) session.Session {
	s.FirstTurn, s.FirstTool = turns, tools
	s.Turns, s.ToolCalls, s.Usage = slices.Clone(s.Turns), slices.Clone(s.ToolCalls), slices.Clone(s.Usage)
	for i := range s.Usage {
		s.Usage[i].Turn += turns
	}
	for i := range s.Turns {
		s.Turns[i].Index = turns + i
	}
	for i := range s.ToolCalls {
		s.ToolCalls[i].Index = tools + i
		s.ToolCalls[i].Turn += turns // -1, before any turn of the read, is behind the last known
	}
	return s
}
