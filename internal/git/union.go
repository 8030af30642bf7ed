package git

import (
	"context"
	"fmt"

	git2 "github.com/libgit2/git2go/v34"
)

// Union writes the tree that is the first of two but for one folder at its top, which holds
// every file that lies so many folders below it in either of them. Where both have something
// else under a name, the first one's counts. What it reads counts against the reader's bounds.
func (t *Trees) Union(ctx context.Context, first, second OID, folder string, depth int) (OID, error) {
	t.now, t.last = map[OID]string{}, t.now
	a, err := t.folder(first, folder)
	if err != nil {
		return "", err
	}
	b, err := t.folder(second, folder)
	if err != nil || b == "" {
		return first, err
	}
	both, err := t.unite(ctx, a, b, depth)
	if err != nil {
		return "", fmt.Errorf("git: unite trees %s and %s: %w", first, second, err)
	}
	return t.build(first, map[string]OID{folder: both}, git2.FilemodeTree)
}

// unite is the union of two folders, depth folders above the files.
func (t *Trees) unite(ctx context.Context, first, second OID, depth int) (OID, error) {
	if first == "" || first == second {
		return second, nil
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	fits, mode := treeEntry.isDir, git2.FilemodeTree
	if depth == 0 {
		fits, mode = treeEntry.isFile, git2.FilemodeBlob
	}
	old := map[string]OID{}
	if err := t.each(first, func(e treeEntry) error {
		old[e.name] = e.id()
		return nil
	}); err != nil {
		return "", err
	}
	more := map[string]OID{}
	err := t.each(second, func(e treeEntry) (err error) {
		id, both := e.id(), old[e.name]
		switch {
		case !fits(e) || both == id || both != "" && depth == 0:
			return nil
		case both != "":
			id, err = t.unite(ctx, both, id, depth-1)
		}
		more[e.name] = id
		return err
	})
	if err != nil {
		return "", err
	}
	return t.build(first, more, mode)
}

func (t *Trees) each(tree OID, do func(treeEntry) error) error {
	all, err := t.entries(tree)
	if err != nil {
		return err
	}
	for all.next() {
		if err := do(all.entry); err != nil {
			return err
		}
	}
	return all.err
}

// build writes a tree with some entries more, or others.
func (t *Trees) build(base OID, more map[string]OID, mode git2.Filemode) (OID, error) {
	if len(more) == 0 {
		return base, nil
	}
	tree, err := t.repo.lookupTree(base)
	if err != nil {
		return "", err
	}
	defer tree.Free()
	b, err := t.repo.r.TreeBuilderFromTree(tree)
	if err != nil {
		return "", fmt.Errorf("git: build tree: %w", err)
	}
	defer b.Free()
	for name, id := range more {
		o, err := toOid(id)
		if err != nil {
			return "", err
		}
		if err := b.Insert(name, o, mode); err != nil {
			return "", fmt.Errorf("git: build tree entry %q: %w", name, err)
		}
	}
	id, err := b.Write()
	if err != nil {
		return "", fmt.Errorf("git: build tree: %w", err)
	}
	return fromOid(id), nil
}
