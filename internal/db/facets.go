package db

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"slices"
	"time"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/session"
)

// recallDDL is what recall filters by and shows, beside the documented tables: recall opens
// index.db alone.
const recallDDL = `
CREATE TABLE session_commits (
    session_id VARCHAR NOT NULL, checkpoint_id VARCHAR NOT NULL, git_sha VARCHAR NOT NULL,
    user_email VARCHAR NOT NULL, inferred BOOLEAN NOT NULL, ts TIMESTAMP NOT NULL, turn INTEGER NOT NULL, lines INTEGER NOT NULL);
CREATE TABLE path_names (key BIGINT NOT NULL, path VARCHAR NOT NULL);
CREATE TABLE path_sessions (key BIGINT NOT NULL, session_id VARCHAR NOT NULL);
`

// AppendToolsIndex adds the tool calls of parts to index.db, with the paths that they touched.
func (t *Tx) AppendToolsIndex(parts []session.Session, times func(s session.Session, c session.ToolCall) time.Time) error {
	return t.Append("tool_calls_index", func(row func(...any) error) error {
		for _, s := range parts {
			for _, c := range s.ToolCalls {
				id := session.RowID(times(s, c), s.ID, "tool", c.Index)
				if err := row(id, s.ID, int32(c.Index), c.Tool, opt(c.Touched()), opt(c.Cmd), opt(c.Act)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// Touch says that a path is one that a session's tools named or that its commits changed.
type Touch struct{ Path, Session string }

// AddTouches keeps which sessions touched which path, each path once by name: two million calls
// name ten thousand of them, and a pattern is matched with names.
func (t *Tx) AddTouches(ctx context.Context, touches []Touch) error {
	if len(touches) == 0 {
		return nil
	}
	keys, paths, ids := make([]int64, len(touches)), make([]string, len(touches)), make([]string, len(touches))
	for i, touch := range touches {
		keys[i], paths[i], ids[i] = pathKey(touch.Path), touch.Path, touch.Session
	}
	err := t.Exec(ctx, `INSERT INTO path_names SELECT DISTINCT unnest(?::BIGINT[]) AS k, unnest(?::VARCHAR[]) AS p
		EXCEPT SELECT key, path FROM path_names ORDER BY k, p`, keys, paths)
	if err != nil {
		return err
	}
	return t.Exec(ctx, `INSERT INTO path_sessions SELECT unnest(?::BIGINT[]) AS k, unnest(?::VARCHAR[]) AS s
		EXCEPT SELECT key, session_id FROM path_sessions
			WHERE session_id BETWEEN ? AND ? ORDER BY k, s`,
		keys, ids, slices.Min(ids), slices.Max(ids))
}

// pathKey is a path as a number.
func pathKey(path string) int64 {
	sum := sha256.Sum256([]byte(path))
	return int64(binary.BigEndian.Uint64(sum[:]))
}

// FileRow says that a checkpoint's file is a session's own.
type FileRow struct {
	Checkpoint, Session, Path, Change string
	Blob                              Key  // what the commit left there; LeftNothing for a deletion, 0 where the ledger does not say
	Inferred                          bool // nothing that the session called named it
}

// AppendFilesIndex adds files that sessions' commits changed.
func (t *Tx) AppendFilesIndex(files []FileRow) error {
	return t.Append("files_index", func(row func(...any) error) error {
		for _, f := range files {
			if err := row(f.Checkpoint, f.Session, f.Path, f.Change, int64(f.Blob), f.Inferred); err != nil {
				return err
			}
		}
		return nil
	})
}

// AppendCommits ties sessions to the code commits of checkpoints.
func (t *Tx) AppendCommits(ties []attribution.Tie) error {
	return t.Append("session_commits", func(row func(...any) error) error {
		for _, c := range ties {
			if err := row(c.Session, c.Checkpoint, c.SHA, c.Email, c.Inferred, c.TS, int32(c.Turn), int32(c.Lines)); err != nil {
				return err
			}
		}
		return nil
	})
}

// Paths reads from data.db the git-root-relative paths that the tools of sessions touched,
// each once, in the order of the first call.
func (t *Tx) Paths(ctx context.Context, ids []string) (map[string][]string, error) {
	rows, err := t.Query(ctx, `SELECT session_id, path FROM tool_calls
		WHERE path IS NOT NULL AND NOT failed AND path <> '.' AND path NOT LIKE '/%' AND path NOT LIKE '~%' AND session_id IN (SELECT unnest(?::VARCHAR[]))
		GROUP BY session_id, path ORDER BY session_id, min(call_order)`, ids)
	if err != nil {
		return nil, err
	}
	return pairs(rows)
}

// Edited reads from data.db the paths that the tools of sessions wrote to, each once, in
// the order of the first call.
func (t *Tx) Edited(ctx context.Context, ids []string) (map[string][]string, error) {
	rows, err := t.Query(ctx, `SELECT session_id, path FROM tool_calls
		WHERE path IS NOT NULL AND NOT failed AND `+editing+` AND session_id IN (SELECT unnest(?::VARCHAR[]))
		GROUP BY session_id, path ORDER BY session_id, min(call_order)`, ids)
	if err != nil {
		return nil, err
	}
	return pairs(rows)
}

// Named reads from data.db the paths that the tools of a session touched, and its commands.
func (t *Tx) Named(ctx context.Context, id string) ([]session.ToolCall, error) {
	rows, err := t.Query(ctx, `SELECT DISTINCT if(failed, '', coalesce(path, '')), coalesce(cmd_prefix, '') FROM tool_calls WHERE session_id = ?`, id)
	if err != nil {
		return nil, err
	}
	var out []session.ToolCall
	err = each(rows, func() error {
		var c session.ToolCall
		err := rows.Scan(&c.Path, &c.Cmd)
		out = append(out, c)
		return err
	})
	return out, err
}

// editing is of the calls that write to their files.
const editing = `act = '` + session.ActEdit + `'`

func pairs(rows *sql.Rows) (map[string][]string, error) {
	out := map[string][]string{}
	err := each(rows, func() error {
		var id, v string
		if err := rows.Scan(&id, &v); err != nil {
			return err
		}
		out[id] = append(out[id], v)
		return nil
	})
	return out, err
}

// Together counts the sessions in which two files appear; A sorts before B.
type Together struct{ A, B string }

// AddTogether adds to the number of sessions of each pair; a pair that no session has left goes.
func (t *Tx) AddTogether(ctx context.Context, counts map[Together]int) error {
	if len(counts) == 0 {
		return nil
	}
	if err := t.Exec(ctx, `CREATE TEMP TABLE more (a VARCHAR, b VARCHAR, n INTEGER)`); err != nil {
		return err
	}
	as, bs, ns := make([]string, 0, len(counts)), make([]string, 0, len(counts)), make([]int32, 0, len(counts))
	for p, n := range counts {
		as, bs, ns = append(as, p.A), append(bs, p.B), append(ns, int32(n))
	}
	for _, step := range []struct {
		sql  string
		args []any
	}{
		{`INSERT INTO more SELECT unnest(?::VARCHAR[]), unnest(?::VARCHAR[]), unnest(?::INTEGER[])`, []any{as, bs, ns}},
		{`UPDATE file_cooccurrence SET session_count = session_count + n FROM more WHERE file_a = a AND file_b = b`, nil},
		{`INSERT INTO file_cooccurrence SELECT a, b, n FROM more
			WHERE n > 0 AND NOT EXISTS (SELECT 1 FROM file_cooccurrence WHERE file_a = a AND file_b = b) ORDER BY a, b`, nil},
		{`DELETE FROM file_cooccurrence WHERE session_count <= 0`, nil},
		{`DROP TABLE more`, nil},
	} {
		if err := t.Exec(ctx, step.sql, step.args...); err != nil {
			return err
		}
	}
	return nil
}

// ReplaceFacets computes the facets of sessions anew. What the rows say of a session comes
// from data.db; counts, files and the latest checkpoint from the index.
func (t *Tx) ReplaceFacets(ctx context.Context, rows []SessionRow) error {
	ids := make([]string, len(rows))
	for i, r := range rows {
		ids[i] = r.ID
	}
	facts, err := t.facts(ctx, ids)
	if err != nil {
		return err
	}
	if err := t.Exec(ctx, `DELETE FROM session_facets WHERE session_id IN (SELECT unnest(?::VARCHAR[]))`, ids); err != nil {
		return err
	}
	return t.Append("session_facets", func(row func(...any) error) error {
		for _, r := range rows {
			f := facts[r.ID]
			if err := row(r.ID, opt(r.Email), opt(r.Branch), r.ActorType, opt(r.AgentID), r.CapturedAt,
				int32(r.NextTurn-r.FirstTurn), f.tools, f.count, opt(f.checkpoint), opt(f.sha),
				opt(r.Title), r.Source, opt(r.Parent), at(r.StartedAt), at(r.LastTurnAt), f.files, f.commits, KindSession, f.leftPaths, f.leftBlobs); err != nil {
				return err
			}
		}
		return nil
	})
}

// How many files and commits the facets name; the rest is counted. LeftFiles is of how many files they
// say what the session's commits left there, those that changed last.
const (
	ShownFiles   = 5
	ShownCommits = 5
	LeftFiles    = 50
)

type facts struct {
	tools, count    int32
	checkpoint, sha string
	files, commits  []string
	leftPaths       []string
	leftBlobs       []int64
}

// facts reads the counts of sessions, the first files that they changed (by their tools in
// order, then others of their commits), what they left in their files, and their latest checkpoint
// and commits.
func (t *Tx) facts(ctx context.Context, ids []string) (map[string]facts, error) {
	rows, err := t.Query(ctx, `WITH s AS (SELECT unnest(?::VARCHAR[]) AS id),
		n AS (SELECT session_id, count(*) AS tools FROM tool_calls_index WHERE session_id IN (FROM s) GROUP BY session_id),
		f AS (SELECT session_id, count(*) AS files, list(path ORDER BY n, path)[1:?] AS shown FROM (
			SELECT session_id, path, min(n) AS n FROM (
				SELECT session_id, path, call_order AS n FROM tool_calls_index
					WHERE path IS NOT NULL AND `+editing+` AND session_id IN (FROM s)
				UNION ALL SELECT session_id, file_path, 2147483647 FROM files_index WHERE session_id IN (FROM s))
			GROUP BY session_id, path) GROUP BY session_id),
		c AS (SELECT session_id, arg_max(checkpoint_id, (ts, checkpoint_id)) AS cp, arg_max(git_sha, (ts, checkpoint_id)) AS sha
			FROM session_commits WHERE session_id IN (FROM s) GROUP BY session_id),
		g AS (SELECT session_id, list(git_sha ORDER BY ts DESC, git_sha)[1:?] AS shas FROM (
			SELECT session_id, git_sha, max(ts) AS ts FROM session_commits
			WHERE git_sha <> ? AND session_id IN (FROM s) GROUP BY session_id, git_sha) GROUP BY session_id),
		l AS (SELECT session_id, list(path ORDER BY ts DESC, path)[1:?] AS left_paths, list(blob ORDER BY ts DESC, path)[1:?] AS left_blobs FROM (
			SELECT session_id, file_path AS path, arg_max(blob, (ts, checkpoint_id)) AS blob, max(ts) AS ts
			FROM (SELECT * FROM files_index WHERE session_id IN (FROM s))
				JOIN (SELECT * FROM session_commits WHERE session_id IN (FROM s)) USING (session_id, checkpoint_id)
			GROUP BY session_id, file_path) GROUP BY session_id)
		SELECT s.id, coalesce(tools, 0), coalesce(files, 0), coalesce(cp, ''), coalesce(sha, ''), shown, shas, left_paths, left_blobs FROM s
		LEFT JOIN n ON n.session_id = s.id LEFT JOIN f ON f.session_id = s.id
		LEFT JOIN c ON c.session_id = s.id LEFT JOIN g ON g.session_id = s.id LEFT JOIN l ON l.session_id = s.id`,
		ids, ShownFiles, ShownCommits, session.ZeroSHA, LeftFiles, LeftFiles)
	if err != nil {
		return nil, err
	}
	out := map[string]facts{}
	err = each(rows, func() error {
		var id string
		var f facts
		var files, commits, paths, blobs any
		if err := rows.Scan(&id, &f.tools, &f.count, &f.checkpoint, &f.sha, &files, &commits, &paths, &blobs); err != nil {
			return err
		}
		f.files, f.commits, f.leftPaths, f.leftBlobs = list[string](files), list[string](commits), list[string](paths), list[int64](blobs)
		out[id] = f
		return nil
	})
	return out, err
}

// list is an array as the driver gives it.
func list[T any](v any) []T {
	values, _ := v.([]any)
	var out []T
	for _, x := range values {
		if s, ok := x.(T); ok {
			out = append(out, s)
		}
	}
	return out
}

// ReplaceIndexState writes the one row of index_state, which counts sessions that are not purged. Trained is the entry that holds the
// last turn that the semantic model was trained on; "" without a model.
func (t *Tx) ReplaceIndexState(ctx context.Context, dim int, trained string, now time.Time) error {
	if err := t.Exec(ctx, `DELETE FROM index_state`); err != nil {
		return err
	}
	return t.Exec(ctx, `INSERT INTO index_state SELECT count(*), coalesce(sum(turn_count), 0), ?, ?, ? FROM session_facets
		WHERE kind = ? AND session_id NOT IN (SELECT id FROM purged)`,
		int32(dim), now.UTC(), opt(trained), KindSession)
}

// Trained reads what ReplaceIndexState wrote; "" where it wrote nothing yet.
func (t *Tx) Trained(ctx context.Context) (string, error) {
	rows, err := t.Query(ctx, `SELECT coalesce(trained_to, '') FROM index_state`)
	if err != nil {
		return "", err
	}
	var entry string
	err = each(rows, func() error { return rows.Scan(&entry) })
	return entry, err
}
