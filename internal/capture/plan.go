package capture

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Which commits a capture ties sessions to. New sessions are tied to HEAD. A recent session without new turns is tied, too, if it edited
// what this user's commit changed, before the commit and since the session's last one (attribution.TieKnown). So is the session in whose
// shell git runs, whatever it wrote (who.go). New text is not tied when all that the session edited was committed before: an agent that commits
// by itself says its last words after its own hook has run (attribution.OnlyTalks).

// How many commits a capture looks at, the newest, that came since the last one. What is more at a commit waits for a sync or a
// checkpoint by hand, which look at all refs; what is more there, for init.
const (
	lookedAt      = 10  // at a commit
	lookedAtMerge = 300 // at what brings several
	lookedAtAll   = 1000
)

func scopeOf(via string) scope {
	switch via {
	case session.ViaManual, session.ViaSync:
		return scope{everywhere: true, most: lookedAtAll}
	case session.ViaMerge, session.ViaRewrite:
		return scope{most: lookedAtMerge}
	}
	return scope{most: lookedAt}
}

// checkpoint plans what one capture appends: the rewrites that concern the ledger, what the hooks of commits missed, a checkpoint of
// HEAD, and what sessions wrote in the commits that arrived. Each may be missing.
func (g *collector) checkpoint(ctx context.Context, via string, rewrites []session.Rewrite) ([]session.Entry, error) {
	head, err := g.Repo.Head()
	if err != nil {
		return nil, err
	}
	missed, amends := g.missed(head.OID, via)
	var drafts []session.Entry
	if known := g.knownRewrites(append(amends, rewrites...)); len(known) > 0 {
		drafts = append(drafts, session.Entry{
			Rewrites: known,
			Subject:  fmt.Sprintf("rewrite %.7s to %.7s", known[0].Old, known[len(known)-1].New),
		})
	}
	wrote, err := g.written(ctx, scopeOf(via))
	if err != nil {
		return nil, err
	}
	past, now, err := g.past(ctx, missed)
	if err != nil {
		return nil, err
	}
	var own, others []session.Wrote
	for _, w := range wrote {
		if w.GitSHA == string(head.OID) {
			own = append(own, w)
		} else {
			others = append(others, w)
		}
	}
	entries, rest, err := now.at(head, via, own)
	if err != nil {
		return nil, err
	}
	return slices.Concat(drafts, past, entries, lines(now.st.unsaid(append(others, rest...)))), nil
}

// at plans a checkpoint of a commit, behind the sessions with something new that have nothing to do with it. What sessions wrote in the
// commit is left where there is none.
func (g *collector) at(head git.Head, via string, wrote []session.Wrote) (drafts []session.Entry, rest []session.Wrote, err error) {
	cp := &session.Checkpoint{GitSHA: session.ZeroSHA, GitBranch: head.Branch, UserEmail: g.Email, TS: g.now, Via: via}
	cp.ActorType, cp.AgentID = g.doer()
	subject := "before the first commit"
	tied := g.sessions()
	if head.OID != "" {
		cp.GitSHA = string(head.OID)
		if subject, err = g.tie(cp, head.OID, wrote); err != nil {
			return nil, nil, err
		}
		var apart []session.Session
		if tied, apart = g.parted(cp, wrote); len(apart) > 0 {
			drafts = append(drafts, session.Entry{Sessions: apart, Subject: session.Count(len(apart), "session") + ", tied to no commit"})
		}
	}
	if len(tied)+len(cp.Links) == 0 {
		return drafts, wrote, nil
	}
	return append(drafts, session.Entry{Checkpoint: cp, Sessions: tied, Wrote: g.st.unsaid(wrote), Subject: subject}), nil, nil
}

// written is what sessions wrote in the commits that arrived, the oldest first, as far as the ledgers do not say it.
func (g *collector) written(ctx context.Context, l scope) (out []session.Wrote, err error) {
	commits, err := g.arrived(ctx, l)
	if err != nil {
		return nil, err
	}
	for i, c := range slices.Backward(commits) {
		g.Progress.tell(Comparing, len(commits)-1-i, len(commits))
		_, wrote := g.wroteIn(c)
		out = append(out, g.st.unsaid(wrote)...)
	}
	return out, ctx.Err()
}

// tie gives a checkpoint the files of its code commit, and the sessions without new turns that wrote lines of it or edited them
// earlier. A commit's files are recorded once; a later checkpoint of the same commit (the
// tail of a session, captured by hand) adds only sessions.
func (g *collector) tie(cp *session.Checkpoint, id git.OID, wrote []session.Wrote) (subject string, err error) {
	c, err := g.Repo.Commit(id)
	if err != nil {
		return "", err
	}
	subject = fmt.Sprintf("%.7s %s", id, c.Subject())
	made, workers := g.madeBy(cp.Via, c), g.workers()
	waited := g.isMine(c) && slices.ContainsFunc(workers, func(w attribution.SessionState) bool { return w.Waits(g.now) })
	if g.st.Recorded[shaKey(cp.GitSHA)] || !made && !waited {
		return subject, nil
	}
	changes, err := g.Repo.Changes(id)
	if err != nil {
		return "", err
	}
	if g.isMine(c) {
		idle := slices.DeleteFunc(workers, func(w attribution.SessionState) bool { return g.isFresh(w.ID) })
		cp.Links = attribution.TieKnown(attribution.Committed{At: c.Committer.When, Files: files(changes), Wrote: wrote}, idle, g.now)
	}
	if made || len(cp.Links) > 0 {
		cp.Files, cp.PatchID = files(changes), history.PatchID(g.Repo, c)
	}
	return subject, nil
}

// parted takes apart the sessions of which only talk is new.
func (g *collector) parted(cp *session.Checkpoint, wrote []session.Wrote) (tied, apart []session.Session) {
	all, workers, shells := g.sessions(), g.workers(), g.shells()
	for _, s := range all {
		if !slices.Contains(shells, s.NativeID) && attribution.OnlyTalks(s.ID, attribution.Committed{Files: cp.Files, Wrote: wrote}, workers, all) {
			apart = append(apart, s)
		} else {
			tied = append(tied, s)
		}
	}
	return tied, apart
}

// workers are the sessions that the ledgers know.
func (g *collector) workers() []attribution.SessionState {
	shells, out := g.shells(), make([]attribution.SessionState, 0, len(g.st.Sessions))
	for _, k := range g.st.Sessions {
		out = append(out, attribution.SessionState{
			ID: k.ID, Parent: k.Parent, Last: k.Last, Edited: k.Edited, Pending: k.Pending, Commits: slices.Contains(shells, k.NativeID),
		})
	}
	return out
}

func (g *collector) isFresh(id string) bool {
	return slices.ContainsFunc(g.fresh, func(s *session.Session) bool { return s.ID == id })
}

// madeBy reports whether a commit can be the work of the sessions with something new: it
// is this user's own, and no older than the first of them. A hook that runs because of the
// commit knows the former, and so does a reflog.
func (g *collector) madeBy(via string, c git.Commit) bool {
	switch via {
	case session.ViaCommit, session.ViaMerge, session.ViaAm, session.ViaRewrite, session.ViaImport:
	default:
		if !g.isMine(c) {
			return false
		}
	}
	return slices.ContainsFunc(g.fresh, func(s *session.Session) bool { return !attribution.Before(c.Committer.When, s.FirstTS()) })
}

// knownRewrites keeps the rewrites of commits that the ledger names, chains included, and
// that it does not hold yet.
func (g *collector) knownRewrites(rewrites []session.Rewrite) (out []session.Rewrite) {
	var all []attribution.Rewrite
	for _, r := range rewrites {
		old, now := shaKey(r.Old), shaKey(r.New)
		if !slices.Contains(g.st.Rewrites[now], old) {
			all = append(all, attribution.Rewrite{Old: r.Old, New: r.New, Named: g.st.Recorded[old] || len(g.st.Rewrites[old]) > 0})
		}
	}
	for _, r := range attribution.Counting(all) {
		out = append(out, session.Rewrite{Old: r.Old, New: r.New, TS: g.now})
	}
	return out
}

// sessions are the sessions with something new, by the time of their start; a parent
// starts before what it spawned.
func (g *collector) sessions() []session.Session {
	out := make([]session.Session, len(g.fresh))
	for i, s := range g.fresh {
		out[i] = *s
	}
	slices.SortStableFunc(out, func(a, b session.Session) int {
		return cmp.Or(a.StartedAt.Compare(b.StartedAt), cmp.Compare(a.ID, b.ID))
	})
	return out
}

// files leaves out what no ledger would take: a tree made by hand may hold any name.
func files(changes []git.Change) []session.File {
	var out []session.File
	for _, c := range changes {
		if storable(c.Path) && (c.OldPath == "" || storable(c.OldPath)) {
			out = append(out, session.File{Path: c.Path, OldPath: c.OldPath, Change: c.Kind, Blob: string(c.OID)})
		}
	}
	return out
}

func storable(path string) bool { return session.InTree(path) && len(path) <= session.MaxPath }
