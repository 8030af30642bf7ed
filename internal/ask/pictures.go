package ask

import (
	"context"
	"slices"

	"github.com/git-rekal/git-rekal/internal/commits"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/session"
)

// BranchCommit is a commit of a branch with the sessions behind it, the strongest tie first.
type BranchCommit struct {
	git.Commit
	Sessions []TiedSession
}

// TiedSession is a session behind a commit.
type TiedSession struct {
	Lane
	Tie session.TieKind
}

// Branch reads the latest commits of HEAD, the newest first.
func (m *Moment) Branch(ctx context.Context, limit int) ([]BranchCommit, error) {
	head, err := m.w.Repo.Head()
	if err != nil || head.OID == "" {
		return nil, err
	}
	ids, err := m.w.Repo.RevList(ctx, string(head.OID), limit)
	if err != nil {
		return nil, err
	}
	oldest := ids[len(ids)-1]
	tied, err := commits.SessionsBehind(ctx, m.DB, m.w.Repo, oldest+".."+ids[0])
	if err != nil {
		return nil, err
	}
	last, err := commits.SessionsBehind(ctx, m.DB, m.w.Repo, oldest)
	if err != nil {
		return nil, err
	}
	by, all := map[string][]commits.TiedSession{}, []string{}
	for _, t := range append(tied, last...) {
		by[t.Commit] = slices.DeleteFunc(t.Sessions, func(s commits.TiedSession) bool {
			return slices.Contains(m.Barred(), s.ID)
		})
		for _, s := range by[t.Commit] {
			all = append(all, s.ID)
		}
	}
	lanes, err := m.Lanes(ctx, all)
	out := make([]BranchCommit, 0, len(ids))
	for i := 0; i < len(ids) && err == nil; i++ {
		c := BranchCommit{}
		c.Commit, err = m.w.Repo.Commit(git.OID(ids[i]))
		for _, s := range by[ids[i]] {
			c.Sessions = append(c.Sessions, TiedSession{lanes[s.ID], s.Kind})
		}
		out = append(out, c)
	}
	return out, err
}
