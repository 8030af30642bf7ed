package git

import (
	"fmt"

	git2 "github.com/libgit2/git2go/v34"
)

// Change is one file that differs between two trees.
type Change struct {
	Path    string // the new path, or the old one of a deletion
	OldPath string // the former path of a rename, else ""
	Kind    string // "A", "M", "D" or "R"
	OID     OID    // the blob after the change; "" for a deletion
	Before  OID    // the blob before it; "" for a file that was not there
}

// maxRenames bounds rename detection, which is quadratic: git's own diff.renameLimit.
const maxRenames = 1000

// Changes lists what a commit changed against its first parent, with renames followed.
// A root commit adds everything. Where the parent is missing (a shallow clone), nothing
// is known to have changed and the list is empty.
func (r *Repo) Changes(id OID) ([]Change, error) {
	c, err := r.lookupCommit(id)
	if err != nil {
		return nil, err
	}
	defer c.Free()
	tree, err := c.Tree()
	if err != nil {
		return nil, fmt.Errorf("git: tree of %s: %w", id, err)
	}
	defer tree.Free()
	var old *git2.Tree
	if c.ParentCount() > 0 {
		// In a shallow clone the parent is named but not here.
		p := c.Parent(0)
		if p == nil {
			return nil, nil
		}
		defer p.Free()
		if old, err = p.Tree(); err != nil {
			return nil, fmt.Errorf("git: tree of %s^: %w", id, err)
		}
		defer old.Free()
	}
	return r.diff(old, tree)
}

func (r *Repo) diff(old, new *git2.Tree) ([]Change, error) {
	how, err := git2.DefaultDiffOptions()
	if err != nil {
		return nil, fmt.Errorf("git: diff: %w", err)
	}
	// A file that became a link is one change, not a deletion and an addition.
	how.Flags |= git2.DiffIncludeTypeChange
	d, err := r.r.DiffTreeToTree(old, new, &how)
	if err != nil {
		return nil, fmt.Errorf("git: diff: %w", err)
	}
	defer d.Free()
	opts, err := git2.DefaultDiffFindOptions()
	if err != nil {
		return nil, fmt.Errorf("git: diff: %w", err)
	}
	opts.Flags = git2.DiffFindRenames
	opts.RenameLimit = maxRenames
	// Rename detection reads blobs, which a partial clone may not have; the list of
	// changed files is worth having without it.
	_ = d.FindSimilar(&opts)
	return changesOf(d)
}

func changesOf(d *git2.Diff) ([]Change, error) {
	n, err := d.NumDeltas()
	if err != nil {
		return nil, fmt.Errorf("git: diff: %w", err)
	}
	out := make([]Change, 0, n)
	for i := range n {
		delta, err := d.Delta(i)
		if err != nil {
			return nil, fmt.Errorf("git: diff: %w", err)
		}
		c := Change{Path: delta.NewFile.Path, OID: fromOid(delta.NewFile.Oid), Before: fromOid(delta.OldFile.Oid)}
		switch delta.Status {
		case git2.DeltaAdded, git2.DeltaCopied:
			c.Kind, c.Before = "A", ""
		case git2.DeltaDeleted:
			c.Kind, c.Path, c.OID = "D", delta.OldFile.Path, ""
		case git2.DeltaRenamed:
			c.Kind, c.OldPath = "R", delta.OldFile.Path
		default:
			c.Kind = "M"
		}
		out = append(out, c)
	}
	return out, nil
}
