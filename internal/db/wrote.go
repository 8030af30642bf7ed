package db

import (
	"context"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/session"
)

// maxWrote is how many records are read of one question's commits, the latest first.
const maxWrote = 20_000

// Wrote reads what sessions, purged ones too, wrote in code commits, by the commits' OIDs; the latest edits come first.
func (d *DB) Wrote(ctx context.Context, shas []string) (map[string][]attribution.LineRecord, error) {
	if len(shas) == 0 {
		return nil, nil
	}
	out := map[string][]attribution.LineRecord{}
	err := ask(ctx, d, `SELECT sha, path, session, lines, ts, email FROM wrote
		WHERE sha IN (SELECT value FROM json_each(?)) ORDER BY ts DESC, sha, path, session, lines LIMIT ?`, shas, maxWrote).each(func(rows *Rows) error {
		var w attribution.LineRecord
		var lines string
		if err := rows.Scan(&w.SHA, &w.Path, &w.Session, &lines, moment{&w.TS}, &w.Email); err != nil {
			return err
		}
		var err error
		w.Lines, err = session.ParseRanges(lines)
		out[w.SHA] = append(out[w.SHA], w)
		return err
	})
	return out, err
}
