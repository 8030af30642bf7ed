package git

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// shallowFile lists the commits at which a shallow clone was cut. All worktrees share it;
// libgit2 1.5 looks for it in each one's own directory.
func (r *Repo) shallowFile() string { return filepath.Join(r.layout.CommonDir, "shallow") }

func (r *Repo) shallow() bool {
	info, err := os.Stat(r.shallowFile())
	return err == nil && info.Size() > 0
}

// cuts are the commits whose parents a shallow clone left out.
type cuts map[OID]bool

// explain reports whether an error means that a commit's parent was left out.
func (c cuts) explain(id OID, err error) bool { return c[id] && errors.Is(err, ErrNotFound) }

func (r *Repo) cuts() (cuts, error) {
	b, err := os.ReadFile(r.shallowFile())
	if err != nil {
		return nil, fmt.Errorf("git: where the history is cut: %w", err)
	}
	out := cuts{}
	for id := range strings.FieldsSeq(string(b)) {
		out[OID(id)] = true
	}
	return out, nil
}

// Cut reports whether objects may be missing here: in a shallow clone, or in one that leaves
// out blobs until they are asked for.
func (r *Repo) Cut() bool {
	if r.shallow() {
		return true
	}
	return r.sets(`^remote\..*\.promisor$`)
}
