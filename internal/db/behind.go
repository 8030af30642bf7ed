package db

import (
	"context"

	"github.com/git-rekal/git-rekal/internal/attribution"
)

const tieColumns = `session, checkpoint, sha, email, inferred, ts, turn, lines`

func scanTie(rows *Rows) (t attribution.Tie, err error) {
	err = rows.Scan(&t.Session, &t.Checkpoint, &t.SHA, &t.Email, &t.Inferred, moment{&t.TS}, &t.Turn, &t.Lines)
	return t, err
}

// Behind reads which sessions, purged ones too, stand behind code commits, by the commits' OIDs.
func (d *DB) Behind(ctx context.Context, shas []string) (map[string][]attribution.Tie, error) {
	rows, err := d.Query(ctx, `SELECT `+tieColumns+` FROM ties
		WHERE sha IN (SELECT value FROM json_each(?)) ORDER BY ts DESC, checkpoint, session`, shas)
	if err != nil {
		return nil, err
	}
	out := map[string][]attribution.Tie{}
	err = each(rows, func() error {
		t, err := scanTie(rows)
		out[t.SHA] = append(out[t.SHA], t)
		return err
	})
	return out, err
}

// Commits reads the code commits of sessions, the latest first.
func (d *DB) Commits(ctx context.Context, ids []string) (map[string][]attribution.Tie, error) {
	rows, err := d.Query(ctx, `SELECT `+tieColumns+` FROM ties
		WHERE session IN (SELECT value FROM json_each(?)) ORDER BY ts DESC, checkpoint`, ids)
	if err != nil {
		return nil, err
	}
	out := map[string][]attribution.Tie{}
	err = each(rows, func() error {
		t, err := scanTie(rows)
		out[t.Session] = append(out[t.Session], t)
		return err
	})
	return out, err
}

// Owners reads whose the files of checkpoints are, of each whether that is inferred.
func (d *DB) Owners(ctx context.Context, checkpoints []string) (map[attribution.FileTie]bool, error) {
	rows, err := d.Query(ctx, `SELECT checkpoint, session, path, inferred FROM shares WHERE checkpoint IN (SELECT value FROM json_each(?))`, checkpoints)
	if err != nil {
		return nil, err
	}
	out := map[attribution.FileTie]bool{}
	err = each(rows, func() error {
		var f attribution.FileTie
		var inferred bool
		err := rows.Scan(&f.Checkpoint, &f.Session, &f.Path, &inferred)
		out[f] = inferred
		return err
	})
	return out, err
}

// Edits counts how often the tools of sessions wrote to one of some files.
func (d *DB) Edits(ctx context.Context, ids, paths []string) (map[string]int, error) {
	rows, err := d.Query(ctx, `SELECT session, count(*) FROM tool_calls WHERE session IN (SELECT value FROM json_each(?))
		AND `+edited+` AND path IN (SELECT value FROM json_each(?)) GROUP BY session`, ids, paths)
	if err != nil {
		return nil, err
	}
	out := map[string]int{}
	err = each(rows, func() error {
		var id string
		var n int
		err := rows.Scan(&id, &n)
		out[id] = n
		return err
	})
	return out, err
}

// KnowsCommit reports whether a ledger names a code commit whose OID begins so, in lower case: as one behind which sessions stand, or
// as what one was before or became.
func (d *DB) KnowsCommit(ctx context.Context, start string) (known bool, err error) {
	rows, err := d.Query(ctx, `SELECT EXISTS (SELECT 1 FROM ties WHERE sha >= ?1 AND sha < ?1 || 'g')
		OR EXISTS (SELECT 1 FROM checkpoints WHERE sha >= ?1 AND sha < ?1 || 'g')
		OR EXISTS (SELECT 1 FROM lineage WHERE old >= ?1 AND old < ?1 || 'g') OR EXISTS (SELECT 1 FROM lineage WHERE new >= ?1 AND new < ?1 || 'g')`, start)
	if err != nil {
		return false, err
	}
	return known, each(rows, func() error { return rows.Scan(&known) })
}
