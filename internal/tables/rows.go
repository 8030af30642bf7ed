package tables

import (
	"database/sql/driver"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/git-rekal/git-rekal/internal/command"
	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/session"
)

// columnReader reads rows whose columns are of these kinds: t text, i number of 32 bits, I of 64, b truth, T the kind
// of a tie, M time, R time as RFC 3339 in UTC to the millisecond, P packed text, F number with a fraction, L list of
// texts, K list of numbers, V vector, C the program of a command line.
func columnReader(kinds string) func(*db.Rows) ([]driver.Value, error) {
	return func(rows *db.Rows) ([]driver.Value, error) {
		values, cells := make([]driver.Value, len(kinds)), make([]any, len(kinds))
		for i := range values {
			cells[i] = (*any)(&values[i])
		}
		if err := rows.Scan(cells...); err != nil {
			return nil, err
		}
		for i, kind := range kinds {
			var err error
			if values[i], err = duckdbValue(kind, values[i]); err != nil {
				return nil, err
			}
		}
		return values, nil
	}
}

// duckdbValue is what the index holds as DuckDB takes it.
func duckdbValue(kind rune, v any) (any, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case int64:
		switch kind {
		case 'i':
			return int32(v), nil
		case 'b':
			return v != 0, nil
		case 'T':
			return session.TieKind(v).String(), nil
		case 'M':
			return time.UnixMicro(v).UTC(), nil
		case 'R':
			return time.UnixMicro(v).UTC().Format("2006-01-02T15:04:05.000Z"), nil
		}
		return v, nil
	case float64:
		return v, nil
	case string:
		switch kind {
		case 'L':
			return decodeList[string](v)
		case 'K':
			return decodeList[int64](v)
		case 'C':
			if v = command.Program(v); v == "" {
				return nil, nil
			}
		}
		return v, nil
	case []byte:
		switch kind {
		case 'P':
			return db.Unpack(v)
		case 'V':
			return float32s(v), nil
		}
	}
	return nil, fmt.Errorf("a column of kind %c is a %T", kind, v)
}

func decodeList[T any](text string) (any, error) {
	out := []T{}
	err := json.Unmarshal([]byte(text), &out)
	return out, err
}

func float32s(blob []byte) []float32 {
	out := make([]float32, len(blob)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(blob[4*i:]))
	}
	return out
}

// columnsWithID reads rows with what their ID is made of: a time in its place, an owner behind that, and an index at
// the end, which is no column of the table. The columns between the last two are of these kinds.
func columnsWithID(as, kinds string) func(*db.Rows) ([]driver.Value, error) {
	read := columnReader("Mt" + kinds + "i")
	return func(rows *db.Rows) ([]driver.Value, error) {
		v, err := read(rows)
		if err != nil {
			return nil, err
		}
		last := len(v) - 1
		v[0] = rowID(v[1], v[last], v[0], as)
		return v[:last], nil
	}
}

// rowID is session.RowID of columns as they were read; a NULL counts as the zero value.
func rowID(owner, index, when any, kind string) string {
	id, _ := owner.(string)
	i, _ := index.(int32)
	ts, _ := when.(time.Time)
	return session.RowID(ts, id, kind, int(i))
}
