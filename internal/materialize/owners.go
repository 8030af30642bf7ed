package materialize

import (
	"slices"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/session"
)

// assignFiles gives the files of a checkpoint to its sessions, and says how they are tied to it.
func (b *batch) assignFiles(cp *session.Checkpoint, parts []session.Session, wrote []session.Wrote) {
	for _, s := range attribution.Files(cp, wrote, checkpointWork{b, parts}) {
		b.files = append(b.files, db.FileRow{
			Checkpoint: cp.ID, Session: s.Session, Path: s.File.Path, Change: s.File.Change, Blob: db.LeftByCommit(s.File),
			Kind: s.Kind,
		})
	}
}

// checkpointWork is what a batch knows of the sessions of a checkpoint, with what the tables hold.
type checkpointWork struct {
	*batch
	parts []session.Session
}

func (w checkpointWork) Edited(id string) map[string]bool { return w.pending[id] }

func (w checkpointWork) Part(id string) (session.Session, bool) {
	i := slices.IndexFunc(w.parts, func(p session.Session) bool { return p.ID == id })
	if i < 0 {
		return session.Session{}, false
	}
	return w.parts[i], true
}
