// Package commits tells which commits are meant by a revision, and which sessions stand behind them.
//
// In: a revision or range, an open index, the repository. Out: each commit with what it was before and became after
// amends and rebases, and what it was made of where no hook saw it (squash.go). It reads only.
package commits

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/git/history"
	"github.com/git-rekal/git-rekal/internal/name"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Bounds of a range.
const (
	maxRange    = 10_000          // commits
	maxMerged   = 500             // of a merge, the newest
	maxSquashes = 100             // of them, the newest, that are looked at for what they were made of
	squashTime  = 2 * time.Second // after which no other one is
)

// FindRevisions are what a revision stands for, or each commit of a range: the commit itself, and those that it
// was before and became after an amend or a rebase; and those that it was made of where no
// hook saw it (a squash merge on a server), which is inferred. A SHA whose object is gone
// matches as a prefix where a ledger knows it.
func FindRevisions(ctx context.Context, index *db.DB, repo *git.Repo, rev string) (attribution.Revisions, error) {
	starts, err := Revisions(ctx, index, repo, rev)
	if err != nil {
		return nil, err
	}
	return readFamilies(ctx, index, repo, starts)
}

// readFamilies are commits with what they were, became and were made of.
func readFamilies(ctx context.Context, index *db.DB, repo *git.Repo, starts []string) (attribution.Revisions, error) {
	family, err := ReadLineage(ctx, index, repo, starts)
	if err != nil {
		return nil, err
	}
	known, err := index.TiesOfCommits(ctx, starts)
	if err != nil {
		return nil, err
	}
	out, late, looked := attribution.Revisions{}, time.After(squashTime), 0
	for _, start := range starts {
		a := attribution.NewRevision(start, family.Maker(start), family.Family(start))
		select {
		case <-late:
			looked = maxSquashes
		default:
		}
		if len(starts) == 1 || len(known[start]) == 0 && looked < maxSquashes {
			looked++
			if err := addSquashed(ctx, index, repo, a); err != nil {
				return nil, err
			}
		}
		out = append(out, a)
	}
	return out, nil
}

// addSquashed adds what a commit was made of by a squash merge or the like.
func addSquashed(ctx context.Context, index *db.DB, repo *git.Repo, a attribution.Revision) error {
	parts, _, err := SquashedFrom(ctx, index, repo, git.OID(a.SHAPrefix))
	if err != nil || len(parts) == 0 {
		return err
	}
	family, err := ReadLineage(ctx, index, repo, parts)
	for _, p := range parts {
		a.Add(session.TieInferred, family.FollowFrom(p, family.Predecessors, family.Successors)...)
	}
	return err
}

// withMerged is a commit or, of a merge, also the commits that it brought into its first parent, the newest first.
func withMerged(ctx context.Context, repo *git.Repo, id git.OID) ([]string, error) {
	c, err := repo.Commit(id)
	if err != nil || len(c.Parents) < 2 {
		return []string{string(id)}, nil //nolint:nilerr // what is missing of it is told elsewhere
	}
	ids, err := repo.RevList(ctx, fmt.Sprintf("%s..%s", c.Parents[0], id), maxMerged)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil: // a shallow clone ends there
		return []string{string(id)}, nil
	}
	return ids, nil
}

// Revisions are the OIDs of what --commit names: one, those that it merged, or those of a range, the newest first; or
// the beginning of one that is gone.
func Revisions(ctx context.Context, index *db.DB, repo *git.Repo, rev string) ([]string, error) {
	fail := func(err error) ([]string, error) {
		return nil, name.WrongFilter("commit", fmt.Errorf("%q: %w", rev, err))
	}
	if strings.Contains(rev, "..") {
		ids, err := repo.RevList(ctx, rev, maxRange+1)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			return fail(name.ErrNoRevision)
		case len(ids) > maxRange:
			return fail(fmt.Errorf("names more than %d commits", maxRange))
		}
		return ids, nil
	}
	id, err := name.Commit(repo, rev)
	switch {
	case err == nil:
		return withMerged(ctx, repo, id)
	case name.LooksLikeCommit(rev) && !errors.Is(err, git.ErrAmbiguous): // gone, or the name of something else
		start := strings.ToLower(rev)
		known, err := index.KnowsCommit(ctx, start)
		if err != nil || known {
			return []string{start}, err
		}
		return fail(name.ErrNoRevision)
	case errors.Is(err, git.ErrNotFound):
		return fail(name.ErrNoRevision)
	}
	return fail(err) // a tree, or a prefix of several commits
}

// UpTo are the commits of a range, or a revision with all before it: of these the newest that a range may have, as what
// is logged is the newest.
func UpTo(ctx context.Context, index *db.DB, repo *git.Repo, rev string) (attribution.Revisions, error) {
	if strings.Contains(rev, "..") {
		return FindRevisions(ctx, index, repo, rev)
	}
	starts, err := repo.RevList(ctx, rev, maxRange)
	if err != nil { // gone, and a ledger may know it
		return FindRevisions(ctx, index, repo, rev)
	}
	return readFamilies(ctx, index, repo, starts)
}

// Successors are what commits became at last by amends and rebases, in the ledger of an address: of those that were
// rewritten, but for one that a branch, tag or HEAD leads to while none leads to its successor.
func Successors(ctx context.Context, index *db.DB, repo *git.Repo, memory history.Memory,
	shas []string,
) (map[attribution.Commit]string, error) {
	became, err := index.BecameAtLast(ctx, shas)
	if err != nil || len(became) == 0 {
		return map[attribution.Commit]string{}, err
	}
	var ids []git.OID
	for was, sha := range became {
		ids = append(ids, git.OID(was.SHA), git.OID(sha))
	}
	missing := repo.MissingObjects(ids)
	lost, err := history.Unreached(ctx, repo, ids, memory)
	stands := func(sha string) bool { return !missing[git.OID(sha)] && !lost[git.OID(sha)] }
	maps.DeleteFunc(became, func(was attribution.Commit, sha string) bool { return stands(was.SHA) && !stands(sha) })
	return became, err
}

// OfSession lists the commits of a session, with what amends and rebases made of them at last: first the commits that
// this clone has, then the others. It leaves out commits that no branch, tag or HEAD leads to.
func OfSession(ctx context.Context, index *db.DB, repo *git.Repo, ties []attribution.Tie) ([]result.Commit, error) {
	shas, now := make([]string, len(ties)), make([]git.OID, len(ties))
	for i, c := range ties {
		shas[i] = c.SHA
	}
	became, err := index.BecameAtLast(ctx, shas)
	if err != nil {
		return nil, err
	}
	out, best := make([]result.Commit, len(ties)), map[git.OID]session.TieKind{}
	for i, c := range ties {
		out[i] = result.Commit{Commit: c.SHA, Checkpoint: c.Checkpoint, TS: result.Time(c.TS)}
		if sha := became[attribution.Commit{Email: c.Email, SHA: c.SHA}]; sha != c.SHA {
			out[i].Became = sha
		}
		now[i] = git.OID(cmp.Or(out[i].Became, c.SHA))
		if was, ok := best[now[i]]; !ok || c.Kind < was {
			best[now[i]] = c.Kind
		}
	}
	missing := repo.MissingObjects(now)
	lost, err := history.Unreached(ctx, repo, now, nil)
	if err != nil {
		return nil, err
	}
	for i := range out {
		out[i].Missing = missing[now[i]] && now[i] != session.ZeroSHA
		out[i].Tie, out[i].Inferred = best[now[i]].String(), best[now[i]].IsWeak()
	}
	out = slices.DeleteFunc(out, func(c result.Commit) bool { return lost[git.OID(cmp.Or(c.Became, c.Commit))] })
	here := slices.DeleteFunc(slices.Clone(out), func(c result.Commit) bool { return c.Missing })
	return append(here, slices.DeleteFunc(out, func(c result.Commit) bool { return !c.Missing })...), nil
}
