package worktree

import (
	"iter"
	"maps"
	"slices"
	"sort"

	"github.com/git-rekal/git-rekal/internal/git"
)

// Bounds of the search for renames.
const (
	maxBack      = 256 // commits, along first parents
	maxDiffs     = 8   // of them, those whose files are compared
	maxHops      = 4   // renames of one file
	maxTreeBytes = 256 << 20
	maxListed    = 20_000 // files of a commit in which names are matched
	maxMatches   = 20     // of them, those that are asked for: a pattern with more tells no file from another
)

// NewNames tells what files that are not there any more are called now, by their former names: as
// the index says, or as one of the last commits did. A file that is not named has no successor that is known.
//
// The renames that are in the index and not in HEAD come first, with changes of content. Then comes the commit that
// took the file away, along first parents, for all such files at once; of each commit's tree only what differs from the
// one before is read.
func (c *Content) NewNames(files []string) map[string]string {
	out, former := map[string]string{}, map[string]string{} // former names by today's
	for _, f := range files {
		former[f] = f
	}
	for range maxHops {
		next := map[string]string{}
		for from, to := range c.followOneRename(former) {
			if c.Has(to) {
				out[former[from]] = to
			} else {
				next[to] = former[from]
			}
		}
		if former = next; len(former) == 0 {
			break
		}
	}
	return out
}

// followOneRename follows files by one rename.
func (c *Content) followOneRename(files map[string]string) map[string]string {
	var gone, there []string
	for f := range files {
		if c.blobInTree(f) == "" {
			gone = append(gone, f)
		} else {
			there = append(there, f)
		}
	}
	out := c.renamedByCommits(gone)
	if len(there) > 0 {
		staged := c.uncommittedRenames()
		for _, f := range there {
			if to := staged[f]; to != "" {
				out[f] = to
			}
		}
	}
	return out
}

// renamedByCommits goes back from the commit until each file is met, and asks where the commits took them that took
// them away.
func (c *Content) renamedByCommits(files []string) map[string]string {
	met := map[git.TreePair][]string{}
	var made git.Commit
	for before := range c.firstParents() {
		pair := git.TreePair{before.Tree, made.Tree}
		files = slices.DeleteFunc(files, func(f string) bool {
			if c.blobBelow(before.Tree, f) == "" {
				return false
			}
			met[pair] = append(met[pair], f)
			return true
		})
		if len(files) == 0 || len(met) == maxDiffs {
			break
		}
		made = before
	}
	out := map[string]string{}
	for pair, became := range c.repo.Renames(slices.Collect(maps.Keys(met))...) {
		for _, f := range met[pair] {
			if to := became[f]; to != "" {
				out[f] = to
			}
		}
	}
	return out
}

// FilesMatching are the files of the commit whose names match; none where they are too many to be looked at.
func (c *Content) FilesMatching(matches func(file string) bool) []string {
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
	if len(out) > maxMatches {
		return nil
	}
	return out
}

// FormerNames tells what files of the commit were called before, and these before, where one of the last commits
// renamed them: the former names by those that followed. It is the way back of NewNames.
func (c *Content) FormerNames(files []string) map[string]string {
	out, line := map[string]string{}, slices.Collect(c.firstParents())
	had := map[string]int{} // which commit of the line has a file that is looked for
	for _, f := range files {
		had[f] = 0
	}
	for hop := 0; hop < maxHops && len(had) > 0; hop++ {
		added := map[int][]string{}
		for f, from := range had {
			// else it is older, or there from the beginning
			if at := from + c.indexOfAddition(line[from:], f); at+1 < len(line) {
				added[at] = append(added[at], f)
			}
		}
		newest := slices.Sorted(maps.Keys(added))
		newest = newest[:min(len(newest), maxDiffs)]
		pairs := make([]git.TreePair, len(newest))
		for i, at := range newest {
			pairs[i] = git.TreePair{line[at+1].Tree, line[at].Tree}
		}
		had = map[string]int{}
		renames := c.repo.Renames(pairs...)
		for i, at := range newest {
			for former, now := range renames[pairs[i]] {
				if slices.Contains(added[at], now) {
					out[now], had[former] = former, at+1
				}
			}
		}
	}
	return out
}

// firstParents are the commit and those before it, the newest first.
func (c *Content) firstParents() iter.Seq[git.Commit] {
	return func(yield func(git.Commit) bool) {
		n := 0
		for made, err := range c.repo.FirstParents(c.commit) {
			if n++; err != nil || n > maxBack || !yield(made) {
				return
			}
		}
	}
}

// indexOfAddition is the index of the commit that added a file, in a line of commits from the newest, which has the
// file, to the oldest; the length of the line if all of them have the file.
func (c *Content) indexOfAddition(line []git.Commit, file string) int {
	n := sort.Search(len(line), func(i int) bool { return c.blobBelow(line[i].Tree, file) == "" })
	if n == len(line) {
		return n
	}
	return n - 1
}
