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

// MarkPrivate has sessions count as private, which are named AGENT/ID, with all that they began, for whoever reads
// through this DB, as Bar bars. So what was sent before counts, too.
func (d *DB) MarkPrivate(ctx context.Context, names []string) error {
	ids, err := SessionsNamed(ctx, d, names)
	if err != nil || len(ids) == 0 {
		return err
	}
	return d.shadow(ctx, func(t *Tx) error {
		return t.Exec(ctx, `CREATE TEMP TABLE IF NOT EXISTS private (id TEXT PRIMARY KEY) WITHOUT ROWID; INSERT OR IGNORE INTO temp.private SELECT id FROM main.private;
			INSERT OR IGNORE INTO temp.private SELECT value FROM json_each(?)`, ids)
	})
}

// SessionsNamed reads the sessions that are named AGENT/ID, and all that these began, by whatever number of steps.
func SessionsNamed(ctx context.Context, q Querier, names []string) ([]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	return readTexts(query(ctx, q, `WITH RECURSIVE kin(id) AS (
			SELECT s.id FROM json_each(?) n JOIN sessions s
				ON lower(s.native_id) = lower(substr(n.value, instr(n.value, '/') + 1)) AND s.source || '/' || s.native_id = n.value
			UNION SELECT s.id FROM kin JOIN sessions s ON s.parent = kin.id
			UNION SELECT s.id FROM kin JOIN sessions s ON s.forked_from = kin.id)
		SELECT id FROM kin ORDER BY id`, names))
}

// TurnsSent counts the turns of a session that came with entries of other commits than some: those that no remote has.
func TurnsSent(ctx context.Context, q Querier, id string, isUnsent func(commit string) bool) (n int, err error) {
	parts, err := readRows(query(ctx, q, `SELECT e.oid, p.next_turn - p.turn FROM parts p JOIN entries e ON e.n = p.entry
		WHERE p.item = ?`, id), func(p *partTurns) []any { return asList(&p.commit, &p.turns) })
	for _, p := range parts {
		if !isUnsent(p.commit) {
			n += p.turns
		}
	}
	return n, err
}

// partTurns is how many turns of a session a commit brought.
type partTurns struct {
	commit string
	turns  int
}
