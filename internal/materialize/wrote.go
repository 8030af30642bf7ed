package materialize

import (
	"slices"
	"time"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/session"
)

// wrote takes which lines of code commits sessions wrote. A ledger speaks of its own sessions only. What it says of a commit ties
// them to it and gives them the file, as a checkpoint does; of the commit of the entry's own checkpoint give has seen to that.
func (b *batch) wrote(e entry) {
	var here []session.Wrote
	var ties []db.CommitRow
	for i, w := range e.Wrote {
		if b.rows[w.Session] == nil {
			b.dangling = append(b.dangling, db.DanglingLink{Session: e.written[i], Entry: e.key})
			continue
		}
		here = append(here, w)
		b.changed[w.Session], b.rows[w.Session].LastEntry = true, e.key
		b.lines = append(b.lines, db.WroteRow{
			SHA: w.GitSHA, Path: w.Path, Session: w.Session, Lines: w.Lines, TS: w.TS, Email: address(e.email),
		})
		if at := b.tieOf(string(e.OID), w); at != nil {
			at.Lines += w.Lines.Count()
			continue
		}
		i = slices.IndexFunc(ties, func(t db.CommitRow) bool { return t.SHA == w.GitSHA && t.Session == w.Session })
		if i < 0 {
			// As a checkpoint of its own; a time of its own keeps their order.
			i = len(ties)
			ties = append(ties, db.CommitRow{
				Session: w.Session, Checkpoint: string(e.OID) + ":" + w.GitSHA, SHA: w.GitSHA, Email: address(e.email),
				TS: e.at.Add(time.Duration(i) * time.Millisecond), Turn: -1,
			})
		}
		ties[i].Lines += w.Lines.Count()
		b.files = append(b.files, db.FileRow{
			Checkpoint: ties[i].Checkpoint, Session: w.Session, Path: w.Path, Change: "M", Blob: db.KeyOf(w.Blob),
		})
	}
	b.ties, e.Wrote = append(b.ties, ties...), here
	b.notes = append(b.notes, e)
}

// tieOf is what the checkpoint of an entry ties to the commit that a record speaks of; nil where it does not.
func (b *batch) tieOf(checkpoint string, w session.Wrote) *db.CommitRow {
	for i := len(b.ties) - 1; i >= 0 && b.ties[i].Checkpoint == checkpoint; i-- {
		if t := &b.ties[i]; t.SHA == w.GitSHA && t.Session == w.Session {
			return t
		}
	}
	return nil
}
