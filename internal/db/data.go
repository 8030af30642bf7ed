package db

import (
	"cmp"
	"context"
	"net/url"
	"strings"
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

func (r *SessionRow) columns() []any {
	return withFacts(&r.Facts, &r.ID, textColumn{&r.Parent}, &r.Hash, timeColumn{&r.CapturedAt}, &r.ActorType,
		textColumn{&r.AgentID}, textColumn{&r.Email}, textColumn{&r.Branch},
		&r.Source, &r.NativeID, textColumn{&r.ForkedFrom}, textColumn{&r.Title}, timeColumn{&r.StartedAt},
		timeColumn{&r.LastTurnAt},
		&r.FirstTurn, &r.NextTurn, &r.FirstTool, &r.NextTool, &r.LastEntry)
}

// Sessions reads the rows of the sessions with these IDs, by ID.
func (t *Tx) Sessions(ctx context.Context, ids []string) (map[string]SessionRow, error) {
	return sessions(ctx, t, `WHERE id IN (SELECT value FROM json_each(?))`, ids)
}

func sessions(ctx context.Context, q Querier, where string, args ...any) (map[string]SessionRow, error) {
	rows, err := readRows(query(ctx, q, `SELECT * FROM sessions `+where, args...), (*SessionRow).columns)
	out := make(map[string]SessionRow, len(rows))
	for _, r := range rows {
		out[r.ID] = r
	}
	return out, err
}

// ReplaceSessions writes the rows of sessions, in place of those that are there.
func (t *Tx) ReplaceSessions(ctx context.Context, rows []SessionRow) error {
	return writeRows(ctx, t, "INSERT OR REPLACE INTO sessions", rows, (*SessionRow).columns)
}

// AppendTurns adds the turns of parts, and of memories as sessions.
func (t *Tx) AppendTurns(ctx context.Context, parts []session.Session) error {
	return t.insert(ctx, insertInto("turns", 5), func(row func(...any)) {
		var text []byte
		for _, s := range parts {
			for _, u := range s.Turns {
				text = pack(text[:0], u.Content)
				row(s.ID, u.Index, u.Role, text, u.TS)
			}
		}
	})
}

// AppendTools adds the tool calls of parts, whose turns are there. A call has the time of the turn before it, or else
// that of its session's start.
func (t *Tx) AppendTools(ctx context.Context, parts []session.Session) error {
	return t.insert(ctx, `INSERT INTO tool_calls VALUES (?1, ?2, ?3, coalesce(?4, (SELECT ts FROM turns WHERE session = ?1 AND i = ?3), ?5),
		?6, ?7, ?8, ?9, ?10, ?11, ?12)`, func(row func(...any)) {
		for _, s := range parts {
			for _, c := range s.ToolCalls {
				var at time.Time
				if i := c.Turn - s.FirstTurn; i >= 0 && i < len(s.Turns) {
					at = s.Turns[i].TS
				}
				row(s.ID, c.Index, c.Turn, at, s.StartedAt, c.Tool, orNull(c.Act), orNull(c.Path), orNull(c.Cmd), c.Failed, c.Exit,
					orNull(string(c.Terms)))
			}
		}
	})
}

// AppendFailures adds by which terms the failures of parts are found.
func (t *Tx) AppendFailures(ctx context.Context, parts []session.Session) error {
	return t.insert(ctx, "INSERT INTO failures VALUES (?, ?, ?) ON CONFLICT DO NOTHING", func(row func(...any)) {
		for _, s := range parts {
			for _, c := range s.ToolCalls {
				for _, term := range c.Terms.List() {
					row(term, s.ID, c.Index)
				}
			}
		}
	})
}

// AppendCheckpoints adds checkpoints, their files, and the sessions that they are tied to.
func (t *Tx) AppendCheckpoints(ctx context.Context, cps []session.Checkpoint) error {
	return cmp.Or(
		t.insert(ctx, insertInto("checkpoints", 9), func(row func(...any)) {
			for _, c := range cps {
				row(c.ID, c.GitSHA, c.GitBranch, c.UserEmail, c.TS, c.ActorType, orNull(c.AgentID), orNull(c.PatchID),
					orNull(c.Via))
			}
		}),
		t.insert(ctx, insertInto("checkpoint_files", 6), func(row func(...any)) {
			for _, c := range cps {
				for i, f := range c.Files {
					row(c.ID, i, f.Path, f.Change, orNull(f.OldPath), orNull(f.Blob))
				}
			}
		}),
		t.insert(ctx, insertInto("checkpoint_sessions", 3), func(row func(...any)) {
			for _, c := range cps {
				for i, l := range c.Links {
					row(c.ID, i, l.Session)
				}
			}
		}))
}

// DanglingLink is an entry's link to a session that no entry before it speaks of, by the session's
// session.IDOfOthers, which says whose session it would be, too.
type DanglingLink struct{ Session, Entry string }

// AppendDangling notes links that tie nothing.
func (t *Tx) AppendDangling(ctx context.Context, links []DanglingLink) error {
	return writeRows(ctx, t, "INSERT OR IGNORE INTO dangling", links,
		func(l *DanglingLink) []any { return asList(&l.Session, &l.Entry) })
}

// Dangling reads the last entry that links each of the sessions in vain.
func (t *Tx) Dangling(ctx context.Context, ids []string) (map[string]string, error) {
	return readMap[string, string](query(ctx, t,
		`SELECT session, max(entry) FROM dangling WHERE session IN (SELECT value FROM json_each(?)) GROUP BY session`, ids))
}

// LoadTurns reads the turns and tool calls of a session into it.
func (t *Tx) LoadTurns(ctx context.Context, s *session.Session) (err error) {
	if s.Turns, err = turns(ctx, t, `WHERE session = ? ORDER BY i`, s.ID); err != nil {
		return err
	}
	s.ToolCalls, err = tools(ctx, t, `WHERE session = ? ORDER BY i`, s.ID)
	return err
}

func turns(ctx context.Context, q Querier, where string, args ...any) ([]session.Turn, error) {
	return readRows(query(ctx, q, `SELECT i, role, ts, content FROM turns `+where, args...),
		func(u *session.Turn) []any {
			return asList(&u.Index, &u.Role, timeColumn{&u.TS}, packedText{&u.Content})
		})
}

func tools(ctx context.Context, q Querier, where string, args ...any) ([]session.ToolCall, error) {
	return readRows(query(ctx, q, `SELECT i, turn, tool, act, path, cmd, failed, exit, terms FROM tool_calls `+where,
		args...),
		func(c *session.ToolCall) []any {
			return asList(&c.Index, &c.Turn, &c.Tool, textColumn{&c.Act}, textColumn{&c.Path}, textColumn{&c.Cmd}, &c.Failed,
				&c.Exit, textColumn{(*string)(&c.Terms)})
		})
}

// AppendNotes adds the marks, the rewrites and what sessions wrote of an entry of a ledger.
func (t *Tx) AppendNotes(ctx context.Context, e session.Entry, of EntryRow) error {
	return cmp.Or(
		t.insert(ctx, insertInto("marks", 6), func(row func(...any)) {
			for _, m := range e.Purges {
				row(m.ID, "purge", m.N, m.TS, of.Email, of.Commit)
			}
			for _, m := range e.Restores {
				row(m.ID, "restore", m.N, m.TS, of.Email, of.Commit)
			}
		}),
		t.insert(ctx, insertInto("rewrites", 6), func(row func(...any)) {
			for i, r := range e.Rewrites {
				row(r.Old, r.New, r.TS, of.Email, of.Key, i)
			}
		}),
		t.insert(ctx, insertInto("wrote", 9), func(row func(...any)) {
			for _, w := range e.Wrote {
				row(w.GitSHA, orNull(w.Blob), w.Session, w.Path, w.Lines.String(), w.Gone, w.TS, of.Email, of.N)
			}
		}))
}

// SetCursor replaces how far each ledger, by ref, has been read.
func (t *Tx) SetCursor(ctx context.Context, cursor map[string]string) error {
	return cmp.Or(t.Exec(ctx, `DELETE FROM cursor`), t.insert(ctx, insertInto("cursor", 2), func(row func(...any)) {
		for ref, oid := range cursor {
			row(ref, oid)
		}
	}))
}

// ownLedgers is how the refs of the ledgers begin that this clone writes; the address follows.
const ownLedgers = "refs/heads/rekal/"

// OwnLedgers reads the addresses of the ledgers that this clone writes, in lower case.
func (d *DB) OwnLedgers(ctx context.Context) ([]string, error) {
	refs, err := readTexts(query(ctx, d, `SELECT ref FROM cursor WHERE substr(ref, 1, ?) = ? ORDER BY ref`,
		len(ownLedgers), ownLedgers))
	for i, ref := range refs {
		address, bad := url.PathUnescape(strings.TrimPrefix(ref, ownLedgers))
		if bad == nil { // another spelling is of no ledger
			refs[i] = strings.ToLower(address)
		}
	}
	return refs, err
}

// Cursor reads how far each ledger, by ref, has been read.
func Cursor(ctx context.Context, q Querier) (map[string]string, error) {
	return readMap[string, string](query(ctx, q, `SELECT ref, oid FROM cursor`))
}
