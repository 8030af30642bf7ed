package records

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"

	"github.com/klauspost/compress/zstd"

	"github.com/git-rekal/git-rekal/internal/db"
)

// View is the records as they were when it was opened. Close it.
type View struct {
	All []Record // in the order of their IDs, without their texts (Load)
	db  *db.DB   // nil where there is no file
}

// Glance is a View without All: for who asks for few records. If no record was ever stored, it is empty.
func (s Store) Glance(ctx context.Context) (*View, error) {
	if s.hasFormer() {
		if err := s.inTransaction(ctx, func(context.Context, *db.Tx) error { return nil }); err != nil {
			return nil, err
		}
	}
	d, err := layout().Open(ctx, s.file(), db.ReadOnly)
	if errors.Is(err, fs.ErrNotExist) {
		return &View{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("records: %w", err)
	}
	return &View{db: d}, nil
}

// Open reads the records. If no record was ever stored, the View is empty.
func (s Store) Open(ctx context.Context) (*View, error) {
	v, err := s.Glance(ctx)
	if err != nil || v.db == nil {
		return v, err
	}
	if v.All, err = readWhere(ctx, v.db, withoutTexts, "TRUE ORDER BY id"); err != nil {
		return nil, errors.Join(err, v.Close())
	}
	return v, nil
}

// Close closes the file.
func (v *View) Close() error {
	if v.db == nil {
		return nil
	}
	return v.db.Close()
}

// What readWhere gives as the texts of records.
const (
	withTexts    = "text"
	withoutTexts = "''"
)

// readWhere reads the records that a condition names, and purged ones, too.
func readWhere(ctx context.Context, q db.Querier, texts, condition string, args ...any) (all []Record, err error) {
	err = db.Each(ctx, q, func(rows *db.Rows) error {
		var r, stored Record
		var head []byte
		if err := rows.Scan(&r.ID, &head, &r.Text, &r.Hidden); err != nil {
			return err
		}
		err := json.Unmarshal(head, &stored)
		stored.ID, stored.Text, stored.Hidden = r.ID, r.Text, r.Hidden
		all = append(all, stored)
		return err
	}, `SELECT id, head, `+texts+`, EXISTS (SELECT 1 FROM marks WHERE record = coalesce(call, id) AND mark = '`+hidden+`') AS hidden FROM records WHERE `+condition, args...)
	if err != nil {
		return nil, fmt.Errorf("records: read: %w", err)
	}
	return all, nil
}

// Load reads a record's text.
func (v *View) Load(ctx context.Context, r *Record) error {
	found, err := readWhere(ctx, v.db, withTexts, "id = ?", r.ID)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("records: %d: %w", r.ID, ErrNone)
	}
	if err == nil {
		r.Text = found[0].Text
	}
	return err
}

// RawOutput returns the redacted output of a record, or ErrNoRaw.
func (v *View) RawOutput(ctx context.Context, id int) ([]byte, error) {
	var packed []byte
	if v.db != nil {
		if err := db.Each(ctx, v.db, func(rows *db.Rows) error { return rows.Scan(&packed) },
			"SELECT packed FROM outputs WHERE id = ?", id); err != nil {
			return nil, fmt.Errorf("records: %w", err)
		}
	}
	if packed == nil {
		return nil, fmt.Errorf("the output of %d: %w", id, ErrNoRaw)
	}
	r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, fmt.Errorf("records: %w", err)
	}
	defer r.Close()
	raw, err := r.DecodeAll(packed, nil)
	if err != nil {
		return nil, fmt.Errorf("records: the output of %d is damaged: %w", id, err)
	}
	return raw, nil
}

// Find returns a record with its text, or ErrNone.
func (v *View) Find(ctx context.Context, id int) (Record, error) {
	i := slices.IndexFunc(v.All, func(r Record) bool { return r.ID == id })
	if i < 0 {
		return Record{}, fmt.Errorf("%d: %w", id, ErrNone)
	}
	r := v.All[i]
	return r, v.Load(ctx, &r)
}

// RequireAssigned returns ErrNone if one of some numbers was never given to a record; a removed record is no error.
func (v *View) RequireAssigned(ctx context.Context, ids []int) error {
	last := 0
	if v.db != nil {
		if err := db.Each(ctx, v.db, func(rows *db.Rows) error { return rows.Scan(&last) },
			"SELECT seq FROM sqlite_sequence WHERE name = 'records'"); err != nil {
			return fmt.Errorf("records: %w", err)
		}
	}
	if i := slices.IndexFunc(ids, func(id int) bool { return id > last }); i >= 0 {
		return fmt.Errorf("%d: %w", ids[i], ErrNone)
	}
	return nil
}

// ParseID reads the number of a record, as "42" or "[42]". IDs of sessions and memories begin with a zero.
func ParseID(text string) (id int, ok bool) {
	if n := len(text); n > 2 && text[0] == '[' && text[n-1] == ']' {
		text = text[1 : n-1]
	}
	id, err := strconv.Atoi(text)
	return id, err == nil && id > 0 && len(text) < 8 && text[0] > '0'
}

// ParseIDs parts the numbers of records from other names.
func ParseIDs(names []string) (numbers []int, rest []string) {
	rest = []string{}
	for _, name := range names {
		if id, ok := ParseID(name); ok {
			numbers = append(numbers, id)
		} else {
			rest = append(rest, name)
		}
	}
	return numbers, rest
}
