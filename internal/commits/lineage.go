package commits

import (
	"context"
	"slices"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
)

// Lineage reads what amends and rebases made of code commits as it is asked for.
type Lineage struct {
	attribution.Lineage
	repo  *git.Repo
	own   []string        // see attribution.Maker
	asked map[string]bool // commits of which all that is said is here
}

// ReadLineage reads what leads to and from some commits, or beginnings of commits.
func ReadLineage(ctx context.Context, index *db.DB, repo *git.Repo, shas []string) (Lineage, error) {
	own, err := index.OwnLedgers(ctx)
	if err != nil {
		return Lineage{}, err
	}
	l := Lineage{attribution.NewLineage(), repo, own, map[string]bool{}}
	return l, l.Extend(ctx, index, shas)
}

// Extend reads what leads to and from more commits.
func (l Lineage) Extend(ctx context.Context, index *db.DB, shas []string) error {
	shas = slices.DeleteFunc(slices.Clone(shas), func(sha string) bool { return l.asked[sha] })
	for _, sha := range shas {
		l.asked[sha] = true
	}
	rewrites, err := index.RewriteFamilies(ctx, shas)
	l.Add(rewrites)
	return err
}

// FollowFrom lists a commit and the commits that the given rewrites lead to from it. Only rewrites in the ledger of the
// commit's maker count.
func (l Lineage) FollowFrom(sha string, along ...attribution.RewriteMap) []attribution.Commit {
	return l.Follow(sha, l.Maker(sha), along...)
}

// Maker is who made a commit, as far as it is here.
func (l Lineage) Maker(sha string) attribution.Maker {
	c, err := l.repo.Commit(git.OID(sha))
	if err != nil {
		return attribution.Maker{}
	}
	return attribution.Maker{
		Here: true, Author: c.Author.Email, Committer: c.Committer.Email, When: c.Committer.When,
		Own: l.own,
	}
}

// SHAs lists commits, each once.
func SHAs(commits []attribution.Commit) []string {
	var out []string
	for _, c := range commits {
		out = append(out, c.SHA)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// FamilyOf are commits, given by their OIDs or beginnings of OIDs, with the commits that amends and rebases turned into
// them or made of them. Only the ledger of a commit's maker is believed on this.
func FamilyOf(ctx context.Context, index *db.DB, repo *git.Repo, shas []string) (out []attribution.Commit, err error) {
	l, err := ReadLineage(ctx, index, repo, shas)
	if err != nil {
		return nil, err
	}
	for _, sha := range shas {
		by := l.Maker(sha)
		out = append(out, slices.DeleteFunc(l.Family(sha),
			func(c attribution.Commit) bool { return c.Email != "" && !by.Made(c.Email) })...)
	}
	return out, nil
}
