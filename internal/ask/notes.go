package ask

import (
	"context"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/recall"
	"github.com/git-rekal/git-rekal/internal/result"
	"github.com/git-rekal/git-rekal/internal/session"
)

// NoteRow is a version of a section of an agent's notes.
type NoteRow = db.NoteRow

// DescribeNotes tells of notes, in their order, who wrote them and what of them is gone, however long that takes.
func (m *Moment) DescribeNotes(ctx context.Context, rows []NoteRow) ([]result.Memory, error) {
	all := make([]db.MemoryRow, len(rows))
	var ids []string
	for i, r := range rows {
		all[i], ids = r.MemoryRow, append(ids, r.ID)
	}
	known, err := recall.Notes(ctx, m.DB, m.w.Repo, all, m.w.Noted(), 0)
	if err != nil {
		return nil, err
	}
	signed, err := m.Trust(ctx, ids)
	if err != nil {
		return nil, err
	}
	private, err := db.PrivateIDs(ctx, m.DB)
	out := make([]result.Memory, len(rows))
	for i, r := range all {
		out[i] = recall.MemoryWithNote(r, known[r.ID])
		out[i].Signature = signed[r.ID].String()
		for _, id := range private {
			out[i].Private = out[i].Private || id == r.ID
		}
	}
	return out, err
}

// IsTrusted reports which of some items may come into an agent's folder: those that no key signed which git knows as
// somebody else's, and where rekal.require says so, only those that a key of their author signed.
func (m *Moment) IsTrusted(ctx context.Context, ids []string) (func(id string) bool, error) {
	conf, err := m.w.Settings()
	if err != nil {
		return nil, err
	}
	signed, err := m.Trust(ctx, ids)
	return func(id string) bool {
		return signed[id] == session.Verified || !conf.OnlyVerified && signed[id].String() != "bad"
	}, err
}
