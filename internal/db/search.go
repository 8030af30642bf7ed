package db

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// A run is a string of bytes that is written once, read by spans and dropped whole. It lies in the table runs, in
// pages: run and number make a page's key. A page fills one of the file, so that reading one reads nothing else.
const pageSize = 16_000

// pageKey is the primary key of a page of a run.
func pageKey(run int, page int64) int64 { return int64(run)<<32 | page }

// Span is the bytes From to To-1 of a run.
type Span struct {
	Run      int
	From, To int64
}

// SearchState returns the text that WriteSearchState stored, "" when there is none.
func SearchState(ctx context.Context, q Querier) (state string, err error) {
	err = query(ctx, q, "SELECT state FROM search_state").one(&state)
	return state, err
}

// WriteSearchState replaces the search state.
func (t *Tx) WriteSearchState(ctx context.Context, state string) error {
	return cmp.Or(t.Exec(ctx, "DELETE FROM search_state"), t.Exec(ctx, "INSERT INTO search_state VALUES (?)", state))
}

// RunWriter writes a run from its beginning to its end.
type RunWriter struct {
	ctx     context.Context //nolint:containedctx // a writer lives as long as the call that made it
	tx      *Tx
	run     int
	size    int64
	written int64 // pages
	waiting []byte
	err     error
}

// flushSize is how many bytes are written at a time.
const flushSize = 64 * pageSize

// NewRun creates the run id. The first error is told by Close.
func (t *Tx) NewRun(ctx context.Context, id int) *RunWriter {
	return &RunWriter{ctx: ctx, tx: t, run: id}
}

// Write adds data.
func (w *RunWriter) Write(data []byte) {
	w.size += int64(len(data))
	w.waiting = append(w.waiting, data...)
	if n := len(w.waiting); n >= flushSize {
		w.flush(n - n%pageSize)
	}
}

// Size is how many bytes were written.
func (w *RunWriter) Size() int64 { return w.size }

// Close writes what is left.
func (w *RunWriter) Close() error {
	w.flush(len(w.waiting))
	return w.err
}

// flush writes the first n bytes that wait.
func (w *RunWriter) flush(n int) {
	if w.err == nil {
		w.err = w.tx.insert(w.ctx, insertInto("runs", 2), func(row func(...any)) {
			for page := range slices.Chunk(w.waiting[:n], pageSize) {
				row(pageKey(w.run, w.written), page)
				w.written++
			}
		})
	}
	w.waiting = append(w.waiting[:0], w.waiting[n:]...)
}

// DropRun removes a run.
func (t *Tx) DropRun(ctx context.Context, id int) error {
	return t.Exec(ctx, "DELETE FROM runs WHERE page BETWEEN ? AND ?", pageKey(id, 0), pageKey(id+1, 0)-1)
}

// maxRun is more than a run ever has, in bytes; damaged headers ask for anything.
const maxRun = 1 << 36

// ownedBytes is bytes that the driver made for this row alone, so that they need not be copied.
type ownedBytes []byte

// Scan implements sql.Scanner.
func (h *ownedBytes) Scan(v any) error {
	b, ok := v.([]byte)
	if !ok {
		return fmt.Errorf("%w: bytes are a %T", ErrCorrupt, v)
	}
	*h = b
	return nil
}

// ReadSpans reads spans of runs: their bytes in the order of spans, for reading only. A span that a run does not have
// is ErrCorrupt. No more of a page is copied than a span has of it: new memory costs more than a copy.
func ReadSpans(ctx context.Context, q Querier, spans []Span) ([][]byte, error) {
	asked := make([][4]int64, len(spans))
	for i, s := range spans {
		if s.From < 0 || s.To < s.From || s.To > maxRun {
			return nil, s.missingError()
		}
		if s.From < s.To {
			last := (s.To - 1) / pageSize
			asked[i] = [4]int64{pageKey(s.Run, s.From/pageSize), pageKey(s.Run, last), s.From % pageSize, s.To - last*pageSize}
		} else {
			asked[i][0] = 1 // none is between 1 and 0
		}
	}
	out := make([][]byte, len(spans))
	err := query(ctx, q, `SELECT span, substr(data, skip + 1, size - skip) FROM (SELECT span, data, iif(page = first, skip, 0) AS skip, iif(page = last, size, ?2) AS size FROM (
		SELECT key AS span, value ->> 0 AS first, value ->> 1 AS last, value ->> 2 AS skip, value ->> 3 AS size FROM json_each(?1))
		CROSS JOIN runs ON page BETWEEN first AND last)`, asked, pageSize).each(func(rows *Rows) error {
		var i int
		var part ownedBytes
		if err := rows.Scan(&i, &part); err != nil {
			return err
		}
		switch size := spans[i].To - spans[i].From; {
		case int64(len(part)) == size:
			out[i] = part
		case out[i] == nil:
			out[i] = append(make([]byte, 0, min(size, flushSize)), part...)
		default:
			out[i] = append(out[i], part...)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i, s := range spans {
		if int64(len(out[i])) != s.To-s.From {
			return nil, s.missingError()
		}
	}
	return out, nil
}

func (s Span) missingError() error {
	return fmt.Errorf("db: run %d has no bytes %d to %d: %w", s.Run, s.From, s.To, ErrCorrupt)
}
