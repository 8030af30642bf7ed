package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
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

// Changes lists what a commit changed against its first parent, with renames followed.
// A root commit adds everything. Where the parent is missing (a shallow clone), nothing
// is known to have changed and the list is empty.
func (r *Repo) Changes(id OID) ([]Change, error) {
	c, err := r.Commit(id)
	if err != nil {
		return nil, err
	}
	trees, ok, err := r.treesOf(c)
	if err != nil || !ok {
		return nil, err
	}
	all, err := r.Diff(trees[0], trees[1])
	if err != nil || !mayRename(all) {
		return all, err
	}
	if _, asked := r.renames[trees]; !asked { // a hook looks at its commit several times
		r.renames[trees] = r.askRenames([]TreePair{trees})[trees]
	}
	return mergeRenames(all, r.renames[trees]), nil
}

// CommitDiff is Changes without a look for renames.
func (r *Repo) CommitDiff(c Commit) ([]Change, error) {
	trees, ok, err := r.treesOf(c)
	if err != nil || !ok {
		return nil, err
	}
	return r.Diff(trees[0], trees[1])
}

// treesOf are the trees of a commit's first parent and its own; ok is false where the parent is not here.
func (r *Repo) treesOf(c Commit) (trees TreePair, ok bool, err error) {
	trees[1] = c.Tree
	if len(c.Parents) == 0 {
		return trees, true, nil
	}
	parent, err := r.Commit(c.Parents[0])
	if errors.Is(err, ErrNotFound) {
		return trees, false, nil
	}
	trees[0] = parent.Tree
	return trees, true, err
}

// Diff lists the files that differ between two trees, in the order of their paths. It reads only folders in which the
// two differ.
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

// mergeRenames makes one change of a file that went and of one that came in its place.
func mergeRenames(all []Change, moved map[string]string) []Change {
	former := map[string]Change{}
	for _, c := range all {
		if to := moved[c.Path]; to != "" {
			former[to] = c
		}
	}
	out := all[:0]
	for _, c := range all {
		if moved[c.Path] != "" {
			continue
		}
		if was, ok := former[c.Path]; ok {
			c.Kind, c.OldPath, c.Before, c.Modes[0] = "R", was.Path, was.Before, was.Modes[0]
		}
		out = append(out, c)
	}
	return out
}

// Staged lists what the index changed against a commit, with renames followed; "" is no commit at all. It asks git at
// once, and the function that it returns waits for the answer: a commit waits, too.
func (r *Repo) Staged(ctx context.Context, base OID) func() ([]Change, error) {
	var raw string
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		raw, err = r.rawStaged(ctx, base)
	}()
	return func() ([]Change, error) {
		<-done
		if err != nil {
			return nil, err
		}
		return parseRaw(raw), nil
	}
}

func (r *Repo) rawStaged(ctx context.Context, base OID) (string, error) {
	if base == "" {
		base = r.format.objectID(kindTree, nil)
	}
	out, err := r.compareTrees(ctx, "", "diff-index", "--cached", "--raw", "--no-abbrev", string(base))
	if err != nil {
		return "", fmt.Errorf("git: what is staged: %w", err)
	}
	return out, nil
}

// parseRaw reads what "git diff-index --raw -z" prints.
func parseRaw(text string) (out []Change) {
	fields := strings.Split(text, "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		words := strings.Fields(strings.TrimPrefix(fields[i], ":")) // modes, OIDs and a letter
		if len(words) != 5 {
			break
		}
		c := Change{
			Path: fields[i+1], Kind: words[4][:1], Before: OID(words[2]), OID: OID(words[3]),
			Modes: [2]string{words[0], words[1]},
		}
		switch c.Kind {
		case "A":
			c.Before, c.Modes[0] = "", ""
		case "D":
			c.OID, c.Modes[1] = "", ""
		case "M", "T":
			c.Kind = "M"
		case "R": // both names follow
			if i++; i+1 == len(fields) {
				return out
			}
			c.OldPath, c.Path = c.Path, fields[i+1]
		default: // unmerged: git commits nothing
			continue
		}
		out = append(out, c)
	}
	return out
}
