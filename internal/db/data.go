package db

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/git-rekal/git-rekal/internal/session"
)

// DataVersion is the schema version of data.db; any change of a table below raises it.
const DataVersion = 9

// DataSchema is the schema of data.db: the six tables of the schema page (documented
// columns first), the memories and marks that the ledger holds besides, who names which ID, links to
// sessions that are not there, and how far each ledger has been read.
func DataSchema() Schema {
	return Schema{Kind: "data", Version: DataVersion, DDL: dataDDL + purgedDDL + cursorDDL}
}

const dataDDL = `
CREATE TABLE sessions (
    id VARCHAR NOT NULL, parent_session_id VARCHAR, session_hash VARCHAR NOT NULL,
    captured_at TIMESTAMP NOT NULL, actor_type VARCHAR NOT NULL DEFAULT 'human', agent_id VARCHAR,
    user_email VARCHAR, branch VARCHAR,
    source VARCHAR NOT NULL, native_id VARCHAR NOT NULL, forked_from VARCHAR, title VARCHAR,
    started_at TIMESTAMP, last_turn_at TIMESTAMP,
    first_turn INTEGER NOT NULL, next_turn INTEGER NOT NULL,
    first_tool INTEGER NOT NULL, next_tool INTEGER NOT NULL, last_entry VARCHAR NOT NULL);
CREATE TABLE turns (
    id VARCHAR NOT NULL, session_id VARCHAR NOT NULL, turn_index INTEGER NOT NULL,
    role VARCHAR NOT NULL, content VARCHAR NOT NULL USING COMPRESSION zstd, ts TIMESTAMP);
CREATE TABLE tool_calls (
    id VARCHAR NOT NULL, session_id VARCHAR NOT NULL, call_order INTEGER NOT NULL,
    tool VARCHAR NOT NULL, path VARCHAR, cmd_prefix VARCHAR, turn_index INTEGER NOT NULL,
    failed BOOLEAN NOT NULL, act VARCHAR);
CREATE TABLE checkpoints (
    id VARCHAR NOT NULL, git_sha VARCHAR NOT NULL, git_branch VARCHAR NOT NULL,
    user_email VARCHAR NOT NULL, ts TIMESTAMP NOT NULL, actor_type VARCHAR NOT NULL DEFAULT 'human',
    agent_id VARCHAR, patch_id VARCHAR, via VARCHAR);
CREATE TABLE files_touched (
    id VARCHAR NOT NULL, checkpoint_id VARCHAR NOT NULL, file_path VARCHAR NOT NULL,
    change_type VARCHAR NOT NULL, old_path VARCHAR, blob VARCHAR);
CREATE TABLE checkpoint_sessions (
    checkpoint_id VARCHAR NOT NULL, session_id VARCHAR NOT NULL, inferred BOOLEAN NOT NULL);
CREATE TABLE memories (
    id VARCHAR NOT NULL, user_email VARCHAR NOT NULL, title VARCHAR, content VARCHAR NOT NULL,
    source VARCHAR, ts TIMESTAMP NOT NULL, actor_type VARCHAR NOT NULL, entry VARCHAR NOT NULL);
CREATE TABLE marks (
    id VARCHAR NOT NULL, kind VARCHAR NOT NULL, n INTEGER NOT NULL, ts TIMESTAMP NOT NULL, user_email VARCHAR NOT NULL);
CREATE TABLE rewrites (
    old_sha VARCHAR NOT NULL, new_sha VARCHAR NOT NULL, ts TIMESTAMP NOT NULL, user_email VARCHAR NOT NULL,
    entry VARCHAR NOT NULL, n INTEGER NOT NULL);
CREATE TABLE wrote (
    git_sha VARCHAR NOT NULL, blob VARCHAR, session_id VARCHAR NOT NULL, path VARCHAR NOT NULL, lines VARCHAR NOT NULL,
    gone INTEGER NOT NULL, ts TIMESTAMP NOT NULL, user_email VARCHAR NOT NULL);
CREATE TABLE claims (
    id VARCHAR NOT NULL, user_email VARCHAR NOT NULL, entry VARCHAR NOT NULL, credible BOOLEAN NOT NULL);
CREATE TABLE dangling_links (session_id VARCHAR NOT NULL, entry VARCHAR NOT NULL);
`

// cursorDDL stands in both databases: which commit of each ledger they hold. What oid says
// besides is the business of package materialize.
const cursorDDL = `
CREATE TABLE ledger_cursor (ref VARCHAR NOT NULL, oid VARCHAR NOT NULL);
`

// SessionRow is one row of the sessions table, and what a continuation must know.
type SessionRow struct {
	session.Session // without turns and tool calls; Bytes is not kept
	Email           string
	CapturedAt      time.Time
	LastTurnAt      time.Time
	NextTurn        int // index of the turn that would come next
	NextTool        int
	LastEntry       string // the last entry of the ledgers that speaks of the session, by its place in their order
}

// Sessions reads the rows of the sessions with these IDs, by ID.
func (t *Tx) Sessions(ctx context.Context, ids []string) (map[string]SessionRow, error) {
	rows, err := t.Query(ctx, `SELECT id, parent_session_id, session_hash, captured_at, actor_type, agent_id, user_email,
		branch, source, native_id, forked_from, title, started_at, last_turn_at, first_turn, next_turn,
		first_tool, next_tool, last_entry FROM sessions WHERE id IN (SELECT unnest(?::VARCHAR[]))`, ids)
	if err != nil {
		return nil, err
	}
	out := map[string]SessionRow{}
	err = each(rows, func() error {
		var r SessionRow
		var parent, agent, email, branch, forked, title sql.NullString
		var started, last sql.NullTime
		if err := rows.Scan(&r.ID, &parent, &r.Hash, &r.CapturedAt, &r.ActorType, &agent, &email, &branch, &r.Source,
			&r.NativeID, &forked, &title, &started, &last, &r.FirstTurn, &r.NextTurn, &r.FirstTool, &r.NextTool, &r.LastEntry); err != nil {
			return err
		}
		r.Parent, r.AgentID, r.Email, r.Branch = parent.String, agent.String, email.String, branch.String
		r.ForkedFrom, r.Title = forked.String, title.String
		r.StartedAt, r.LastTurnAt = started.Time, last.Time
		out[r.ID] = r
		return nil
	})
	return out, err
}

// ReplaceSessions writes the rows of sessions, in place of those that are there.
func (t *Tx) ReplaceSessions(ctx context.Context, rows []SessionRow) error {
	ids := make([]string, len(rows))
	for i, r := range rows {
		ids[i] = r.ID
	}
	if err := t.Exec(ctx, `DELETE FROM sessions WHERE id IN (SELECT unnest(?::VARCHAR[]))`, ids); err != nil {
		return err
	}
	return t.Append("sessions", func(row func(...any) error) error {
		for _, r := range rows {
			if err := row(r.ID, opt(r.Parent), r.Hash, r.CapturedAt, r.ActorType, opt(r.AgentID), opt(r.Email), opt(r.Branch),
				r.Source, r.NativeID, opt(r.ForkedFrom), opt(r.Title), at(r.StartedAt), at(r.LastTurnAt),
				int32(r.FirstTurn), int32(r.NextTurn), int32(r.FirstTool), int32(r.NextTool), r.LastEntry); err != nil {
				return err
			}
		}
		return nil
	})
}

// AppendTurns adds the turns of a part to data.db.
func (t *Tx) AppendTurns(parts []session.Session) error {
	return t.Append("turns", func(row func(...any) error) error {
		for _, s := range parts {
			for _, u := range s.Turns {
				id := session.RowID(u.TS, s.ID, "turn", u.Index)
				if err := row(id, s.ID, int32(u.Index), u.Role, u.Content, at(u.TS)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// AppendTools adds the tool calls of a part to data.db; times gives the time of each
// call, which is that of the turn before it.
func (t *Tx) AppendTools(parts []session.Session, times func(s session.Session, c session.ToolCall) time.Time) error {
	return t.Append("tool_calls", func(row func(...any) error) error {
		for _, s := range parts {
			for _, c := range s.ToolCalls {
				id := session.RowID(times(s, c), s.ID, "tool", c.Index)
				if err := row(id, s.ID, int32(c.Index), c.Tool, opt(c.Path), opt(c.Cmd), int32(c.Turn), c.Failed, opt(c.Act)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// AppendCheckpoints adds a checkpoint, its files, and the sessions it is tied to.
func (t *Tx) AppendCheckpoints(cps []session.Checkpoint) error {
	err := t.Append("checkpoints", func(row func(...any) error) error {
		for _, c := range cps {
			if err := row(c.ID, c.GitSHA, c.GitBranch, c.UserEmail, c.TS, c.ActorType, opt(c.AgentID), opt(c.PatchID), opt(c.Via)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = t.Append("files_touched", func(row func(...any) error) error {
		for _, c := range cps {
			for i, f := range c.Files {
				if err := row(session.RowID(c.TS, c.ID, "file", i), c.ID, f.Path, f.Change, opt(f.OldPath), opt(f.Blob)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return t.Append("checkpoint_sessions", func(row func(...any) error) error {
		for _, c := range cps {
			for _, l := range c.Links {
				if err := row(c.ID, l.Session, l.Inferred); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// DanglingLink is an entry's link to a session that no entry before it speaks of, by the session's
// session.OthersID, which says whose session it would be, too.
type DanglingLink struct{ Session, Entry string }

// AppendDangling notes links that tie nothing.
func (t *Tx) AppendDangling(links []DanglingLink) error {
	return t.Append("dangling_links", func(row func(...any) error) error {
		for _, l := range links {
			if err := row(l.Session, l.Entry); err != nil {
				return err
			}
		}
		return nil
	})
}

// Dangling reads the last entry that links each of the sessions in vain.
func (t *Tx) Dangling(ctx context.Context, ids []string) (map[string]string, error) {
	rows, err := t.Query(ctx, `SELECT session_id, max(entry) FROM dangling_links
		WHERE session_id IN (SELECT unnest(?::VARCHAR[])) GROUP BY session_id`, ids)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	err = each(rows, func() error {
		var id, entry string
		err := rows.Scan(&id, &entry)
		out[id] = entry
		return err
	})
	return out, err
}

// Whole reads the turns and tool calls of a session into it.
func (t *Tx) Whole(ctx context.Context, s *session.Session) error {
	rows, err := t.Query(ctx, `SELECT turn_index, role, ts, content FROM turns WHERE session_id = ? ORDER BY turn_index`, s.ID)
	if err != nil {
		return err
	}
	err = each(rows, func() error {
		var u session.Turn
		var ts sql.NullTime
		err := rows.Scan(&u.Index, &u.Role, &ts, &u.Content)
		u.TS = ts.Time
		s.Turns = append(s.Turns, u)
		return err
	})
	if err != nil {
		return err
	}
	rows, err = t.Query(ctx, `SELECT call_order, turn_index, tool, coalesce(path, ''), coalesce(cmd_prefix, ''), failed, coalesce(act, '') FROM tool_calls
		WHERE session_id = ? ORDER BY call_order`, s.ID)
	if err != nil {
		return err
	}
	return each(rows, func() error {
		var c session.ToolCall
		err := rows.Scan(&c.Index, &c.Turn, &c.Tool, &c.Path, &c.Cmd, &c.Failed, &c.Act)
		s.ToolCalls = append(s.ToolCalls, c)
		return err
	})
}

// AppendNotes adds the marks, the rewrites and what sessions wrote of an entry, whose place in the order of all is key.
func (t *Tx) AppendNotes(e session.Entry, email, key string) error {
	steps := []struct {
		table string
		fill  func(row func(...any) error) error
	}{
		{"marks", func(row func(...any) error) error {
			for i, m := range append(append([]session.Mark(nil), e.Purges...), e.Restores...) {
				kind := "purge"
				if i >= len(e.Purges) {
					kind = "restore"
				}
				if err := row(m.ID, kind, int32(m.N), m.TS, email); err != nil {
					return err
				}
			}
			return nil
		}},
		{"rewrites", func(row func(...any) error) error {
			for i, r := range e.Rewrites {
				if err := row(r.Old, r.New, r.TS, email, key, int32(i)); err != nil {
					return err
				}
			}
			return nil
		}},
		{"wrote", func(row func(...any) error) error {
			for _, w := range e.Wrote {
				if err := row(w.GitSHA, opt(w.Blob), w.Session, w.Path, w.Lines.String(), int32(w.Gone), w.TS, email); err != nil {
					return err
				}
			}
			return nil
		}},
	}
	for _, s := range steps {
		if err := t.Append(s.table, s.fill); err != nil {
			return err
		}
	}
	return nil
}

// TurnKey names a turn.
type TurnKey struct {
	Session string
	Index   int
}

// TurnTimes reads the times of turns; those that are not there are left out.
func (t *Tx) TurnTimes(ctx context.Context, turns []TurnKey) (map[TurnKey]time.Time, error) {
	out := map[TurnKey]time.Time{}
	if len(turns) == 0 {
		return out, nil
	}
	ids, indexes := make([]string, len(turns)), make([]int32, len(turns))
	for i, k := range turns {
		ids[i], indexes[i] = k.Session, int32(k.Index)
	}
	rows, err := t.Query(ctx, `SELECT DISTINCT session_id, turn_index, ts FROM turns WHERE ts IS NOT NULL
		AND (session_id, turn_index) IN (SELECT unnest(?::VARCHAR[]), unnest(?::INTEGER[]))`, ids, indexes)
	if err != nil {
		return nil, err
	}
	err = each(rows, func() error {
		var k TurnKey
		var ts time.Time
		if err := rows.Scan(&k.Session, &k.Index, &ts); err != nil {
			return err
		}
		out[k] = ts
		return nil
	})
	return out, err
}

// SetCursor replaces how far each ledger, by ref, has been read.
func (t *Tx) SetCursor(ctx context.Context, cursor map[string]string) error {
	if err := t.Exec(ctx, `DELETE FROM ledger_cursor`); err != nil {
		return err
	}
	return t.Append("ledger_cursor", func(row func(...any) error) error {
		for ref, oid := range cursor {
			if err := row(ref, oid); err != nil {
				return err
			}
		}
		return nil
	})
}

// Cursor reads how far each ledger, by ref, has been read.
func (d *DB) Cursor(ctx context.Context) (map[string]string, error) {
	rows, err := d.Query(ctx, `SELECT ref, oid FROM ledger_cursor`)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	err = each(rows, func() error {
		var ref, oid string
		if err := rows.Scan(&ref, &oid); err != nil {
			return err
		}
		out[ref] = oid
		return nil
	})
	return out, err
}

// each calls scan for every row and closes the rows.
func each(rows *sql.Rows, scan func() error) error {
	defer rows.Close() // rows.Err says what went wrong
	for rows.Next() {
		if err := scan(); err != nil {
			return fmt.Errorf("db: read a row: %w", classify(err))
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("db: read rows: %w", classify(err))
	}
	return nil
}

// opt is the value of a column that is NULL when there is nothing to say.
func opt(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func at(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC()
}
