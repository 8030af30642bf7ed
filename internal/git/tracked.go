package git

import (
	"context"
	"fmt"
	"path/filepath"
)

// Tracked reports whether the index of the worktree that a path lies in holds it, in whichever case,
// or anything below it.
func (r *Repo) Tracked(ctx context.Context, path string) (bool, error) {
	out, err := r.Run(ctx, "-C", filepath.Dir(path), "ls-files", "-z", "--", ":(literal,icase)"+filepath.Base(path))
	if err != nil {
		return false, fmt.Errorf("git: look into the index for %q: %w", path, err)
	}
	return out != "", nil
}
