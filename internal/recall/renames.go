package recall

import (
	"context"
	"maps"
	"slices"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/git"
	"github.com/git-rekal/git-rekal/internal/name"
)

// A pattern is matched with the table paths, each path once, and not with the tool calls. A name that matches counts
// for the names that its file had before and has had since. The table renames holds those that checkpoints tell. Git is
// asked for others, in the commit that is checked out (as of a moment, in its code commit) and its last 256 first
// parents: what became of names that are gone, and how names of today came about. An expression that matches more than
// 20 files of today, or a commit of more than 20,000 files, asks git less.

// maxFollowed is how many names git is asked for; a pattern that matches more tells no file from another.
const maxFollowed = 20

// names are the names that files followed each other by.
type names struct{ newer, older map[string][]string }

func (n names) addRename(old, now string) {
	n.newer[old], n.older[now] = append(n.newer[old], now), append(n.older[now], old)
}

// otherNames are what files were called before and are called since that a pattern matches by one of their names, as
// ledgers and git know it. Some says whether any path is meant.
func otherNames(ctx context.Context, index *db.DB, repo *git.Repo, req Request, p *db.Paths) (found bool, err error) {
	matches, err := p.Matcher()
	if err != nil {
		return false, name.WrongFilter("file", err)
	}
	renames, err := index.Renames(ctx)
	if err != nil {
		return false, err
	}
	n := names{map[string][]string{}, map[string][]string{}}
	for _, r := range renames {
		n.addRename(r.Old, r.New)
	}
	touched, found, err := index.PathsLike(ctx, *p, maxFollowed)
	if err != nil {
		return false, err
	}
	if err := n.addGitRenames(ctx, index, repo, req, matches, touched); err != nil {
		return false, err
	}
	p.Names = append(followRenames(n.newer, matches), followRenames(n.older, matches)...)
	return found || len(p.Names) > 0, nil
}

// addGitRenames adds the renames that no checkpoint tells: of names that are gone, and those by which files came to
// their names of today.
func (n names) addGitRenames(ctx context.Context, index *db.DB, repo *git.Repo, req Request,
	matches func(path string) bool, touched []string,
) error {
	now, err := contentAsOf(ctx, index, repo, req)
	if err != nil || now == nil {
		return err
	}
	defer now.Close()
	known := slices.DeleteFunc(append(touched, followRenames(n.newer, matches)...),
		func(name string) bool { return n.newer[name] != nil })
	if gone := slices.DeleteFunc(known[:min(len(known), maxFollowed)], now.Has); len(gone) > 0 {
		for from, to := range now.NewNames(gone) {
			n.addRename(from, to)
		}
	}
	if called := now.FilesMatching(matches); len(called) > 0 {
		for to, from := range now.FormerNames(called) {
			n.addRename(from, to)
		}
	}
	return nil
}

// followRenames lists the names that steps from name to name lead to from those that match.
func followRenames(steps map[string][]string, matches func(path string) bool) []string {
	var next []string
	for name, to := range steps {
		if matches(name) {
			next = append(next, to...)
		}
	}
	out := map[string]bool{}
	for len(next) > 0 {
		name := next[len(next)-1]
		if next = next[:len(next)-1]; !out[name] {
			out[name], next = true, append(next, steps[name]...)
		}
	}
	return slices.Sorted(maps.Keys(out))
}
