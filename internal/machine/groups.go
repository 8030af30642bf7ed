package machine

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/git"
)

// Groups are the globs of each group of repositories, by its name: what the user's own configuration of git says of
// rekal.group.NAME.
type Groups map[string][]string

// groupKey is before the name of a group.
const groupKey = "rekal.group."

// ReadGroups reads them as git does in a folder.
func ReadGroups(ctx context.Context, dir string, env []string) (Groups, error) {
	conf, err := git.OwnSettings(ctx, dir, env, `^rekal\.group\.`)
	out := Groups{}
	for name, globs := range conf {
		out[strings.TrimPrefix(name, groupKey)] = globs
	}
	return out, err
}

// Names are theirs, sorted.
func (g Groups) Names() []string { return slices.Sorted(maps.Keys(g)) }

// Holding are the groups that hold a repository, sorted. Roots are its own.
func (g Groups) Holding(roots []os.FileInfo) []string {
	return slices.DeleteFunc(g.Names(), func(name string) bool { return firstPathOf(roots, g[name]) == "" })
}

// PathBeside is the path of a second repository in a group that also holds the first one; "" if no group holds both.
// roots and other are the roots of the worktrees of the two.
func (g Groups) PathBeside(roots, other []os.FileInfo) string {
	for _, name := range g.Holding(roots) {
		if path := firstPathOf(other, g[name]); path != "" {
			return path
		}
	}
	return ""
}

// firstPathOf is the first path that globs mean and a root is at, "" for none.
func firstPathOf(roots []os.FileInfo, globs []string) string {
	for _, path := range ExpandGlobs(globs) {
		info, err := os.Stat(path)
		if err == nil && slices.ContainsFunc(roots, func(root os.FileInfo) bool { return os.SameFile(root, info) }) {
			return path
		}
	}
	return ""
}

// ExpandGlobs are the folders that globs mean, sorted, each once. One that is not absolute means none: it would depend
// on where one stands.
func ExpandGlobs(globs []string) (paths []string) {
	for _, glob := range globs {
		if found, err := filepath.Glob(filepath.Clean(glob)); err == nil && filepath.IsAbs(glob) {
			paths = append(paths, found...)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// RootsAt are the folders by which the repository of a folder may be meant; none outside of one.
func RootsAt(ctx context.Context, dir string, env []string) (roots []os.FileInfo, err error) {
	repo, err := git.Open(ctx, dir, env)
	if errors.Is(err, git.ErrNotRepository) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer repo.Close()
	for _, path := range append(repo.Worktrees(), repo.Layout().CommonDir) {
		if info, err := os.Stat(path); err == nil {
			roots = append(roots, info)
		}
	}
	return roots, err
}
