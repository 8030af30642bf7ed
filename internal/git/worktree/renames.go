package worktree

import (
	"iter"
	"slices"
	"sort"

	"github.com/git-rekal/git-rekal/internal/git"
)

// Bounds of the search for renames.
const (
	maxBack      = 256 // commits, along first parents
	maxDiffs     = 8   // of them, those whose files are compared
	maxHops      = 4   // renames of one file
	maxSimilar   = 100 // files whose content is compared for likeness
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
	slices.Sort(gone)
	out := c.renamedByCommits(gone)
	if len(there) > 0 {
		slices.Sort(there)
		staged := c.stagedRenames(there...)
		for _, f := range there {
			if to := staged[f]; to != "" {
				out[f] = to
			}
		}
	}
	return out
}

// renamedByCommits goes back from the commit until each file is met, and asks the commit that took it away
// where it went.
func (c *Content) renamedByCommits(files []string) map[string]string {
	out, diffs := map[string]string{}, 0
	var made git.Commit
	for before := range c.firstParents() {
		var met []string
		for _, f := range files {
			if c.blobBelow(before.Tree, f) != "" {
				met = append(met, f)
			}
		}
		if len(met) > 0 {
			became := c.renamesOf(made, met)
			for _, f := range met {
				if to := became[f]; to != "" {
					out[f] = to
				}
			}
			files = slices.DeleteFunc(files, func(f string) bool { return slices.Contains(met, f) })
			diffs++
		}
		if len(files) == 0 || diffs == maxDiffs {
			break
		}
		made = before
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
	out := map[string]string{}
	line := slices.Collect(c.firstParents())
	from := 0
	for diffs := 0; len(files) > 0 && diffs < maxHops; diffs++ {
		// The newest commit that added one of them.
		at, added := len(line), []string(nil)
		for _, f := range files {
			switch n := from + c.indexOfAddition(line[from:], f); {
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
		for former, now := range c.renamesOf(line[at], added) {
			if slices.Contains(added, now) {
				out[now], files = former, append(files, former)
			}
		}
		from = at + 1
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

// renamesOf tells what files that a commit took away against its first parent became, as far as it concerns some files,
// by their former or new names.
func (c *Content) renamesOf(made git.Commit, files []string) map[string]string {
	changes, err := c.repo.CommitDiff(made)
	if err != nil {
		return nil
	}
	return c.repo.Renames(changes, maxSimilar, files...)
}
