package capture

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Commits that no hook saw. Gemini CLI switches hooks off, a graphical client may not run them, a binary may be
// missing. The reflogs tell such commits. Each capture notes how far it read the reflogs of HEAD, in all worktrees. A
// later entry of `git commit`, cherry-pick, revert or `git am` was made without a hook, unless HEAD is there now. A
// commit whose session had not come (await.go) counts, too. Each gets the checkpoint that its hook would have made,
// with `via` `import` and the turns up to the second of the commit.
//
// The bounds are those of comparedRangeOf; the next capture goes on. Merges and the picks of a rebase get no
// checkpoint, but their lines are recorded. Without a cache, commits later than the last one that a checkpoint names
// count, within the last 64 KB of the reflog. Where nothing is new, this costs a look at the size of a file. Where no
// reflog is kept, or its worktree was removed since, a commit has its lines and no checkpoint.

// rewritesOfMap are the rewrites of git filter-repo, since the last capture, of commits that the ledger names.
func (g *collector) rewritesOfMap() (out []session.Rewrite) {
	m, fresh := history.FindCommitMap(g.Repo, g.reflogs)
	if !fresh {
		return nil
	}
	err := m.Each(func(old, became git.OID) {
		if key := shaKey(string(old)); g.st.Recorded[key] || len(g.st.Rewrites[key]) > 0 {
			out = append(out, session.Rewrite{Old: string(old), New: string(became)})
		}
	})
	if err == nil { // else the next capture reads it again
		g.reflogs[m.Path] = m.Mark
	}
	return out
}

// missedCommits are the commits of this clone since the last capture that no hook saw, the oldest first, without the
// one for which a hook runs and what was made behind that in its worktree, whose hooks still run; and the rewrites that
// no hook saw. It notes how far it read the reflogs: beyond its bound, the rest is left to the next capture.
func (g *collector) missedCommits(own git.OID, via string) (out []history.Made, rewrites []session.Rewrite) {
	began := g.earliestStart()
	logs := history.Reflogs(g.Repo, g.st.Reflogs)
	var left []history.Made // the commit whose session has not come, and those behind the hook's own
	for i := range logs {
		logs[i].Made = g.unrecordedCommits(logs[i])
		if at := slices.IndexFunc(logs[i].Made, func(m history.Made) bool { return m.OID == own }); at >= 0 &&
			via == session.ViaCommit {
			left = append(left, logs[i].Made[at+1:]...)
		}
		for _, m := range logs[i].Made {
			told := m.OID == own && (via == session.ViaCommit || via == session.ViaRewrite) // by the hook that runs
			if m.Was != "" && !told {
				rewrites = append(rewrites, session.Rewrite{Old: string(m.Was), New: string(m.OID)})
			}
			if m.OID == own && via == session.ViaCommit && g.awaitsSession() {
				left = append(left, m)
			}
			if m.OID != own && !slices.Contains(left, m) && !attribution.IsCommittedBefore(m.When, began) {
				out = append(out, m)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b history.Made) int { return a.When.Compare(b.When) })
	most := min(len(out), comparedRangeOf(via).limit)
	g.reflogs = marksBehind(logs, g.st.Reflogs, append(left, out[most:]...))
	return out[:most], append(rewrites, g.rewritesOfMap()...)
}

// unrecordedCommits are the commits of a reflog that no checkpoint names, without those that were amended right away.
// If nothing says how far the reflog was read before, it counts as read up to the last commit that a checkpoint names.
func (g *collector) unrecordedCommits(log history.Reflog) (out []history.Made) {
	for _, m := range log.Made {
		if g.st.Recorded[shaKey(string(m.OID))] {
			if !log.Follow {
				out = nil
			}
			continue
		}
		if i := slices.IndexFunc(out, func(o history.Made) bool { return o.OID == m.Was }); i >= 0 {
			m.Was = out[i].Was
			out = slices.Delete(out, i, i+1)
		}
		out = append(out, m)
	}
	return out
}

// marksBehind are the marks to store: at the end of each reflog, or before the first commit in rest.
func marksBehind(logs []history.Reflog, before map[string]history.ReflogMark,
	rest []history.Made,
) map[string]history.ReflogMark {
	marks := maps.Clone(before)
	if marks == nil {
		marks = map[string]history.ReflogMark{}
	}
	for _, log := range logs {
		marks[log.Path] = log.Mark
		if i := slices.IndexFunc(log.Made, func(m history.Made) bool {
			return slices.ContainsFunc(rest, func(r history.Made) bool { return r.OID == m.OID })
		}); i >= 0 {
			marks[log.Path] = log.Made[i].Before
		}
	}
	return marks
}

// planMissed plans what the hooks of missed commits would have appended; now is the collector as it is after these.
func (g *collector) planMissed(ctx context.Context,
	missed []history.Made,
) (drafts []session.Entry, now *collector, err error) {
	after := *g
	now = &after
	if len(missed) == 0 {
		return nil, now, nil
	}
	now.st = g.st.clone()
	for _, m := range missed {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		c, err := g.Repo.Commit(m.OID)
		if err != nil || !g.isMine(c) { // the commit is gone, or somebody else's
			continue
		}
		if _, err := g.Repo.Changes(c.OID); err != nil { // objects of it are not here, or damaged
			continue
		}
		_, wrote := g.wroteIn(ctx, c)
		then := now.atCommit(c, wrote)
		entries, _, err := then.planCheckpoint(git.Head{OID: m.OID, Branch: m.Branch}, session.ViaImport,
			then.ofKnownSessions(wrote), nil)
		if err != nil {
			return nil, nil, err
		}
		for _, e := range entries {
			if e.Checkpoint != nil {
				e.Checkpoint.TS = g.now.Add(time.Duration(len(drafts)) * time.Millisecond) // a time of its own keeps the order
			}
			if err := now.st.applyPlanned(g.Repo, e); err != nil {
				return nil, nil, err
			}
			drafts = append(drafts, e)
		}
	}
	now.now = g.now.Add(time.Duration(len(drafts)) * time.Millisecond)
	return drafts, now, nil
}

// atCommit is a collector as it would have been at the time of a commit. It moves the turns up to that time out of g.
func (g *collector) atCommit(c git.Commit, wrote []session.Wrote) *collector {
	then := *g
	then.getenv, then.shells = func(string) string { return "" }, nil // nobody knows in whose shell git ran
	then.now, then.fresh = c.Committer.When, nil
	end := c.Committer.When.Add(time.Second) // git leaves out milliseconds
	var rest []*session.Session
	for _, s := range g.fresh {
		early, late := s.Split(end)
		// Calls after a stored turn have no time of their own; lines that match tell whether they came before the commit.
		if len(early.Turns) == 0 && (len(early.ToolCalls) == 0 || attribution.LinesOf(wrote, string(c.OID), s.ID) == "") {
			rest = append(rest, s)
			continue
		}
		then.fresh = append(then.fresh, &early)
		if len(late.Turns)+len(late.ToolCalls) > 0 {
			rest = append(rest, &late)
		}
	}
	g.fresh = rest
	return &then
}

// ofKnownSessions leaves out lines of sessions of which neither the ledger nor this round holds anything.
func (g *collector) ofKnownSessions(wrote []session.Wrote) []session.Wrote {
	return slices.DeleteFunc(wrote, func(w session.Wrote) bool {
		return g.st.sessionByID(w.Session) == nil &&
			!g.isFresh(w.Session)
	})
}
