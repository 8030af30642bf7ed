package materialize

import (
	"context"
	"fmt"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/session"
)

// mentionsOf is what the calls of a session name.
func (b *batch) mentionsOf(id string) *attribution.Mentions {
	if b.named[id] == nil {
		b.named[id] = attribution.NewMentions()
	}
	return b.named[id]
}

// assignFiles gives the files of a checkpoint to its sessions, and says how they are tied to it.
func (b *batch) assignFiles(ctx context.Context, cp *session.Checkpoint, wrote []session.Wrote) error {
	shares, err := attribution.Files(cp, wrote, batchWork{ctx, b})
	for _, s := range shares {
		b.files = append(b.files, db.FileRow{
			Checkpoint: cp.ID, Session: s.Session, Path: s.File.Path, Change: s.File.Change, Blob: db.LeftByCommit(s.File), Inferred: s.Inferred,
		})
	}
	return err
}

// batchWork is what a batch knows of sessions, with what the tables hold.
type batchWork struct {
	ctx context.Context
	*batch
}

func (w batchWork) Edited(id string) map[string]bool { return w.pending[id] }

// AskMentions reads what the tables hold of a session's calls where what is new does not say it already.
func (w batchWork) AskMentions(id string, question func(*attribution.Mentions) bool) (bool, error) {
	n := w.mentionsOf(id)
	if w.loaded[id] || question(n) {
		return question(n), nil
	}
	if err := w.ctx.Err(); err != nil {
		return false, fmt.Errorf("materialize: %w", err)
	}
	calls, err := w.tx.TouchedAndRun(w.ctx, id)
	if err != nil {
		return false, err
	}
	n.Add(calls)
	w.loaded[id] = true
	return question(n), nil
}
