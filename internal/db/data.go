package db

import (
	"context"
	"time"

	"github.com/git-rekal/git-rekal/internal/session"
)

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
	rows, err := t.Query(ctx, sessionRows+` WHERE id IN (SELECT value FROM json_each(?))`, ids)
	if err != nil {
		return nil, err
	}
	return scanSessions(rows)
}

const sessionRows = `SELECT id, parent, hash, captured_at, actor_type, agent_id, email, branch, source, native_id, forked_from, title,
	started_at, last_turn_at, first_turn, next_turn, first_tool, next_tool, last_entry, model FROM sessions`

func scanSessions(rows *Rows) (map[string]SessionRow, error) {
	out := map[string]SessionRow{}
	err := each(rows, func() error {
		var r SessionRow
		err := rows.Scan(&r.ID, text{&r.Parent}, &r.Hash, moment{&r.CapturedAt}, &r.ActorType, text{&r.AgentID}, text{&r.Email}, text{&r.Branch},
			&r.Source, &r.NativeID, text{&r.ForkedFrom}, text{&r.Title}, moment{&r.StartedAt}, moment{&r.LastTurnAt},
			&r.FirstTurn, &r.NextTurn, &r.FirstTool, &r.NextTool, &r.LastEntry, text{&r.Model})
		out[r.ID] = r
		return err
	})
	return out, err
}

// ReplaceSessions writes the rows of sessions, in place of those that are there.
func (t *Tx) ReplaceSessions(ctx context.Context, rows []SessionRow) error {
	return t.insert(ctx, "INSERT OR REPLACE INTO sessions VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", func(row func(...any) error) error {
		for _, r := range rows {
			if err := row(r.ID, opt(r.Parent), r.Hash, r.CapturedAt, r.ActorType, opt(r.AgentID), opt(r.Email), opt(r.Branch),
				r.Source, r.NativeID, opt(r.ForkedFrom), opt(r.Title), r.StartedAt, r.LastTurnAt,
				r.FirstTurn, r.NextTurn, r.FirstTool, r.NextTool, r.LastEntry, opt(r.Model)); err != nil {
				return err
			}
		}
		return nil
	})
}

// AppendTurns adds the turns of parts, and of memories as sessions.
func (t *Tx) AppendTurns(ctx context.Context, parts []session.Session) error {
	return t.insert(ctx, into("turns", 5), func(row func(...any) error) error {
		var text []byte
		for _, s := range parts {
			for _, u := range s.Turns {
				text = packed(text[:0], u.Content)
				if err := row(s.ID, u.Index, u.Role, text, u.TS); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// AppendTools adds the tool calls of parts; times gives the time of each call, which is that of the turn before it.
func (t *Tx) AppendTools(ctx context.Context, parts []session.Session, times func(s session.Session, c session.ToolCall) time.Time) error {
	return t.insert(ctx, into("tool_calls", 9), func(row func(...any) error) error {
		for _, s := range parts {
			for _, c := range s.ToolCalls {
				if err := row(s.ID, c.Index, c.Turn, times(s, c), c.Tool, opt(c.Act), opt(c.Path), opt(c.Cmd), c.Failed); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// AppendCheckpoints adds checkpoints, their files, and the sessions that they are tied to.
func (t *Tx) AppendCheckpoints(ctx context.Context, cps []session.Checkpoint) error {
	err := t.insert(ctx, into("checkpoints", 9), func(row func(...any) error) error {
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
	err = t.insert(ctx, into("checkpoint_files", 6), func(row func(...any) error) error {
		for _, c := range cps {
			for i, f := range c.Files {
				if err := row(c.ID, i, f.Path, f.Change, opt(f.OldPath), opt(f.Blob)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return t.insert(ctx, into("checkpoint_sessions", 4), func(row func(...any) error) error {
		for _, c := range cps {
			for i, l := range c.Links {
				if err := row(c.ID, i, l.Session, l.Inferred); err != nil {
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
func (t *Tx) AppendDangling(ctx context.Context, links []DanglingLink) error {
	return t.insert(ctx, "INSERT INTO dangling VALUES (?, ?) ON CONFLICT DO NOTHING", func(row func(...any) error) error {
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
	rows, err := t.Query(ctx, `SELECT session, max(entry) FROM dangling WHERE session IN (SELECT value FROM json_each(?)) GROUP BY session`, ids)
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
func (t *Tx) Whole(ctx context.Context, s *session.Session) (err error) {
	if s.Turns, err = turns(ctx, t, `WHERE session = ? ORDER BY i`, s.ID); err != nil {
		return err
	}
	s.ToolCalls, err = tools(ctx, t, `WHERE session = ? ORDER BY i`, s.ID)
	return err
}

func turns(ctx context.Context, q Querier, where string, args ...any) (out []session.Turn, err error) {
	rows, err := q.Query(ctx, `SELECT i, role, ts, content FROM turns `+where, args...)
	if err != nil {
		return nil, err
	}
	err = each(rows, func() error {
		var u session.Turn
		err := rows.Scan(&u.Index, &u.Role, moment{&u.TS}, packedText{&u.Content})
		out = append(out, u)
		return err
	})
	return out, err
}

func tools(ctx context.Context, q Querier, where string, args ...any) (out []session.ToolCall, err error) {
	rows, err := q.Query(ctx, `SELECT i, turn, tool, act, path, cmd, failed FROM tool_calls `+where, args...)
	if err != nil {
		return nil, err
	}
	err = each(rows, func() error {
		var c session.ToolCall
		err := rows.Scan(&c.Index, &c.Turn, &c.Tool, text{&c.Act}, text{&c.Path}, text{&c.Cmd}, &c.Failed)
		out = append(out, c)
		return err
	})
	return out, err
}

// AppendNotes adds the marks, the rewrites and what sessions wrote of an entry, whose place in the order of all is key.
func (t *Tx) AppendNotes(ctx context.Context, e session.Entry, email, key string) error {
	err := t.insert(ctx, into("marks", 5), func(row func(...any) error) error {
		for i, m := range append(append([]session.Mark(nil), e.Purges...), e.Restores...) {
			kind := "purge"
			if i >= len(e.Purges) {
				kind = "restore"
			}
			if err := row(m.ID, kind, m.N, m.TS, email); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = t.insert(ctx, into("rewrites", 6), func(row func(...any) error) error {
		for i, r := range e.Rewrites {
			if err := row(r.Old, r.New, r.TS, email, key, i); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return t.insert(ctx, into("wrote", 8), func(row func(...any) error) error {
		for _, w := range e.Wrote {
			if err := row(w.GitSHA, opt(w.Blob), w.Session, w.Path, w.Lines.String(), w.Gone, w.TS, email); err != nil {
				return err
			}
		}
		return nil
	})
}

// TurnKey names a turn.
type TurnKey struct {
	Session string
	Index   int
}

// TurnTimes reads the times of turns; those that are not there are left out.
func (t *Tx) TurnTimes(ctx context.Context, turns []TurnKey) (map[TurnKey]time.Time, error) {
	out := map[TurnKey]time.Time{}
	for _, k := range turns {
		rows, err := t.Query(ctx, `SELECT ts FROM turns WHERE session = ? AND i = ? AND ts IS NOT NULL`, k.Session, k.Index)
		if err != nil {
			return nil, err
		}
		err = each(rows, func() error {
			var ts time.Time
			err := rows.Scan(moment{&ts})
			out[k] = ts
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// SetCursor replaces how far each ledger, by ref, has been read.
func (t *Tx) SetCursor(ctx context.Context, cursor map[string]string) error {
	if err := t.Exec(ctx, `DELETE FROM cursor`); err != nil {
		return err
	}
	return t.insert(ctx, into("cursor", 2), func(row func(...any) error) error {
		for ref, oid := range cursor {
			if err := row(ref, oid); err != nil {
				return err
			}
		}
		return nil
	})
}

// Cursor reads how far each ledger, by ref, has been read.
func Cursor(ctx context.Context, q Querier) (map[string]string, error) {
	rows, err := q.Query(ctx, `SELECT ref, oid FROM cursor`)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	err = each(rows, func() error {
		var ref, oid string
		err := rows.Scan(&ref, &oid)
		out[ref] = oid
		return err
	})
	return out, err
}

// ScanTurn reads a row of session, i, role, content and ts of the turns.
func ScanTurn(rows *Rows) (id string, t session.Turn, err error) {
	err = rows.Scan(&id, &t.Index, &t.Role, packedText{&t.Content}, moment{&t.TS})
	return id, t, err
}
