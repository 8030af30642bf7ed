package materialize

import (
	"context"
	"fmt"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/session"
)

// mentions is what the calls of a session name.
type mentions struct {
	*attribution.Mentions
	loaded bool // what the tables hold of it is here
}

func (b *batch) namedBy(id string) *mentions {
	if b.named[id] == nil {
		b.named[id] = &mentions{Mentions: attribution.NewMentions()}
	}
	return b.named[id]
}

// give gives the files of a checkpoint to its sessions, and marks the ties that are inferred.
func (b *batch) give(ctx context.Context, cp *session.Checkpoint, wrote []session.Wrote) error {
	shares, err := attribution.Files(cp, wrote, batchWork{ctx, b})
	for _, s := range shares {
		b.files = append(b.files, db.FileRow{
			Checkpoint: cp.ID, Session: s.Session, Path: s.File.Path, Change: s.File.Change, Blob: db.LeftBy(s.File), Inferred: s.Inferred,
		})
	}
	return err
}

// batchWork is what a batch knows of sessions, with what the tables hold.
type batchWork struct {
	ctx context.Context
	*batch
}

func (w batchWork) Edited(id string) map[string]bool { return w.edited[id] }

func (w batchWork) Parent(id string) string { return w.rows[id].Parent }

// Says reads what the tables hold of a session's calls where what is new does not say it already.
func (w batchWork) Says(id string, what func(*attribution.Mentions) bool) (bool, error) {
	n := w.namedBy(id)
	if n.loaded || what(n.Mentions) {
		return what(n.Mentions), nil
	}
	if err := w.ctx.Err(); err != nil {
		return false, fmt.Errorf("materialize: %w", err)
	}
	calls, err := w.tx.Named(w.ctx, id)
	if err != nil {
		return false, err
	}
	n.Add(calls)
	n.loaded = true
	return what(n.Mentions), nil
}
