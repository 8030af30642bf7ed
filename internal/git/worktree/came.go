package worktree

import (
	"maps"
	"slices"
	"sort"

	"github.com/git-rekal/git-rekal/internal/git"
)

// Bounds of the search for what files were called before.
const (
	maxListed = 20_000 // files of the commit
	maxCalled = 20     // of them, those that are asked for: a pattern with more tells no file from another
)

// Called are the files of the commit whose names match; none where they are too many to be looked at.
func (c *Content) Called(matches func(file string) bool) []string {
	all, err := c.trees.All(c.tree, maxListed)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range all {
		if matches(e.Path) {
			out = append(out, e.Path)
		}
	}
	if len(out) > maxCalled {
		return nil
	}
	return out
}

// Came tells what files of the commit were called before, and these before, where one of the last commits renamed them: the former
// names by those that followed. It is the way back of Moved.
func (c *Content) Came(files []string) map[string]string {
	out := map[string]string{}
	line := c.firstParents()
	from := 0
	for diffs := 0; len(files) > 0 && diffs < maxHops; diffs++ {
		// The newest commit that added one of them.
		at, added := len(line), []string(nil)
		for _, f := range files {
			switch n := from + c.addedAt(line[from:], f); {
			case n < at:
				at, added = n, []string{f}
			case n == at:
				added = append(added, f)
			}
		}
		if at+1 >= len(line) {
			break // they are older, or there from the beginning
		}
		files = slices.DeleteFunc(files, func(f string) bool { return slices.Contains(added, f) })
		for now, former := range c.formerNames(line[at], line[at+1], added) {
			out[now], files = former, append(files, former)
		}
		from = at + 1
	}
	return out
}

// firstParents are the last commits, the newest first.
func (c *Content) firstParents() (out []git.Commit) {
	for id := c.commit; len(out) < maxBack; {
		made, err := c.repo.Commit(id)
		if err != nil {
			break
		}
		if out = append(out, made); len(made.Parents) == 0 {
			break
		}
		id = made.Parents[0]
	}
	return out
}

// addedAt is which of some commits added a file that stands in the first, taken that it stands in all later ones; how many there
// are where all have it.
func (c *Content) addedAt(line []git.Commit, file string) int {
	n := sort.Search(len(line), func(i int) bool { return c.below(line[i].Tree, file) == "" })
	if n == len(line) {
		return n
	}
	return n - 1
}

// formerNames tells which of the files that a commit added are others that it took away. Contents are only compared where one is
// not the same.
func (c *Content) formerNames(made, before git.Commit, added []string) map[string]string {
	changes, err := c.repo.Diff(before.Tree, made.Tree)
	if err != nil {
		return nil
	}
	content, gone := map[git.OID]string{}, []string(nil)
	for _, ch := range changes {
		if ch.Kind == "D" {
			content[ch.Before], gone = ch.Path, append(gone, ch.Path)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	out := map[string]string{}
	for _, f := range added {
		if former := content[c.below(made.Tree, f)]; former != "" {
			out[f] = former
		}
	}
	if len(out) == len(added) {
		return out
	}
	became := map[string]string{}
	c.renamesOf(made, gone, became)
	for _, former := range slices.Sorted(maps.Keys(became)) {
		if now := became[former]; slices.Contains(added, now) {
			out[now] = former
		}
	}
	return out
}
