package recall

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
	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/git-rekal/git-rekal/internal/session"
)

// tied says of hits behind commits where the part begins that was captured at them, and how they are tied to
// those that are asked for. What first ties them to one decides: what is said later says nothing of it, but lines that are found later are
// known to be theirs. Without a query the strongest come first.
func tied(ctx context.Context, index *db.DB, hits []found, asked attribution.Revisions, query string) error {
	ties, err := index.Commits(ctx, idsOf(hits))
	asked.Judge(slices.Concat(slices.Collect(maps.Values(ties))...))
	for i, h := range hits {
		first := map[string]session.TieKind{}
		for _, t := range ties[h.id] { // the latest first
			kind, ok := asked.Kind(t)
			if !ok {
				continue
			}
			if first[t.SHA] != session.TieWrote {
				first[t.SHA] = kind
			}
			if asked.Is(t) {
				hits[i].lines = max(hits[i].lines, t.Lines)
			}
			if h.turn == db.First && t.Turn >= 0 {
				hits[i].turn = t.Turn
			}
		}
		hits[i].tie = attribution.Alleged
		for _, kind := range first {
			hits[i].tie = min(hits[i].tie, kind)
		}
	}
	if query == "" {
		slices.SortStableFunc(hits, func(a, b found) int { return cmp.Compare(a.tie, b.tie) })
	}
	return err
}

// abbreviated is a prefix of a commit's OID as git takes it.
var abbreviated = lazy.Expr(`^[0-9a-fA-F]{4,64}$`)

// Bounds of a range.
const (
	maxRange    = 10_000          // commits
	maxSquashes = 100             // of them, the newest, that are looked at for what they were made of
	squashTime  = 2 * time.Second // after which no other one is
)

// commits are what a revision stands for, or each commit of a range: the commit itself, and those that it
// was before and became after an amend or a rebase; and those that it was made of where no
// hook saw it (a squash merge on a server), which is inferred. A SHA whose object is gone
// matches as a prefix where a ledger knows it.
func commits(ctx context.Context, index *db.DB, repo *git.Repo, rev string) (attribution.Revisions, error) {
	starts, err := revisions(ctx, index, repo, rev)
	if err != nil {
		return nil, err
	}
	return families(ctx, index, repo, starts)
}

// families are commits with what they were, became and were made of.
func families(ctx context.Context, index *db.DB, repo *git.Repo, starts []string) (attribution.Revisions, error) {
	family, err := readLineage(ctx, index, repo, starts)
	if err != nil {
		return nil, err
	}
	known, err := index.Behind(ctx, starts)
	if err != nil {
		return nil, err
	}
	out, late, looked := attribution.Revisions{}, time.After(squashTime), 0
	for _, start := range starts {
		a := attribution.NewRevision(start, family.maker(start), family.Family(start))
		select {
		case <-late:
			looked = maxSquashes
		default:
		}
		if len(starts) == 1 || len(known[start]) == 0 && looked < maxSquashes {
			looked++
			if err := madeOf(ctx, index, repo, a); err != nil {
				return nil, err
			}
		}
		out = append(out, a)
	}
	return out, nil
}

// madeOf adds what a commit was made of by a squash merge or the like.
func madeOf(ctx context.Context, index *db.DB, repo *git.Repo, a attribution.Revision) error {
	parts, _, err := squashed(ctx, index, repo, git.OID(a.Start))
	if err != nil || len(parts) == 0 {
		return err
	}
	family, err := readLineage(ctx, index, repo, parts)
	for _, p := range parts {
		a.Add(session.TieInferred, family.made(p, family.Was, family.Is)...)
	}
	return err
}

// revisions are the OIDs of what --commit names: one, or those of a range, the newest first; or the beginning of one that is gone.
func revisions(ctx context.Context, index *db.DB, repo *git.Repo, rev string) ([]string, error) {
	fail := func(err error) ([]string, error) { return nil, &UsageError{fmt.Errorf("%q: %w", rev, err), "commit"} }
	if strings.Contains(rev, "..") {
		ids, err := history.Range(ctx, repo, rev, maxRange+1)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			return fail(ErrNoRevision)
		case len(ids) > maxRange:
			return fail(fmt.Errorf("names more than %d commits", maxRange))
		}
		return ids, nil
	}
	id, err := resolve(repo, rev)
	switch {
	case err == nil:
		return []string{string(id)}, nil
	case abbreviated.MatchString(rev) && !errors.Is(err, git.ErrAmbiguous): // gone, or the name of something else
		start := strings.ToLower(rev)
		known, err := index.KnowsCommit(ctx, start)
		if err != nil || known {
			return []string{start}, err
		}
		return fail(ErrNoRevision)
	case errors.Is(err, git.ErrNotFound):
		return fail(ErrNoRevision)
	}
	return fail(err) // a tree, or a prefix of several commits
}

// resolve asks git for a revision. What ":/text" finds is code, and no commit of a ledger, whose
// subject is that of the code commit.
func resolve(repo *git.Repo, rev string) (git.OID, error) {
	if text, ok := strings.CutPrefix(rev, ":/"); ok {
		if id, err := repo.Resolve("HEAD^{/" + text + "}"); err == nil {
			return id, nil
		}
	}
	return repo.Resolve(rev)
}
