package git

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// Change is one file that differs between two trees.
type Change struct {
	Path    string    // the new path, or the old one of a deletion
	OldPath string    // the former path of a rename, else ""
	Kind    string    // "A", "M", "D" or "R"
	OID     OID       // the blob after the change; "" for a deletion
	Before  OID       // the blob before it; "" for a file that was not there
	Modes   [2]string // "100644", before and after; "" where there is no file
}

// maxRenames bounds rename detection, which is quadratic: git's own diff.renameLimit.
const maxRenames = 1000

// Changes lists what a commit changed against its first parent, with renames followed.
// A root commit adds everything. Where the parent is missing (a shallow clone), nothing
// is known to have changed and the list is empty.
func (r *Repo) Changes(id OID) ([]Change, error) {
	c, err := r.Commit(id)
	if err != nil {
		return nil, err
	}
	all, err := r.CommitDiff(c)
	if err != nil {
		return nil, err
	}
	return r.mergeRenames(all), nil
}

// CommitDiff is Changes without a look for renames.
func (r *Repo) CommitDiff(c Commit) ([]Change, error) {
	var before OID
	if len(c.Parents) > 0 {
		parent, err := r.Commit(c.Parents[0])
		if errors.Is(err, ErrNotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		before = parent.Tree
	}
	return r.Diff(before, c.Tree)
}

// Diff lists the files that differ between two trees, in the order of their paths. It reads only folders in which the two differ.
func (r *Repo) Diff(older, newer OID) ([]Change, error) {
	out := []Change{}
	err := r.EachDifference(older, newer, func(path string, before, after TreeEntry) (into bool, err error) {
		c := Change{Path: path, Kind: "M", OID: after.ID(), Before: before.ID(), Modes: [2]string{before.Mode, after.Mode}}
		switch {
		case before.IsDir() || after.IsDir():
			return true, nil
		case before.Name == "":
			c.Kind = "A"
		case after.Name == "":
			c.Kind = "D"
		}
		out = append(out, c)
		return false, nil
	})
	if err != nil {
		return nil, fmt.Errorf("git: diff: %w", err)
	}
	slices.SortFunc(out, func(a, b Change) int { return cmp.Compare(a.Path, b.Path) })
	return out, nil
}

// mergeRenames makes one change of a file that went and of one that came in its place. A blob that is not here (a partial clone) is no rename.
func (r *Repo) mergeRenames(all []Change) []Change {
	moved := r.Renames(all, maxRenames)
	former := map[string]Change{}
	for _, c := range all {
		if to := moved[c.Path]; to != "" && c.Kind == "D" {
			former[to] = c
		}
	}
	out := all[:0]
	for _, c := range all {
		if moved[c.Path] != "" && c.Kind == "D" {
			continue
		}
		if was, ok := former[c.Path]; ok && c.Kind == "A" {
			c.Kind, c.OldPath, c.Before, c.Modes[0] = "R", was.Path, was.Before, was.Modes[0]
		}
		out = append(out, c)
	}
	return out
}
