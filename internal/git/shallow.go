package git

import (
	"os"
	"path/filepath"
)

// shallow reports whether there is a list of commits at which a shallow clone was cut. All worktrees share it;
// libgit2 1.5 looks for it in each one's own directory.
func (r *Repo) shallow() bool {
	info, err := os.Stat(filepath.Join(r.layout.CommonDir, "shallow"))
	return err == nil && info.Size() > 0
}

// Cut reports whether objects may be missing here: in a shallow clone, or in one that leaves
// out blobs until they are asked for.
func (r *Repo) Cut() bool {
	return r.shallow() || r.sets(`^remote\..*\.promisor$`)
}
