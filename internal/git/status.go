package git

import (
	"context"
	"fmt"
	"strings"
)

// Changed lists the tracked files that are changed and not committed, staged or not, by their paths from the root. It takes no lock and
// writes nothing, as git may otherwise do to its index.
func (r *Repo) Changed(ctx context.Context) ([]string, error) {
	if r.layout.WorkTree == "" {
		return nil, nil
	}
	out, err := r.Run(ctx, "--no-optional-locks", "-C", r.layout.WorkTree, "status", "--porcelain", "-z", "--no-renames", "--untracked-files=no", "--ignore-submodules")
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
