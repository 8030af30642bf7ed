package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/segment"
	"github.com/git-rekal/git-rekal/internal/session"
)

// removals are what the records in ledgers say was taken out: texts, wherever they stand, and segments, in whose place
// others stand.
type removals struct {
	items    map[string]*removedItem      // by the ID of a session or memory
	entries  map[string]bool              // those whose own texts went, by the ULID in their names
	segments map[string][]session.Removal // by that ULID
}

// removedItem is what was taken out of a session or memory.
type removedItem struct {
	all, title, forgotten bool
	turns                 map[int]bool
}

// addAll adds what an entry says was taken out.
func (r removals) addAll(e session.Entry) {
	for _, s := range e.Scrubs { // of version 0.1.0: nothing stands in the segment's place
		r.add(session.Removal{Segment: s.Segment, TS: s.TS})
	}
	for _, one := range e.Removals {
		r.add(one)
	}
}

func newRemovals() removals {
	return removals{map[string]*removedItem{}, map[string]bool{}, map[string][]session.Removal{}}
}

// item is what goes of one session or memory.
func (r removals) item(id string) *removedItem {
	if r.items[id] == nil {
		r.items[id] = &removedItem{turns: map[int]bool{}}
	}
	return r.items[id]
}

func (r removals) add(removal session.Removal) {
	switch {
	case removal.Entry != "":
		r.entries[removal.Entry] = true
	case removal.Session != "":
		item := r.item(removal.Session)
		switch {
		case removal.Title:
			item.title = true
		case removal.Turn != nil:
			item.turns[*removal.Turn] = true
		default:
			item.all = true
		}
	case isSegment(removal.Segment):
		name := Segment{Path: removal.Segment}.entryID()
		r.segments[name] = append(r.segments[name], removal)
	}
}

// applyTo rewrites the history of a tip without what the removals take out, and returns the new tip; the same tip if it
// holds nothing of that. It uses the settings of w for signatures.
func (r removals) applyTo(ctx context.Context, w rewriter, tip git.OID) (git.OID, error) {
	if len(r.items)+len(r.entries)+len(r.segments) == 0 {
		return tip, nil
	}
	repo := w.repo
	w.replace = func(c Commit, e *session.Entry) ([]Segment, bool, error) {
		if len(c.Segments) == 0 {
			return nil, false, nil
		}
		now := currentSegments(repo, c.Segments, r.segments[c.Segments[0].entryID()])
		replaced := !slices.EqualFunc(now, c.Segments,
			func(a, b Segment) bool { return a.Path == b.Path && a.Blob == b.Blob })
		if replaced {
			other, err := readEntry(repo, now)
			if err != nil {
				return nil, false, err
			}
			other.Subject = e.Subject
			*e = other
		}
		var t takenOut
		if r.removeFrom(c, e, &t); !t.changed {
			return now, replaced, nil
		}
		now, err := w.writeReduced(c, *e)
		return now, true, err
	}
	return w.rewriteHistory(ctx, tip)
}

// currentSegments are the segments that stand in the place of an entry's. A blob that is no segment, or is not here,
// replaces nothing: it may be any file of the user's, whose ID somebody knows.
func currentSegments(repo *git.Repo, held []Segment, by []session.Removal) []Segment {
	if len(by) == 0 {
		return held
	}
	slices.SortFunc(by, func(a, b session.Removal) int { // the latest counts
		return cmp.Or(a.TS.Compare(b.TS), cmp.Compare(a.Segment, b.Segment), cmp.Compare(a.Blob, b.Blob))
	})
	blobs := map[string]git.OID{}
	for _, s := range held {
		blobs[s.Path] = s.Blob
	}
	for _, one := range by {
		id := git.OID(one.Blob)
		if id == "" {
			delete(blobs, one.Segment)
		} else if _, err := ReadSegment(repo, Segment{Blob: id}); err == nil {
			blobs[one.Segment] = id
		}
	}
	var now []Segment
	for path, id := range blobs {
		now = append(now, Segment{Path: path, Blob: id})
	}
	slices.SortFunc(now, Segment.Compare)
	return now
}

// writeReduced writes an entry from which something was taken out; nothing where it says nothing any more.
func (w *rewriter) writeReduced(c Commit, e session.Entry) ([]Segment, error) {
	if !e.SaysAnything() {
		return nil, nil
	}
	parts, err := segment.EncodeAgain(e)
	if errors.Is(err, segment.ErrUnknown) {
		err = &LaterError{e.Needs}
	}
	if err != nil {
		return nil, fmt.Errorf("ledger: scrub: commit %.12s: %w", c.OID, err)
	}
	return w.write(c, parts)
}

// takenOut is what removals found in one entry, and took out.
type takenOut struct {
	found   bool // the entry has to do with them
	changed bool
	session bool // texts of a session were taken out

	turns, calls, memories int
}

// removeFrom takes out of an entry what goes. Sessions are forgotten as if they had never been captured: with their
// links and marks, and the lines that they wrote. A checkpoint of nothing else goes, too.
func (r removals) removeFrom(c Commit, e *session.Entry, t *takenOut) {
	forgotten := func(id string) bool { return r.items[id] != nil && r.items[id].forgotten }
	marked := func(m session.Mark) bool { return forgotten(m.ID) }
	e.Sessions = dropFrom(t, e.Sessions, func(s session.Session) bool {
		if !forgotten(s.ID) {
			return false
		}
		t.session = true
		t.turns, t.calls = t.turns+len(s.Turns), t.calls+len(s.ToolCalls)
		return true
	})
	e.Purges, e.Restores = dropFrom(t, e.Purges, marked), dropFrom(t, e.Restores, marked)
	e.Wrote = dropFrom(t, e.Wrote, func(w session.Wrote) bool { return forgotten(w.Session) })
	if cp := e.Checkpoint; cp != nil {
		cp.Links = dropFrom(t, cp.Links, func(l session.Link) bool { return forgotten(l.Session) })
		if t.changed && len(e.Sessions)+len(cp.Links)+len(e.Wrote) == 0 {
			e.Checkpoint = nil
		}
	}
	e.Wrote = dropFrom(t, e.Wrote, func(w session.Wrote) bool {
		return r.items[w.Session] != nil &&
			r.items[w.Session].all
	})
	for i := range e.Sessions {
		if item := r.items[e.Sessions[i].ID]; item != nil {
			t.removeTexts(item, &e.Sessions[i])
		}
	}
	for i := range e.Memories {
		if m := &e.Memories[i]; r.items[m.ID] != nil && r.items[m.ID].all && t.memory(m) {
			e.Subject = session.Scrubbed // which is the memory's title
		}
	}
	if len(c.Segments) > 0 && r.entries[c.Segments[0].entryID()] {
		t.checkpoint(e)
	}
	t.found = t.found || t.changed
}

// dropFrom returns the list without what isDropped reports.
func dropFrom[T any](t *takenOut, list []T, isDropped func(T) bool) []T {
	kept := slices.DeleteFunc(list, isDropped)
	t.changed = t.changed || len(kept) < len(list)
	return kept
}

// removeTexts takes texts out of a session.
func (t *takenOut) removeTexts(of *removedItem, s *session.Session) {
	goes := func(turn int) bool { return of.all || of.turns[turn] }
	title := of.title || of.all
	t.found = t.found || title
	changed := false
	for i := range s.Turns {
		if u := &s.Turns[i]; goes(u.Index) {
			t.found = true
			if u.Content != session.Scrubbed {
				title = title || isTitleOf(u.Content, s.Title)
				u.Content, changed = session.Scrubbed, true
				t.turns++
			}
		}
	}
	for i := range s.ToolCalls {
		if c := &s.ToolCalls[i]; goes(c.Turn) {
			t.found = true
			if c.Path+c.Cmd+string(c.Terms) != "" {
				c.Path, c.Cmd, c.Terms, changed = "", "", "", true
				t.calls++
			}
		}
	}
	if title && s.Title != "" && s.Title != session.Scrubbed {
		s.Title, changed = session.Scrubbed, true
	}
	if of.all && (s.Branch != "" || s.Facts != session.Facts{}) {
		s.Branch, s.Facts, changed = "", session.Facts{}, true
	}
	if of.all && len(s.Usage) > 0 {
		s.Usage, changed = nil, true
	}
	t.session, t.changed = t.session || changed, t.changed || changed
}

// isTitleOf reports whether a title was made of the beginning of a text.
func isTitleOf(text, title string) bool {
	oneLine := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	title = strings.TrimRight(oneLine(title), "…. ")
	return title != "" && strings.HasPrefix(oneLine(text), title)
}

// checkpoint takes out an entry's own texts; those of its sessions stay.
func (t *takenOut) checkpoint(e *session.Entry) {
	t.found = true
	if e.Subject != session.Scrubbed {
		e.Subject, t.changed = session.Scrubbed, true
	}
	for i := range e.Memories {
		t.memory(&e.Memories[i])
	}
	if cp := e.Checkpoint; cp != nil && (len(cp.Files) > 0 || cp.GitBranch != session.Scrubbed) {
		cp.Files, cp.PatchID, cp.GitBranch, t.changed = nil, "", session.Scrubbed, true
	}
	if len(e.Wrote) > 0 {
		e.Wrote, t.changed = nil, true
	}
}

func (t *takenOut) memory(m *session.Memory) (changed bool) {
	t.found = true
	if m.Content == session.Scrubbed {
		return false
	}
	m.Title, m.Content, m.Source, m.Supersedes, m.Rejects = "", session.Scrubbed, "", "", ""
	t.memories++
	t.changed = true
	return true
}
