package db

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// searchDDL holds one line of state, and of each session of which passages have vectors of an
// embedding model how many turns it had then (0 where some passages have none yet), and the
// passages' hashes, 8 bytes each. The rest of what search keeps lies in runs: tables named
// search_run_<id>, written once, read by spans of bytes and dropped whole. (Rows that are deleted
// and written again in one table leave an index of 300 small commits a quarter larger.)
const searchDDL = `
CREATE TABLE search_state (state VARCHAR NOT NULL);
CREATE TABLE embedded (session_id VARCHAR NOT NULL, turns INTEGER NOT NULL, hashes BLOB NOT NULL);
`

// A run is a string of bytes in pages, a page a row, asked for by rowid. The engine keeps blobs of
// less than 4096 bytes inside their column, of which it reads all that stands within 2,048 rows
// of what is asked for; larger ones lie in chains of blocks beside it, and only those that are
// asked for are read. With pages of 4,000 bytes a question to 225,000 turns read for 70 ms, with
// these for 25. (With the engine's smallest blocks, 16 KB, they are the slowest of all.)
const pageSize = 16 << 10

// Span is the bytes From to To-1 of a run.
type Span struct {
	Run      int
	From, To int64
}

// Querier is what DB and Tx have in common.
type Querier interface {
	Query(ctx context.Context, query string, args ...any) (*Rows, error)
	firstRow(ctx context.Context, run int) (int64, error)
}

// firstRow is the rowid of a run's first page.
func (d *DB) firstRow(context.Context, int) (int64, error) { return 0, nil }

// firstRow is another one for a run of this very transaction.
func (t *Tx) firstRow(ctx context.Context, run int) (first int64, err error) {
	first, ok := t.created[run]
	if !ok || first >= 0 {
		return first, nil
	}
	rows, err := t.Query(ctx, fmt.Sprintf("SELECT min(rowid) FROM search_run_%d", run))
	if err != nil {
		return 0, err
	}
	err = each(rows, func() error { return rows.Scan(&first) })
	if err == nil {
		t.created[run] = first
	}
	return first, err
}

// SearchState returns the text that WriteSearchState stored, "" when there is none.
func SearchState(ctx context.Context, q Querier) (string, error) {
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

// RunWriter writes a run from its beginning to its end.
type RunWriter struct {
	tx      *Tx
	table   string
	size    int64
	waiting []byte
	err     error
}

// flushed is how much is written at a time.
const flushed = 64 * pageSize

// NewRun creates the run id. The first error is told by Close.
func (t *Tx) NewRun(ctx context.Context, id int) *RunWriter {
	w := &RunWriter{tx: t, table: fmt.Sprintf("search_run_%d", id)}
	// Pages are dense already: looking for a better compression would only take time.
	w.err = t.Exec(ctx, "CREATE TABLE "+w.table+" (data BLOB NOT NULL USING COMPRESSION uncompressed)")
	if t.created == nil {
		t.created = make(map[int]int64)
	}
	t.created[id] = -1
	return w
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

// flush appends the first n bytes that wait.
func (w *RunWriter) flush(n int) {
	pages := w.waiting[:n]
	w.waiting = slices.Clone(w.waiting[n:])
	if w.err != nil {
		return
	}
	w.err = w.tx.Append(w.table, func(row func(...any) error) error {
		for page := range slices.Chunk(pages, pageSize) {
			if err := row(page); err != nil {
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

// pages is a range of a run's pages, both ends included.
type pages struct {
	run         int
	first, last int64
}

// gap is how many pages that nobody asked for are read rather than to begin a new range.
const gap = 2

// ranges lists the pages that spans lie on, each once and in order, by run.
func ranges(spans []Span) []pages {
	var all []pages
	for _, s := range spans {
		if s.From < s.To {
			all = append(all, pages{s.Run, s.From / pageSize, (s.To - 1) / pageSize})
		}
	}
	slices.SortFunc(all, func(a, b pages) int {
		return cmp.Or(cmp.Compare(a.run, b.run), cmp.Compare(a.first, b.first))
	})
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

// ReadSpans reads spans of runs, with one statement for all: their bytes in the order of spans.
// A span that a run does not have is ErrCorrupt.
func ReadSpans(ctx context.Context, q Querier, spans []Span) ([][]byte, error) {
	wanted := ranges(spans)
	if len(wanted) == 0 {
		return make([][]byte, len(spans)), nil
	}
	read := make(map[int]map[int64][]byte)
	var query strings.Builder
	for i, p := range wanted {
		if i > 0 {
			query.WriteString(" UNION ALL ")
		}
		if read[p.run] == nil {
			read[p.run] = make(map[int64][]byte)
		}
		first, err := q.firstRow(ctx, p.run)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&query, "SELECT %d, rowid - %d, data FROM search_run_%d WHERE rowid BETWEEN %d AND %d",
			p.run, first, p.run, first+p.first, first+p.last)
	}
	rows, err := q.Query(ctx, query.String())
	if err != nil {
		return nil, err
	}
	err = each(rows, func() error {
		var run int
		var page int64
		var data []byte
		if err := rows.Scan(&run, &page, &data); err != nil {
			return err
		}
		read[run][page] = data
		return nil
	})
	if err != nil {
		return nil, err
	}
	return cut(spans, read)
}

// cut puts spans together from pages.
func cut(spans []Span, read map[int]map[int64][]byte) ([][]byte, error) {
	out := make([][]byte, len(spans))
	for i, s := range spans {
		if s.From < 0 || s.To < s.From || s.From < s.To && read[s.Run][(s.To-1)/pageSize] == nil {
			return nil, fmt.Errorf("db: run %d has no bytes %d to %d: %w", s.Run, s.From, s.To, ErrCorrupt)
		}
		data := make([]byte, 0, max(0, s.To-s.From))
		for at := s.From; at < s.To; {
			page, skip := read[s.Run][at/pageSize], at%pageSize
			if skip >= int64(len(page)) {
				return nil, fmt.Errorf("db: run %d ends before byte %d: %w", s.Run, s.To, ErrCorrupt)
			}
			part := page[skip:min(int64(len(page)), skip+s.To-at)]
			data = append(data, part...)
			at += int64(len(part))
		}
		out[i] = data
	}
	return out, nil
}
