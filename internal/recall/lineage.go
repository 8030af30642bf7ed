package recall

import (
	"context"
	"slices"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
)

// lineage reads what amends and rebases made of code commits as it is asked for.
type lineage struct {
	attribution.Lineage
	repo  *git.Repo
	own   []string        // see attribution.Maker
	asked map[string]bool // commits of which all that is said is here
}

// readLineage reads what leads to and from some commits, or beginnings of commits.
func readLineage(ctx context.Context, index *db.DB, repo *git.Repo, shas []string) (lineage, error) {
	own, err := index.Own(ctx)
	if err != nil {
		return lineage{}, err
	}
	l := lineage{attribution.NewLineage(), repo, own, map[string]bool{}}
	return l, l.extend(ctx, index, shas)
}

// extend reads what leads to and from more commits.
func (l lineage) extend(ctx context.Context, index *db.DB, shas []string) error {
	shas = slices.DeleteFunc(slices.Clone(shas), func(sha string) bool { return l.asked[sha] })
	for _, sha := range shas {
		l.asked[sha] = true
	}
	rewrites, err := index.Rewrites(ctx, shas)
	l.Add(rewrites)
	return err
}

// made lists a commit, and where ways lead from it by the word of who made it: what others say of it explains no line.
func (l lineage) made(sha string, along ...attribution.RewriteMap) []attribution.Commit {
	return l.From(sha, l.maker(sha), along...)
}

// maker is who made a commit, as far as it is here.
func (l lineage) maker(sha string) attribution.Maker {
	c, err := l.repo.Commit(git.OID(sha))
	if err != nil {
		return attribution.Maker{}
	}
	return attribution.Maker{Here: true, Author: c.Author.Email, Committer: c.Committer.Email, When: c.Committer.When, Own: l.own}
}

// shasOf lists commits, each once.
func shasOf(commits []attribution.Commit) []string {
	var out []string
	for _, c := range commits {
		out = append(out, c.SHA)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
