package db

import (
	"context"
	"slices"
	"strconv"
	"strings"
)

// Left is what the commits behind a session left in one of its files, the last time.
type Left struct {
	Path    string
	Deleted bool
	Blob    Key // 0 where the file was deleted, or where the ledger does not say

	session string
	commit  Key
}

// Left reads what sessions left in their files, by session, what changed last first: at most
// limit files of each.
func (d *DB) Left(ctx context.Context, ids []string, limit int) (map[string][]Left, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	chosen, args := among(ids)
	rows, err := d.Query(ctx, `SELECT session_id, file_path, change_type, git_sha FROM (
			SELECT session_id, file_path, arg_max(change_type, (ts, checkpoint_id)) AS change_type,
				arg_max(git_sha, (ts, checkpoint_id)) AS git_sha, max(ts) AS ts
			FROM (SELECT * FROM files_index WHERE session_id IN (`+chosen+`))
			JOIN (SELECT * FROM session_commits WHERE session_id IN (`+chosen+`)) USING (session_id, checkpoint_id)
			GROUP BY session_id, file_path)
		QUALIFY row_number() OVER (PARTITION BY session_id ORDER BY ts DESC, file_path) <= `+strconv.Itoa(limit)+`
		ORDER BY session_id, ts DESC, file_path`, slices.Concat(args, args)...)
	if err != nil {
		return nil, err
	}
	var all []Left
	err = each(rows, func() error {
		var l Left
		var change, sha string
		err := rows.Scan(&l.session, &l.Path, &change, &sha)
		l.Deleted, l.commit = change == "D", KeyOf(sha)
		all = append(all, l)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := d.fillBlobs(ctx, all); err != nil {
		return nil, err
	}
	out := map[string][]Left{}
	for _, l := range all {
		out[l.session] = append(out[l.session], l)
	}
	return out, nil
}

// fillBlobs says which blob each file's commit left there.
func (d *DB) fillBlobs(ctx context.Context, all []Left) error {
	type place struct {
		commit Key
		path   string
	}
	at := map[place][]int{}
	keys := map[Key]bool{}
	var commits []string
	for i, l := range all {
		p := place{l.commit, l.Path}
		at[p] = append(at[p], i)
		if !keys[l.commit] {
			keys[l.commit] = true
			commits = append(commits, strconv.FormatInt(int64(l.commit), 10))
		}
	}
	if len(commits) == 0 {
		return nil
	}
	rows, err := d.Query(ctx, `SELECT key, path, blob FROM code_files WHERE key IN (`+strings.Join(commits, ", ")+`)`)
	if err != nil {
		return err
	}
	return each(rows, func() error {
		var p place
		var blob Key
		err := rows.Scan(&p.commit, &p.path, &blob)
		for _, i := range at[p] {
			all[i].Blob = blob
		}
		return err
	})
}

// CommitOf is the code commit of the first of these checkpoints that is tied to one, and with no
// checkpoints that of the last one of all; "" for none.
func (d *DB) CommitOf(ctx context.Context, checkpoints []string) (string, error) {
	var best string
	if len(checkpoints) == 0 {
		rows, err := d.Query(ctx, `SELECT git_sha FROM session_commits ORDER BY ts DESC, checkpoint_id LIMIT 1`)
		if err != nil {
			return "", err
		}
		return best, each(rows, func() error { return rows.Scan(&best) })
	}
	these, args := among(checkpoints)
	rows, err := d.Query(ctx, `SELECT DISTINCT checkpoint_id, git_sha FROM session_commits WHERE checkpoint_id IN (`+these+`)`, args...)
	if err != nil {
		return "", err
	}
	of := map[string]string{}
	err = each(rows, func() error {
		var id, sha string
		err := rows.Scan(&id, &sha)
		of[id] = sha
		return err
	})
	for _, id := range checkpoints {
		if best = of[id]; best != "" {
			break
		}
	}
	return best, err
}
