package capture

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/session"
)

// checkpoint plans what one capture appends: the rewrites that concern the ledger, and a
// checkpoint of HEAD with what is new. Both may be missing.
func (g *gathered) checkpoint(via string, rewrites []session.Rewrite) ([]session.Entry, error) {
	var drafts []session.Entry
	if known := g.knownRewrites(rewrites); len(known) > 0 {
		drafts = append(drafts, session.Entry{
			Rewrites: known,
			Subject:  fmt.Sprintf("rewrite %.7s to %.7s", known[0].Old, known[len(known)-1].New),
		})
	}
	head, err := g.Repo.Head()
	if err != nil {
		return nil, err
	}
	cp := &session.Checkpoint{
		GitSHA: session.ZeroSHA, GitBranch: head.Branch, UserEmail: g.Email, TS: g.now,
		ActorType: g.doer(), Via: via,
	}
	subject := "before the first commit"
	if head.OID != "" {
		cp.GitSHA = string(head.OID)
		if subject, err = g.tie(cp, head.OID); err != nil {
			return nil, err
		}
	}
	if len(g.fresh) == 0 && len(cp.Links) == 0 {
		return drafts, nil
	}
	return append(drafts, session.Entry{Checkpoint: cp, Sessions: g.sessions(), Subject: subject}), nil
}

// tie gives a checkpoint the files of its code commit, and the sessions that edited them
// earlier. A commit's files are recorded once; a later checkpoint of the same commit (the
// tail of a session, captured by hand) adds only sessions.
func (g *gathered) tie(cp *session.Checkpoint, id git.OID) (subject string, err error) {
	c, err := g.Repo.Commit(id)
	if err != nil {
		return "", err
	}
	subject = fmt.Sprintf("%.7s %s", id, c.Subject())
	made := g.madeBy(cp.Via, c)
	if g.st.Recorded[shaKey(cp.GitSHA)] || !made && !g.waiting(c) {
		return subject, nil
	}
	changes, err := g.Repo.Changes(id)
	if err != nil {
		return "", err
	}
	cp.Links = g.pendingIn(c, changes)
	if made || len(cp.Links) > 0 {
		cp.Files, cp.PatchID = files(changes), g.Repo.PatchID(c)
	}
	return subject, nil
}

// madeBy reports whether a commit can be the work of the sessions with something new: it
// is this user's own, and no older than the first of them. A hook that runs because of the
// commit knows the former.
func (g *gathered) madeBy(via string, c git.Commit) bool {
	switch via {
	case session.ViaCommit, session.ViaMerge, session.ViaAm, session.ViaRewrite:
	default:
		if !g.isMine(c) {
			return false
		}
	}
	return slices.ContainsFunc(g.fresh, func(s *session.Session) bool { return !before(c.Committer.When, s.FirstTS()) })
}

// waiting reports whether an edit of a recent session waits for a commit, and this one can
// be it.
func (g *gathered) waiting(c git.Commit) bool {
	if !g.isMine(c) {
		return false
	}
	for _, k := range g.st.Sessions {
		if len(k.Pending) > 0 && g.isRecent(k) {
			return true
		}
	}
	return false
}

func (g *gathered) isRecent(k *known) bool { return g.now.Sub(k.Last) <= recent }

// pendingIn links the recent sessions without new turns that edited, before the commit was
// made, what it changed.
func (g *gathered) pendingIn(c git.Commit, changes []git.Change) []session.Link {
	if !g.isMine(c) {
		return nil
	}
	var links []session.Link
	for _, k := range g.st.Sessions {
		if g.isRecent(k) && g.freshOf(k.Source, k.NativeID) == nil && k.edited(c, changes) {
			links = append(links, session.Link{Session: k.ID})
		}
	}
	slices.SortFunc(links, func(a, b session.Link) int { return cmp.Compare(a.Session, b.Session) })
	return links
}

// edited reports whether a pending edit of the session is in a commit's changes.
func (k *known) edited(c git.Commit, changes []git.Change) bool {
	return slices.ContainsFunc(changes, func(ch git.Change) bool {
		for _, path := range []string{ch.Path, ch.OldPath} {
			if at, ok := k.Pending[path]; ok && !before(c.Committer.When, at) {
				return true
			}
		}
		return false
	})
}

// knownRewrites keeps the rewrites of commits that the ledger names, chains included, and
// that it does not hold yet.
func (g *gathered) knownRewrites(rewrites []session.Rewrite) []session.Rewrite {
	known := map[uint64]bool{}
	var out []session.Rewrite
	for _, r := range rewrites {
		old, new := shaKey(r.Old), shaKey(r.New)
		if old == new || slices.Contains(g.st.Rewrites[new], old) {
			continue
		}
		if known[old] || len(g.st.Rewrites[old]) > 0 || g.st.Recorded[old] {
			known[new] = true
			r.TS = g.now
			out = append(out, r)
		}
	}
	return out
}

// doer is who made the checkpoint: an agent, when nothing but automated runs stands
// behind it.
func (g *gathered) doer() string {
	if g.Actor != "" {
		return g.Actor
	}
	for _, s := range g.fresh {
		if s.ActorType == session.ActorHuman {
			return session.ActorHuman
		}
	}
	if g.CI || len(g.fresh) > 0 {
		return session.ActorAgent
	}
	return session.ActorHuman
}

// sessions are the sessions with something new, by the time of their start; a parent
// starts before what it spawned.
func (g *gathered) sessions() []session.Session {
	out := make([]session.Session, len(g.fresh))
	for i, s := range g.fresh {
		out[i] = *s
	}
	slices.SortStableFunc(out, func(a, b session.Session) int {
		return cmp.Or(a.StartedAt.Compare(b.StartedAt), cmp.Compare(a.ID, b.ID))
	})
	return out
}

func files(changes []git.Change) []session.File {
	out := make([]session.File, len(changes))
	for i, c := range changes {
		out[i] = session.File{Path: c.Path, OldPath: c.OldPath, Change: c.Kind, Blob: string(c.OID)}
	}
	return out
}
