package db

import (
	"context"
	"database/sql"

	"github.com/git-rekal/git-rekal/internal/session"
)

// purgedDDL stands in both databases: which sessions and memories are purged. Whose marks count is
// the business of package materialize.
const purgedDDL = `
CREATE TABLE purged (id VARCHAR NOT NULL);
`

// The kinds of session_facets.
const (
	KindSession = "session"
	KindMemory  = "memory"
)

// MemoryRow is one row of the memories table.
type MemoryRow struct {
	session.Memory
	Email string // of its author
	Entry string // the entry of the ledgers that holds it, by its place in their order
}

const memoryColumns = `id, user_email, coalesce(title, ''), content, coalesce(source, ''), ts, actor_type, entry`

func scanMemories(rows *sql.Rows) (map[string]MemoryRow, error) {
	out := map[string]MemoryRow{}
	err := each(rows, func() error {
		var m MemoryRow
		err := rows.Scan(&m.ID, &m.Email, &m.Title, &m.Content, &m.Source, &m.TS, &m.ActorType, &m.Entry)
		out[m.ID] = m
		return err
	})
	return out, err
}

// Memories reads the memories with these IDs, by ID.
func (t *Tx) Memories(ctx context.Context, ids []string) (map[string]MemoryRow, error) {
	rows, err := t.Query(ctx, `SELECT `+memoryColumns+` FROM memories WHERE id IN (SELECT unnest(?::VARCHAR[]))`, ids)
	if err != nil {
		return nil, err
	}
	return scanMemories(rows)
}

// Memory reads one memory from data.db, by its whole ID; ok is whether there is one.
func (d *DB) Memory(ctx context.Context, id string) (m MemoryRow, ok bool, err error) {
	rows, err := d.Query(ctx, `SELECT `+memoryColumns+` FROM memories WHERE id = ?`, id)
	if err != nil {
		return m, false, err
	}
	all, err := scanMemories(rows)
	m, ok = all[id]
	return m, ok, err
}

// AppendMemories adds memories to data.db.
func (t *Tx) AppendMemories(memories []MemoryRow) error {
	return t.Append("memories", func(row func(...any) error) error {
		for _, m := range memories {
			if err := row(m.ID, m.Email, opt(m.Title), m.Content, opt(m.Source), m.TS.UTC(), m.ActorType, m.Entry); err != nil {
				return err
			}
		}
		return nil
	})
}

// AppendMemoryFacets adds what recall filters memories by and shows of them to index.db. To
// filters, a memory is a session of one turn that named no file and stands behind no commit.
func (t *Tx) AppendMemoryFacets(memories []MemoryRow) error {
	return t.Append("session_facets", func(row func(...any) error) error {
		for _, m := range memories {
			ts := m.TS.UTC()
			if err := row(m.ID, m.Email, nil, m.ActorType, nil, ts, int32(1), int32(0), int32(0), nil, nil,
				opt(m.Title), m.Source, nil, ts, ts, nil, nil, KindMemory, nil, nil); err != nil {
				return err
			}
		}
		return nil
	})
}

// MarkRow is a mark, and whose ledger holds it.
type MarkRow struct {
	session.Mark
	Purge bool // otherwise it restores
	Email string
}

// Marks reads from data.db the marks of sessions and memories, by their numbers.
func Marks(ctx context.Context, q Querier) ([]MarkRow, error) {
	rows, err := q.Query(ctx, `SELECT id, kind = 'purge', n, ts, user_email FROM marks ORDER BY n`)
	if err != nil {
		return nil, err
	}
	var out []MarkRow
	err = each(rows, func() error {
		var m MarkRow
		err := rows.Scan(&m.ID, &m.Purge, &m.N, &m.TS, &m.Email)
		out = append(out, m)
		return err
	})
	return out, err
}

// Authors reads from data.db whose sessions and memories are, by their IDs.
func Authors(ctx context.Context, q Querier, ids []string) (map[string]string, error) {
	rows, err := q.Query(ctx, `SELECT id, coalesce(user_email, '') FROM (
			SELECT id, user_email FROM sessions UNION ALL SELECT id, user_email FROM memories)
		WHERE id IN (SELECT unnest(?::VARCHAR[]))`, ids)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	err = each(rows, func() error {
		var id, email string
		err := rows.Scan(&id, &email)
		out[id] = email
		return err
	})
	return out, err
}

// PurgedIDs reads the IDs of the sessions and memories that are purged, in order, from either
// database.
func PurgedIDs(ctx context.Context, q Querier) ([]string, error) {
	rows, err := q.Query(ctx, `SELECT id FROM purged ORDER BY id`)
	if err != nil {
		return nil, err
	}
	return scanStrings(rows)
}

// SetPurged replaces what is purged, in either database.
func (t *Tx) SetPurged(ctx context.Context, ids []string) error {
	if err := t.Exec(ctx, `DELETE FROM purged`); err != nil {
		return err
	}
	return t.Append("purged", func(row func(...any) error) error {
		for _, id := range ids {
			if err := row(id); err != nil {
				return err
			}
		}
		return nil
	})
}
