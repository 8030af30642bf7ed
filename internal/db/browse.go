package db

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Names reads the IDs of sessions and memories, purged or not: those that begin as asked, or that an agent named so,
// with their neighbours in order, from which they have to be told; all where nothing is asked.
func (d *DB) Names(ctx context.Context, asked ...string) (session.Names, error) {
	var ids, natives []string
	for _, a := range asked {
		a = session.OnlyRef(a).ID
		ids, natives = append(ids, a, strings.ToUpper(a)), append(natives, strings.ToLower(a))
	}
	all, err := readMap[string, string](query(ctx, d, `WITH found AS MATERIALIZED (
			SELECT s.id FROM json_each(?2) a CROSS JOIN sessions s ON s.id >= a.value AND s.id < a.value || ?4
			UNION SELECT m.id FROM json_each(?2) a CROSS JOIN memories m ON m.id >= a.value AND m.id < a.value || ?4
			UNION SELECT s.id FROM json_each(?3) a CROSS JOIN sessions s ON lower(native_id) >= a.value AND lower(native_id) < a.value || ?4)
		SELECT id, coalesce(native_id, '') FROM (SELECT id FROM found
			UNION SELECT (SELECT max(id) FROM sessions WHERE id < f.id) FROM found f UNION SELECT (SELECT min(id) FROM sessions WHERE id > f.id) FROM found f
			UNION SELECT (SELECT max(id) FROM memories WHERE id < f.id) FROM found f UNION SELECT (SELECT min(id) FROM memories WHERE id > f.id) FROM found f
			UNION SELECT id FROM sessions WHERE ?1 UNION SELECT id FROM memories WHERE ?1)
		LEFT JOIN sessions USING (id) WHERE id IS NOT NULL`, len(asked) == 0, ids, natives, string(utf8.MaxRune)))
	return session.NewNames(all), err
}

// TitlesByIDPrefix reads the titles of sessions and memories whose IDs begin so, purged or not, by ID; of more than
// limit those with the greatest IDs, which are the latest.
func (d *DB) TitlesByIDPrefix(ctx context.Context, prefix string, limit int) (map[string]string, error) {
	return readMap[string, string](query(ctx, d,
		`SELECT session, coalesce(title, '') FROM facets WHERE session >= ? AND session < ? || '~' ORDER BY session DESC LIMIT ?`, prefix, prefix, limit))
}

// Session reads one session's row by its whole ID.
func (d *DB) Session(ctx context.Context, id string) (SessionRow, error) {
	rows, err := sessions(ctx, d, `WHERE id = ?`, id)
	if err == nil && len(rows) == 0 {
		err = fmt.Errorf("session %q: %w", id, session.ErrNoID)
	}
	return rows[id], err
}

// HasSource reports whether an agent of that name has a session here.
func (d *DB) HasSource(ctx context.Context, name string) (bool, error) {
	ids, err := readTexts(query(ctx, d, `SELECT id FROM sessions WHERE source = ? LIMIT 1`, name))
	return len(ids) > 0, err
}

// Children reads the IDs of the sessions that a session spawned, without those that are purged.
func (d *DB) Children(ctx context.Context, id string) ([]string, error) {
	return readTexts(query(ctx, d, `SELECT id FROM sessions WHERE parent = ?
		AND id NOT IN (SELECT id FROM purged) ORDER BY id`, id))
}

// Relative is a session that another one came of, or that came of it.
type Relative struct {
	ID, As, Title string
	Turns         int
}

// Relatives reads at most limit sessions next to a session: its parent, the session that it was forked from, the
// sessions that it spawned, and those that were forked from it, each once. Purged sessions are left out.
func (d *DB) Relatives(ctx context.Context, of SessionRow, limit int) ([]Relative, error) {
	return readRows(query(ctx, d, `SELECT id, name, coalesce(title, ''), next_turn - first_turn FROM (SELECT *, min(rank) FROM (
			SELECT *, 1 AS rank, 'parent' AS name FROM sessions WHERE id = ?1 UNION ALL SELECT *, 2, 'origin' FROM sessions WHERE id = ?2
			UNION ALL SELECT *, 3, 'child' FROM sessions WHERE parent = ?3 UNION ALL SELECT *, 4, 'fork' FROM sessions WHERE forked_from = ?3)
		WHERE id NOT IN (SELECT id FROM purged) GROUP BY id) ORDER BY rank, id LIMIT ?4`, of.Parent, of.ForkedFrom, of.ID, limit),
		func(r *Relative) []any { return asList(&r.ID, &r.As, &r.Title, &r.Turns) })
}

// Turns reads at most limit turns of a session from an index on; role "" is both.
func (d *DB) Turns(ctx context.Context, id string, from, limit int, role string) ([]session.Turn, error) {
	return turns(ctx, d, `WHERE session = ?1 AND i >= ?2 AND (?3 = '' OR role = ?3) ORDER BY i LIMIT ?4`, id, from, role,
		limit)
}

// PromptBefore is the last turn before a time in which a person asked for something; -1 for none. Of several of one
// time, which some agents give to all turns of a session, it is the one in which an edit of one of the files was asked
// for.
func (d *DB) PromptBefore(ctx context.Context, id string, files []string, at time.Time) (turn int, err error) {
	err = query(ctx, d, `WITH last AS (SELECT max(i) AS i, ts FROM turns WHERE session = ?1 AND role = ?2 AND ts <= ?3)
		SELECT coalesce((SELECT max(i) FROM turns WHERE session = ?1 AND role = ?2 AND ts = last.ts AND i <= (SELECT max(turn) FROM tool_calls
			WHERE session = ?1 AND `+isEdit+` AND path IN (SELECT value FROM json_each(?4)) AND ts BETWEEN last.ts AND ?3)), last.i, -1) FROM last`,
		id, session.RoleHuman, at, files).one(&turn)
	return turn, err
}

// PromptOfEdit is the turn in which a person asked for the last edit of one of some files that a session made before a
// time; -1 for none.
func (d *DB) PromptOfEdit(ctx context.Context, id string, paths []string, before time.Time) (turn int, err error) {
	err = query(ctx, d, `SELECT coalesce(max(i), -1) FROM turns WHERE session = ?1 AND role = ?2 AND i <= (SELECT max(turn) FROM tool_calls
		WHERE session = ?1 AND `+isEdit+` AND path IN (SELECT value FROM json_each(?3)) AND ts <= ?4)`, id, session.RoleHuman, paths, before).one(&turn)
	return turn, err
}

// Exchange reads the prompt that a turn of a session belongs to, and the last that was answered to it; "" for either
// that is not there.
func (d *DB) Exchange(ctx context.Context, id string, turn int) (asked, answered string, err error) {
	prompt, err := turns(ctx, d, `WHERE session = ?1 AND i <= ?2 AND role = ?3 ORDER BY i DESC LIMIT 1`, id, turn,
		session.RoleHuman)
	if err != nil {
		return "", "", err
	}
	from := -1
	if len(prompt) > 0 {
		asked, from = prompt[0].Content, prompt[0].Index
	}
	answer, err := turns(ctx, d, `WHERE session = ?1 AND i > ?2 AND role <> ?3 AND i < coalesce(
		(SELECT min(i) FROM turns WHERE session = ?1 AND i > ?2 AND role = ?3), i + 1) ORDER BY i DESC LIMIT 1`, id, from, session.RoleHuman)
	if len(answer) > 0 {
		answered = answer[0].Content
	}
	return asked, answered, err
}

// Tools reads the tool calls of a session behind the turns from…to, inclusive.
func (d *DB) Tools(ctx context.Context, id string, from, to int) ([]session.ToolCall, error) {
	return tools(ctx, d, `WHERE session = ? AND turn BETWEEN ? AND ? ORDER BY i`, id, from, to)
}

// SessionFile is a file of one of a session's commits.
type SessionFile struct {
	Left
	Change, SHA string
}

// SessionFiles reads the files of a session's commits, the latest first.
func (d *DB) SessionFiles(ctx context.Context, id string) ([]SessionFile, error) {
	return readRows(query(ctx, d, `SELECT path, blob, change, sha FROM shares f
		JOIN behind c ON c.session = f.session AND c.checkpoint = f.checkpoint
		WHERE f.session = ? ORDER BY c.ts DESC, f.checkpoint, path`, id),
		func(f *SessionFile) []any { return asList(&f.Path, &f.Blob, &f.Change, &f.SHA) })
}

// LogRow is a checkpoint with one of its sessions; Session is "" when it has none.
type LogRow struct {
	session.Checkpoint
	Took           time.Time // of an import: when its sessions took place; zero where that is not told
	FileCount      int
	Session, Title string
	Started, Last  time.Time // of the session
	Source, Actor  string
	session.Facts
	Turns, Tools int
	Tie          session.TieKind
}

// LogQuery says which checkpoints are asked for.
type LogQuery struct {
	Limit   int                  // at most so many
	Agent   string               // only its sessions, and checkpoints that have one; "" for all
	Authors []string             // e-mail addresses of who made them, in lower case; nil: all
	Commits []attribution.Commit // whole OIDs of those at which they were made; nil: all
	Paths   *Paths               // one of the code commit's files is such a one; nil: whatever it changed
	Period

	OnlyWithSessions bool // no checkpoint that has none, or whose sessions are all purged
}

// checkpoints are the IDs of those that Commits and Paths let pass; nil where both are.
func (q LogQuery) checkpoints(ctx context.Context, d *DB) ([]string, error) {
	if q.Commits == nil && q.Paths == nil {
		return nil, nil
	}
	matches := func(string) bool { return true }
	if q.Paths != nil {
		var err error
		if matches, err = q.Paths.Matcher(); err != nil {
			return nil, err
		}
	}
	out := []string{}
	err := query(ctx, d, `WITH own AS (SELECT id FROM checkpoints WHERE ?1 UNION
			SELECT id FROM (SELECT value ->> 'SHA' AS sha, value ->> 'Email' AS email FROM json_each(?2)) a CROSS JOIN checkpoints c ON c.sha = a.sha AND a.email IN ('', lower(c.email)))
		SELECT id, coalesce(path, '') FROM own LEFT JOIN checkpoint_files ON checkpoint = id AND ?3 ORDER BY id`, q.Commits == nil, q.Commits, q.Paths != nil).each(func(rows *Rows) error {
		var id, path string
		err := rows.Scan(&id, &path)
		if (len(out) == 0 || out[len(out)-1] != id) && matches(path) {
			out = append(out, id)
		}
		return err
	})
	return out, err
}

// logSession is the condition that a session passes a LogQuery.
const logSession = `(?1 = '' OR s.source = ?1)`

// logFilters is the condition that a checkpoint passes a LogQuery, but for its period.
const logFilters = `AND (?1 = '' AND ?9 OR id IN (SELECT l.checkpoint FROM checkpoint_sessions l JOIN sessions s ON s.id = l.session
			WHERE ` + logSession + ` AND s.id NOT IN (SELECT id FROM purged)))
		AND (?5 OR email COLLATE NOCASE IN (SELECT value FROM json_each(?6))) AND (?7 OR id IN (SELECT value FROM json_each(?8)))`

// Log reads the latest checkpoints, newest first, a row for each session of
// each that is not purged: the strongest tie first. An import is as late as its sessions.
func (d *DB) Log(ctx context.Context, q LogQuery) ([]LogRow, error) {
	since, until := q.bounds()
	chosen, err := q.checkpoints(ctx, d)
	if err != nil {
		return nil, err
	}
	// Imports are told from the others, which the index checkpoints_when has in order.
	return readRows(query(ctx, d, `WITH t AS (SELECT *, (SELECT max(last_turn_at) FROM checkpoint_sessions l JOIN sessions s ON s.id = l.session WHERE l.checkpoint = c.id) AS took
			FROM checkpoints c WHERE via = '`+session.ViaImport+`'),
		c AS MATERIALIZED (SELECT * FROM (SELECT *, NULL AS took, ts AS at FROM checkpoints WHERE via IS NOT '`+session.ViaImport+`' AND ts >= ?3 AND ts < ?4 `+logFilters+` ORDER BY ts DESC, id LIMIT ?2)
			UNION ALL SELECT *, coalesce(took, ts) AS at FROM t WHERE at >= ?3 AND at < ?4 `+logFilters+` ORDER BY at DESC, id LIMIT ?2)
		SELECT c.id, c.sha, c.branch, c.email, c.ts, c.took, c.actor_type, c.via, (SELECT count(*) FROM checkpoint_files f WHERE f.checkpoint = c.id),
			s.id, s.title, s.started_at, s.last_turn_at, s.source, s.actor_type,
			coalesce(next_turn - first_turn, 0), coalesce(next_tool - first_tool, 0), coalesce((SELECT min(tie) FROM ties t WHERE t.session = s.id AND t.sha = c.sha), 0) AS tie, `+session.FactList("s.%")+`
		FROM c LEFT JOIN checkpoint_sessions l ON l.checkpoint = c.id AND l.session NOT IN (SELECT id FROM purged)
		LEFT JOIN sessions s ON s.id = l.session WHERE ?1 = '' AND ?9 OR `+logSession+` ORDER BY c.at DESC, c.id, tie = 0, tie, s.started_at NULLS LAST, s.id`, q.Agent, q.Limit, since, until, q.Authors == nil, q.Authors, chosen == nil, chosen, !q.OnlyWithSessions),
		func(r *LogRow) []any {
			return withFacts(&r.Facts, &r.ID, &r.GitSHA, &r.GitBranch, &r.UserEmail, timeColumn{&r.TS}, timeColumn{&r.Took},
				&r.ActorType, textColumn{&r.Via}, &r.FileCount,
				textColumn{&r.Session}, textColumn{&r.Title}, timeColumn{&r.Started}, timeColumn{&r.Last}, textColumn{&r.Source},
				textColumn{&r.Actor}, &r.Turns, &r.Tools, (*int)(&r.Tie))
		})
}

// CheckpointsOf lists the checkpoints of one author that captured a code commit, the first ones first. Those of imports
// captured none.
func (d *DB) CheckpointsOf(ctx context.Context, email, sha string) ([]string, error) {
	return readTexts(query(ctx, d, `SELECT id FROM checkpoints WHERE sha = ? AND email = ? AND via <> ? ORDER BY ts, id`,
		sha, strings.ToLower(email), session.ViaImport))
}

// Authors lists the addresses of those who have sessions, memories or checkpoints, in lower case and in order.
func (d *DB) Authors(ctx context.Context) ([]string, error) {
	return readTexts(query(ctx, d, `SELECT lower(coalesce(person, email)) FROM facets WHERE coalesce(person, email) IS NOT NULL UNION SELECT lower(email) FROM checkpoints ORDER BY 1`))
}

// StripTurn is what happened at a turn of a session and behind it: how many calls there were, of them edits that were
// done, and failures.
type StripTurn struct {
	Turn                 int // -1: before the first
	Human                bool
	At                   time.Time // zero: not known
	Calls, Edits, Failed int
}

// TurnSizes reads a session turn by turn, without its texts.
func (d *DB) TurnSizes(ctx context.Context, id string) ([]StripTurn, error) {
	return readRows(query(ctx, d, `WITH c AS (SELECT turn, count(*) AS calls, sum(`+isEdit+`) AS edits, sum(failed) AS failed FROM tool_calls WHERE session = ?1 GROUP BY turn)
		SELECT coalesce(t.i, c.turn), coalesce(t.role = ?2, 0), t.ts, coalesce(calls, 0), coalesce(edits, 0), coalesce(c.failed, 0)
		FROM (SELECT i, role, ts FROM turns WHERE session = ?1) t FULL JOIN c ON c.turn = t.i ORDER BY 1`, id, session.RoleHuman),
		func(s *StripTurn) []any {
			return asList(&s.Turn, &s.Human, timeColumn{&s.At}, &s.Calls, &s.Edits, &s.Failed)
		})
}

// Lane is a session of which a picture shows when it took place.
type Lane struct {
	ID, Title, Email, Source string
	Started, Last            time.Time // zero: not known
}

// Lanes reads sessions by their IDs.
func (d *DB) Lanes(ctx context.Context, ids []string) (map[string]Lane, error) {
	rows, err := readRows(query(ctx, d,
		`SELECT id, title, email, source, started_at, last_turn_at FROM sessions WHERE id IN (SELECT value FROM json_each(?))`, ids),
		func(l *Lane) []any {
			return asList(&l.ID, textColumn{&l.Title}, textColumn{&l.Email}, &l.Source, timeColumn{&l.Started},
				timeColumn{&l.Last})
		})
	out := map[string]Lane{}
	for _, l := range rows {
		out[l.ID] = l
	}
	return out, err
}
