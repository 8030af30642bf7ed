package git

import (
	"context"
	"fmt"
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
	return t.repo.amendTree(first, map[string]TreeEntry{folder: newEntry(modeDir, folder, both)})
}

// unite is the union of two folders, depth folders above the files.
func (t *Trees) unite(ctx context.Context, first, second OID, depth int) (OID, error) {
	if first == "" || first == second {
		return second, nil
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	fits, mode, kind := TreeEntry.IsDir, modeDir, kindTree
	if depth == 0 {
		fits, mode, kind = TreeEntry.IsFile, modeFile, kindBlob
	}
	old := map[string]OID{}
	if err := t.each(first, func(e TreeEntry) error {
		old[e.Name] = e.ID()
		return nil
	}); err != nil {
		return "", err
	}
	more := map[string]TreeEntry{}
	err := t.each(second, func(e TreeEntry) (err error) {
		id, both := e.ID(), old[e.Name]
		switch {
		case !fits(e) || both == id || both != "" && depth == 0:
			return nil
		case both != "":
			id, err = t.unite(ctx, both, id, depth-1)
		}
		if err == nil {
			err = t.repo.here(id, kind)
		}
		more[e.Name] = newEntry(mode, e.Name, id)
		return err
	})
	if err != nil || len(more) == 0 {
		return first, err
	}
	return t.repo.amendTree(first, more)
}

func (t *Trees) each(tree OID, do func(TreeEntry) error) error {
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
