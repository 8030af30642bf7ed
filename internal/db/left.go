package db

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Left is what the commits behind a session left in one of its files, the last time.
type Left struct {
	Path    string
	Deleted bool
	Blob    Key // 0 where the file was deleted, or where the ledger does not say

	commit Key
	tie
}

// tie is a checkpoint of a session: what comes later counts.
type tie struct {
	ts         time.Time
	checkpoint string
}

func (t tie) compare(u tie) int {
	return cmp.Or(t.ts.Compare(u.ts), strings.Compare(t.checkpoint, u.checkpoint))
}

// Left reads what sessions left in their files, by session, what changed last first: at most
// limit files of each. Three statements of one table each take a tenth of what a join does.
func (d *DB) Left(ctx context.Context, ids []string, limit int) (map[string][]Left, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	commits, err := d.Commits(ctx, ids)
	if err != nil {
		return nil, err
	}
	of := map[string]map[string]CommitRow{} // session → checkpoint
	for id, rows := range commits {
		of[id] = map[string]CommitRow{}
		for _, c := range rows {
			of[id][c.Checkpoint] = c
		}
	}
	last, err := d.lastChanges(ctx, ids, of)
	if err != nil {
		return nil, err
	}
	out := map[string][]Left{}
	for id, files := range last {
		for _, l := range files {
			out[id] = append(out[id], l)
		}
		slices.SortFunc(out[id], func(a, b Left) int { return cmp.Or(b.compare(a.tie), strings.Compare(a.Path, b.Path)) })
		out[id] = out[id][:min(limit, len(out[id]))]
	}
	return out, d.fillBlobs(ctx, out)
}

// lastChanges reads the last change of each file, by session and path.
func (d *DB) lastChanges(ctx context.Context, ids []string, of map[string]map[string]CommitRow) (map[string]map[string]Left, error) {
	chosen, args := among(ids)
	rows, err := d.Query(ctx, `SELECT session_id, checkpoint_id, file_path, change_type FROM files_index WHERE session_id IN (`+chosen+`)`, args...)
	if err != nil {
		return nil, err
	}
	last := map[string]map[string]Left{}
	err = each(rows, func() error {
		var id, checkpoint, path, change string
		if err := rows.Scan(&id, &checkpoint, &path, &change); err != nil {
			return err
		}
		c, ok := of[id][checkpoint]
		if !ok {
			return nil
		}
		if last[id] == nil {
			last[id] = map[string]Left{}
		}
		l := Left{Path: path, Deleted: change == "D", commit: KeyOf(c.SHA), tie: tie{c.TS, checkpoint}}
		if had, ok := last[id][path]; !ok || l.compare(had.tie) > 0 {
			last[id][path] = l
		}
		return nil
	})
	return last, err
}

// fillBlobs says which blob each file's commit left there.
func (d *DB) fillBlobs(ctx context.Context, left map[string][]Left) error {
	type place struct {
		commit Key
		path   string
	}
	at := map[place][]*Left{}
	keys := map[Key]bool{}
	var commits []string
	for id := range left {
		for i := range left[id] {
			l := &left[id][i]
			p := place{l.commit, l.Path}
			at[p] = append(at[p], l)
			if !keys[l.commit] {
				keys[l.commit] = true
				commits = append(commits, strconv.FormatInt(int64(l.commit), 10))
			}
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
		for _, l := range at[p] {
			l.Blob = blob
		}
		return err
	})
}

// CommitOf is the code commit of the first of these checkpoints that is tied to one, and with no
// checkpoints that of the last one of all; "" for none.
func (d *DB) CommitOf(ctx context.Context, checkpoints []string) (string, error) {
	var sha string
	if len(checkpoints) == 0 {
		rows, err := d.Query(ctx, `SELECT git_sha FROM session_commits ORDER BY ts DESC, checkpoint_id LIMIT 1`)
		if err != nil {
			return "", err
		}
		err = each(rows, func() error { return rows.Scan(&sha) })
		return sha, err
	}
	these, args := among(checkpoints)
	rows, err := d.Query(ctx, `SELECT DISTINCT checkpoint_id, git_sha FROM session_commits WHERE checkpoint_id IN (`+these+`)`, args...)
	if err != nil {
		return "", err
	}
	of := map[string]string{}
	err = each(rows, func() error {
		var id string
		err := rows.Scan(&id, &sha)
		of[id] = sha
		return err
	})
	i := slices.IndexFunc(checkpoints, func(id string) bool { return of[id] != "" })
	if i < 0 || err != nil {
		return "", err
	}
	return of[checkpoints[i]], nil
}
