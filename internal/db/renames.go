package db

import (
	"context"

	"github.com/git-rekal/git-rekal/internal/session"
)

// renamesDDL holds the renames of all checkpoints, each once. They are few beside the names of files, so a reader takes them all.
const renamesDDL = `
CREATE TABLE path_renames (old VARCHAR NOT NULL, new VARCHAR NOT NULL);
`

// Rename says that a commit gave a file another name.
type Rename struct{ Old, New string }

// AddRenames keeps the renames of checkpoints.
func (t *Tx) AddRenames(ctx context.Context, cps []session.Checkpoint) error {
	var olds, news []string
	for _, cp := range cps {
		for _, f := range cp.Files {
			if f.OldPath != "" {
				olds, news = append(olds, f.OldPath), append(news, f.Path)
			}
		}
	}
	if len(olds) == 0 {
		return nil
	}
	return t.Exec(ctx, `INSERT INTO path_renames SELECT DISTINCT unnest(?::VARCHAR[]) AS o, unnest(?::VARCHAR[]) AS n
		EXCEPT SELECT old, new FROM path_renames ORDER BY o, n`, olds, news)
}

// Renames reads the renames that ledgers know.
func (d *DB) Renames(ctx context.Context) ([]Rename, error) {
	rows, err := d.Query(ctx, `SELECT old, new FROM path_renames`)
	if err != nil {
		return nil, err
	}
	var out []Rename
	err = each(rows, func() error {
		var r Rename
		err := rows.Scan(&r.Old, &r.New)
		out = append(out, r)
		return err
	})
	return out, err
}

// PathsLike reads the paths of the repository that sessions touched and a pattern matches; none where there are more than so many.
func (d *DB) PathsLike(ctx context.Context, pattern string, most int) ([]string, error) {
	rows, err := d.Query(ctx, `SELECT path FROM path_names WHERE regexp_matches(path, ?) AND path NOT LIKE '/%' AND path NOT LIKE '~%'
		ORDER BY path LIMIT ?`, pattern, most+1)
	if err != nil {
		return nil, err
	}
	out, err := scanStrings(rows)
	if len(out) > most {
		out = nil
	}
	return out, err
}
