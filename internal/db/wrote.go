package db

import (
	"context"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/session"
)

// wroteDDL holds which lines of code commits sessions wrote.
const wroteDDL = `
CREATE TABLE wrote_index (
    git_sha VARCHAR NOT NULL, path VARCHAR NOT NULL, session_id VARCHAR NOT NULL, lines VARCHAR NOT NULL,
    ts TIMESTAMP NOT NULL, user_email VARCHAR NOT NULL);
`

// AppendWrote adds what sessions wrote to index.db.
func (t *Tx) AppendWrote(all []attribution.Written) error {
	return t.Append("wrote_index", func(row func(...any) error) error {
		for _, w := range all {
			if err := row(w.SHA, w.Path, w.Session, w.Lines.String(), w.TS, w.Email); err != nil {
				return err
			}
		}
		return nil
	})
}

// maxWrote is how many records are read of one question's commits, the latest first.
const maxWrote = 20_000

// Wrote reads what sessions, purged ones too, wrote in code commits, by the commits' OIDs; the latest edits come first.
func (d *DB) Wrote(ctx context.Context, shas []string) (map[string][]attribution.Written, error) {
	if len(shas) == 0 {
		return nil, nil
	}
	these, args := among(shas)
	rows, err := d.Query(ctx, `SELECT git_sha, path, session_id, lines, ts, user_email FROM wrote_index
		WHERE git_sha IN (`+these+`) ORDER BY ts DESC, git_sha, path, session_id, lines LIMIT ?`, append(args, maxWrote)...)
	if err != nil {
		return nil, err
	}
	out := map[string][]attribution.Written{}
	err = each(rows, func() error {
		var w attribution.Written
		var lines string
		if err := rows.Scan(&w.SHA, &w.Path, &w.Session, &lines, &w.TS, &w.Email); err != nil {
			return err
		}
		var err error
		w.Lines, err = session.ParseRanges(lines)
		out[w.SHA] = append(out[w.SHA], w)
		return err
	})
	return out, err
}
