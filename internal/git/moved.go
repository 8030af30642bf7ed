package git

import (
	"maps"
	"slices"
	"strings"

	git2 "github.com/libgit2/git2go/v34"
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
// the index says of what did not change, or as one of the last commits did. Who is not named has no successor that is
// known.
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
		var before Commit
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
	repo  *Repo
	last  OID                // the tree that was looked at last
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
func (f *folder) among(id OID) []string {
	if id == f.last {
		return nil
	}
	f.last = id
	tree, err := f.repo.lookupTree(id)
	if err != nil {
		return nil
	}
	defer tree.Free()
	var out []string
	for name, file := range f.files {
		if e := tree.EntryByName(name); e != nil && e.Type != git2.ObjectTree {
			out = append(out, file)
			delete(f.files, name)
		}
	}
	for name, sub := range f.below {
		if e := tree.EntryByName(name); e != nil && e.Type == git2.ObjectTree {
			out = append(out, sub.among(fromOid(e.Id))...)
		}
	}
	slices.Sort(out)
	return out
}

// renamesOf tells what files that a commit took away against its first parent became.
func (c *Content) renamesOf(made Commit, files []string, out map[string]string) {
	r := c.repo
	parent, err := r.Commit(made.Parents[0])
	if err != nil {
		return
	}
	added, err := c.trees.news(parent.Tree, made.Tree)
	if err != nil || len(added) == 0 {
		return
	}
	content := map[OID]string{}
	for _, e := range slices.Backward(added) {
		content[e.OID] = e.Path
	}
	old, err := r.lookupTree(parent.Tree)
	if err != nil {
		return
	}
	defer old.Free()
	alike := false
	for _, f := range files {
		e, err := old.EntryByPath(f)
		if err != nil {
			continue
		}
		if out[f] = content[fromOid(e.Id)]; out[f] == "" {
			delete(out, f)
			alike = true
		}
	}
	if alike {
		removed, err := c.trees.news(made.Tree, parent.Tree) // each may be the one that moved
		if err != nil {
			return
		}
		r.renamesAlike(old, made, files, append(added, removed...), out)
	}
}

// renamesAlike are the renames of a commit with a change of content, of what it added and removed.
func (r *Repo) renamesAlike(old *git2.Tree, c Commit, files []string, changed []Entry, out map[string]string) {
	tree, err := r.lookupTree(c.Tree)
	if err != nil {
		return
	}
	defer tree.Free()
	opts, err := git2.DefaultDiffOptions()
	if err != nil {
		return
	}
	// With the names of the files, libgit2 reads no other trees.
	opts.Flags |= git2.DiffDisablePathspecMatch
	for _, e := range changed {
		opts.Pathspec = append(opts.Pathspec, e.Path)
	}
	d, err := r.r.DiffTreeToTree(old, tree, &opts)
	if err != nil {
		return
	}
	defer d.Free()
	for _, ch := range renames(d) {
		if slices.Contains(files, ch.OldPath) && out[ch.OldPath] == "" {
			out[ch.OldPath] = ch.Path
		}
	}
}

func renames(d *git2.Diff) []Change {
	opts, err := git2.DefaultDiffFindOptions()
	if err != nil {
		return nil
	}
	opts.Flags, opts.RenameLimit = git2.DiffFindRenames, maxSimilar
	if n, err := d.NumDeltas(); err != nil || n > maxSimilarSize {
		opts.Flags |= git2.DiffFindExactMatchOnly
	}
	_ = d.FindSimilar(&opts) // a blob that is not here (a partial clone) is no rename
	all, err := changesOf(d)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(all, func(c Change) bool { return c.Kind != "R" })
}
