package capture

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/session"
)

// How many commits a capture looks at, the newest, that came since the last one. What is more at a commit waits for a sync or a
// checkpoint by hand, which look at all refs; what is more there, for init.
const (
	lookedAt      = 10  // at a commit
	lookedAtMerge = 300 // at what brings several
	lookedAtAll   = 1000
)

func lookFor(via string) look {
	switch via {
	case session.ViaManual, session.ViaSync:
		return look{everywhere: true, most: lookedAtAll}
	case session.ViaMerge, session.ViaRewrite:
		return look{most: lookedAtMerge}
	}
	return look{most: lookedAt}
}

// checkpoint plans what one capture appends: the rewrites that concern the ledger, the sessions with something new that have
// nothing to do with HEAD, a checkpoint of HEAD with the others, and what sessions wrote in the commits that arrived. Each may be
// missing.
func (g *gathered) checkpoint(ctx context.Context, via string, rewrites []session.Rewrite) ([]session.Entry, error) {
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
	wrote, err := g.written(ctx, lookFor(via))
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
	cp := &session.Checkpoint{GitSHA: session.ZeroSHA, GitBranch: head.Branch, UserEmail: g.Email, TS: g.now, Via: via}
	cp.ActorType, cp.AgentID = g.doer()
	subject := "before the first commit"
	tied := g.sessions()
	if head.OID != "" {
		cp.GitSHA = string(head.OID)
		if subject, err = g.tie(cp, head.OID, own); err != nil {
			return nil, err
		}
		var apart []session.Session
		if tied, apart = g.parted(cp, own); len(apart) > 0 {
			drafts = append(drafts, session.Entry{Sessions: apart, Subject: counted(len(apart), "session") + ", tied to no commit"})
		}
	}
	if len(tied)+len(cp.Links) > 0 {
		drafts = append(drafts, session.Entry{Checkpoint: cp, Sessions: tied, Wrote: own, Subject: subject})
	} else {
		others = append(others, own...)
	}
	return append(drafts, lines(others)...), nil
}

// written is what sessions wrote in the commits that arrived, the oldest first, as far as the ledgers do not say it.
func (g *gathered) written(ctx context.Context, l look) (out []session.Wrote, err error) {
	commits, err := g.arrived(ctx, l)
	if err != nil {
		return nil, err
	}
	for _, c := range slices.Backward(commits) {
		_, wrote := g.wroteIn(c)
		out = append(out, g.st.unsaid(wrote)...)
	}
	return out, ctx.Err()
}

// tie gives a checkpoint the files of its code commit, and the sessions without new turns that wrote lines of it or edited them
// earlier. A commit's files are recorded once; a later checkpoint of the same commit (the
// tail of a session, captured by hand) adds only sessions.
func (g *gathered) tie(cp *session.Checkpoint, id git.OID, wrote []session.Wrote) (subject string, err error) {
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
	cp.Links = g.pendingIn(c, changes, wrote)
	if made || len(cp.Links) > 0 {
		cp.Files, cp.PatchID = files(changes), g.Repo.PatchID(c)
	}
	return subject, nil
}

// parted takes apart the sessions that have nothing to do with a commit: all that they edited was committed before, and what is new
// of them is talk (the last words of an agent that committed by itself, which its hook can't have seen).
func (g *gathered) parted(cp *session.Checkpoint, wrote []session.Wrote) (tied, apart []session.Session) {
	for _, s := range g.sessions() {
		if len(cp.Files) > 0 && g.isDone(s, cp.Files) && !wroteAny(wrote, s.ID) && !g.commits(s.NativeID) {
			apart = append(apart, s)
		} else {
			tied = append(tied, s)
		}
	}
	return tied, apart
}

func wroteAny(wrote []session.Wrote, id string) bool {
	return slices.ContainsFunc(wrote, func(w session.Wrote) bool { return w.Session == id })
}

// isDone reports whether a session, with what it spawned, has edited something, and nothing that waits for a commit. A command that
// names a file of the commit may have edited it.
func (g *gathered) isDone(s session.Session, files []session.File) bool {
	family := map[string]bool{s.ID: true}
	edited := false
	for again := true; again; {
		again = false
		for _, k := range g.st.Sessions {
			if !family[k.ID] && family[k.Parent] {
				family[k.ID], again = true, true
			}
		}
	}
	for _, k := range g.st.Sessions {
		if family[k.ID] {
			if len(k.Pending) > 0 {
				return false
			}
			edited = edited || k.Edited
		}
	}
	return edited && !slices.ContainsFunc(g.fresh, func(f *session.Session) bool {
		return (family[f.ID] || family[f.Parent]) && slices.ContainsFunc(f.ToolCalls, func(c session.ToolCall) bool {
			return c.Act == session.ActEdit && !c.Failed || strings.Contains(c.Cmd, "git commit") || slices.ContainsFunc(files, func(f session.File) bool {
				return strings.Contains(c.Cmd, path.Base(f.Path))
			})
		})
	})
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
		if len(k.Pending) > 0 && g.isRecent(k) || g.commits(k.NativeID) {
			return true
		}
	}
	return false
}

func (g *gathered) isRecent(k *known) bool { return g.now.Sub(k.Last) <= recent }

// pendingIn links the recent sessions without new turns that edited, before the commit was
// made, what it changed, those that wrote lines of it whenever that was, and the one that commits.
func (g *gathered) pendingIn(c git.Commit, changes []git.Change, wrote []session.Wrote) []session.Link {
	if !g.isMine(c) {
		return nil
	}
	var links []session.Link
	for _, k := range g.st.Sessions {
		if g.freshOf(k.Source, k.NativeID) == nil && (wroteAny(wrote, k.ID) || g.commits(k.NativeID) || g.isRecent(k) && k.edited(c, changes)) {
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
