package recall

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/git-rekal/git-rekal/internal/search"
)

// tied says of hits behind commits where the part begins that was captured at them, and how they are tied to
// those that are asked for. What first ties them to one decides: what is said later says nothing of it. Without a
// query those come first that are recorded.
func tied(ctx context.Context, index *db.DB, hits []found, asked attribution.Asked, query string) error {
	ids := make([]string, len(hits))
	for i, h := range hits {
		ids[i] = h.id
	}
	ties, err := index.Commits(ctx, ids)
	asked.Judge(slices.Concat(slices.Collect(maps.Values(ties))...))
	for i, h := range hits {
		first := map[string]attribution.Strength{}
		for _, t := range ties[h.id] { // the latest first
			strength, ok := asked.Strength(t)
			if !ok {
				continue
			}
			first[t.SHA] = strength
			if asked.Is(t) {
				hits[i].lines = max(hits[i].lines, t.Lines)
			}
			if h.turn == search.First && t.Turn >= 0 {
				hits[i].turn = t.Turn
			}
		}
		hits[i].tie = attribution.Alleged
		for _, strength := range first {
			hits[i].tie = min(hits[i].tie, strength)
		}
	}
	if query == "" {
		slices.SortStableFunc(hits, func(a, b found) int { return cmp.Compare(a.tie, b.tie) })
	}
	return err
}

// abbreviated is a prefix of a commit's OID as git takes it.
var abbreviated = lazy.Expr(`^[0-9a-fA-F]{4,40}$`)

// commits are what a revision stands for: the commit itself, and those that it
// was before and became after an amend or a rebase; and those that it was made of where no
// hook saw it (a squash merge on a server), which is inferred. A SHA whose object is gone
// matches as a prefix.
func commits(ctx context.Context, index *db.DB, repo *git.Repo, rev string) (out attribution.Asked, err error) {
	start := strings.ToLower(rev)
	id, err := resolve(repo, rev)
	switch {
	case err == nil:
		start = string(id)
	case abbreviated.MatchString(rev) && !errors.Is(err, git.ErrAmbiguous): // gone, or the name of something else
	case errors.Is(err, git.ErrNotFound):
		return out, &UsageError{fmt.Errorf("%q: %w", rev, ErrNoRevision), "commit"}
	default: // a tree, or a prefix of several commits
		return out, &UsageError{fmt.Errorf("%q: %w", rev, err), "commit"}
	}
	family, err := readLineage(ctx, index, repo, []string{start})
	if err != nil {
		return out, err
	}
	out = attribution.NewAsked(start, makerOf(repo, start), family.Family(start))
	if id == "" {
		return out, nil
	}
	parts, _, err := squashed(ctx, index, repo, id)
	if err != nil || len(parts) == 0 {
		return out, err
	}
	family, err = readLineage(ctx, index, repo, parts)
	for _, p := range parts {
		out.Add(attribution.Inferred, family.made(p, family.Was, family.Is)...)
	}
	return out, err
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
