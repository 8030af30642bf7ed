package db

import (
	"context"

	"github.com/git-rekal/git-rekal/internal/attribution"
)

// Behind reads which sessions, purged ones too, stand behind code commits, by the commits' OIDs.
func (d *DB) Behind(ctx context.Context, shas []string) (map[string][]attribution.Tie, error) {
	if len(shas) == 0 {
		return nil, nil
	}
	these, args := among(shas)
	rows, err := d.Query(ctx, `SELECT session_id, checkpoint_id, git_sha, user_email, inferred, ts, turn, lines FROM session_commits
		WHERE git_sha IN (`+these+`) ORDER BY ts DESC, checkpoint_id, session_id`, args...)
	if err != nil {
		return nil, err
	}
	out := map[string][]attribution.Tie{}
	err = each(rows, func() error {
		var c attribution.Tie
		err := rows.Scan(&c.Session, &c.Checkpoint, &c.SHA, &c.Email, &c.Inferred, &c.TS, &c.Turn, &c.Lines)
		out[c.SHA] = append(out[c.SHA], c)
		return err
	})
	return out, err
}

// Owners reads whose the files of checkpoints are, of each whether that is inferred.
func (d *DB) Owners(ctx context.Context, checkpoints []string) (map[attribution.FileOf]bool, error) {
	if len(checkpoints) == 0 {
		return nil, nil
	}
	these, args := among(checkpoints)
	rows, err := d.Query(ctx, `SELECT checkpoint_id, session_id, file_path, inferred FROM files_index WHERE checkpoint_id IN (`+these+`)`, args...)
	if err != nil {
		return nil, err
	}
	out := map[attribution.FileOf]bool{}
	err = each(rows, func() error {
		var f attribution.FileOf
		var inferred bool
		err := rows.Scan(&f.Checkpoint, &f.Session, &f.Path, &inferred)
		out[f] = inferred
		return err
	})
	return out, err
}

// Edits counts how often the tools of sessions wrote to one of some files.
func (d *DB) Edits(ctx context.Context, ids, paths []string) (map[string]int, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	these, args := among(ids)
	rows, err := d.Query(ctx, `SELECT session_id, count(*) FROM tool_calls_index
		WHERE session_id IN (`+these+`) AND `+editing+` AND path IN (SELECT unnest(?::VARCHAR[])) GROUP BY session_id`, append(args, paths)...)
	if err != nil {
		return nil, err
	}
	out := map[string]int{}
	err = each(rows, func() error {
		var id string
		var n int
		err := rows.Scan(&id, &n)
		out[id] = n
		return err
	})
	return out, err
}
