package db

import (
	"cmp"
	"context"
	"time"

	"github.com/git-rekal/git-rekal/internal/session"
)

// MemoryRow is one row of the memories table.
type MemoryRow struct {
	session.Memory
	Email string // of its author
	Entry string // the entry of the ledgers that holds it, by its place in their order
}

func memories(ctx context.Context, q Querier, where string, args ...any) ([]MemoryRow, error) {
	return readRows(query(ctx, q, `SELECT * FROM memories WHERE `+where, args...), (*MemoryRow).columns)
}

func (m *MemoryRow) columns() []any {
	return asList(&m.ID, &m.Email, textColumn{&m.Title}, &m.Content, textColumn{&m.Source}, timeColumn{&m.TS},
		&m.ActorType, &m.Entry, textColumn{&m.Supersedes}, textColumn{&m.Rejects}, &m.At)
}

// Memories reads the memories with these IDs, by ID.
func (t *Tx) Memories(ctx context.Context, ids []string) (map[string]MemoryRow, error) {
	all, err := memories(ctx, t, `id IN (SELECT value FROM json_each(?))`, ids)
	out := make(map[string]MemoryRow, len(all))
	for _, m := range all {
		out[m.ID] = m
	}
	return out, err
}

// Memory reads one memory by its whole ID; ok is whether there is one.
func (d *DB) Memory(ctx context.Context, id string) (m MemoryRow, ok bool, err error) {
	all, err := memories(ctx, d, `id = ?`, id)
	if len(all) == 0 || err != nil {
		return m, false, err
	}
	return all[0], true, nil
}

// HasStates reports whether any memory supersedes or rejects something.
func (d *DB) HasStates(ctx context.Context) (some bool, err error) {
	err = query(ctx, d, `SELECT EXISTS (SELECT 1 FROM memories WHERE supersedes IS NOT NULL OR rejects IS NOT NULL)`).one(&some)
	return some, err
}

// superseding are the pairs of a memory o and the memory n in its place that count: n is not purged, and of the same
// author, or of one of this clone (?1, in lower case). What others say of a memory is told, and hides nothing.
const superseding = ` FROM memories n JOIN memories o ON o.id = n.supersedes WHERE n.id NOT IN (SELECT id FROM purged)
	AND n.ts >= o.ts AND (lower(n.email) = lower(o.email) OR lower(n.email) IN (SELECT value FROM json_each(?1)))`

// Superseding reads the memories in whose place later ones stand, each with the latest of these.
func (d *DB) Superseding(ctx context.Context) (map[string]string, error) {
	own, err := d.OwnLedgers(ctx)
	if err != nil {
		return nil, err
	}
	return readMap[string, string](query(ctx, d, `SELECT o.id, n.id`+superseding+` ORDER BY n.ts, n.id`, own))
}

// MemoriesAbout reads the memories that are not purged and that supersede or reject one of some sessions and memories,
// the latest first.
func (d *DB) MemoriesAbout(ctx context.Context, ids []string) ([]MemoryRow, error) {
	return memories(ctx, d, `id NOT IN (SELECT id FROM purged) AND id IN (
		SELECT id FROM memories WHERE supersedes IN (SELECT value FROM json_each(?1))
		UNION SELECT id FROM memories WHERE rejects IN (SELECT value FROM json_each(?1))) ORDER BY ts DESC, id`, ids)
}

// MemoriesOf reads the memories with these IDs that are not purged, the latest first.
func (d *DB) MemoriesOf(ctx context.Context, ids []string) ([]MemoryRow, error) {
	return memories(ctx, d, `id IN (SELECT value FROM json_each(?)) AND id NOT IN (SELECT id FROM purged)
		ORDER BY ts DESC, id`, ids)
}

// TitlesOfRejected reads the titles of the sessions and memories that some memories reject, by ID, without what is
// purged, or private: what says so is sent.
func (d *DB) TitlesOfRejected(ctx context.Context, all []MemoryRow) (map[string]string, error) {
	var ids []string
	for _, m := range all {
		if session.IsID(m.Rejects) {
			ids = append(ids, m.Rejects)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return readMap[string, string](query(ctx, d, `SELECT session, title FROM facets WHERE title IS NOT NULL
		AND session IN (SELECT value FROM json_each(?)) AND session NOT IN (SELECT id FROM purged UNION SELECT id FROM private)`, ids))
}

// NoteRow is a version of a section of an agent's notes.
type NoteRow struct {
	MemoryRow
	Purged bool // another version stands in its place, it is gone, or its reader may not see it
}

// Notes reads all versions of sections of notes, of one author or with "" of all, in the order of the ledgers.
func (d *DB) Notes(ctx context.Context, email string) ([]NoteRow, error) {
	return readRows(query(ctx, d, `SELECT m.*, m.id IN (SELECT id FROM purged) FROM memories m
		WHERE at > 0 AND (?1 = '' OR email = ?1) ORDER BY entry, id`,
		email), func(n *NoteRow) []any { return append(n.columns(), &n.Purged) })
}

// latestSessions is how many sessions are looked at for who wrote a file of notes.
const latestSessions = 100

// WriterOf finds the session, and the turn of it, in which an author's agent last wrote to a file of notes before some
// time; "" where none is known. The file is told by the end of its path: the folder differs from machine to machine.
func (d *DB) WriterOf(ctx context.Context, m MemoryRow, agent, pathEnd string) (id string, turn int, err error) {
	var found []struct {
		id   string
		turn int
	}
	found, err = readRows(query(ctx, d, `SELECT c.session, c.turn FROM (SELECT id FROM sessions WHERE email = ?1 AND source = ?2 AND started_at <= ?3
			ORDER BY last_turn_at DESC LIMIT ?4) s JOIN tool_calls c ON c.session = s.id
		WHERE substr(c.path, -length(?5)) = ?5 AND NOT c.failed AND `+isEdit+` AND c.ts <= ?3 AND c.turn >= 0
		AND s.id NOT IN (SELECT id FROM purged) ORDER BY c.ts DESC, c.i DESC LIMIT 1`,
		m.Email, agent, m.TS.Add(time.Second), latestSessions, pathEnd),
		func(f *struct {
			id   string
			turn int
		},
		) []any {
			return asList(&f.id, &f.turn)
		})
	if len(found) == 0 || err != nil {
		return "", 0, err
	}
	return found[0].id, found[0].turn, nil
}

// AppendMemories adds memories.
func (t *Tx) AppendMemories(ctx context.Context, memories []MemoryRow) error {
	return writeRows(ctx, t, "INSERT INTO memories", memories, (*MemoryRow).columns)
}

// AppendMemoryFacets adds what recall filters memories by and shows of them. To
// filters, a memory is a session of one turn that named no file and stands behind no commit.
func (t *Tx) AppendMemoryFacets(ctx context.Context, memories []MemoryRow) error {
	rows := make([]facetRow, len(memories))
	for i, m := range memories {
		rows[i] = facetRow{last: m.TS, Facet: Facet{
			ID: m.ID, Kind: KindMemory, Email: m.Email, ActorType: m.ActorType, CapturedAt: m.TS, Turns: 1, Title: m.Title,
			Source: m.Source, Started: m.TS,
		}}
	}
	return writeRows(ctx, t, "INSERT INTO facets", rows, (*facetRow).columns)
}

// MarkRow is a mark, and whose ledger holds it.
type MarkRow struct {
	session.Mark
	Purge bool // otherwise it restores
	Email string
}

// Marks reads the marks of sessions and memories, by their numbers, without those that are known to be somebody else's.
func Marks(ctx context.Context, q Querier) ([]MarkRow, error) {
	return readRows(query(ctx, q, `SELECT id, kind = 'purge', n, ts, email FROM marks m WHERE NOT EXISTS (SELECT 1 FROM signatures s
			WHERE s.oid = m.oid AND s.email = m.email AND (s.trust = ? OR s.trust = ? AND s.letter = 'G')) ORDER BY n`, int(session.Bad), int(session.Signed)),
		func(m *MarkRow) []any { return asList(&m.ID, &m.Purge, &m.N, timeColumn{&m.TS}, &m.Email) })
}

// AuthorsOf reads whose sessions and memories are, by their IDs.
func AuthorsOf(ctx context.Context, q Querier, ids []string) (map[string]string, error) {
	return readMap[string, string](query(ctx, q, `SELECT id, coalesce(email, '') FROM sessions WHERE id IN (SELECT value FROM json_each(?1))
		UNION ALL SELECT id, email FROM memories WHERE id IN (SELECT value FROM json_each(?1))`, ids))
}

// PurgedIDs reads the IDs of the sessions and memories that are purged, in order.
func PurgedIDs(ctx context.Context, q Querier) ([]string, error) {
	return readTexts(query(ctx, q, `SELECT id FROM purged ORDER BY id`))
}

// PrivateIDs reads the sessions of which something is in a private ledger, in order.
func PrivateIDs(ctx context.Context, q Querier) ([]string, error) {
	return readTexts(query(ctx, q, `SELECT id FROM private ORDER BY id`))
}

// AddPrivate adds sessions to them.
func (t *Tx) AddPrivate(ctx context.Context, ids []string) error {
	return writeRows(ctx, t, "INSERT OR IGNORE INTO private", ids, func(id *string) []any { return asList(id) })
}

// SetPurged replaces what is purged.
func (t *Tx) SetPurged(ctx context.Context, ids []string) error {
	return cmp.Or(t.Exec(ctx, `DELETE FROM purged`),
		writeRows(ctx, t, "INSERT INTO purged", ids, func(id *string) []any { return asList(id) }))
}
