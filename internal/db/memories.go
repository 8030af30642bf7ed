package db

import (
	"context"
	"database/sql"

	"github.com/git-rekal/git-rekal/internal/session"
)

// MemoryRow is one row of the memories table.
type MemoryRow struct {
	session.Memory
	Email string // of its author
	Entry string // the entry of the ledgers that holds it, by its place in their order
}

const memoryColumns = `id, email, coalesce(title, ''), content, coalesce(source, ''), ts, actor_type, entry`

func scanMemories(rows *sql.Rows) (map[string]MemoryRow, error) {
	out := map[string]MemoryRow{}
	err := each(rows, func() error {
		var m MemoryRow
		err := rows.Scan(&m.ID, &m.Email, &m.Title, &m.Content, &m.Source, moment{&m.TS}, &m.ActorType, &m.Entry)
		out[m.ID] = m
		return err
	})
	return out, err
}

// Memories reads the memories with these IDs, by ID.
func (t *Tx) Memories(ctx context.Context, ids []string) (map[string]MemoryRow, error) {
	rows, err := t.Query(ctx, `SELECT `+memoryColumns+` FROM memories WHERE id IN (SELECT value FROM json_each(?))`, ids)
	if err != nil {
		return nil, err
	}
	return scanMemories(rows)
}

// Memory reads one memory by its whole ID; ok is whether there is one.
func (d *DB) Memory(ctx context.Context, id string) (m MemoryRow, ok bool, err error) {
	rows, err := d.Query(ctx, `SELECT `+memoryColumns+` FROM memories WHERE id = ?`, id)
	if err != nil {
		return m, false, err
	}
	all, err := scanMemories(rows)
	m, ok = all[id]
	return m, ok, err
}

// AppendMemories adds memories.
func (t *Tx) AppendMemories(ctx context.Context, memories []MemoryRow) error {
	return t.insert(ctx, into("memories", 8), func(row func(...any) error) error {
		for _, m := range memories {
			if err := row(m.ID, m.Email, opt(m.Title), m.Content, opt(m.Source), m.TS, m.ActorType, m.Entry); err != nil {
				return err
			}
		}
		return nil
	})
}

// AppendMemoryFacets adds what recall filters memories by and shows of them. To
// filters, a memory is a session of one turn that named no file and stands behind no commit.
func (t *Tx) AppendMemoryFacets(ctx context.Context, memories []MemoryRow) error {
	return t.insert(ctx, into("facets", 22), func(row func(...any) error) error {
		for _, m := range memories {
			if err := row(m.ID, m.Email, nil, m.ActorType, nil, m.TS, 1, 0, 0, nil, nil,
				opt(m.Title), m.Source, nil, m.TS, m.TS, nil, nil, KindMemory, nil, nil, nil); err != nil {
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

// Marks reads the marks of sessions and memories, by their numbers.
func Marks(ctx context.Context, q Querier) ([]MarkRow, error) {
	rows, err := q.Query(ctx, `SELECT id, kind = 'purge', n, ts, email FROM marks ORDER BY n`)
	if err != nil {
		return nil, err
	}
	var out []MarkRow
	err = each(rows, func() error {
		var m MarkRow
		err := rows.Scan(&m.ID, &m.Purge, &m.N, moment{&m.TS}, &m.Email)
		out = append(out, m)
		return err
	})
	return out, err
}

// Authors reads whose sessions and memories are, by their IDs.
func Authors(ctx context.Context, q Querier, ids []string) (map[string]string, error) {
	rows, err := q.Query(ctx, `SELECT id, coalesce(email, '') FROM sessions WHERE id IN (SELECT value FROM json_each(?1))
		UNION ALL SELECT id, email FROM memories WHERE id IN (SELECT value FROM json_each(?1))`, ids)
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

// PurgedIDs reads the IDs of the sessions and memories that are purged, in order.
func PurgedIDs(ctx context.Context, q Querier) ([]string, error) {
	rows, err := q.Query(ctx, `SELECT id FROM purged ORDER BY id`)
	if err != nil {
		return nil, err
	}
	return scanStrings(rows)
}

// SetPurged replaces what is purged.
func (t *Tx) SetPurged(ctx context.Context, ids []string) error {
	if err := t.Exec(ctx, `DELETE FROM purged`); err != nil {
		return err
	}
	return t.insert(ctx, into("purged", 1), func(row func(...any) error) error {
		for _, id := range ids {
			if err := row(id); err != nil {
				return err
			}
		}
		return nil
	})
}
