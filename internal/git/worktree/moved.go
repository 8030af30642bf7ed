package worktree

import (
	"maps"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/git"
)

// Bounds of the search for renames.
const (
	maxBack        = 256 // commits, along first parents
	maxDiffs       = 8   // of them, those whose files are compared
	maxHops        = 4   // renames of one file
	maxSimilar     = 100 // files whose content is compared for likeness
	maxTreeBytes   = 256 << 20
	maxSimilarSize = 500 // changed files in a commit, beyond which only equal content counts
)

// Gone are those of some files that are not there. None is read.
func (c *Content) Gone(files []string) (out []string) {
	for _, f := range files {
		there := c.inTree(f) != ""
		if c.root != "" {
			_, err := c.lstat(f)
			there = err == nil
		}
		if !there {
			out = append(out, f)
		}
	}
	return out
}

// Moved tells what files that are not there any more are called now, by their former names: as
// the index says, or as one of the last commits did. A file that is not named has no successor that is known.
//
// The renames that are in the index and not in HEAD come first, with changes of content. Then comes the commit that took the file away,
// along first parents, for all such files at once; of each commit's tree only what differs from the one before is read.
func (c *Content) Moved(files []string) map[string]string {
	out, now := map[string]string{}, map[string]string{} // now: today's name → former one
	for _, f := range files {
		now[f] = f
	}
	for range maxHops {
		next := map[string]string{}
		successors := c.successors(now)
		for _, from := range slices.Sorted(maps.Keys(successors)) {
			former, to := now[from], successors[from]
			if out[former] = to; c.stands(to).id == "" {
				delete(out, former)
				next[to] = former
			}
		}
		if now = next; len(now) == 0 {
			break
		}
	}
	return out
}

// successors follows each file by one rename.
func (c *Content) successors(files map[string]string) map[string]string {
	out := map[string]string{}
	var gone, there []string
	for f := range files {
		if c.inTree(f) == "" {
			gone = append(gone, f)
		} else {
			there = append(there, f)
		}
	}
	if len(there) > 0 && c.root != "" {
		slices.Sort(there)
		staged := c.staged(there...)
		for _, f := range there {
			if to := staged[f]; to != "" {
				out[f] = to
			}
		}
	}
	slices.Sort(gone)
	c.departed(gone, out)
	return out
}

// departed goes back from the commit until each file is met, and asks the commit that took it away
// where it went.
func (c *Content) departed(files []string, out map[string]string) {
	sought := &folder{repo: c.repo}
	for _, f := range files {
		sought.add(f, f)
	}
	made, err := c.repo.Commit(c.commit)
	for diffs, n := 0, 0; n < maxBack && len(files) > 0 && diffs < maxDiffs; n++ {
		if err != nil || len(made.Parents) == 0 {
			return
		}
		var before git.Commit
		if before, err = c.repo.Commit(made.Parents[0]); err != nil {
			return
		}
		if met := sought.among(before.Tree); len(met) > 0 {
			diffs++
			c.renamesOf(made, met, out)
			files = slices.DeleteFunc(files, func(f string) bool { return slices.Contains(met, f) })
		}
		made = before
	}
}

// folder holds files that are looked for in one tree after the other.
type folder struct {
	repo  *git.Repo
	last  git.OID            // the tree that was looked at last
	below map[string]*folder // by name
	files map[string]string  // paths by name
}

func (f *folder) add(rest, file string) {
	dir, rest, ok := strings.Cut(rest, "/")
	if !ok {
		if f.files == nil {
			f.files = map[string]string{}
		}
		f.files[dir] = file
		return
	}
	if f.below == nil {
		f.below = map[string]*folder{}
	}
	if f.below[dir] == nil {
		f.below[dir] = &folder{repo: f.repo}
	}
	f.below[dir].add(rest, file)
}

// among are those of the files that a tree has and no tree before had. It only opens what is not as it was
// in the tree before: from one commit to the next that is little, however many files are looked for.
func (f *folder) among(id git.OID) []string {
	if id == f.last {
		return nil
	}
	f.last = id
	var out []string
	for e, err := range f.repo.Tree(id) {
		if err != nil {
			return nil
		}
		file, sub := f.files[e.Name], f.below[e.Name]
		switch {
		case e.IsDir() && sub != nil:
			out = append(out, sub.among(e.ID())...)
		case !e.IsDir() && file != "":
			out = append(out, file)
			delete(f.files, e.Name)
		}
	}
	slices.Sort(out)
	return out
}

// renamesOf tells what files that a commit took away against its first parent became.
func (c *Content) renamesOf(made git.Commit, files []string, out map[string]string) {
	changes, err := c.repo.CommitDiff(made)
	if err != nil {
		return
	}
	var wanted, gone, came []git.Entry
	for _, ch := range changes {
		switch ch.Kind {
		case "A":
			came = append(came, git.Entry{Path: ch.Path, OID: ch.OID})
		case "D":
			gone = append(gone, git.Entry{Path: ch.Path, OID: ch.Before}) // each may be the one that moved
		}
	}
	for _, g := range gone {
		if slices.Contains(files, g.Path) {
			wanted = append(wanted, g)
		}
	}
	c.pair(wanted, gone, came, out)
}

// pair tells what some of the files that went became of those that came. Contents are only compared where one is not the same.
func (c *Content) pair(wanted, gone, came []git.Entry, out map[string]string) {
	content, alike := map[git.OID]string{}, false
	for _, e := range slices.Backward(came) {
		content[e.OID] = e.Path
	}
	for _, f := range wanted {
		if to := content[f.OID]; to != "" {
			out[f.Path] = to
		} else {
			alike = true
		}
	}
	if !alike || len(gone)+len(came) > maxSimilarSize {
		return
	}
	moved := c.repo.Renames(gone, came, maxSimilar)
	for _, f := range wanted {
		if to := moved[f.Path]; to != "" && out[f.Path] == "" {
			out[f.Path] = to
		}
	}
}
