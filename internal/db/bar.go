package db

import (
	"context"
	"slices"
)

// Bar keeps sessions and memories from whoever reads through this DB: they count as purged in every statement, and stay
// out also where what is purged is asked for. It is for a DB that was opened to be read, and what was barred before
// stays so.
//
// A table of the connection's own stands before the file's of the same name, so no statement has to know of it.
func (d *DB) Bar(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	d.barred = append(d.barred, ids...)
	slices.Sort(d.barred)
	d.barred = slices.Compact(d.barred)
	return d.shadow(ctx, func(t *Tx) error {
		return t.Exec(ctx, `CREATE TEMP TABLE IF NOT EXISTS purged (id TEXT PRIMARY KEY) WITHOUT ROWID; INSERT OR IGNORE INTO temp.purged SELECT id FROM main.purged;
			INSERT OR IGNORE INTO temp.purged SELECT value FROM json_each(?)`, d.barred)
	})
}

// Barred are the IDs that Bar keeps out, in order.
func (d *DB) Barred() []string { return d.barred }
