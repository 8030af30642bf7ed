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
	return t.insert(ctx, "INSERT INTO renames VALUES (?, ?) ON CONFLICT DO NOTHING", func(row func(...any)) {
		for _, cp := range cps {
			for _, f := range cp.Files {
				if f.OldPath != "" {
					row(f.OldPath, f.Path)
				}
			}
		}
	})
}

// Renames reads the renames that ledgers know. They are few beside the names of files, so a reader takes them all.
func (d *DB) Renames(ctx context.Context) ([]Rename, error) {
	return readRows(query(ctx, d, `SELECT * FROM renames`), func(r *Rename) []any { return asList(&r.Old, &r.New) })
}

// PathsLike reads the paths of the repository that sessions touched and that match a pattern; none if there are more
// than limit. matched says whether the pattern matches any path, also outside of the repository.
func (d *DB) PathsLike(ctx context.Context, p Paths, limit int) (out []string, matched bool, err error) {
	names, err := d.matchingPaths(ctx, p)
	if err != nil {
		return nil, false, err
	}
	for _, path := range names {
		if path[0] != '/' && path[0] != '~' {
			out = append(out, path)
		}
	}
	slices.Sort(out)
	if len(out) > limit {
		out = nil
	}
	return out, len(names) > 0, nil
}
