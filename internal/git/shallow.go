package git

import (
	"os"
	"path/filepath"
)

// shallowFile lists the commits at which a shallow clone was cut. All worktrees share it;
// libgit2 1.5 looks for it in each one's own directory.
func (r *Repo) shallowFile() string { return filepath.Join(r.layout.CommonDir, "shallow") }

func (r *Repo) shallow() bool {
	info, err := os.Stat(r.shallowFile())
	return err == nil && info.Size() > 0
}

// Cut reports whether objects may be missing here: in a shallow clone, or in one that leaves
// out blobs until they are asked for.
func (r *Repo) Cut() bool {
	if r.shallow() {
		return true
	}
	return r.sets(`^remote\..*\.promisor$`)
}
