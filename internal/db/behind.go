package db

import (
	"context"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/session"
)

// queryTies reads those that a condition lets pass: of the table "ties", or without those of sessions that only talked,
// of the view "behind".
func queryTies(ctx context.Context, q Querier, from, where string, args ...any) ([]attribution.Tie, error) {
	return readRows(query(ctx, q, `SELECT session, checkpoint, sha, email, tie, ts, turn, lines, evidence FROM `+from+` WHERE `+where, args...), tieColumns)
}

func tieColumns(t *attribution.Tie) []any {
	return asList(&t.Session, &t.Checkpoint, &t.SHA, &t.Email, (*int)(&t.Kind), timeColumn{&t.TS}, &t.Turn, &t.Lines,
		textColumn{&t.Evidence})
}

// TiesOfCommits reads which sessions, purged ones too, stand behind code commits, by the commits' OIDs.
func (d *DB) TiesOfCommits(ctx context.Context, shas []string) (map[string][]attribution.Tie, error) {
	all, err := queryTies(ctx, d, "behind",
		`sha IN (SELECT value FROM json_each(?)) ORDER BY ts DESC, checkpoint, session`, shas)
	return tiesBy(all, func(t attribution.Tie) string { return t.SHA }), err
}

// AllTies reads the code commits of a session, the latest first, those before which it only talked among them.
func (d *DB) AllTies(ctx context.Context, id string) ([]attribution.Tie, error) {
	return queryTies(ctx, d, "ties", `session = ? ORDER BY ts DESC, checkpoint`, id)
}

// TalkedAt reads which sessions, purged ones too, only talked before code commits, by the commits' OIDs.
func (d *DB) TalkedAt(ctx context.Context, shas []string) (map[string][]string, error) {
	return readGroups(query(ctx, d,
		`SELECT DISTINCT sha, session FROM ties WHERE tie = ? AND sha IN (SELECT value FROM json_each(?)) ORDER BY sha, session`, int(session.TieTalked), shas))
}

// TiesOfSessions reads the code commits of sessions, the latest first.
func (d *DB) TiesOfSessions(ctx context.Context, ids []string) (map[string][]attribution.Tie, error) {
	all, err := queryTies(ctx, d, "behind", `session IN (SELECT value FROM json_each(?)) ORDER BY ts DESC, checkpoint`,
		ids)
	return tiesBy(all, func(t attribution.Tie) string { return t.Session }), err
}

func tiesBy(all []attribution.Tie, key func(attribution.Tie) string) map[string][]attribution.Tie {
	out := map[string][]attribution.Tie{}
	for _, t := range all {
		out[key(t)] = append(out[key(t)], t)
	}
	return out
}

// FileOwners reads whose the files of checkpoints are.
func (d *DB) FileOwners(ctx context.Context, checkpoints []string) (attribution.FileOwners, error) {
	out := attribution.FileOwners{}
	err := query(ctx, d, `SELECT checkpoint, session, path, tie FROM shares
		WHERE checkpoint IN (SELECT value FROM json_each(?))`, checkpoints).each(func(rows *Rows) error {
		var f attribution.FileTie
		var kind int
		err := rows.Scan(&f.Checkpoint, &f.Session, &f.Path, &kind)
		out[f] = session.TieKind(kind)
		return err
	})
	return out, err
}

// CountEdits counts how often the tools of sessions wrote to one of some files.
func (d *DB) CountEdits(ctx context.Context, ids, paths []string) (map[string]int, error) {
	return readMap[string, int](query(ctx, d, `SELECT session, count(*) FROM tool_calls WHERE session IN (SELECT value FROM json_each(?))
		AND `+isEdit+` AND path IN (SELECT value FROM json_each(?)) GROUP BY session`, ids, paths))
}

// KnowsCommit reports whether a ledger names a code commit whose OID begins so, in lower case: as one behind which
// sessions stand, or as what one was before or became.
func (d *DB) KnowsCommit(ctx context.Context, start string) (known bool, err error) {
	err = query(ctx, d, `SELECT EXISTS (SELECT 1 FROM ties WHERE sha >= ?1 AND sha < ?1 || 'g')
		OR EXISTS (SELECT 1 FROM checkpoints WHERE sha >= ?1 AND sha < ?1 || 'g')
		OR EXISTS (SELECT 1 FROM lineage WHERE old >= ?1 AND old < ?1 || 'g') OR EXISTS (SELECT 1 FROM lineage WHERE new >= ?1 AND new < ?1 || 'g')`, start).one(&known)
	return known, err
}

// maxWrote is how many records are read of one question's commits, the latest first.
const maxWrote = 20_000

// LinesWritten reads what sessions, purged ones too, wrote in code commits, by the commits' OIDs; the latest edits come
// first.
func (d *DB) LinesWritten(ctx context.Context, shas []string) (map[string][]attribution.LineRecord, error) {
	if len(shas) == 0 {
		return nil, nil
	}
	out := map[string][]attribution.LineRecord{}
	err := query(ctx, d, `SELECT sha, path, session, lines, ts, email FROM wrote
		WHERE sha IN (SELECT value FROM json_each(?)) ORDER BY ts DESC, sha, path, session, lines LIMIT ?`, shas, maxWrote).each(func(rows *Rows) error {
		var w attribution.LineRecord
		var lines string
		if err := rows.Scan(&w.SHA, &w.Path, &w.Session, &lines, timeColumn{&w.TS}, &w.Email); err != nil {
			return err
		}
		var err error
		w.Lines, err = session.ParseRanges(lines)
		out[w.SHA] = append(out[w.SHA], w)
		return err
	})
	return out, err
}

// CommitsWritten are the code commits, by their OIDs, of which lines are known that sessions wrote.
func (d *DB) CommitsWritten(ctx context.Context) ([]string, error) {
	return readTexts(query(ctx, d, `SELECT DISTINCT sha FROM wrote ORDER BY sha`))
}

// AgentsOfLines are the agents whose sessions are known to have written lines of commits: these tell what they edit.
func (d *DB) AgentsOfLines(ctx context.Context) ([]string, error) {
	return readTexts(query(ctx, d, `SELECT DISTINCT s.source FROM wrote w JOIN sessions s ON s.id = w.session
		WHERE w.lines <> '' ORDER BY s.source`))
}

// CountWriters is how many sessions that are not purged are known to have written lines of commits.
func (d *DB) CountWriters(ctx context.Context) (n int, err error) {
	err = query(ctx, d, `SELECT count(DISTINCT session) FROM wrote WHERE session NOT IN (SELECT id FROM purged)`).one(&n)
	return n, err
}
