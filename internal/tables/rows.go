package tables

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/session"
)

// columns reads rows whose columns are of these kinds: t text, i number of 32 bits, I of 64, b truth, M time, L list of texts, K list of
// numbers, V vector.
func columns(kinds string) func(*db.Rows) ([]any, error) {
	return func(rows *db.Rows) ([]any, error) {
		values, cells := make([]any, len(kinds)), make([]any, len(kinds))
		for i := range values {
			cells[i] = &values[i]
		}
		if err := rows.Scan(cells...); err != nil {
			return nil, err
		}
		for i, kind := range kinds {
			var err error
			if values[i], err = value(kind, values[i]); err != nil {
				return nil, err
			}
		}
		return values, nil
	}
}

// value is what the index holds as DuckDB takes it.
func value(kind rune, v any) (any, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case int64:
		switch kind {
		case 'i':
			return int32(v), nil
		case 'b':
			return v != 0, nil
		case 'M':
			return time.UnixMicro(v).UTC(), nil
		}
		return v, nil
	case string:
		switch kind {
		case 'L':
			return list[string](v)
		case 'K':
			return list[int64](v)
		}
		return v, nil
	case []byte:
		if kind == 'V' {
			return vector(v), nil
		}
	}
	return nil, fmt.Errorf("a column of kind %c is a %T", kind, v)
}

func list[T any](text string) (any, error) {
	out := []T{}
	err := json.Unmarshal([]byte(text), &out)
	return out, err
}

func vector(blob []byte) []float32 {
	out := make([]float32, len(blob)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(blob[4*i:]))
	}
	return out
}

// moments gives a turn's time as such, texts as RFC 3339 in UTC to the millisecond.
func moments(t time.Time) any { return t }
func texts(t time.Time) any   { return t.Format("2006-01-02T15:04:05.000Z") }

// turn reads a turn, and gives it an ID.
func turn(when func(time.Time) any) func(*db.Rows) ([]any, error) {
	return func(rows *db.Rows) ([]any, error) {
		id, t, err := db.ScanTurn(rows)
		if err != nil {
			return nil, err
		}
		var ts any
		if !t.TS.IsZero() {
			ts = when(t.TS)
		}
		return []any{session.RowID(t.TS, id, "turn", t.Index), id, int32(t.Index), t.Role, t.Content, ts}, nil
	}
}

// call reads a tool call, and gives it an ID. The index leaves out behind which turn it stands.
func call(short bool) func(*db.Rows) ([]any, error) {
	read := columns("titttibtM")
	return func(rows *db.Rows) ([]any, error) {
		v, err := read(rows)
		if err != nil {
			return nil, err
		}
		id := rowID(v[0], v[1], v[8], "tool")
		if short {
			return []any{id, v[0], v[1], v[2], v[3], v[4], v[7]}, nil
		}
		return append([]any{id}, v[:8]...), nil
	}
}

// file reads a file of a checkpoint, and gives it an ID.
func file(rows *db.Rows) ([]any, error) {
	v, err := columns("tittttM")(rows)
	if err != nil {
		return nil, err
	}
	return []any{rowID(v[0], v[1], v[6], "file"), v[0], v[2], v[3], v[4], v[5]}, nil
}

// rowID is session.RowID of columns as they were read; one that is NULL is its type's zero.
func rowID(owner, index, when any, kind string) string {
	id, _ := owner.(string)
	i, _ := index.(int32)
	ts, _ := when.(time.Time)
	return session.RowID(ts, id, kind, int(i))
}
