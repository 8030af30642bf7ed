package ledger

import (
	"context"
	"slices"

	"github.com/git-rekal/git-rekal/internal/session"
)

// drop takes a session out of an entry as if it had never been captured: what was said, the links and marks of it, and the lines that it wrote. A checkpoint
// of nothing else goes, too.
func (w *scrubber) drop(t Target, e *session.Entry) (hit, did bool) {
	is := func(id string) bool { return id == t.Session }
	e.Sessions = slices.DeleteFunc(e.Sessions, func(s session.Session) bool {
		if !is(s.ID) {
			return false
		}
		w.sessions[s.ID], hit = true, true
		w.out.Turns, w.out.Calls = w.out.Turns+len(s.Turns), w.out.Calls+len(s.ToolCalls)
		return true
	})
	before := len(e.Wrote) + len(e.Purges) + len(e.Restores)
	e.Wrote = slices.DeleteFunc(e.Wrote, func(r session.Wrote) bool { return is(r.Session) })
	marked := func(m session.Mark) bool { return is(m.ID) }
	e.Purges, e.Restores = slices.DeleteFunc(e.Purges, marked), slices.DeleteFunc(e.Restores, marked)
	did = hit || len(e.Wrote)+len(e.Purges)+len(e.Restores) < before
	if cp := e.Checkpoint; cp != nil {
		links := len(cp.Links)
		cp.Links = slices.DeleteFunc(cp.Links, func(l session.Link) bool { return is(l.Session) })
		did = did || len(cp.Links) < links
		if did && len(e.Sessions)+len(cp.Links)+len(e.Wrote) == 0 {
			e.Checkpoint = nil
		}
	}
	return hit, did
}

// says reports whether an entry holds anything.
func says(e session.Entry) bool {
	return e.Checkpoint != nil || len(e.Sessions)+len(e.Memories)+len(e.Purges)+len(e.Restores)+len(e.Rewrites)+len(e.Wrote)+len(e.Scrubs) > 0
}

// Sessions are the sessions in one's own ledger by their IDs, without what was said in them.
func (l *Ledger) Sessions(ctx context.Context) (map[string]session.Session, error) {
	out := map[string]session.Session{}
	tip, err := l.Check()
	if err != nil || tip == "" {
		return out, err
	}
	err = all(ctx, l.repo, tip, func(_ Commit, e session.Entry) error {
		for _, part := range e.Sessions {
			whole := out[part.ID]
			part.Turns, part.ToolCalls = nil, nil
			whole.Adopt(part)
			out[part.ID] = whole
		}
		return nil
	})
	return out, err
}
