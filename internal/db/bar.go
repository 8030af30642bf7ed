package db

import (
	"context"
	"errors"
	"slices"
)

// Bar keeps sessions and memories from whoever reads through this DB: they count as purged in every statement, and stay out also where what is
// purged is asked for. It is for a DB that was opened to be read, and what was barred before stays so.
//
// A table of the connection's own stands before the file's of the same name, so no statement has to know of it.
func (d *DB) Bar(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	d.barred = append(d.barred, ids...)
	slices.Sort(d.barred)
	d.barred = slices.Compact(d.barred)
	_, err := d.sql.ExecContext(ctx, `PRAGMA query_only = 0; DROP TABLE IF EXISTS temp.purged; CREATE TEMP TABLE purged (id TEXT PRIMARY KEY) WITHOUT ROWID;
		INSERT INTO temp.purged SELECT id FROM main.purged UNION SELECT value FROM json_each(?)`, sqlValues([]any{d.barred})...)
	if d.mode == ReadOnly {
		_, err2 := d.sql.ExecContext(ctx, `PRAGMA query_only = 1`)
		err = errors.Join(err, err2)
	}
	return classify(err)
}

// Barred are the IDs that Bar keeps out, in order.
func (d *DB) Barred() []string { return d.barred }
