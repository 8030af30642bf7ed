package db

import (
	"context"

	"github.com/git-rekal/git-rekal/internal/session"
)

// ReplaceUndone stores which turns of some sessions were taken back.
func (t *Tx) ReplaceUndone(ctx context.Context, undone map[string][]session.Span) error {
	for id := range undone {
		if err := t.Exec(ctx, "DELETE FROM undone WHERE session = ?", id); err != nil {
			return err
		}
	}
	return t.insert(ctx, "INSERT INTO undone VALUES (?, ?, ?)", func(row func(...any)) {
		for id, spans := range undone {
			for _, s := range spans {
				row(id, s.First, s.Last)
			}
		}
	})
}

// Undone reads which turns were taken back, by session. They are few, so a reader takes them all.
func (d *DB) Undone(ctx context.Context) (map[string][]session.Span, error) {
	out := map[string][]session.Span{}
	err := Each(ctx, d, func(rows *Rows) error {
		var id string
		var s session.Span
		if err := rows.Scan(&id, &s.First, &s.Last); err != nil {
			return err
		}
		out[id] = append(out[id], s)
		return nil
	}, "SELECT session, first, last FROM undone ORDER BY session, first")
	return out, err
}
