package db

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// searchDDL holds one line of state. The rest of what search keeps lies in runs: tables named
// search_run_<id>, written once, read by block number and dropped whole. (Rows that are deleted
// and written again in one table leave an index of 300 small commits a quarter larger.)
const searchDDL = `
CREATE TABLE search_state (state VARCHAR NOT NULL);
`

// Block is one row of a run: bytes that package search wrote under a number.
type Block struct {
	Run  int
	No   int
	Data []byte
}

// querier is what DB and Tx have in common.
type querier interface {
	Query(ctx context.Context, query string, args ...any) (*Rows, error)
}

// SearchState returns the text that WriteSearchState stored, "" when there is none.
func SearchState(ctx context.Context, q querier) (string, error) {
	rows, err := q.Query(ctx, "SELECT state FROM search_state")
	if err != nil {
		return "", err
	}
	defer rows.Close() // read to its end below
	var state string
	for rows.Next() {
		if err := rows.Scan(&state); err != nil {
			return "", fmt.Errorf("db: search state: %w", err)
		}
	}
	return state, classify(rows.Err())
}

// WriteSearchState replaces the search state.
func (t *Tx) WriteSearchState(ctx context.Context, state string) error {
	return errors.Join(
		t.Exec(ctx, "DELETE FROM search_state"),
		t.Exec(ctx, "INSERT INTO search_state VALUES (?)", state))
}

// CreateRun creates the run id, without blocks.
func (t *Tx) CreateRun(ctx context.Context, id int) error {
	// Blocks are dense already: looking for a better compression would only take time.
	return t.Exec(ctx, fmt.Sprintf(
		"CREATE TABLE search_run_%d (block INTEGER NOT NULL, data BLOB NOT NULL USING COMPRESSION uncompressed)", id))
}

// AppendRun adds data to the run id as its blocks first, first+1, ….
func (t *Tx) AppendRun(id, first int, data [][]byte) error {
	return t.Append(fmt.Sprintf("search_run_%d", id), func(row func(...any) error) error {
		for i, d := range data {
			if err := row(first+i, d); err != nil {
				return err
			}
		}
		return nil
	})
}

// DropRun removes the run id.
func (t *Tx) DropRun(ctx context.Context, id int) error {
	return t.Exec(ctx, fmt.Sprintf("DROP TABLE search_run_%d", id))
}

// Want asks for blocks of a run, in ranges that ascend: the first and the last number of each.
type Want struct {
	Run    int
	Ranges [][2]int
}

// everything is the range of all blocks.
const everything = 1<<31 - 1

// All asks for all blocks of a run from a number on.
func All(run, from int) Want { return Want{run, [][2]int{{from, everything}}} }

// gap is how many blocks that nobody asked for are read rather than to begin a new range: a
// range costs about 0.25 ms, a block of 16 KB about 0.03.
const gap = 8

// Some asks for single blocks of a run, by their numbers in ascending order.
func Some(run int, blocks []int) Want {
	w := Want{Run: run}
	for _, n := range blocks {
		if last := len(w.Ranges) - 1; last >= 0 && n <= w.Ranges[last][1]+gap {
			w.Ranges[last][1] = n
			continue
		}
		w.Ranges = append(w.Ranges, [2]int{n, n})
	}
	return w
}

// ReadBlocks calls f for each block in the ranges of wants, in no particular order, with one
// statement for all. Data is f's to keep.
func ReadBlocks(ctx context.Context, q querier, wants []Want, f func(Block) error) error {
	query := selectBlocks(wants)
	if query == "" {
		return nil
	}
	rows, err := q.Query(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close() // read to its end below
	for rows.Next() {
		var b Block
		if err := rows.Scan(&b.Run, &b.No, &b.Data); err != nil {
			return fmt.Errorf("db: read blocks: %w", err)
		}
		if err := f(b); err != nil {
			return err
		}
	}
	return classify(rows.Err())
}

// selectBlocks compares with one range a SELECT: IN and OR read every block of a table.
func selectBlocks(wants []Want) string {
	var b strings.Builder
	for _, w := range wants {
		for _, r := range w.Ranges {
			if b.Len() > 0 {
				b.WriteString(" UNION ALL ")
			}
			fmt.Fprintf(&b, "SELECT %d, block, data FROM search_run_%d", w.Run, w.Run)
			switch {
			case r[0] == r[1]:
				fmt.Fprintf(&b, " WHERE block = %d", r[0])
			case r[1] < everything:
				fmt.Fprintf(&b, " WHERE block BETWEEN %d AND %d", r[0], r[1])
			case r[0] > 0:
				fmt.Fprintf(&b, " WHERE block >= %d", r[0])
			}
		}
	}
	return b.String()
}
