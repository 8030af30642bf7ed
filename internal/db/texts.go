package db

import (
	"context"
	"math"

	"github.com/git-rekal/git-rekal/internal/session"
)

// EachText gives the indexes and texts of a session's or memory's turns, in their order, one by one: they need not fit
// into memory together.
func EachText(ctx context.Context, q Querier, id string, use func(index int, text string)) error {
	return query(ctx, q, `SELECT i, content FROM turns WHERE session = ? ORDER BY i`, id).each(func(rows *Rows) error {
		var index int
		var text string
		err := rows.Scan(&index, packedText{&text})
		if err == nil {
			use(index, text)
		}
		return err
	})
}

// First asks Said for the first turn of a session, whichever that is.
const First = math.MinInt

// ReadTurnOf reads a turn of each session or memory, by its index or First. A session without that turn is missing from
// the answer.
func ReadTurnOf(ctx context.Context, q Querier, wanted map[string]int) (map[string]session.Turn, error) {
	out := make(map[string]session.Turn, len(wanted))
	for id, from := range wanted {
		to := from
		if from == First {
			to = math.MaxInt
		}
		found, err := turns(ctx, q, `WHERE session = ? AND i BETWEEN ? AND ? ORDER BY i LIMIT 1`, id, from, to)
		if err != nil {
			return nil, err
		}
		if len(found) > 0 {
			out[id] = found[0]
		}
	}
	return out, nil
}
