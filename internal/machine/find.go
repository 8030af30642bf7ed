package machine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Found is a folder below which Find looked: one that git would take for a repository, or one that can't be read.
type Found struct {
	Path string
	Bare bool  // it is a git directory itself
	Err  error // it can't be read
}

// Find lists the repositories in a folder and below it, parents first: worktrees of all kinds, submodules, bare ones.
// It follows no link, and leaves out folders below that are hidden or named node_modules, where tools keep clones of
// their own, and what skip says.
func Find(ctx context.Context, dir string, skip func(path string) bool) (all []Found, err error) {
	err = findClones(ctx, dir, skip, &all)
	return all, err
}

func findClones(ctx context.Context, dir string, skip func(string) bool, all *[]Found) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("machine: look for repositories: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		*all = append(*all, Found{Path: dir, Err: err})
		return nil
	}
	names := map[string]bool{}
	for _, e := range entries {
		names[e.Name()] = true
	}
	if bare := names["HEAD"] && names["objects"] && names["refs"]; bare || names[".git"] {
		*all = append(*all, Found{Path: dir, Bare: bare && !names[".git"]})
		if bare {
			return nil
		}
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") || e.Name() == "node_modules" || skip(path) {
			continue
		}
		if err := findClones(ctx, path, skip, all); err != nil {
			return err
		}
	}
	return nil
}
