package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Reachable tells which of some commits a ref, a worktree's HEAD or a reflog still leads to. It
// walks through all of history, as nothing less can tell.
func (r *Repo) Reachable(ctx context.Context, commits []OID) ([]OID, error) {
	wanted := map[OID]bool{}
	for _, id := range commits {
		wanted[id] = true
	}
	reached, err := r.Run(ctx, "rev-list", "--all", "--reflog")
	if err != nil {
		return nil, fmt.Errorf("git: list what is reachable: %w", err)
	}
	var out []OID
	for id := range strings.FieldsSeq(reached) {
		if wanted[OID(id)] {
			out = append(out, OID(id))
		}
	}
	return out, nil
}

// RefsTo names the refs that lead to a commit.
func (r *Repo) RefsTo(ctx context.Context, id OID) ([]string, error) {
	out, err := r.Run(ctx, "for-each-ref", "--format=%(refname)", "--contains="+string(id))
	if err != nil {
		return nil, fmt.Errorf("git: find the refs to %s: %w", id, err)
	}
	return strings.Fields(out), nil
}

// CheckedOut is the folder of a worktree that has a branch checked out, "" when there is none.
func (r *Repo) CheckedOut(ctx context.Context, ref string) (string, error) {
	out, err := r.Run(ctx, "worktree", "list", "--porcelain")
	if err != nil {
		return "", fmt.Errorf("git: list the worktrees: %w", err)
	}
	dir := ""
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		if path, ok := strings.CutPrefix(line, "worktree "); ok {
			dir = path
		}
		if line == "branch "+ref {
			return dir, nil
		}
	}
	return "", nil
}

// Discard removes objects of this repository that nothing leads to, as the caller has made sure,
// and lists those that are still here: in a pack, or in a repository that this one borrows
// from. Only `git gc --prune=now` takes them out of a pack.
func (r *Repo) Discard(ctx context.Context, ids []OID) (left []OID, err error) {
	for _, id := range ids {
		if err := r.hash.fits(id); err != nil {
			return nil, err
		}
		if err := os.Remove(r.loose(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("git: remove object %s: %w", id, err)
		}
	}
	if err := r.regraph(ctx); err != nil {
		return nil, err
	}
	fresh, err := Open(r.dir, r.env) // this one remembers what it has read
	if err != nil {
		return nil, err
	}
	defer fresh.Close()
	missing := fresh.Missing(ids)
	return slices.DeleteFunc(slices.Clone(ids), func(id OID) bool { return missing[id] }), nil
}

// regraph brings git's commit-graph, where there is one, to what is reachable. A graph that names a
// commit which is not here is taken for damage: fsck fails, and newer versions of git refuse a fetch that
// meets that commit. The graph is nothing but a cache, so it goes where git can't write it anew.
func (r *Repo) regraph(ctx context.Context) error {
	info := filepath.Join(r.layout.CommonDir, "objects", "info")
	graphs := []string{filepath.Join(info, "commit-graph"), filepath.Join(info, "commit-graphs", "commit-graph-chain")}
	if !slices.ContainsFunc(graphs, func(g string) bool { _, err := os.Lstat(g); return err == nil }) {
		return nil
	}
	if _, err := r.Run(ctx, "commit-graph", "write", "--reachable", "--no-progress"); err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	for _, g := range graphs {
		if err := os.Remove(g); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("git: drop the commit-graph: %w", err)
		}
	}
	return nil
}
