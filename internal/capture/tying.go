package capture

import (
	"cmp"
	"slices"
	"time"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/internal/session"
)

// tying gathers what is known of sessions and one commit; attribution.Evidence decides.
type tying struct {
	*collector
	commit    git.Commit
	via       string
	changes   []git.Change
	files     []session.File            // of them those that the ledger can hold
	wrote     []session.Wrote           // in the commit
	elsewhere []session.Wrote           // what this capture found in other commits
	told      map[string]string         // by sessionKey: how its records say that it made the commit
	compared  map[string]*history.Lines // by path: see added
}

// links are what the checkpoint of the commit says of sessions: of those with new turns if it may be their work, of the
// others if this user made it.
func (t *tying) links(ownWork, mine bool) (out []session.Link) {
	for _, s := range t.fresh {
		if ownWork {
			out = append(out, t.evidence(*s, t.st.sessionByID(s.ID)).Links(s.ID, true)...)
		}
	}
	for _, k := range t.st.Sessions {
		if mine && !t.isFresh(k.ID) {
			out = append(out, t.evidence(session.Session{ID: k.ID, Source: k.Source, NativeID: k.NativeID}, k).Links(k.ID,
				false)...)
		}
	}
	slices.SortStableFunc(out, func(a, b session.Link) int { return cmp.Compare(a.Session, b.Session) })
	return out
}

// evidence is what is known of a session, of which the ledger holds k and part is new, and the commit.
func (t *tying) evidence(part session.Session, k *ledgerSession) (e attribution.Evidence) {
	e = attribution.Evidence{
		session.TieWrote:  attribution.LinesOf(t.wrote, string(t.commit.OID), part.ID),
		session.TieMade:   t.madeBy(part),
		session.TieTalked: attribution.ActiveIn(part),
	}
	if slices.Contains(namedInMessage(t.commit), part.NativeID) {
		e[session.TieNamed] = attribution.ByTrailer
	}
	if t.isFresh(part.ID) || attribution.IsRecent(k.Last, t.now) {
		e[session.TieEdited] = t.edited(part, k)
	}
	return e
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// edited is a call by which a session wrote to a file of the commit that no commit took since; "" for none.
func (t *tying) edited(part session.Session, k *ledgerSession) string {
	for _, f := range t.files {
		at, by := waitingEdit(f, part, k)
		if at.IsZero() || attribution.IsCommittedBefore(t.commit.Committer.When, at) {
			continue
		}
		if (k != nil || !t.wasTaken(part.ID, f, at)) && !t.isOfOthers(part.ID, f) {
			return by
		}
	}
	return ""
}

// isOfOthers reports whether all that the commit added to a file is known to be of other sessions: the edit of this one
// waits for another commit.
func (t *tying) isOfOthers(id string, f session.File) bool {
	var wrote []session.Wrote
	for _, w := range t.wrote {
		if w.Path == f.Path && len(w.Lines) > 0 {
			wrote = append(wrote, w)
		}
	}
	if len(wrote) == 0 || slices.ContainsFunc(wrote, func(w session.Wrote) bool { return w.Session == id }) {
		return false
	}
	lines := t.added(f.Path)
	return lines != nil && !slices.ContainsFunc(lines.Added, func(at int) bool {
		isWritten := func(w session.Wrote) bool { return w.Lines.Has(at + 1) }
		return !session.IsFiller(lines.Text[at]) && !slices.ContainsFunc(wrote, isWritten)
	})
}

// added are the lines that the commit added to a file; nil where that can't be known.
func (t *tying) added(path string) *history.Lines {
	lines, known := t.compared[path]
	if known {
		return lines
	}
	if i := slices.IndexFunc(t.changes, func(c git.Change) bool { return c.Path == path }); i >= 0 {
		if all, err := t.addedLines(t.commit, t.changes[i]); err == nil {
			lines = &all
		}
	}
	t.compared[path] = lines
	return lines
}

// waitingEdit is the time of a session's last edit of a file, and which call that is; zero for none.
func waitingEdit(f session.File, part session.Session, k *ledgerSession) (at time.Time, by string) {
	if k != nil {
		if at = maxTime(k.Pending[f.Path], k.Pending[f.OldPath]); !at.IsZero() {
			by = f.Path
		}
	}
	for _, c := range part.ToolCalls {
		if p := c.EditedPath(); p != "" && (p == f.Path || p == f.OldPath) {
			at, by = maxTime(at, editTime(part, c)), attribution.ByCall(c)
		}
	}
	return at, by
}

// wasTaken reports whether a commit before this one holds an edit: one that brought lines of the session into the file
// after it, as is found only now. A session may be seen long after its commits.
func (t *tying) wasTaken(id string, f session.File, edit time.Time) bool {
	return slices.ContainsFunc(t.elsewhere, func(w session.Wrote) bool {
		if w.Session != id || w.Path != f.Path && w.Path != f.OldPath || len(w.Lines) == 0 {
			return false
		}
		c, err := t.Repo.Commit(git.OID(w.GitSHA))
		return err == nil && !attribution.IsCommittedBefore(c.Committer.When, edit)
	})
}

// mayHaveMade reports whether a commit made now could be the work of a session without new turns.
func (g *collector) mayHaveMade(k *ledgerSession) bool {
	return slices.Contains(g.shells, k.NativeID) || len(k.Pending) > 0 && attribution.IsRecent(k.Last, g.now)
}
