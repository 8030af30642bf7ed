package db

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/git-rekal/git-rekal/internal/session"
)

// AsOf says which entries of ledgers came later than a moment.
type AsOf struct {
	Later []int // by their numbers

	// Of what imports stored later, what had been said before then counts, where the commit that it is tied to was made by
	// then; zero: none of it.
	Imported time.Time
	Made     func(sha string) bool // reports whether a code commit was made by then
}

// Later is what a DB leaves out of the search that answers as of a moment.
type Later struct {
	Missing []string // sessions and memories of which nothing was there
	Units   [][2]int // of the others, each from one to the one behind the last; in order
}

// Later is what came later than the moment that SetMoment set; nothing of today.
func (d *DB) Later() Later { return d.later }

// readLater reads it from the tables of a moment.
func (t *Tx) readLater(ctx context.Context, out *Later) (err error) {
	if out.Missing, err = readTexts(query(ctx, t, `SELECT id FROM missing ORDER BY id`)); err != nil {
		return err
	}
	out.Units, err = readRows(query(ctx, t, `SELECT coalesce(l.next_unit, p.unit) AS unit, p.next_unit FROM main.parts p
		LEFT JOIN live l ON l.item = p.item AND l.entry = p.entry AND l.k = p.k
		WHERE p.item IN (SELECT item FROM live) AND coalesce(l.next_unit, p.unit) < p.next_unit ORDER BY unit`),
		func(u *[2]int) []any { return asList(&u[0], &u[1]) })
	return err
}

// LaterRewriters are the addresses of those whose ledgers say less of rewrites than today, or of what they name.
func (t *Tx) LaterRewriters(ctx context.Context) ([]string, error) {
	return readTexts(query(ctx, t, `SELECT DISTINCT email FROM rewrites WHERE email IN (SELECT email FROM later) ORDER BY email`))
}

// SetMoment has whoever reads through this DB find what the ledgers held without the entries that came later. What is
// purged by now stays so.
//
// Tables and views of the connection's own stand before the file's of the same names, so no statement has to know of
// it. Rows that an entry brought as a whole are left out where they are read. Those that several entries made are made
// anew: the rows of sessions, and what follows from ties and files.
//
// Decide fills in what follows from what is there: which rewrites count, and what was purged.
func (d *DB) SetMoment(ctx context.Context, m AsOf, decide func(*Tx) error) error {
	return d.shadow(ctx, func(t *Tx) error {
		imported := m.Imported
		if imported.IsZero() {
			imported = time.UnixMicro(1) // nothing was said before
		}
		if err := t.Exec(ctx, laterEntries, asJSON(m.Later), imported); err != nil {
			return err
		}
		if err := t.leaveOutUnmade(ctx, m); err != nil {
			return err
		}
		if err := cmp.Or(t.Exec(ctx, partsThen+viewsThen()+sessionsThen()), decide(t)); err != nil {
			return err
		}
		if err := t.remakeUndone(ctx); err != nil {
			return err
		}
		remade, err := sessions(ctx, t, `WHERE id IN (SELECT id FROM remade) ORDER BY id`)
		if err == nil {
			err = t.ReplaceFacets(ctx, slices.Collect(maps.Values(remade)))
		}
		if err != nil {
			return err
		}
		return t.readLater(ctx, &d.later)
	})
}

// remakeUndone has nothing taken back that was so later.
func (t *Tx) remakeUndone(ctx context.Context) error {
	ids, err := readTexts(query(ctx, t,
		`SELECT DISTINCT session FROM main.undone WHERE session IN (SELECT item FROM live)`))
	if err != nil {
		return err
	}
	said, err := TurnsOf(ctx, t, ids)
	if err != nil {
		return err
	}
	spans := map[string][]session.Span{}
	for id, turns := range said {
		spans[id] = session.UndoneSpans(turns)
	}
	return t.ReplaceUndone(ctx, spans)
}

// shadow writes tables of the connection's own.
func (d *DB) shadow(ctx context.Context, do func(*Tx) error) error {
	conn, err := d.sql.Conn(ctx)
	if err != nil {
		return classify(err)
	}
	t := &Tx{conn: conn}
	err = cmp.Or(t.Exec(ctx, "PRAGMA query_only = 0"), do(t))
	if d.mode == ReadOnly {
		_, err2 := conn.ExecContext(context.WithoutCancel(ctx), "PRAGMA query_only = 1")
		err = errors.Join(err, classify(err2))
	}
	return errors.Join(err, conn.Close()) // it goes back to where it came from
}

// laterEntries takes the numbers of entries that came later, and a time. In the table later, those of an import have
// that time, and the others none.
const laterEntries = `
CREATE TEMP TABLE later AS SELECT e.*, iif(NOT EXISTS (SELECT 1 FROM main.checkpoints c WHERE c.id = e.id AND c.via IS NOT '` + session.ViaImport + `'), ?2, NULL) AS before
	FROM main.entries e WHERE n IN (SELECT value FROM json_each(?1));
CREATE UNIQUE INDEX temp.later_n ON later (n);
CREATE TEMP TABLE absent (id TEXT PRIMARY KEY) WITHOUT ROWID`

// leaveOutUnmade fills the table absent: checkpoints that were not there, and what imports say of commits that were
// made later, as ties name it.
func (t *Tx) leaveOutUnmade(ctx context.Context, m AsOf) error {
	if m.Imported.IsZero() {
		return t.Exec(ctx, `UPDATE later SET before = NULL; INSERT OR IGNORE INTO absent SELECT id FROM later`)
	}
	said, err := readGroups(query(ctx, t, `SELECT c.sha, c.id FROM later l JOIN main.checkpoints c ON c.id = l.id WHERE l.before IS NOT NULL
		UNION SELECT w.sha, l.id || ':' || w.sha FROM later l JOIN main.wrote w ON w.entry = l.n WHERE l.before IS NOT NULL`))
	if err != nil {
		return err
	}
	maps.DeleteFunc(said, func(sha string, _ []string) bool { return m.Made(sha) })
	ids := slices.Concat(slices.Collect(maps.Values(said))...)
	return cmp.Or(
		t.Exec(ctx, `INSERT INTO absent SELECT value FROM json_each(?)`, ids),
		t.Exec(ctx, `UPDATE later SET before = NULL WHERE id IN (SELECT id FROM absent); INSERT OR IGNORE INTO absent SELECT id FROM later WHERE before IS NULL`))
}

// partsThen makes the tables changed, of what later entries added to, and live, of the parts of it that were there.
// What an import brought ends with the last turn before its time; the units behind its turns are then left out, which
// say more.
const partsThen = `
CREATE TEMP TABLE changed AS SELECT DISTINCT item AS id FROM main.parts WHERE entry IN (SELECT n FROM later);
CREATE UNIQUE INDEX temp.changed_id ON changed (id);
CREATE TEMP TABLE live AS SELECT p.*, l.before, l.before IS NOT NULL AS cut FROM main.parts p LEFT JOIN later l ON l.n = p.entry
	WHERE p.item IN (SELECT id FROM changed) AND (l.n IS NULL OR l.before IS NOT NULL AND p.item IN (SELECT id FROM main.sessions));
CREATE INDEX temp.live_item ON live (item);
UPDATE live SET (next_turn, cut) = (SELECT coalesce(min(t.i), next_turn), min(t.i) IS NOT NULL FROM main.turns t
	WHERE t.session = live.item AND t.i >= live.turn AND t.i < live.next_turn AND t.ts >= live.before) WHERE cut;
UPDATE live SET next_unit = unit + next_turn - turn, next_tool = coalesce((SELECT min(c.i) FROM main.tool_calls c
	WHERE c.session = live.item AND c.i >= live.tool AND c.i < live.next_tool AND c.turn >= live.next_turn), next_tool) WHERE cut;
DELETE FROM live WHERE before IS NOT NULL AND next_turn = turn;
CREATE TEMP TABLE missing AS SELECT id FROM changed WHERE id NOT IN (SELECT item FROM live);
CREATE UNIQUE INDEX temp.missing_id ON missing (id);
`

// wasThere is the condition that the entry was there which a column of checkpoints names, as ties do.
func wasThere(column string) string {
	return column + ` NOT IN (SELECT id FROM absent) AND substr(` + column + `, 1, instr(` + column +
		` || ':', ':') - 1) NOT IN (SELECT id FROM absent)`
}

// isThere is the condition that a row of a session was there, whose number lies in one of two columns of its parts.
func isThere(number, from, to string) string {
	return `(r.session NOT IN (SELECT id FROM changed) OR EXISTS (SELECT 1 FROM live l WHERE l.item = r.session AND ` +
		number + ` >= l.` + from + ` AND ` + number + ` < l.` + to + `))`
}

// viewsThen are views of the rows that were there, of tables whose rows one entry brought each.
func viewsThen() string {
	const numbered = ", r.rowid AS rowid" // a view has no row numbers of its own
	all := ""
	for _, v := range []struct{ table, more, where string }{
		{"turns", numbered, isThere("r.i", "turn", "next_turn")},
		{"tool_calls", "", isThere("r.i", "tool", "next_tool")},
		{"usage", "", wasThere("r.checkpoint") +
			` AND (r.session NOT IN (SELECT id FROM changed) OR r.turn < (SELECT max(l.next_turn) FROM live l WHERE l.item = r.session))`},
		{"checkpoints", "", wasThere("r.id")},
		{"checkpoint_files", "", wasThere("r.checkpoint")},
		{"checkpoint_sessions", "", wasThere("r.checkpoint") + ` AND r.session NOT IN (SELECT id FROM missing)`},
		{"memories", "", `r.id NOT IN (SELECT id FROM missing)`},
		{"marks", numbered, `NOT EXISTS (SELECT 1 FROM later l WHERE l.oid = r.oid AND l.email = r.email)`},
		{"rewrites", numbered, `r.entry NOT IN (SELECT key FROM later)`},
		{"wrote", numbered, `NOT EXISTS (SELECT 1 FROM later l WHERE l.n = r.entry AND (l.before IS NULL OR l.id || ':' || r.sha IN (SELECT id FROM absent)))`},
		{"ties", numbered, wasThere("r.checkpoint") + ` AND r.session NOT IN (SELECT id FROM missing)`},
		{"shares", numbered, wasThere("r.checkpoint") + ` AND r.session NOT IN (SELECT id FROM missing)`},
		{"code_commits", "", wasThere("r.checkpoint")},
		{"parts", "", `r.entry NOT IN (SELECT n FROM later)`},
		{"embeddings", "", `r.session NOT IN (SELECT id FROM changed)`},
	} {
		all += "CREATE TEMP VIEW " + v.table + " AS SELECT r.*" + v.more + " FROM main." + v.table + " r WHERE " + v.where +
			";\n"
	}
	return all
}

// sessionsThen makes the sessions and facets as they were, but for what remakeFacets fills in: remade is of whom. What
// only joins tables is a view.
func sessionsThen() string {
	return `
CREATE TEMP TABLE sessions AS SELECT * FROM main.sessions WHERE id NOT IN (SELECT id FROM missing);
CREATE UNIQUE INDEX temp.session_id ON sessions (id);
CREATE INDEX temp.children ON sessions (parent);
CREATE INDEX temp.forks ON sessions (forked_from);
CREATE INDEX temp.natives ON sessions (lower(native_id));
UPDATE sessions SET (title, branch, ` + session.FactList("%") + `, last_entry) = (SELECT l.title, l.branch, ` + session.FactList("l.%") + `, e.key FROM live l JOIN main.entries e ON e.n = l.entry
		WHERE l.item = sessions.id ORDER BY l.entry DESC, l.k DESC LIMIT 1),
	(next_turn, next_tool) = (SELECT first_turn + sum(l.next_turn - l.turn), first_tool + sum(l.next_tool - l.tool) FROM live l WHERE l.item = sessions.id),
	last_turn_at = (SELECT nullif(max(max(coalesce(t.ts, 0)), coalesce(started_at, 0)), 0) FROM turns t WHERE t.session = sessions.id)
	WHERE id IN (SELECT item FROM live);
CREATE TEMP TABLE remade AS SELECT id FROM sessions WHERE id IN (SELECT item FROM live)
	OR id IN (SELECT session FROM main.ties WHERE NOT (` + wasThere("checkpoint") + `)) OR id IN (SELECT session FROM main.shares WHERE NOT (` + wasThere("checkpoint") + `));
CREATE UNIQUE INDEX temp.remade_id ON remade (id);
CREATE TEMP TABLE facets AS SELECT * FROM main.facets WHERE session NOT IN (SELECT id FROM missing);
CREATE UNIQUE INDEX temp.facet ON facets (session);
CREATE INDEX temp.latest ON facets (coalesce(last_turn_at, captured_at) DESC, session);
CREATE TEMP TABLE touched AS SELECT p.id AS path, c.session FROM tool_calls c JOIN main.paths p ON p.path = c.path
	WHERE c.session IN (SELECT id FROM remade) AND NOT c.failed
	UNION SELECT p.id, s.session FROM shares s JOIN main.paths p ON p.path = s.path WHERE s.session IN (SELECT id FROM remade);
CREATE TEMP VIEW touches AS SELECT path, session FROM main.touches WHERE session NOT IN (SELECT id FROM missing) AND session NOT IN (SELECT id FROM remade)
	UNION ALL SELECT path, session FROM touched;
CREATE TEMP VIEW paths AS SELECT * FROM main.paths WHERE id IN (SELECT path FROM touches);
CREATE TEMP VIEW renames AS SELECT DISTINCT old_path AS old, path AS new FROM checkpoint_files WHERE old_path IS NOT NULL;
CREATE TEMP VIEW behind AS SELECT * FROM ties WHERE tie < ` + talked + `;
CREATE TEMP TABLE undone AS SELECT * FROM main.undone WHERE session NOT IN (SELECT id FROM changed);
CREATE TEMP TABLE lineage AS SELECT * FROM main.lineage WHERE email NOT IN (SELECT email FROM later);
CREATE INDEX temp.lineage_old ON lineage (old);
CREATE INDEX temp.lineage_new ON lineage (new);
CREATE INDEX temp.lineage_root ON lineage (email, root);
CREATE TEMP TABLE purged (id TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TEMP VIEW index_state AS SELECT (SELECT coalesce(sum(turns), 0) FROM facets WHERE kind = '` + KindSession + `' AND session NOT IN (SELECT id FROM purged)) AS turns,
	(SELECT count(*) FROM facets WHERE kind = '` + KindSession + `' AND session NOT IN (SELECT id FROM purged)) AS sessions, indexed_at FROM main.index_state;
`
}
