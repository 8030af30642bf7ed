package capture

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/session"
)

// checkpoint plans what one capture appends: the rewrites that concern the ledger, and a
// checkpoint of HEAD with what is new. Both may be missing.
func (g *gathered) checkpoint(via string, rewrites []session.Rewrite) ([]draft, error) {
	var drafts []draft
	if known := g.knownRewrites(rewrites); len(known) > 0 {
		drafts = append(drafts, draft{
			entry:   session.Entry{Rewrites: known},
			subject: fmt.Sprintf("rewrite %.7s to %.7s", known[0].Old, known[len(known)-1].New),
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
	return append(drafts, draft{entry: session.Entry{Checkpoint: cp, Sessions: g.sessions()}, subject: subject}), nil
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
	if g.st.Recorded[shaKey(cp.GitSHA)] || !g.concerns(c) {
		return subject, nil
	}
	changes, err := g.Repo.Changes(id)
	if err != nil {
		return "", err
	}
	cp.Links = g.pendingIn(changes)
	if len(g.fresh) > 0 || len(cp.Links) > 0 {
		cp.Files = files(changes)
	}
	return subject, nil
}

// concerns reports whether a commit can have come of what is new or pending here: it was
// made after the first new turn, or something that was edited waits for a commit.
func (g *gathered) concerns(c git.Commit) bool {
	for _, s := range g.fresh {
		if !c.Committer.When.Before(s.FirstTS().Truncate(time.Second)) {
			return true
		}
	}
	for _, k := range g.st.Sessions {
		if len(k.Pending) > 0 && g.isRecent(k) {
			return true
		}
	}
	return false
}

func (g *gathered) isRecent(k *known) bool { return g.now.Sub(k.Last) <= recent }

// pendingIn links the recent sessions without new turns whose edits the changes hold.
func (g *gathered) pendingIn(changes []git.Change) []session.Link {
	changed := map[string]bool{}
	for _, c := range changes {
		changed[c.Path], changed[c.OldPath] = true, true
	}
	var links []session.Link
	for _, k := range g.st.Sessions {
		if g.isRecent(k) && g.freshOf(k.Source, k.NativeID) == nil &&
			slices.ContainsFunc(k.Pending, func(p string) bool { return changed[p] }) {
			links = append(links, session.Link{Session: k.ID})
		}
	}
	slices.SortFunc(links, func(a, b session.Link) int { return cmp.Compare(a.Session, b.Session) })
	return links
}

// knownRewrites keeps the rewrites of commits that the ledger names, chains included.
func (g *gathered) knownRewrites(rewrites []session.Rewrite) []session.Rewrite {
	known := map[string]bool{}
	var out []session.Rewrite
	for _, r := range rewrites {
		if r.Old != r.New && (known[r.Old] || g.st.Recorded[shaKey(r.Old)]) && !g.st.Recorded[shaKey(r.New)] {
			known[r.New] = true
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
