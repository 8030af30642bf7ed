package db

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/git-rekal/git-rekal/internal/session"
)

// Names reads the IDs of all sessions and memories, purged or not.
func (d *DB) Names(ctx context.Context) (session.Names, error) {
	rows, err := d.Query(ctx, `SELECT id FROM sessions UNION ALL SELECT id FROM memories`)
	if err != nil {
		return session.Names{}, err
	}
	ids, err := scanStrings(rows)
	return session.NewNames(ids), err
}

// Session reads one session's row from data.db, by its whole ID.
func (d *DB) Session(ctx context.Context, id string) (SessionRow, error) {
	tx, err := d.Begin(ctx)
	if err != nil {
		return SessionRow{}, err
	}
	defer tx.Rollback() // nothing was written
	rows, err := tx.Sessions(ctx, []string{id})
	if err != nil {
		return SessionRow{}, err
	}
	r, ok := rows[id]
	if !ok {
		return SessionRow{}, fmt.Errorf("session %q: %w", id, session.ErrNoID)
	}
	return r, nil
}

// Children reads the IDs of the sessions that a session spawned, without those that are purged.
func (d *DB) Children(ctx context.Context, id string) ([]string, error) {
	rows, err := d.Query(ctx, `SELECT id FROM sessions WHERE parent_session_id = ?
		AND id NOT IN (SELECT id FROM purged) ORDER BY id`, id)
	if err != nil {
		return nil, err
	}
	return scanStrings(rows)
}

// Relative is a session that another one came of, or that came of it.
type Relative struct {
	ID, As, Title string
	Turns         int
}

// Family reads at most limit sessions that stand next to one: its parent, the one that it was forked
// from, what it spawned, and what was forked from it. Those that are purged are left out.
func (d *DB) Family(ctx context.Context, of SessionRow, limit int) ([]Relative, error) {
	rows, err := d.Query(ctx, `SELECT s.id, r.name, coalesce(s.title, ''), s.next_turn - s.first_turn FROM sessions s
		JOIN (VALUES (1, 'parent'), (2, 'origin'), (3, 'child'), (4, 'fork')) r(rank, name) ON
			CASE rank WHEN 1 THEN s.id = ? WHEN 2 THEN s.id = ? WHEN 3 THEN s.parent_session_id = ? ELSE s.forked_from = ? END
		WHERE s.id NOT IN (SELECT id FROM purged) ORDER BY r.rank, s.id LIMIT ?`, of.Parent, of.ForkedFrom, of.ID, of.ID, limit)
	if err != nil {
		return nil, err
	}
	var out []Relative
	err = each(rows, func() error {
		var r Relative
		err := rows.Scan(&r.ID, &r.As, &r.Title, &r.Turns)
		out = append(out, r)
		return err
	})
	return out, err
}

// Turns reads at most limit turns of a session from an index on; role "" is both.
func (d *DB) Turns(ctx context.Context, id string, from, limit int, role string) ([]session.Turn, error) {
	rows, err := d.Query(ctx, `SELECT turn_index, role, content, ts FROM turns
		WHERE session_id = ? AND turn_index >= ? AND (? = '' OR role = ?) ORDER BY turn_index LIMIT ?`, id, from, role, role, limit)
	if err != nil {
		return nil, err
	}
	var out []session.Turn
	err = each(rows, func() error {
		var t session.Turn
		var ts sql.NullTime
		if err := rows.Scan(&t.Index, &t.Role, &t.Content, &ts); err != nil {
			return err
		}
		t.TS = ts.Time
		out = append(out, t)
		return nil
	})
	return out, err
}

// Tools reads the tool calls of a session behind the turns from…to, inclusive.
func (d *DB) Tools(ctx context.Context, id string, from, to int) ([]session.ToolCall, error) {
	rows, err := d.Query(ctx, `SELECT call_order, turn_index, tool, coalesce(path, ''), coalesce(cmd_prefix, ''), failed, coalesce(act, '') FROM tool_calls
		WHERE session_id = ? AND turn_index BETWEEN ? AND ? ORDER BY call_order`, id, from, to)
	if err != nil {
		return nil, err
	}
	var out []session.ToolCall
	err = each(rows, func() error {
		var c session.ToolCall
		if err := rows.Scan(&c.Index, &c.Turn, &c.Tool, &c.Path, &c.Cmd, &c.Failed, &c.Act); err != nil {
			return err
		}
		out = append(out, c)
		return nil
	})
	return out, err
}

// SessionFile is a file of one of a session's commits.
type SessionFile struct {
	Left
	Change, SHA string
}

// SessionFiles reads from index.db the files of a session's commits, the latest first.
func (d *DB) SessionFiles(ctx context.Context, id string) ([]SessionFile, error) {
	rows, err := d.Query(ctx, `SELECT file_path, blob, change_type, git_sha FROM files_index f
		JOIN session_commits c ON c.session_id = f.session_id AND c.checkpoint_id = f.checkpoint_id
		WHERE f.session_id = ? ORDER BY c.ts DESC, f.checkpoint_id, file_path`, id)
	if err != nil {
		return nil, err
	}
	var out []SessionFile
	err = each(rows, func() error {
		var f SessionFile
		err := rows.Scan(&f.Path, &f.Blob, &f.Change, &f.SHA)
		out = append(out, f)
		return err
	})
	return out, err
}

// LogRow is a checkpoint with one of its sessions; Session is "" when it has none.
type LogRow struct {
	session.Checkpoint
	Took           time.Time // of an import: when its sessions took place; zero where that is not told
	FileCount      int
	Session, Title string
	Started, Last  time.Time // of the session
	Source, Actor  string
	Turns, Tools   int
	Inferred       bool
}

// Log reads the latest checkpoints of data.db, newest first, a row for each session of
// each that is not purged. An import is as late as its sessions.
func (d *DB) Log(ctx context.Context, limit int) ([]LogRow, error) {
	rows, err := d.Query(ctx, `WITH t AS (SELECT checkpoint_id, max(last_turn_at) AS took FROM checkpoint_sessions l JOIN sessions s ON s.id = l.session_id
			WHERE checkpoint_id IN (SELECT id FROM checkpoints WHERE via = ?) GROUP BY checkpoint_id),
		c AS (SELECT checkpoints.*, took FROM checkpoints LEFT JOIN t ON t.checkpoint_id = id ORDER BY coalesce(took, ts) DESC, id LIMIT ?),
		f AS (SELECT checkpoint_id, count(*) AS n FROM files_touched GROUP BY checkpoint_id)
		SELECT c.id, git_sha, git_branch, c.user_email, c.ts, c.took, c.actor_type, coalesce(via, ''), coalesce(f.n, 0),
			coalesce(s.id, ''), coalesce(title, ''), s.started_at, s.last_turn_at, coalesce(source, ''), coalesce(s.actor_type, ''),
			coalesce(next_turn - first_turn, 0), coalesce(next_tool - first_tool, 0), coalesce(inferred, false)
		FROM c LEFT JOIN f ON f.checkpoint_id = c.id LEFT JOIN checkpoint_sessions l ON l.checkpoint_id = c.id
			AND l.session_id NOT IN (SELECT id FROM purged)
		LEFT JOIN sessions s ON s.id = l.session_id ORDER BY coalesce(c.took, c.ts) DESC, c.id, s.started_at, s.id`, session.ViaImport, limit)
	if err != nil {
		return nil, err
	}
	var out []LogRow
	err = each(rows, func() error {
		var r LogRow
		var took, started, last sql.NullTime
		if err := rows.Scan(&r.ID, &r.GitSHA, &r.GitBranch, &r.UserEmail, &r.TS, &took, &r.ActorType, &r.Via, &r.FileCount,
			&r.Session, &r.Title, &started, &last, &r.Source, &r.Actor, &r.Turns, &r.Tools, &r.Inferred); err != nil {
			return err
		}
		r.Took, r.Started, r.Last = took.Time, started.Time, last.Time
		out = append(out, r)
		return nil
	})
	return out, err
}

// Ties lists the checkpoints of one author by the code commit that each captured, the first
// ones first. Those of imports captured none.
func (d *DB) Ties(ctx context.Context, email string) (map[string][]string, error) {
	rows, err := d.Query(ctx, `SELECT git_sha, id FROM checkpoints WHERE lower(user_email) = lower(?) AND via <> ? ORDER BY ts, id`,
		email, session.ViaImport)
	if err != nil {
		return nil, err
	}
	return pairs(rows)
}
