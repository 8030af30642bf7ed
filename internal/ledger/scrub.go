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

// Scrub is the only thing that writes a ledger's history anew. docs/ledger-format.md has the format; this is why it is so:
//
//   - A turn keeps its place. Its transcript still lies where the agent keeps it, and capture tells what is new by time, role and
//     order. So the scrubbed turn itself says that its text is not to be stored again. No list of scrubbed texts is needed, nor a hash.
//   - Segments get other names, and `scrub` records name the old ones. A merge of the two histories would hold both, and so the
//     text. Where one side says that it scrubbed what the other holds, the rest of the other is told again behind it, by a rule
//     that gives everybody the same commits (retell.go).
//   - A push replaces what a remote holds only if one's own tip stands for all of it, less what was scrubbed, and only in the
//     place of the very commit that was seen there.
//
// The order: the ref by compare-and-swap, the remotes, the caches, the reflogs, the loose objects (discard.go). A capture at the same time wins
// or loses the ref, and starts again. The caches of past moments and of capture are removed; the tables are made anew, because their
// cursor is not behind the ledger any more.
//
// A process that dies anywhere has lost nothing. The same command again finds the former history in the reflog, and does the rest. So
// it does after a remote could not be replaced: the `scrub` records name the segments that are gone, and a remote-tracking ref that still
// holds one says which remote it is.
//
// Whoever may write to the remote can scrub there, too. So a user who takes in a scrub of their own ledger is told the SHA of its
// former tip, which git keeps for a while.

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

// Scrub says what to take out of one's own ledger.
type Scrub struct {
	Targets  []Target
	Redactor *redact.Redactor // what is written anew goes through it once more
	Pushed   bool             // also where remotes hold it
	Forget   bool             // the targets are sessions, and nothing is left in their place
	// Retell changes what an entry says of sessions, and counts the texts that it changed. Then the redactor is applied to every entry,
	// and one in which it takes something out changes, too. nil: only Targets count.
	Retell func(e *session.Entry) int
}

// Scrubbed says what a Scrub has done.
type Scrubbed struct {
	Old, Tip git.OID   // the ledger's tip before and after; the same when nothing was left to take out
	Sessions int       // of which something was taken out
	Turns    int       // whose text was
	Calls    int       // tool calls whose path or command was
	Memories int       // whose text was
	Retold   int       // texts that Retell changed
	Places   int       // what the redactor took out of the rest
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

// Scrub writes the part of the ledger anew that begins with the first commit which holds one of
// the targets: their texts become session.Scrubbed, all else stays, in segments of other names. One
// commit more names the segments that are gone, so that no merge brings them back. Turns keep
// their places, so that capture knows them and does not store them again.
//
// It returns a PushedError where a remote holds any of it, unless told otherwise, a TargetError for a target that is not in
// the ledger, and a LaterError where an entry that holds one says what this version does not know. The old commits are still in the repository
// afterwards; Discard removes them.
func (l *Ledger) Scrub(ctx context.Context, s Scrub) (Scrubbed, error) {
	for range tries {
		out, err := l.scrub(ctx, s)
		if !errors.Is(err, git.ErrMoved) {
			return out, err
		}
	}
	return Scrubbed{}, fmt.Errorf("ledger: scrub: %w: gave up after %d tries", git.ErrMoved, tries)
}

func (l *Ledger) scrub(ctx context.Context, s Scrub) (Scrubbed, error) {
	tip, err := l.Check()
	if err != nil || tip == "" {
		return Scrubbed{}, errors.Join(err, missing(s.Targets, tip))
	}
	trees := l.repo.Trees(treeBytes)
	w := &scrubber{Ledger: l, Scrub: s, out: Scrubbed{Old: tip, Tip: tip}, found: map[int]bool{}, turns: map[string]int{}, gone: map[string]bool{}, sessions: map[string]bool{}, kin: map[string]bool{}}
	w.rewriter = rewriter{repo: l.repo, trees: trees, instead: map[string][]Segment{}, subjects: map[git.OID]string{}}
	if err := w.read(ctx, tip); err != nil {
		return Scrubbed{}, err
	}
	if err := w.holders(); err != nil {
		return w.out, err
	}
	if len(w.out.Remotes) > 0 && !s.Pushed {
		return Scrubbed{}, &PushedError{Remotes: w.out.Remotes, Commits: w.out.Commits}
	}
	if len(w.instead) == 0 {
		return w.out, nil
	}
	next, err := w.history(ctx, tip)
	if err == nil {
		next, err = w.note(ctx, tip, next)
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

// scrubber is one Scrub under way.
type scrubber struct {
	*Ledger
	Scrub
	rewriter
	out      Scrubbed
	found    map[int]bool    // targets that are in the ledger, by their place
	turns    map[string]int  // how many turns the ledger holds of a session
	gone     map[string]bool // segments that earlier scrubs took out
	sessions map[string]bool
	kin      map[string]bool
}

// read finds the entries that hold a target, and writes the segments that are to stand in their
// place.
func (w *scrubber) read(ctx context.Context, tip git.OID) error {
	err := all(ctx, w.Ledger.repo, tip, func(c Commit, e session.Entry) error { return w.entry(ctx, c, e) })
	if err != nil {
		return err
	}
	for i, t := range w.Targets {
		if !w.found[i] {
			return &TargetError{Target: t, Turns: w.turns[t.Session]}
		}
	}
	w.out.Sessions = len(w.sessions)
	for _, t := range w.Targets {
		delete(w.kin, t.Session)
	}
	w.out.Kin = slices.Sorted(maps.Keys(w.kin))
	return nil
}

func (w *scrubber) entry(ctx context.Context, c Commit, e session.Entry) error {
	changed := false
	for _, s := range e.Scrubs {
		w.gone[s.Segment] = true
	}
	for _, s := range e.Sessions {
		for _, t := range s.Turns {
			w.turns[s.ID] = max(w.turns[s.ID], t.Index+1)
		}
	}
	for i, t := range w.Targets {
		take := func() (hit, did bool) { return w.apply(t, c, &e) }
		if w.Forget {
			take = func() (hit, did bool) { return w.drop(t, &e) }
		}
		hit, did := take()
		w.found[i] = w.found[i] || hit
		changed = changed || did
	}
	if w.Retell != nil && says(e) {
		n := w.Retell(&e)
		_, report, err := w.Redactor.Apply(ctx, e)
		if err != nil {
			return fmt.Errorf("ledger: scrub: %w", err)
		}
		w.out.Retold, w.out.Places = w.out.Retold+n, w.out.Places+len(report.Marks)
		changed = changed || n+len(report.Marks) > 0
	}
	for _, s := range e.Sessions {
		if slices.ContainsFunc(w.Targets, func(t Target) bool { return t.Session != "" && (s.Parent == t.Session || s.ForkedFrom == t.Session) }) {
			w.kin[s.ID] = true
		}
	}
	if !changed {
		return nil
	}
	if e.Unknown > 0 {
		return fmt.Errorf("ledger: scrub: commit %.12s: %w", c.OID, &LaterError{e.Needs})
	}
	w.out.Commits++
	if !says(e) {
		return w.replace(c, nil)
	}
	clean, _, err := w.Redactor.Apply(ctx, e)
	if err != nil {
		return fmt.Errorf("ledger: scrub: %w", err)
	}
	parts, err := segment.Encode(clean)
	if err != nil {
		return fmt.Errorf("ledger: scrub: %w", err)
	}
	return w.replace(c, parts)
}

// replace has other segments stand in the place of a commit's, at the same time.
func (w *scrubber) replace(c Commit, parts [][]byte) error {
	name, err := w.name(c.Segments[0].Time())
	if err != nil {
		return err
	}
	var now []Segment
	for i, data := range parts {
		id, err := w.Ledger.repo.WriteBlob(data)
		if err != nil {
			return fmt.Errorf("ledger: scrub: %w", err)
		}
		now = append(now, Segment{Path: name.path(i), Blob: id})
	}
	for _, s := range c.Segments {
		w.instead[s.Path] = nil
	}
	w.instead[c.Segments[0].Path] = now
	return nil
}

// note adds the commit that names what is gone.
func (w *scrubber) note(ctx context.Context, old, next git.OID) (git.OID, error) {
	now := w.who.When.UTC().Truncate(time.Millisecond)
	last, err := Newest(w.Ledger.repo, old, now.Add(MaxAhead))
	if err != nil {
		return "", err
	}
	if !now.After(last) {
		now = last.Add(time.Millisecond)
	}
	e := session.Entry{Subject: "scrub"}
	for _, path := range slices.SortedFunc(maps.Keys(w.instead), comparePaths) {
		e.Scrubs = append(e.Scrubs, session.Scrub{Segment: path, TS: now})
	}
	clean, _, err := w.Redactor.Apply(ctx, e)
	if err != nil {
		return "", fmt.Errorf("ledger: scrub: %w", err)
	}
	return w.write(next, Record{Entry: clean, TS: now})
}

// holders finds the remotes that are known to hold a segment which is to go, or which an earlier scrub
// took out, when they could not be reached.
func (w *scrubber) holders() error {
	w.out.Former = []git.OID{w.out.Old}
	tracked, err := w.trackedTips()
	if err != nil {
		return err
	}
	for path := range w.instead {
		w.gone[path] = true
	}
	for _, remote := range slices.Sorted(maps.Keys(tracked)) {
		c, err := w.Ledger.repo.Commit(tracked[remote])
		if errors.Is(err, git.ErrNotFound) {
			continue
		}
		if err != nil {
			return fmt.Errorf("ledger: scrub: %w", err)
		}
		for path := range w.gone {
			w.trees.Allow(commitBytes)
			held, err := w.trees.At(c.Tree, path, git.TreeEntry.IsFile)
			if err != nil {
				return fmt.Errorf("ledger: scrub: %w", err)
			}
			if held != "" {
				w.out.Remotes, w.out.Former = append(w.out.Remotes, remote), append(w.out.Former, tracked[remote])
				break
			}
		}
	}
	return nil
}

// trackedTips is what each remote is known to hold of one's own ledger.
func (l *Ledger) trackedTips() (map[string]git.OID, error) {
	refs, err := l.repo.Refs(l.tracking("*"))
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	before, behind, _ := strings.Cut(l.tracking("*"), "*")
	out := map[string]git.OID{}
	for ref, id := range refs {
		out[strings.TrimSuffix(strings.TrimPrefix(ref, before), behind)] = id
	}
	return out, nil
}
