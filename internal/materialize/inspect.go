package materialize

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/ledger"
)

// State is the state in which Inspect finds the index.
type State struct {
	Missing    bool           // there is none yet
	Behind     int            // ledgers that have moved on
	PartlyRead int            // ledgers that were looked at and not read to their end
	Unapplied  []ledger.Head  // ledgers that could not be applied
	Err        error          // it can't be read
	Broken     map[string]int // rows with a dangling reference, by table
	Bytes      int64          // of the file

	Contested []Contested // IDs that more than one ledger names
}

// Inspect looks at the index and its rows, and brings nothing up to date.
func (m *Materializer) Inspect(ctx context.Context) (State, error) {
	var out State
	info, err := os.Stat(m.filePath(indexFile))
	if err != nil {
		out.Missing = true
		return out, nil //nolint:nilerr // there is none
	}
	out.Bytes = info.Size()
	heads, err := m.ledgersRead()
	if err != nil {
		return out, err
	}
	r, err := m.OpenExisting(ctx)
	if rebuildable(err) || errors.Is(err, fs.ErrPermission) {
		out.Err = err
		return out, ctx.Err()
	}
	if err != nil {
		return out, err
	}
	for _, h := range heads {
		switch at := r.cursor[h.Ref]; {
		case at.tried != h.OID:
			out.Behind++
		case at.rests:
			out.Unapplied = append(out.Unapplied, h)
		case at.applied != h.OID:
			out.PartlyRead++
		}
	}
	if out.Broken, err = r.CheckReferences(ctx); err == nil {
		out.Contested, err = contested(ctx, r.DB, r.cursor)
	}
	if errors.Is(err, db.ErrCorrupt) {
		out.Err, err = err, nil
	}
	return out, errors.Join(err, r.Close())
}
