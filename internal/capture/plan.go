package capture

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Which commits a capture ties sessions to: sessions with new turns to the commit for which the hook runs, other
// sessions to that if they wrote something that it took, or if git runs below them (tying.go).

// How many commits since the last capture it compares with edits, the newest ones, by what started it. Older ones are
// left to a sync or a checkpoint by hand, which look at all refs, or to init.
const (
	commitsAtHook  = 10  // in the hook of a commit
	commitsAtMerge = 300 // in a hook that may bring several commits
	commitsAtSync  = 1000
)

func comparedRangeOf(via string) comparedRange {
	switch via {
	case session.ViaManual, session.ViaSync:
		return comparedRange{allRefs: true, limit: commitsAtSync}
	case session.ViaMerge, session.ViaRewrite:
		return comparedRange{limit: commitsAtMerge}
	}
	return comparedRange{limit: commitsAtHook}
}

// planCapture plans the entries that one capture appends: rewrites that concern the ledger, checkpoints that no hook
// made, a checkpoint of HEAD, and which lines sessions wrote in commits that arrived. Each may be missing.
func (g *collector) planCapture(ctx context.Context, via string, rewrites []session.Rewrite) ([]session.Entry, error) {
	head, err := g.Repo.Head()
	if err != nil {
		return nil, err
	}
	head.OID = g.ownCommit(ctx, head.OID, via)
	missed, unseen := g.missedCommits(head.OID, via)
	var drafts []session.Entry
	if known := g.knownRewrites(append(unseen, rewrites...)); len(known) > 0 {
		drafts = append(drafts, session.Entry{
			Rewrites: known,
			Subject:  fmt.Sprintf("rewrite %.7s to %.7s", known[0].Old, known[len(known)-1].New),
		})
	}
	wrote, err := g.wroteInArrived(ctx, comparedRangeOf(via))
	if err != nil {
		return nil, err
	}
	past, afterMissed, err := g.planMissed(ctx, missed)
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
	entries, rest, err := afterMissed.planCheckpoint(head, via, own, others)
	if err != nil {
		return nil, err
	}
	told, err := afterMissed.planTold(ctx, entries)
	if err != nil {
		return nil, err
	}
	return slices.Concat(drafts, past, entries, told, wroteEntries(afterMissed.st.unrecorded(append(others, rest...)))),
		nil
}

// planCheckpoint plans a checkpoint of HEAD, with what sessions wrote in its commit; elsewhere is what they wrote in
// other commits, as is found now. If there is nothing to tie to it, it plans none, and rest is wrote.
func (g *collector) planCheckpoint(head git.Head, via string, wrote,
	elsewhere []session.Wrote,
) (drafts []session.Entry, rest []session.Wrote, err error) {
	cp := &session.Checkpoint{GitSHA: session.ZeroSHA, GitBranch: head.Branch, UserEmail: g.Email, TS: g.now, Via: via}
	cp.ActorType, cp.AgentID = g.checkpointActor()
	subject := "before the first commit"
	if head.OID != "" {
		cp.GitSHA = string(head.OID)
		if subject, err = g.tieToCommit(cp, head.OID, wrote, elsewhere); err != nil {
			return nil, nil, err
		}
		if len(cp.Files) > 0 { // the commit is the work of what is new
			_, named, _ := strings.Cut(subject, " ")
			for _, s := range g.fresh {
				g.titleByCommit(s, named)
			}
		}
	}
	if len(g.fresh)+len(cp.Links) == 0 {
		return nil, wrote, nil
	}
	e := session.Entry{Checkpoint: cp, Sessions: g.sessions(), Wrote: g.st.unrecorded(wrote), Subject: subject}
	if len(cp.Links) > 0 {
		e.Needs = versionWithTies
	}
	return []session.Entry{e}, nil, nil
}

// titleByCommit gives a session without a title the subject of the first commit behind which it stands.
func (g *collector) titleByCommit(s *session.Session, subject string) {
	if k := g.st.Sessions[sessionKey(s.Source, s.NativeID)]; k == nil ||
		k.Title != session.Scrubbed && !session.IsInformative(k.Title) {
		s.TakeTitleOfCommit(subject)
	}
}

// wroteInArrived is which lines sessions wrote in the commits that arrived, the oldest first, without what the ledgers
// record already.
func (g *collector) wroteInArrived(ctx context.Context, l comparedRange) (out []session.Wrote, err error) {
	commits, err := g.commitsToCompare(ctx, l)
	if err != nil {
		return nil, err
	}
	for i, c := range slices.Backward(commits) {
		g.Progress.report(Comparing, len(commits)-1-i, len(commits))
		_, wrote := g.wroteIn(ctx, c)
		out = append(out, g.st.unrecorded(wrote)...)
	}
	return out, ctx.Err()
}

// tieToCommit gives a checkpoint the files of its code commit, and what ties sessions to that. A commit's files are
// recorded once; a later checkpoint of the same commit (the tail of a session, captured by hand) adds only sessions,
// and says if its hook runs below one that was not known to have made it.
func (g *collector) tieToCommit(cp *session.Checkpoint, id git.OID, wrote,
	elsewhere []session.Wrote,
) (subject string, err error) {
	c, err := g.Repo.Commit(id)
	if err != nil {
		return "", err
	}
	subject = fmt.Sprintf("%.7s %s", id, c.Subject())
	if g.st.Recorded[shaKey(cp.GitSHA)] {
		cp.Links = g.st.untied(cp.GitSHA, g.madeInShell(cp.Via))
		return subject, nil
	}
	ownWork, mine := g.isOwnWork(cp.Via, c), g.isMine(c)
	if !ownWork && (!mine || len(wrote)+len(namedInMessage(c)) == 0 &&
		!slices.ContainsFunc(slices.Collect(maps.Values(g.st.Sessions)), g.mayHaveMade)) {
		return subject, nil
	}
	changes, err := g.Repo.Changes(id)
	if err != nil {
		return "", err
	}
	t := &tying{
		collector: g, commit: c, via: cp.Via, changes: changes, files: storableFiles(changes),
		wrote: wrote, elsewhere: elsewhere, told: g.makersTold(c), compared: map[string]*history.Lines{},
	}
	cp.Links = t.links(ownWork, mine)
	if ownWork || len(cp.Links) > 0 {
		cp.Files, cp.PatchID = t.files, history.PatchID(g.Repo, c)
	}
	return subject, nil
}

func (g *collector) isFresh(id string) bool {
	return slices.ContainsFunc(g.fresh, func(s *session.Session) bool { return s.ID == id })
}

// isOwnWork reports whether a commit can be the work of the sessions with new turns: this user
// made it, after the first of these turns. For a hook of the commit itself, and for a reflog, the user need
// not be compared; a merge may be a pull of what others made.
func (g *collector) isOwnWork(via string, c git.Commit) bool {
	switch via {
	case session.ViaCommit, session.ViaAm, session.ViaRewrite, session.ViaImport:
	default:
		if !g.isMine(c) {
			return false
		}
	}
	return slices.ContainsFunc(g.fresh,
		func(s *session.Session) bool { return !attribution.IsCommittedBefore(c.Committer.When, s.FirstTS()) })
}

// knownRewrites keeps the rewrites of commits that the ledger names, directly or by rewrites, that it does not record
// yet, and whose old commit is not still there.
func (g *collector) knownRewrites(rewrites []session.Rewrite) (out []session.Rewrite) {
	var all []attribution.Rewrite
	for _, r := range rewrites {
		became, ok := history.Became(g.Repo, git.OID(r.Old), git.OID(r.New))
		r.New = string(became)
		old, now := shaKey(r.Old), shaKey(r.New)
		if ok && !slices.Contains(g.st.Rewrites[now], old) {
			all = append(all, attribution.Rewrite{
				Old: r.Old, New: r.New,
				Named: g.st.Recorded[old] || len(g.st.Rewrites[old]) > 0,
			})
		}
	}
	for _, r := range attribution.RewritesThatCount(all) {
		out = append(out, session.Rewrite{Old: r.Old, New: r.New, TS: g.now})
	}
	return out
}

// sessions are the sessions with new turns, calls or titles, by the time of their start; a parent
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

// storableFiles are changes as the ledger stores them, without paths that it refuses: a tree made by hand may hold any
// name.
func storableFiles(changes []git.Change) []session.File {
	var out []session.File
	for _, c := range changes {
		if storable(c.Path) && (c.OldPath == "" || storable(c.OldPath)) {
			out = append(out, session.File{Path: c.Path, OldPath: c.OldPath, Change: c.Kind, Blob: string(c.OID)})
		}
	}
	return out
}

func storable(path string) bool { return session.IsPathInTree(path) && len(path) <= session.MaxPath }
