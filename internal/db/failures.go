package db

import (
	"context"
	"time"

	"github.com/git-rekal/git-rekal/internal/session"
)

// FailedCall is a call whose command failed, by one of the terms of its error.
type FailedCall struct {
	Term, Session string
	Index         int
}

// How many failures are read of a term, the latest, and up to which number they are counted.
const (
	readOfTerm = 1000
	countTerms = 30_000
)

// FailuresBy reads the latest calls whose errors have one of some terms, but for purged sessions; how many calls each
// term names, and all terms name, as far as that is counted.
func (d *DB) FailuresBy(ctx context.Context,
	terms []string,
) (found []FailedCall, counts map[string]int, all int, err error) {
	counts = map[string]int{}
	for _, term := range terms {
		of, err := readRows(query(ctx, d, `SELECT term, session, i FROM failures WHERE term = ? AND session NOT IN (SELECT id FROM purged)
			ORDER BY session DESC, i DESC LIMIT ?`, term, readOfTerm),
			func(f *FailedCall) []any { return asList(&f.Term, &f.Session, &f.Index) })
		n := len(of)
		if err == nil && n == readOfTerm {
			err = query(ctx, d, `SELECT count(*) FROM (SELECT 1 FROM failures WHERE term = ? LIMIT ?)`, term, countTerms).one(&n)
		}
		if err != nil {
			return nil, nil, 0, err
		}
		found, counts[term] = append(found, of...), n
	}
	err = query(ctx, d, `SELECT count(*) FROM (SELECT 1 FROM failures LIMIT ?)`, countTerms).one(&all)
	return found, counts, all, err
}

// FailedCall reads a call.
func (d *DB) FailedCall(ctx context.Context, id string, i int) (call session.ToolCall, err error) {
	all, err := tools(ctx, d, `WHERE session = ? AND i = ?`, id, i)
	if len(all) > 0 {
		call = all[0]
	}
	return call, err
}

// CallsFrom reads the tool calls of a session from an index on.
func (d *DB) CallsFrom(ctx context.Context, id string, from int) ([]session.ToolCall, error) {
	return tools(ctx, d, `WHERE session = ? AND i >= ? ORDER BY i`, id, from)
}

// CommandOn is a command that a session ran, on a branch.
type CommandOn struct {
	Session string
	session.ToolCall
}

// maxLaterSessions is how many sessions behind one are looked into for a command.
const maxLaterSessions = 30

// CommandsLater reads the commands with a word that ended well in the sessions of a branch that began behind one, the
// earliest first.
func (d *DB) CommandsLater(ctx context.Context, id, word string) ([]CommandOn, error) {
	return readRows(query(ctx, d, `SELECT c.session, c.i, c.turn, c.tool, c.cmd FROM (
			SELECT l.id, l.started_at FROM sessions s JOIN sessions l ON l.branch = s.branch AND l.branch <> '' AND l.started_at > s.started_at
			WHERE s.id = ?1 AND l.id NOT IN (SELECT id FROM purged) ORDER BY l.started_at, l.id LIMIT ?3) l
		JOIN tool_calls c ON c.session = l.id WHERE c.act = 'run' AND NOT c.failed AND c.exit = 0 AND c.terms IS NULL AND instr(c.cmd, ?2)
		ORDER BY l.started_at, l.id, c.i`, id, word, maxLaterSessions),
		func(c *CommandOn) []any { return asList(&c.Session, &c.Index, &c.Turn, &c.Tool, textColumn{&c.Cmd}) })
}

// LinesIn reads which lines a session wrote in some code commits, by commit and path.
func (d *DB) LinesIn(ctx context.Context, id string, shas []string) (map[[2]string]string, error) {
	out := map[[2]string]string{}
	err := Each(ctx, d, func(rows *Rows) error {
		var sha, path, lines string
		err := rows.Scan(&sha, &path, &lines)
		out[[2]string{sha, path}] = lines
		return err
	}, `SELECT sha, path, lines FROM wrote WHERE session = ? AND sha IN (SELECT value FROM json_each(?))`, id, shas)
	return out, err
}

// LastFailure is the latest call whose error has terms; "" for none.
func (d *DB) LastFailure(ctx context.Context) (id string, call session.ToolCall, at time.Time, err error) {
	err = Each(ctx, d, func(rows *Rows) error {
		return rows.Scan(&id, &call.Index, textColumn{&call.Cmd}, textColumn{(*string)(&call.Terms)}, timeColumn{&at})
	}, `SELECT session, i, cmd, terms, ts FROM tool_calls WHERE terms IS NOT NULL AND session NOT IN (SELECT id FROM purged) ORDER BY ts DESC, i DESC LIMIT 1`)
	return id, call, at, err
}

// PassedLast reports whether a session ran a command without a failure when it ran it last. cmd is cut as calls have
// it.
func (d *DB) PassedLast(ctx context.Context, id, cmd string) (passed bool, err error) {
	err = query(ctx, d, `SELECT coalesce((SELECT NOT failed FROM tool_calls WHERE session = ? AND cmd = ? ORDER BY i DESC LIMIT 1), 0)`,
		id, cmd).one(&passed)
	return passed, err
}

// SessionsIn reads which sessions stand behind those of some code commits that changed a file, by commit.
func (d *DB) SessionsIn(ctx context.Context, path string, shas []string) (map[string][]string, error) {
	return readGroups(query(ctx, d, `SELECT DISTINCT t.sha, t.session FROM behind t JOIN checkpoint_files f ON f.checkpoint = t.checkpoint
		WHERE t.sha IN (SELECT value FROM json_each(?)) AND f.path = ? AND t.session NOT IN (SELECT id FROM purged) ORDER BY t.ts DESC, t.session`, shas, path))
}

// FailureAt is a call whose command failed, and when.
type FailureAt struct {
	Session string
	TS      time.Time
	session.ToolCall
}

// TouchedPaths reads the paths that sessions touched.
func (d *DB) TouchedPaths(ctx context.Context) ([]string, error) {
	return readTexts(query(ctx, d, `SELECT path FROM paths ORDER BY path`))
}

// Rejecting reads the memories that are not purged and that reject something, the latest first.
func (d *DB) Rejecting(ctx context.Context) ([]MemoryRow, error) {
	return memories(ctx, d, `rejects IS NOT NULL AND id NOT IN (SELECT id FROM purged) ORDER BY ts DESC, id`)
}

// FailuresIn reads the calls in a time whose errors have terms, the latest first; a zero time leaves that side open.
func (d *DB) FailuresIn(ctx context.Context, since, until time.Time) ([]FailureAt, error) {
	return readRows(query(ctx, d, `SELECT session, ts, i, turn, cmd, terms FROM tool_calls WHERE terms IS NOT NULL AND session NOT IN (SELECT id FROM purged)
		AND (?1 IS NULL OR ts >= ?1) AND (?2 IS NULL OR ts < ?2) ORDER BY ts DESC, session, i DESC`, microsOrNull(since), microsOrNull(until)),
		func(f *FailureAt) []any {
			return asList(&f.Session, timeColumn{&f.TS}, &f.Index, &f.Turn, textColumn{&f.Cmd}, textColumn{(*string)(&f.Terms)})
		})
}
