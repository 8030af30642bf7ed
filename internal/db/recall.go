package db

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/attribution"
)

// Facet is what recall shows of a session, from session_facets.
type Facet struct {
	ID, Kind                          string // KindSession or KindMemory
	Email, Branch, ActorType, AgentID string
	Title, Source, Parent             string
	CapturedAt                        time.Time
	Latest                            time.Time // its last turn: what the latest come first by
	Turns, Tools, Files               int
	Checkpoint                        string   // the latest; "" for none
	Shown                             []string // the first files that it changed, at most ShownFiles
	Commits                           []string // OIDs of code commits, the latest first, at most ShownCommits
	Left                              []Left   // what its commits left in its files, at most LeftFiles
}

// Filter says which sessions and memories count. Empty fields let all pass that are not purged.
type Filter struct {
	File    string               // RE2, unanchored, on paths that the session's tools named or its commits changed
	Names   []string             // paths that count as if File matched them
	Commits []attribution.Commit // code commits, also by their beginnings: any of them
	Author  string               // e-mail address, in any case
	Actor   string
	IDs     []string // nothing but these; nil: all
	Title   string   // a part of the title, in any case
	Purged  Purged
}

// Purged says what a filter does with what is purged.
type Purged int

// Without leaves out what is purged; With does not; Only leaves out the rest.
const (
	Without Purged = iota
	With
	Only
)

// where is the filter as a condition on session_facets, with its arguments.
func (f Filter) where() (string, []any) {
	conds, args := []string{"true"}, []any{}
	add := func(cond string, values ...any) {
		conds, args = append(conds, cond), append(args, values...)
	}
	if f.File != "" {
		keys := make([]int64, len(f.Names))
		for i, name := range f.Names {
			keys[i] = pathKey(name)
		}
		add(`session_id IN (SELECT session_id FROM path_sessions WHERE key IN (
			SELECT key FROM path_names WHERE regexp_matches(path, ?) UNION ALL SELECT unnest(?::BIGINT[])))`, f.File, keys)
	}
	if f.Commits != nil {
		cond, args := tiedTo(f.Commits)
		add(cond, args...)
	}
	if f.Author != "" {
		add("lower(user_email) = lower(?)", f.Author)
	}
	if f.Actor != "" {
		add("actor_type = ?", f.Actor)
	}
	if f.IDs != nil {
		add("session_id IN (SELECT unnest(?::VARCHAR[]))", f.IDs)
	}
	if f.Title != "" {
		add("contains(lower(title), lower(?))", f.Title)
	}
	switch f.Purged {
	case Without:
		add("session_id NOT IN (SELECT id FROM purged)")
	case Only:
		add("session_id IN (SELECT id FROM purged)")
	case With:
	}
	return strings.Join(conds, " AND "), args
}

// tiedTo are the sessions that some ledgers tie to some code commits. (What is given whole is looked up, and only
// what is not is compared one by one.)
func tiedTo(commits []attribution.Commit) (cond string, args []any) {
	var shas, emails, starts []string
	for _, c := range commits {
		if whole(c.SHA) {
			shas, emails = append(shas, c.SHA), append(emails, c.Email)
		} else {
			starts = append(starts, c.SHA)
		}
	}
	return `(session_id IN (SELECT session_id FROM session_commits t
		JOIN (SELECT unnest(?::VARCHAR[]) AS sha, unnest(?::VARCHAR[]) AS email) ON git_sha = sha AND email IN ('', t.user_email))
		OR session_id IN (SELECT session_id FROM session_commits JOIN (SELECT unnest(?::VARCHAR[]) AS start) ON starts_with(git_sha, start)))`,
		[]any{shas, emails, starts}
}

// Matching reads the IDs of what passes a filter, the latest first.
func (d *DB) Matching(ctx context.Context, f Filter) ([]string, error) {
	cond, args := f.where()
	rows, err := d.Query(ctx, `SELECT session_id FROM session_facets WHERE `+cond+`
		ORDER BY coalesce(last_turn_at, captured_at) DESC, session_id`, args...)
	if err != nil {
		return nil, err
	}
	return scanStrings(rows)
}

// Facets reads the facets of sessions, by ID.
func (d *DB) Facets(ctx context.Context, ids []string) (map[string]Facet, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	chosen, args := among(ids)
	rows, err := d.Query(ctx, `SELECT session_id, coalesce(user_email, ''), coalesce(git_branch, ''), actor_type,
		coalesce(agent_id, ''), coalesce(title, ''), source, coalesce(parent_session_id, ''), captured_at,
		coalesce(last_turn_at, captured_at), turn_count, tool_call_count, file_count, coalesce(checkpoint_id, ''), files, commits, kind, left_paths, left_blobs
		FROM session_facets WHERE session_id IN (`+chosen+`)`, args...)
	if err != nil {
		return nil, err
	}
	out := map[string]Facet{}
	err = each(rows, func() error {
		var f Facet
		var files, commits, paths, blobs any
		if err := rows.Scan(&f.ID, &f.Email, &f.Branch, &f.ActorType, &f.AgentID, &f.Title, &f.Source, &f.Parent,
			&f.CapturedAt, &f.Latest, &f.Turns, &f.Tools, &f.Files, &f.Checkpoint, &files, &commits, &f.Kind, &paths, &blobs); err != nil {
			return err
		}
		f.Shown, f.Commits, f.Left = list[string](files), list[string](commits), leftOf(list[string](paths), list[int64](blobs))
		out[f.ID] = f
		return nil
	})
	return out, err
}

// Commits reads the code commits of sessions, the latest first.
func (d *DB) Commits(ctx context.Context, ids []string) (map[string][]attribution.Tie, error) {
	chosen, args := among(ids)
	rows, err := d.Query(ctx, `SELECT session_id, checkpoint_id, git_sha, user_email, inferred, ts, turn, lines FROM session_commits
		WHERE session_id IN (`+chosen+`) ORDER BY ts DESC, checkpoint_id`, args...)
	if err != nil {
		return nil, err
	}
	out := map[string][]attribution.Tie{}
	err = each(rows, func() error {
		var c attribution.Tie
		if err := rows.Scan(&c.Session, &c.Checkpoint, &c.SHA, &c.Email, &c.Inferred, &c.TS, &c.Turn, &c.Lines); err != nil {
			return err
		}
		out[c.Session] = append(out[c.Session], c)
		return nil
	})
	return out, err
}

// Calls is what a session's tool calls named, in the order in which it came up.
type Calls struct{ Paths, Commands []string }

// Calls reads what the tool calls of sessions named, by session.
func (d *DB) Calls(ctx context.Context, ids []string) (map[string]Calls, error) {
	rows, err := d.Query(ctx, `WITH c AS (SELECT * FROM tool_calls_index WHERE session_id IN (SELECT unnest(?::VARCHAR[])))
		SELECT session_id, text, is_path FROM (
			SELECT session_id, path AS text, true AS is_path, min(call_order) AS n FROM c WHERE path IS NOT NULL GROUP BY ALL
			UNION ALL
			SELECT session_id, cmd_prefix, false, min(call_order) FROM c WHERE cmd_prefix IS NOT NULL GROUP BY ALL)
		ORDER BY session_id, n, text`, ids)
	if err != nil {
		return nil, err
	}
	out := map[string]Calls{}
	err = each(rows, func() error {
		var id, text string
		var isPath bool
		if err := rows.Scan(&id, &text, &isPath); err != nil {
			return err
		}
		c := out[id]
		if isPath {
			c.Paths = append(c.Paths, text)
		} else {
			c.Commands = append(c.Commands, text)
		}
		out[id] = c
		return nil
	})
	return out, err
}

// singly is how many rows are asked for one by one.
const singly = 50

// among is what stands in the brackets of IN, with its parameters. Few texts are written out, because
// those the engine compares with a table's statistics.
func among(texts []string) (list string, args []any) {
	if len(texts) > singly {
		return "SELECT unnest(?::VARCHAR[])", []any{texts}
	}
	quoted := make([]string, len(texts))
	for i, t := range texts {
		quoted[i] = "'" + quote(t) + "'"
	}
	return strings.Join(quoted, ", "), nil
}

// Related reads the files that other sessions touched together with those of a session,
// the most frequent first.
func (d *DB) Related(ctx context.Context, id string, limit int) (paths []string, counts []int, err error) {
	rows, err := d.Query(ctx, `WITH own AS (SELECT DISTINCT path FROM tool_calls_index WHERE session_id = ? AND path IS NOT NULL),
		near AS (SELECT file_b AS path, session_count FROM file_cooccurrence WHERE file_a IN (FROM own)
			UNION ALL SELECT file_a, session_count FROM file_cooccurrence WHERE file_b IN (FROM own))
		SELECT path, max(session_count) AS n FROM near WHERE path NOT IN (FROM own) GROUP BY path ORDER BY n DESC, path LIMIT ?`, id, limit)
	if err != nil {
		return nil, nil, err
	}
	err = each(rows, func() error {
		var p string
		var n int
		if err := rows.Scan(&p, &n); err != nil {
			return err
		}
		paths, counts = append(paths, p), append(counts, n)
		return nil
	})
	return paths, counts, err
}

func scanStrings(rows *sql.Rows) ([]string, error) {
	var out []string
	err := each(rows, func() error {
		var s string
		if err := rows.Scan(&s); err != nil {
			return err
		}
		out = append(out, s)
		return nil
	})
	return out, err
}

// EngineVersion asks DuckDB for its version: "v1.4.1".
func EngineVersion(ctx context.Context) (string, error) {
	d, err := sql.Open("duckdb", ":memory:?threads=1")
	if err != nil {
		return "", fmt.Errorf("db: %w", err)
	}
	defer d.Close() // nothing was written
	var v string
	if err := d.QueryRowContext(ctx, "SELECT version()").Scan(&v); err != nil {
		return "", fmt.Errorf("db: %w", err)
	}
	return v, nil
}
