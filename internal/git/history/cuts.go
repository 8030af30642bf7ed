package history

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-rekal/git-rekal/internal/git"
)

// cuts are the commits whose parents a shallow clone left out.
type cuts map[git.OID]bool

// explain reports whether an error means that a commit's parent was left out.
func (c cuts) explain(id git.OID, err error) bool { return c[id] && errors.Is(err, git.ErrNotFound) }

// cutsOf are where a clone ends; none in one that is whole.
func cutsOf(r *git.Repo) (cuts, error) {
	b, err := os.ReadFile(filepath.Join(r.Layout().CommonDir, "shallow"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("git: where the history is cut: %w", err)
	}
	out := cuts{}
	for id := range strings.FieldsSeq(string(b)) {
		out[git.OID(id)] = true
	}
	return out, nil
}
