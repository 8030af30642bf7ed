package db

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
)

// A run is a string of bytes that is written once, read by spans and dropped whole. It lies in the table runs, in pages: run and
// number make a page's key. A page fills one of the file, so that reading one reads nothing else.
const pageSize = 16_000

// key is that of a run's page.
func key(run int, page int64) int64 { return int64(run)<<32 | page }

// Span is the bytes From to To-1 of a run.
type Span struct {
	Run      int
	From, To int64
}

// SearchState returns the text that WriteSearchState stored, "" when there is none.
func SearchState(ctx context.Context, q Querier) (state string, err error) {
	rows, err := q.Query(ctx, "SELECT state FROM search_state")
	if err != nil {
		return "", err
	}
	err = each(rows, func() error { return rows.Scan(&state) })
	return state, err
}

// WriteSearchState replaces the search state.
func (t *Tx) WriteSearchState(ctx context.Context, state string) error {
	return errors.Join(
		t.Exec(ctx, "DELETE FROM search_state"),
		t.Exec(ctx, "INSERT INTO search_state VALUES (?)", state))
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

// flushed is how much is written at a time.
const flushed = 64 * pageSize

// NewRun creates the run id. The first error is told by Close.
func (t *Tx) NewRun(ctx context.Context, id int) *RunWriter {
	return &RunWriter{ctx: ctx, tx: t, run: id}
}

// Write adds data.
func (w *RunWriter) Write(data []byte) {
	w.size += int64(len(data))
	w.waiting = append(w.waiting, data...)
	if n := len(w.waiting); n >= flushed {
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
		w.err = w.tx.insert(w.ctx, into("runs", 2), func(row func(...any) error) error {
			for page := range slices.Chunk(w.waiting[:n], pageSize) {
				if err := row(key(w.run, w.written), page); err != nil {
					return err
				}
				w.written++
			}
			return nil
		})
	}
	w.waiting = append(w.waiting[:0], w.waiting[n:]...)
}

// DropRun removes a run.
func (t *Tx) DropRun(ctx context.Context, id int) error {
	return t.Exec(ctx, "DELETE FROM runs WHERE page BETWEEN ? AND ?", key(id, 0), key(id+1, 0)-1)
}

// pages is a range of a run's pages, both ends included.
type pages struct {
	run         int
	first, last int64
}

// gap is how many pages that nobody asked for are read rather than to begin a new range.
const gap = 2

// maxRun is more than a run ever has, in bytes; damaged headers ask for anything.
const maxRun = 1 << 36

// ranges lists the pages that spans lie on, each once and in order, by run.
func ranges(spans []Span) []pages {
	var all []pages
	for _, s := range spans {
		if s.From < s.To && s.From >= 0 && s.To <= maxRun { // cut tells of the others
			all = append(all, pages{s.Run, s.From / pageSize, (s.To - 1) / pageSize})
		}
	}
	slices.SortFunc(all, func(a, b pages) int { return cmp.Or(cmp.Compare(a.run, b.run), cmp.Compare(a.first, b.first)) })
	var out []pages
	for _, p := range all {
		if last := len(out) - 1; last >= 0 && out[last].run == p.run && p.first <= out[last].last+gap {
			out[last].last = max(out[last].last, p.last)
			continue
		}
		out = append(out, p)
	}
	return out
}

// handed is bytes that the driver made for this row alone, so that they need not be copied.
type handed []byte

// Scan implements sql.Scanner.
func (h *handed) Scan(v any) error {
	b, ok := v.([]byte)
	if !ok {
		return fmt.Errorf("%w: bytes are a %T", ErrCorrupt, v)
	}
	*h = b
	return nil
}

// ReadSpans reads spans of runs: their bytes in the order of spans, for reading only. A span that a run does not have is
// ErrCorrupt.
func ReadSpans(ctx context.Context, q Querier, spans []Span) ([][]byte, error) {
	read := make(map[int64][]byte)
	for _, p := range ranges(spans) {
		rows, err := q.Query(ctx, "SELECT page, data FROM runs WHERE page BETWEEN ? AND ?", key(p.run, p.first), key(p.run, p.last))
		if err != nil {
			return nil, err
		}
		err = each(rows, func() error {
			var page int64
			var data handed
			if err := rows.Scan(&page, &data); err != nil {
				return err
			}
			read[page] = data
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return cut(spans, read)
}

// cut puts spans together from pages. One that lies on one page is a part of it.
func cut(spans []Span, read map[int64][]byte) ([][]byte, error) {
	out := make([][]byte, len(spans))
	for i, s := range spans {
		if s.From < 0 || s.To < s.From || s.From < s.To && read[key(s.Run, (s.To-1)/pageSize)] == nil {
			return nil, fmt.Errorf("db: run %d has no bytes %d to %d: %w", s.Run, s.From, s.To, ErrCorrupt)
		}
		for at := s.From; at < s.To; {
			page, skip := read[key(s.Run, at/pageSize)], at%pageSize
			if skip >= int64(len(page)) {
				return nil, fmt.Errorf("db: run %d ends before byte %d: %w", s.Run, s.To, ErrCorrupt)
			}
			part := page[skip:min(int64(len(page)), skip+s.To-at)]
			at += int64(len(part))
			switch {
			case out[i] == nil && at == s.To:
				out[i] = slices.Clip(part)
			case out[i] == nil:
				out[i] = append(make([]byte, 0, s.To-s.From), part...)
			default:
				out[i] = append(out[i], part...)
			}
		}
	}
	return out, nil
}
