package worktree

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/git-rekal/git-rekal/internal/git"
)

// ChangedFiles lists the tracked files that are changed and not committed, staged or not, by their paths from the root.
// It takes no lock and writes nothing, as git may otherwise do to its index.
func ChangedFiles(ctx context.Context, r *git.Repo) ([]string, error) {
	if r.Layout().WorkTree == "" {
		return nil, nil
	}
	out, err := r.Run(ctx, "--no-optional-locks", "-C", r.Layout().WorkTree, "status", "--porcelain", "-z", "--no-renames",
		"--untracked-files=no", "--ignore-submodules")
	if err != nil {
		return nil, fmt.Errorf("git: list what is changed: %w", err)
	}
	var files []string
	for entry := range strings.SplitSeq(out, "\x00") {
		if len(entry) > 3 {
			files = append(files, entry[3:])
		}
	}
	return files, nil
}

// IsTracked reports whether the index of the worktree that a path lies in holds it, in whichever case,
// or anything below it.
func IsTracked(ctx context.Context, r *git.Repo, path string) (bool, error) {
	out, err := r.Run(ctx, "-C", filepath.Dir(path), "ls-files", "-z", "--", ":(literal,icase)"+filepath.Base(path))
	if err != nil {
		return false, fmt.Errorf("git: look into the index for %q: %w", path, err)
	}
	return out != "", nil
}
