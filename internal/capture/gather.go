package capture

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/internal/session"
	"github.com/git-rekal/git-rekal/internal/transcript"
)

// How a capture finds what is new:
//
// 1. Resume. The ledger says how many bytes of each transcript were read, and their SHA-256. The cache holds the state
// of the hash, and a sum of the last 4 KB before the cursor. When these bytes still stand, reading goes on there.
// Without the cache the bytes are hashed again. When they differ, the file was rewritten, and is read from its start.
// So is a file whose last turn was scrubbed: nothing tells that turn from the next. A document or a database is read
// whole when its time or size changed. (read.go)  2. Decode (package transcript). Only whole records count; a torn last
// line waits. A record belongs to the repository whose work tree holds its working folder, the innermost one, as git
// tells it there; an edit also to that of the file. A folder in no repository (a temporary one, one that is gone)
// changes nothing. A part made in another repository is left out, and one turn stands for it. The cursor stays before
// that part until something made here follows: so the part causes no capture, and each read begins with it. A title
// that may speak of the part is not taken.  3. Keep. Turns behind the cursor that are later than what is known are new.
// Everything else is compared with the ledger by the identity of turns: a rewritten file, rows of one session in
// another's file, a resumed copy. The text counts as well where only a piece of the session was read. A new session
// whose first turns are another session's is a fork.  4. Tie what is new to code (plan.go), redact it, append it, and
// compare-and-swap the ref. When another process was first, all of it begins again. (capture.go)

// collector is one round of a capture under way: what the ledger knows, and what the transcripts hold beyond it.
type collector struct {
	*Capturer
	*sharedByRounds
	agents  []transcript.Agent
	getenv  func(string) string // of the process in whose time the commit was made
	shells  []string            // native IDs of the sessions in whose shells it ran
	tips    map[string]git.OID  // of the ledgers on this machine, by ref
	st      *state
	now     time.Time
	fresh   []*session.Session // new content only, numbered behind what is known
	anyRead bool               // some transcript was read or searched
	done    []*reading
	out     Outcome

	privateKin   []session.NativeRef // sessions that private ones are known to have begun
	privateNotes map[string]bool     // IDs of notes that are not sent

	edits *editStore
	// time of the earliest edit that was not known before: commits made later are compared again
	newEditsSince time.Time
	editsLost     bool                           // some edits could not be kept
	examined      []git.OID                      // see state.Examined
	reflogs       map[string]history.ReflogMark  // see state.Reflogs
	noteFolders   []transcript.NoteFolder        // see listNoteFolders; nil until it is asked
	newBytes      int                            // bytes of text in fresh
	told          map[string][]transcript.Commit // by sessionKey: commits that sessions' commands made, as new records say
	running       map[string]bool                // by sessionKey: the last call has no result
	moreLeft      bool                           // something is left to another round
}

// sharedByRounds is what all rounds of one capture know together.
type sharedByRounds struct {
	bounds  Round
	pieces  map[string]partialRead // of transcripts that are read in several rounds
	reads   int                    // transcripts that were read
	learned bool                   // redaction knows what all rounds call a secret
}

func newSharedByRounds(bounds Round) *sharedByRounds {
	return &sharedByRounds{bounds: bounds, pieces: map[string]partialRead{}}
}

// roots are the folders of whose transcripts a capture takes what was made there.
func (c *Capturer) roots() []string { return append(c.Repo.Worktrees(), c.From...) }

// gather reads every transcript that changed, and keeps what the ledger does not hold.
func (g *collector) gather(ctx context.Context) error {
	roots := g.roots()
	for _, agent := range g.agents {
		if err := g.readAgent(ctx, agent, roots); err != nil {
			return err
		}
	}
	g.storeAllEdits(ctx)
	return nil
}

// eachFile finds the transcripts of all agents, and hands each to visit with a reader for it; storesChanged reports
// whether st.Known changed.
func (c *Capturer) eachFile(ctx context.Context, st *state, searchBudget int64,
	visit func(reader, transcript.File) error,
) (storesChanged bool, err error) {
	roots := c.roots()
	for _, agent := range c.Agents {
		found, more, err := c.findAll(ctx, agent, roots, st, searchBudget)
		if err != nil {
			return false, err
		}
		storesChanged = storesChanged || more
		rd := reader{
			agent: agent, roots: roots, others: maps.Clone(st.Others), siblings: found.Files, piece: maxPiece,
			without: c.Without, nameRepo: c.NameRepo,
		}
		for _, f := range found.Files {
			if err := visit(rd, f); err != nil {
				return false, err
			}
		}
	}
	return storesChanged, nil
}

// learnSecrets passes all transcripts through redaction before the first of several rounds is stored: a value that
// session 40 calls a secret must not stand in session 1. Only one piece of a transcript is in memory at once.
func (g *collector) learnSecrets(ctx context.Context) error {
	_, err := g.eachFile(ctx, g.st, g.Budget, func(rd reader, f transcript.File) error {
		if g.st.unchanged(f.Path, f.Size, f.ModTime) || g.skipsTranscript(rd.agent.Name(), f) {
			return nil
		}
		rd.piece = g.bounds.Piece
		return readThrough(ctx, rd, f, g.st.Sessions[sessionKey(rd.agent.Name(), f.NativeID)], func(r *reading) error {
			var e session.Entry
			for _, s := range r.doc.Sessions {
				e.Sessions = append(e.Sessions, s.Session)
			}
			_, _, err := g.Redactor.Apply(ctx, e)
			return err
		})
	})
	return err
}

// readThrough reads a transcript from a cursor to its end, a piece at a time; nil is its start. What can't be read is
// left to who stores it, and tells of it.
func readThrough(ctx context.Context, rd reader, f transcript.File, from *ledgerSession,
	each func(*reading) error,
) error {
	cursor := &ledgerSession{}
	if from != nil {
		*cursor = *from
	}
	for last, more := (partialRead{}), true; more; {
		r, err := rd.read(ctx, f, cursor, last)
		if err != nil {
			return ctx.Err()
		}
		if err := each(r); err != nil {
			return err
		}
		last, more = partialRead{from: r.offset, size: r.file.Size - r.offset}, r.hasMore
		for _, s := range r.doc.Sessions {
			if s.NativeID == f.NativeID && s.LastTS().After(cursor.Last) {
				cursor.Last = s.LastTS()
			}
		}
		cursor.moveCursor(r)
	}
	return nil
}

func (g *collector) readAgent(ctx context.Context, agent transcript.Agent, roots []string) error {
	changed, all, err := g.findChanged(ctx, agent, roots)
	if err != nil {
		return err
	}
	var taken, waiting []*reading
	changed = g.withinBudget(agent.Name(), changed)
	// A fork that names no origin is mostly written to later than that.
	slices.SortStableFunc(changed, func(a, b transcript.File) int {
		return cmp.Or(cmp.Compare(min(len(a.AgentID), 1), min(len(b.AgentID), 1)), a.ModTime.Compare(b.ModTime))
	})
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for i, next := range g.readAll(ctx, agent, changed, all, roots) {
		if g.newBytes > g.bounds.Kept {
			g.moreLeft, waiting = true, nil // a later round takes them
			break
		}
		r := next()
		if r.err != nil {
			g.out.Warnings = append(g.out.Warnings, fmt.Errorf("capture: %w", r.err))
			continue
		}
		g.anyRead = true
		g.moreLeft = g.moreLeft || r.hasMore
		if r.file.AgentID != "" { // they come last, and their parents may have been astray
			if err := g.addOtherSessions(ctx, taken); err != nil {
				return err
			}
			taken = nil
		}
		waiting = append(waiting, r)
		for next := g.firstReady(waiting, changed[i+1:]); next >= 0; next = g.firstReady(waiting, changed[i+1:]) {
			if err := g.addOwnSession(ctx, waiting[next]); err != nil {
				return err
			}
			taken, waiting = append(taken, waiting[next]), slices.Delete(waiting, next, next+1)
		}
		g.reads++
		g.Progress.report(Reading, g.reads, g.reads+len(changed)-i-1)
	}
	for _, r := range waiting { // their parents can't be read, or they name each other
		if err := g.addOwnSession(ctx, r); err != nil {
			return err
		}
		taken = append(taken, r)
	}
	if err := g.addOtherSessions(ctx, taken); err != nil {
		return err
	}
	return ctx.Err()
}

// findChanged lists the transcripts of an agent, and those of them that changed.
func (g *collector) findChanged(ctx context.Context, agent transcript.Agent,
	roots []string,
) (changed, all []transcript.File, err error) {
	found, storesChanged, err := g.findAll(ctx, agent, roots, g.st, g.Budget)
	if err != nil {
		return nil, nil, err
	}
	g.anyRead = g.anyRead || storesChanged
	g.out.Warnings = append(g.out.Warnings, found.Unreadable...)
	for _, f := range found.Files {
		if !g.st.unchanged(f.Path, f.Size, f.ModTime) && !g.skipsTranscript(agent.Name(), f) {
			changed = append(changed, f)
		}
	}
	return changed, found.Files, nil
}

// findAll lists all transcripts of an agent, and notes in st.Known what the next call need not look at again;
// storesChanged reports whether that changed.
func (c *Capturer) findAll(ctx context.Context, agent transcript.Agent, roots []string, st *state,
	searchBudget int64,
) (_ transcript.Found, storesChanged bool, err error) {
	found, err := agent.Locate(ctx, transcript.Env{
		Home: c.Home, Getenv: c.Getenv, Roots: roots, Search: searchBudget, LocateState: st.Known[agent.Name()], Now: c.Now(),
	})
	if err != nil {
		return found, false, fmt.Errorf("capture: locate transcripts of %s: %w", agent.Name(), err)
	}
	if !bytes.Equal(st.Known[agent.Name()], found.LocateState) {
		st.Known[agent.Name()], storesChanged = found.LocateState, true
	}
	return found, storesChanged, nil
}

// skipsTranscript reports whether a transcript is not read: because only a later version of git-rekal knows how far it
// was read, or because it is Rendered and the session has a transcript of its agent, too.
func (g *collector) skipsTranscript(source string, f transcript.File) bool {
	k, fresh := g.st.Sessions[sessionKey(source, f.NativeID)], g.freshSession(source, f.NativeID)
	switch {
	case k != nil && f.Rendered:
		return !strings.HasPrefix(k.Cursor, rendered)
	case f.Rendered:
		return fresh != nil && !strings.HasPrefix(fresh.Cursor, rendered)
	}
	return k != nil && isOfLaterVersion(k.Cursor)
}

// firstReady is the index of the first reading that need not wait for its parent; -1 for none.
func (g *collector) firstReady(waiting []*reading, next []transcript.File) int {
	return slices.IndexFunc(waiting, func(r *reading) bool { return !g.waitsForParent(r, waiting, next) })
}

// waitsForParent reports whether a reading is of a subagent, or of a fork, whose parent or origin is not added yet but
// will be. Names of files don't tell the order.
func (g *collector) waitsForParent(r *reading, waiting []*reading, next []transcript.File) bool {
	willBeAdded := func(native string) bool {
		is := func(f transcript.File) bool { return f.NativeID == native && f.Path != r.file.Path }
		return native != "" && g.sessionID(r.agent, native) == "" &&
			(slices.ContainsFunc(next, is) || slices.ContainsFunc(waiting, func(r *reading) bool { return is(r.file) }))
	}
	return slices.ContainsFunc(r.doc.Sessions, func(s transcript.Part) bool {
		return willBeAdded(s.ParentNative) || willBeAdded(s.OriginNative)
	})
}

// addOwnSession adds what is new of the session to which the file belongs.
func (g *collector) addOwnSession(ctx context.Context, r *reading) error {
	if n := lostLines(r.doc.Skipped); n > 0 {
		g.out.Skipped += n
		g.out.SkippedIn = append(g.out.SkippedIn, r.file.Path)
	}
	if g.done = append(g.done, r); len(r.doc.Sessions) == 0 && r.offset == 0 {
		for _, dir := range r.doc.ElsewhereDirs {
			addCounts(&g.out.Elsewhere, map[string]int{dir: 1})
		}
	}
	return g.addSessions(ctx, r, false)
}

// addOtherSessions adds what readings hold of sessions other than their own. Call it after addOwnSession for the
// own files of these sessions, because a session's ID depends on its first turn.
func (g *collector) addOtherSessions(ctx context.Context, readings []*reading) error {
	for _, r := range readings {
		if err := g.addSessions(ctx, r, true); err != nil {
			return err
		}
	}
	return nil
}

// addSessions adds what is new in one reading: of the file's own session or, with others, of all other sessions.
func (g *collector) addSessions(ctx context.Context, r *reading, others bool) error {
	for _, s := range r.doc.Sessions {
		if others == (s.NativeID == r.file.NativeID) {
			continue
		}
		s.Source = r.agent
		if g.Private.has(r.agent, s.ParentNative) || g.Private.has(r.agent, s.ForkNative) {
			g.privateKin = append(g.privateKin, session.NativeRef{Source: r.agent, NativeID: s.NativeID})
		}
		if s.ActorType = g.actor(s.ActorType); s.ActorType == session.ActorAgent {
			s.AgentID = cmp.Or(s.AgentID, s.Agent)
		}
		g.noteCommands(s)
		if err := g.addNew(ctx, r, s); err != nil {
			return err
		}
	}
	return nil
}

// withinBudget keeps the latest of the changed transcripts whose new bytes fit the budget, at
// least one, in the order in which they came.
func (g *collector) withinBudget(source string, changed []transcript.File) []transcript.File {
	if g.Budget == 0 {
		return changed
	}
	latest := slices.Clone(changed)
	slices.SortStableFunc(latest, func(a, b transcript.File) int { return b.ModTime.Compare(a.ModTime) })
	left, keep := g.Budget, map[string]bool{}
	for _, f := range latest {
		size := f.Size
		if k := g.st.Sessions[sessionKey(source, f.NativeID)]; k != nil && k.Bytes <= size {
			size -= min(k.Bytes, k.EditsKept)
		}
		if left -= size; left < 0 && len(keep) > 0 {
			break
		}
		keep[f.Path] = true
	}
	return slices.DeleteFunc(changed, func(f transcript.File) bool { return !keep[f.Path] })
}

// lostLines is how many lines may have cost a turn: what is known to hold none does not count.
func lostLines(c transcript.Counts) int { return c.Malformed + c.Oversized }
