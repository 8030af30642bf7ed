package records

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/git-rekal/git-rekal/internal/db"
)

// Failed are the latest records of commands that failed, the newest first, with their texts.
func (v *View) Failed(ctx context.Context, most int) ([]Record, error) {
	return v.where(ctx, `coalesce(json_extract(head, '$.exit'), 0) <> 0 ORDER BY id DESC LIMIT ?`, most)
}

// PassedLater are the records behind one of commands that somebody ran, and that ended well; the earliest first.
func (v *View) PassedLater(ctx context.Context, id, most int) ([]Record, error) {
	return v.where(ctx, `id > ? AND call IS NULL AND json_extract(head, '$.exit') = 0 ORDER BY id LIMIT ?`, id, most)
}

// OfSession are the records of a session's commands that failed.
func (v *View) OfSession(ctx context.Context, session string) ([]Record, error) {
	return v.where(ctx, `call IS NOT NULL AND json_extract(head, '$.from.session') = ?`, session)
}

// where reads the records that a condition names, with their texts.
func (v *View) where(ctx context.Context, condition string, args ...any) (all []Record, err error) {
	if v.db == nil {
		return nil, nil
	}
	err = db.Each(ctx, v.db, func(rows *db.Rows) error {
		var r Record
		var head []byte
		var text string
		if err := rows.Scan(&r.ID, &head, &text); err != nil {
			return err
		}
		id := r.ID
		err := json.Unmarshal(head, &r)
		r.ID, r.Text = id, text
		all = append(all, r)
		return err
	}, `SELECT id, head, text FROM records WHERE NOT EXISTS (SELECT 1 FROM marks WHERE record = coalesce(call, id) AND mark = '`+hidden+`') AND `+condition, args...)
	if err != nil {
		return nil, fmt.Errorf("records: %w", err)
	}
	return all, nil
}

// Glance is a View without All: for who asks for few records. It may be empty.
func (s Store) Glance(ctx context.Context) (*View, error) {
	if s.hasFormer() {
		return s.Open(ctx)
	}
	d, err := layout().Open(ctx, s.file(), db.ReadOnly)
	if errors.Is(err, fs.ErrNotExist) {
		return &View{store: s}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("records: %w", err)
	}
	return &View{store: s, db: d}, nil
}
