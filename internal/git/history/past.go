package history

import (
	"errors"
	"time"

	"github.com/git-rekal/git-rekal/internal/git"
)

// Stay is a time in which one blob stood in a file.
type Stay struct {
	OID  git.OID   // "": there was no file
	From time.Time // zero: before what was looked at
	To   time.Time // zero: it stands there still
}

// PastContents tells what stood in files on the way to a commit: along first parents, back to the
// state at a time, at most limit commits. Each file's stays go from the last to the first.
// Commits that are not here end the way.
func PastContents(r *git.Repo, id git.OID, paths []string, since time.Time, limit int) (map[string][]Stay, error) {
	out := make(map[string][]Stay, len(paths))
	n := 0
	for c, err := range r.FirstParents(id) {
		if n++; n > limit || errors.Is(err, git.ErrNotFound) {
			break
		}
		if err != nil {
			return nil, err
		}
		extendStays(r, c, paths, out)
		if len(c.Parents) == 0 {
			return out, nil
		}
		if c.Committer.When.Before(since) {
			break
		}
	}
	for _, p := range paths {
		if n := len(out[p]); n > 0 {
			out[p][n-1].From = time.Time{}
		}
	}
	return out, nil
}

// extendStays goes one commit further back: From is when the oldest commit yet with that blob was
// made.
func extendStays(r *git.Repo, c git.Commit, paths []string, out map[string][]Stay) {
	for _, p := range paths {
		blob := r.EntryAt(c.Tree, p).ID()
		had := out[p]
		switch n := len(had); {
		case n == 0:
			out[p] = []Stay{{OID: blob, From: c.Committer.When}}
		case had[n-1].OID == blob:
			had[n-1].From = c.Committer.When
		default:
			out[p] = append(had, Stay{OID: blob, From: c.Committer.When, To: had[n-1].From})
		}
	}
}
