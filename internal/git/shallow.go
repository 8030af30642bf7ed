package git

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ShallowCuts are the commits whose parents a shallow clone left out; none in a clone that is whole. All worktrees
// share the list; libgit2 1.5 looks for it in each one's own directory.
func (r *Repo) ShallowCuts() (map[OID]bool, error) {
	text, err := os.ReadFile(filepath.Join(r.layout.CommonDir, "shallow"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("git: where the history is cut: %w", err)
	}
	cuts := map[OID]bool{}
	for id := range strings.FieldsSeq(string(text)) {
		cuts[OID(id)] = true
	}
	return cuts, nil
}

// Incomplete reports whether objects may be missing here: in a shallow clone, or in one that leaves
// out blobs until they are asked for.
func (r *Repo) Incomplete() bool {
	cuts, _ := r.ShallowCuts() // what can't be read cuts nothing
	return len(cuts) > 0 || r.hasSetting(`^remote\..*\.promisor$`)
}
