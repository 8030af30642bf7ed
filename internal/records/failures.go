package records

import "context"

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

// where reads the records that a condition names and that are not purged, with their texts.
func (v *View) where(ctx context.Context, condition string, args ...any) ([]Record, error) {
	if v.db == nil {
		return nil, nil
	}
	return readWhere(ctx, v.db, withTexts, "NOT hidden AND "+condition, args...)
}
