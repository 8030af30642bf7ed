package db

import (
	"context"
	"slices"

	"github.com/git-rekal/git-rekal/internal/session"
)

// Rename says that a commit gave a file another name.
type Rename struct{ Old, New string }

// AddRenames keeps the renames of checkpoints.
func (t *Tx) AddRenames(ctx context.Context, cps []session.Checkpoint) error {
	return t.insert(ctx, "INSERT INTO renames VALUES (?, ?) ON CONFLICT DO NOTHING", func(row func(...any) error) error {
		for _, cp := range cps {
			for _, f := range cp.Files {
				if f.OldPath == "" {
					continue
				}
				if err := row(f.OldPath, f.Path); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// Renames reads the renames that ledgers know. They are few beside the names of files, so a reader takes them all.
func (d *DB) Renames(ctx context.Context) ([]Rename, error) {
	rows, err := d.Query(ctx, `SELECT old, new FROM renames`)
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

// PathsLike reads the paths of the repository that sessions touched and a pattern matches; none where there are more than so many. Some
// says whether it matches any path, also outside of the repository.
func (d *DB) PathsLike(ctx context.Context, p Paths, most int) (out []string, some bool, err error) {
	names, err := d.named(ctx, p)
	if err != nil {
		return nil, false, err
	}
	for _, n := range names {
		if n.path[0] != '/' && n.path[0] != '~' {
			out = append(out, n.path)
		}
	}
	slices.Sort(out)
	if len(out) > most {
		out = nil
	}
	return out, len(names) > 0, nil
}
