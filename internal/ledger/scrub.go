package ledger

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/redact"
	"github.com/git-rekal/git-rekal/internal/segment"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Scrub is the only thing that writes a ledger's history anew. docs/ledger-format.md has the format; this is why it is
// so:
//
//   - A turn keeps its place. Its transcript still lies where the agent keeps it, and capture tells what is new by
//     time, role and order. So the scrubbed turn itself says that its text is not to be stored again. No list of
//     scrubbed texts is needed, nor a hash.
//   - Segments keep their names, and `removed` records say what was taken out. A merge takes it out of both sides
//     (removal.go), so it makes the same commits of the history that both had, and joins the rest as ever.
//   - A push replaces what a remote holds only if a merge with it gives one's own tip, and only in the place of the
//     very commit that was seen there.
//
// The order: the ref by compare-and-swap, the remotes, the caches, the reflogs, the loose objects (discard.go). A
// capture at the same time wins or loses the ref, and starts again. The caches of past moments and of capture are
// removed; the tables are made anew, because their cursor is not behind the ledger any more.
//
// A process that dies anywhere has lost nothing. The same command again finds the former history in the reflog, and
// does the rest. So it does after a remote could not be replaced: the records say what is gone, and a remote-tracking
// ref that still holds it says which remote it is.
//
// Whoever may write to the remote can scrub there, too. So a user who takes in a scrub of their own ledger is told the
// SHA of its former tip, which git keeps for a while.

// PushedError is a scrub of what remotes are known to hold.
type PushedError struct {
	Remotes []string
	Commits int // how many commits to be rewritten they hold
}

func (e *PushedError) Error() string {
	var names []string
	for _, r := range e.Remotes {
		names = append(names, strconv.Quote(r))
	}
	holds := "holds"
	if len(names) > 1 {
		holds = "hold"
	}
	return fmt.Sprintf("ledger: scrub: %s %s it", strings.Join(names, ", "), holds)
}

// Hint says what to do.
func (*PushedError) Hint() string {
	return `nothing was changed; "git rekal scrub --pushed" rewrites it there, too; change the secret in any case, because others may have fetched it`
}

// Scrub says what to take out of one's own ledger.
type Scrub struct {
	Targets  []Target
	Redactor *redact.Redactor // of Retell
	Pushed   bool             // also where remotes hold it
	Forget   bool             // the targets are sessions, and nothing is left in their place
	Unsent   bool             // what a remote is known to hold stays
	// Retell changes what an entry says of sessions, and counts the places that it takes out and those that it brings
	// back. Then the redactor is applied to every entry, and one in which it takes something out changes, too. nil: only
	// Targets count.
	Retell func(e *session.Entry) (taken, back int)
}

// Scrubbed says what a Scrub has done.
type Scrubbed struct {
	Old, Tip git.OID   // the ledger's tip before and after; the same when nothing was left to take out
	Sessions int       // of which something was taken out
	Turns    int       // whose text was
	Calls    int       // tool calls whose path or command was
	Memories int       // whose text was
	Places   int       // what Retell and the redactor took out
	Back     int       // what Retell brought back
	Commits  int       // of the ledger, whose segments were replaced
	Remotes  []string  // that are known to hold what was taken out, now or by an earlier scrub
	Former   []git.OID // the tips that lead to what is gone: here, and as Remotes were last seen
	Kin      []string  // sessions that were spawned by or forked from those, and may say the same
}

// LaterError is an entry that can't be written anew: a later version wrote something in it that this one does not know,
// or it can't be read.
type LaterError struct{ Needs string } // the version that knows it, where that is told

func (e *LaterError) Error() string {
	return "it holds what only a later git-rekal can read" + strings.TrimRight(", "+e.Needs, ", ")
}

// Hint says what to do.
func (*LaterError) Hint() string { return "nothing was changed; update git-rekal, then do it again" }

// Scrub writes the part of the ledger anew that begins with the first commit which holds one of the targets: their
// texts become session.Scrubbed, all else stays. One commit more says what is gone, so that no merge brings it back.
// Turns keep their places, so that capture knows them and does not store them again.
//
// It returns a PushedError where a remote holds any of it, unless told otherwise, a TargetError for a target that is
// not in the ledger, and a LaterError where an entry that holds one says what this version does not know. The old
// commits are still in the repository afterwards; Discard removes them.
func (l *Ledger) Scrub(ctx context.Context, s Scrub) (out Scrubbed, err error) {
	err = l.retryWhileMoved(func() (err error) {
		out, err = l.scrub(ctx, s)
		return err
	})
	return out, err
}

func newScrubber(l *Ledger, s Scrub) *scrubber {
	return &scrubber{
		Ledger: l, Scrub: s, earlier: newRemovals(), found: map[int]bool{}, turns: map[string]int{},
		sessions: map[string]bool{}, kin: map[string]bool{},
	}
}

func (l *Ledger) scrub(ctx context.Context, s Scrub) (Scrubbed, error) {
	tip, err := l.Check()
	if err != nil || tip == "" {
		return Scrubbed{}, errors.Join(err, targetWithoutLedger(s.Targets, tip))
	}
	w := newScrubber(l, s)
	if w.now, err = w.scrubTime(tip); err != nil {
		return Scrubbed{}, err
	}
	rewrite := rewriter{repo: l.repo, author: l.who.Email}
	if s.Unsent && s.Forget {
		if w.sent, err = l.sentSegments(ctx); err != nil {
			return Scrubbed{}, err
		}
	} else if s.Unsent {
		tracked, err := l.trackedTips()
		if err != nil {
			return Scrubbed{}, err
		}
		rewrite.stays = slices.Collect(maps.Values(tracked))
	}
	rewrite.replace = func(c Commit, e *session.Entry) ([]Segment, bool, error) {
		if s.Retell != nil {
			return w.redactAgain(ctx, &rewrite, c, e)
		}
		return w.remove(&rewrite, c, e)
	}
	next, err := rewrite.rewriteHistory(ctx, tip)
	if err == nil {
		err = w.missingTarget()
	}
	if err != nil {
		return Scrubbed{}, err
	}
	w.out.Old, w.out.Tip, w.out.Former = tip, tip, []git.OID{tip}
	w.out.Sessions, w.out.Commits, w.out.Kin = len(w.sessions), w.commits, slices.Sorted(maps.Keys(w.kin))
	if rewrite.stays == nil {
		err = w.findHolders(ctx)
	}
	if err != nil {
		return w.out, err
	}
	if len(w.out.Remotes) > 0 && !s.Pushed {
		return Scrubbed{}, &PushedError{Remotes: w.out.Remotes, Commits: w.out.Commits}
	}
	if next == tip {
		return w.out, nil
	}
	if next, err = w.appendRecords(ctx, next); err == nil {
		err = l.CheckKey(ctx, next)
	}
	if err != nil {
		return Scrubbed{}, err
	}
	if err := l.repo.CompareAndSwap(ctx, l.ref, tip, next, "rekal: scrub"); err != nil {
		return Scrubbed{}, fmt.Errorf("ledger: scrub %s: %w", l.ref, err)
	}
	w.out.Tip = next
	return w.out, nil
}

// RedactUnsent redacts again what no remote is known to hold, and reads nothing else. What it takes out leaves a
// record, as with Scrub.
func (l *Ledger) RedactUnsent(ctx context.Context, by *redact.Redactor) (Scrubbed, error) {
	return l.Scrub(ctx, Scrub{Redactor: by, Unsent: true, Retell: func(*session.Entry) (int, int) { return 0, 0 }})
}

// scrubber is one Scrub under way.
type scrubber struct {
	*Ledger
	Scrub
	now      time.Time // of its records
	out      Scrubbed
	commits  int
	removed  session.Entry   // the records of what it takes out
	earlier  removals        // what the ledger says was taken out before
	found    map[int]bool    // targets that are in the ledger, by their place
	turns    map[string]int  // how many turns the ledger holds of a session
	sessions map[string]bool // of which something is taken out
	kin      map[string]bool
	sent     map[string]bool // segments that stay, by their paths
}

// scrubTime is when the scrub happens: now, or behind the last segment of a ledger whose clock was ahead.
func (w *scrubber) scrubTime(tip git.OID) (time.Time, error) {
	now := w.who.When.UTC().Truncate(time.Millisecond)
	limit := now.Add(MaxAhead)
	c, err := w.repo.Commit(tip)
	if err != nil {
		return now, fmt.Errorf("ledger: %w", err)
	}
	files, err := segmentsBeyond(w.repo.Trees(treeBytes), "", c.Tree)
	for _, f := range files {
		if last := (Segment{Path: f.Path}).Time(); !now.After(last) && !last.After(limit) {
			now = last.Add(time.Millisecond)
		}
	}
	return now, err
}

// remove takes the targets out of an entry.
func (w *scrubber) remove(rewrite *rewriter, c Commit, e *session.Entry) (now []Segment, changed bool, err error) {
	w.noteEntry(*e)
	if len(c.Segments) > 0 && w.sent[c.Segments[0].Path] {
		return nil, false, nil
	}
	for i, t := range w.Targets {
		r, ok := t.removal(c, w.now)
		if !ok {
			w.found[i] = w.found[i] || c.OID == t.Checkpoint
			continue
		}
		one := newRemovals()
		if w.Forget {
			one.item(t.Session).forgotten = true
		} else if one.add(r); !slices.Contains(w.removed.Removals, r) {
			w.removed.Removals = append(w.removed.Removals, r)
		}
		var did takenOut
		one.removeFrom(c, e, &did)
		w.found[i], changed = w.found[i] || did.found, changed || did.changed
		w.out.Turns, w.out.Calls, w.out.Memories = w.out.Turns+did.turns, w.out.Calls+did.calls, w.out.Memories+did.memories
		if did.session {
			w.sessions[r.Session] = true
		}
	}
	if !changed {
		return nil, false, nil
	}
	w.commits++
	if now, err = rewrite.writeReduced(c, *e); w.Forget && err == nil {
		w.noteReplacement(c.Segments, now) // which names no session
	}
	return now, true, err
}

// noteReplacement notes what stands in the place of segments.
func (w *scrubber) noteReplacement(before, after []Segment) {
	blobs := map[string]git.OID{}
	for _, s := range before {
		blobs[s.Path] = ""
	}
	for _, s := range after {
		blobs[s.Path] = s.Blob
	}
	for _, path := range slices.SortedFunc(maps.Keys(blobs), comparePaths) {
		w.removed.Removals = append(w.removed.Removals, session.Removal{Segment: path, Blob: string(blobs[path]), TS: w.now})
	}
}

// noteEntry notes what is to be known of all entries.
func (w *scrubber) noteEntry(e session.Entry) {
	w.earlier.addAll(e)
	for _, s := range e.Sessions {
		for _, t := range s.Turns {
			w.turns[s.ID] = max(w.turns[s.ID], t.Index+1)
		}
		is := func(id string) bool {
			return slices.ContainsFunc(w.Targets, func(t Target) bool { return t.Session != "" && t.Session == id })
		}
		if !is(s.ID) && (is(s.Parent) || is(s.ForkedFrom)) {
			w.kin[s.ID] = true
		}
	}
}

// missingTarget is a TargetError where a target is not in the ledger.
func (w *scrubber) missingTarget() error {
	for i, t := range w.Targets {
		if !w.found[i] {
			return &TargetError{Target: t, Turns: w.turns[t.Session]}
		}
	}
	return nil
}

// redactAgain has an entry say what Retell and the redactor make of it.
func (w *scrubber) redactAgain(ctx context.Context, rewrite *rewriter, c Commit,
	e *session.Entry,
) (now []Segment, changed bool, err error) {
	w.noteEntry(*e)
	if !e.SaysAnything() {
		return nil, false, nil
	}
	subject := e.Subject
	defer func() { e.Subject = subject }() // no record says what became of a subject, so it stays
	e.Subject = ""
	taken, back := w.Retell(e)
	clean, report, err := w.Redactor.Apply(ctx, *e)
	if err != nil || taken+back+len(report.Marks) == 0 {
		return nil, false, err
	}
	w.out.Places, w.out.Back = w.out.Places+taken+len(report.Marks), w.out.Back+back
	w.commits++
	parts, err := segment.Encode(clean)
	if errors.Is(err, segment.ErrUnknown) {
		err = &LaterError{e.Needs}
	}
	if err != nil {
		return nil, false, fmt.Errorf("ledger: redact again: commit %.12s: %w", c.OID, err)
	}
	if now, err = rewrite.write(c, parts); err == nil {
		w.noteReplacement(c.Segments, now)
	}
	return now, true, err
}

// appendRecords adds the commit that says what is gone.
func (w *scrubber) appendRecords(ctx context.Context, next git.OID) (git.OID, error) {
	w.removed.Subject = "scrub"
	clean, _, err := redact.New().Apply(ctx, w.removed)
	if err != nil {
		return "", fmt.Errorf("ledger: scrub: %w", err)
	}
	return w.write(next, Record{Entry: clean, TS: w.now})
}

// findHolders finds the remotes that are known to hold what is to go, or what an earlier scrub
// took out, when they could not be reached.
func (w *scrubber) findHolders(ctx context.Context) error {
	tracked, err := w.trackedTips()
	if err != nil {
		return err
	}
	gone := w.earlier
	gone.addAll(w.removed)
	for _, remote := range slices.Sorted(maps.Keys(tracked)) {
		id := tracked[remote]
		if _, err := w.repo.Commit(id); errors.Is(err, git.ErrNotFound) {
			continue
		}
		clean, err := gone.applyTo(ctx, rewriter{repo: w.repo}, id)
		holds := clean != id || errors.Is(err, ErrCut) || errors.As(err, new(*LaterError))
		switch {
		case errors.Is(err, ErrFormat), errors.Is(err, git.ErrMalformed): // no ledger
			continue
		case err != nil && !holds:
			return err
		}
		if holds {
			w.out.Remotes, w.out.Former = append(w.out.Remotes, remote), append(w.out.Former, id)
		}
	}
	return nil
}

// trackedTips is what each remote is known to hold of one's own ledger.
func (l *Ledger) trackedTips() (map[string]git.OID, error) {
	refs, err := l.repo.Refs(l.trackingRef("*"))
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	before, behind, _ := strings.Cut(l.trackingRef("*"), "*")
	out := map[string]git.OID{}
	for ref, id := range refs {
		out[strings.TrimSuffix(strings.TrimPrefix(ref, before), behind)] = id
	}
	return out, nil
}
