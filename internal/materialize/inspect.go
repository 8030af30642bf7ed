package materialize

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/ledger"
)

// State is how the databases are, as they are found.
type State struct {
	Missing bool           // there are none yet
	Behind  int            // ledgers that have moved on
	Unread  int            // ledgers that were looked at and not read to their end
	Resting []ledger.Head  // ledgers that could not be applied
	Err     error          // they can't be read, or don't belong together
	Broken  map[string]int // rows that refer to none, by table
	Bytes   int64          // of both files

	Contested []Contested // IDs that more than one ledger names
}

// Inspect looks at the databases and their rows, and brings nothing up to date.
func (m *Materializer) Inspect(ctx context.Context) (State, error) {
	var out State
	for _, file := range []string{dataFile, indexFile} {
		info, err := os.Stat(m.path(file))
		if err == nil {
			out.Bytes += info.Size()
		}
	}
	if out.Bytes == 0 {
		out.Missing = true
		return out, nil
	}
	heads, err := m.all()
	if err != nil {
		return out, err
	}
	o, err := m.peek(ctx, []string{dataFile, indexFile})
	if rebuildable(err) || errors.Is(err, fs.ErrPermission) {
		out.Err = err
		return out, ctx.Err()
	}
	if err != nil {
		return out, err
	}
	for _, h := range heads {
		switch r := o.cursor[h.Ref]; {
		case r.tried != h.OID:
			out.Behind++
		case r.rests:
			out.Resting = append(out.Resting, h)
		case r.applied != h.OID:
			out.Unread++
		}
	}
	out.Broken, err = o.data.Broken(ctx, db.DataSchema().Kind)
	if err == nil {
		var index map[string]int
		index, err = o.index.Broken(ctx, db.IndexSchema().Kind)
		maps.Copy(out.Broken, index)
	}
	if err == nil {
		out.Contested, err = contested(ctx, o.data, o.cursor)
	}
	if errors.Is(err, db.ErrCorrupt) {
		out.Err, err = err, nil
	}
	return out, errors.Join(err, o.close())
}
