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
// search_run_<id> and search_run_<id>_<n>, written once, read by spans of bytes and dropped whole. (Rows that are deleted
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

// tablePages is how many pages a table of a run has: as many rows as the engine reads at a time. These
// all begin in one piece of their column, so that it reads those that are asked for; where a piece
// ends between them it reads all, 32 MB. (Measured: ten pages among 6,000 in one table took 100 ms.)
const tablePages = 2048

// tableOf is the name of a run's table with the given number.
func tableOf(run, n int) string {
	if n == 0 {
		return fmt.Sprintf("search_run_%d", run)
	}
	return fmt.Sprintf("search_run_%d_%d", run, n)
}

// Span is the bytes From to To-1 of a run.
type Span struct {
	Run      int
	From, To int64
}

// Querier is what DB and Tx have in common.
type Querier interface {
	Query(ctx context.Context, query string, args ...any) (*Rows, error)
	firstRow(ctx context.Context, table string) (int64, error)
}

// firstRow is the rowid of the first page in a run's table.
func (d *DB) firstRow(context.Context, string) (int64, error) { return 0, nil }

// firstRow is another one for a table of this very transaction.
func (t *Tx) firstRow(ctx context.Context, table string) (first int64, err error) {
	first, ok := t.created[table]
	if !ok || first >= 0 {
		return first, nil
	}
	rows, err := t.Query(ctx, "SELECT min(rowid) FROM "+table)
	if err != nil {
		return 0, err
	}
	err = each(rows, func() error { return rows.Scan(&first) })
	if err == nil {
		t.created[table] = first
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
	ctx     context.Context //nolint:containedctx // a writer lives as long as the call that made it
	tx      *Tx
	run     int
	size    int64
	written int // pages
	waiting []byte
	err     error
}

// flushed is how much is written at a time.
const flushed = 64 * pageSize

// NewRun creates the run id. The first error is told by Close.
func (t *Tx) NewRun(ctx context.Context, id int) *RunWriter {
	w := &RunWriter{ctx: ctx, tx: t, run: id}
	w.create(0)
	return w
}

// create makes the run's n-th table.
func (w *RunWriter) create(n int) {
	table := tableOf(w.run, n)
	// Pages are dense already: looking for a better compression would only take time.
	w.err = cmp.Or(w.err, w.tx.Exec(w.ctx, "CREATE TABLE "+table+" (data BLOB NOT NULL USING COMPRESSION uncompressed)"))
	if w.tx.created == nil {
		w.tx.created = make(map[string]int64)
	}
	w.tx.created[table] = -1
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
	all := slices.Collect(slices.Chunk(w.waiting[:n], pageSize))
	w.waiting = slices.Clone(w.waiting[n:])
	for len(all) > 0 && w.err == nil {
		table := w.written / tablePages
		if w.written > 0 && w.written%tablePages == 0 {
			w.create(table)
		}
		some := all[:min(len(all), (table+1)*tablePages-w.written)]
		w.append(tableOf(w.run, table), some)
		w.written, all = w.written+len(some), all[len(some):]
	}
}

func (w *RunWriter) append(table string, pages [][]byte) {
	if w.err != nil {
		return
	}
	w.err = w.tx.Append(table, func(row func(...any) error) error {
		for _, page := range pages {
			if err := row(page); err != nil {
				return err
			}
		}
		return nil
	})
}

// DropRun removes the run id, which has size bytes.
func (t *Tx) DropRun(ctx context.Context, id int, size int64) error {
	const tableSize = tablePages * pageSize
	for n := range max(1, (size+tableSize-1)/tableSize) {
		if err := t.Exec(ctx, "DROP TABLE "+tableOf(id, int(n))); err != nil {
			return err
		}
	}
	return nil
}

// pages is a range of a run's pages, both ends included, all in one table.
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
		if s.From < s.To && s.To <= maxRun { // cut tells of the others
			all = split(all, pages{s.Run, s.From / pageSize, (s.To - 1) / pageSize})
		}
	}
	slices.SortFunc(all, func(a, b pages) int {
		return cmp.Or(cmp.Compare(a.run, b.run), cmp.Compare(a.first, b.first))
	})
	var out []pages
	for _, p := range all {
		if last := len(out) - 1; last >= 0 && out[last].table() == p.table() && p.first <= out[last].last+gap {
			out[last].last = max(out[last].last, p.last)
			continue
		}
		out = append(out, p)
	}
	return out
}

// table is the name of the table that p lies in.
func (p pages) table() string { return tableOf(p.run, int(p.first/tablePages)) }

// split adds p to all, a range for each table.
func split(all []pages, p pages) []pages {
	for end := p.last; p.first <= end; p.first = p.last + 1 {
		p.last = min(end, p.first-p.first%tablePages+tablePages-1)
		all = append(all, p)
	}
	return all
}

// together is how many ranges are asked for with one statement: each takes a fifth of a millisecond.
const together = 200

// ReadSpans reads spans of runs, with one statement for all unless they are hundreds: their bytes in
// the order of spans. A span that a run does not have is ErrCorrupt.
func ReadSpans(ctx context.Context, q Querier, spans []Span) ([][]byte, error) {
	read := make(map[int]map[int64][]byte)
	for some := range slices.Chunk(ranges(spans), together) {
		if err := readPages(ctx, q, some, read); err != nil {
			return nil, err
		}
	}
	return cut(spans, read)
}

// readPages adds pages to read, by run and number.
func readPages(ctx context.Context, q Querier, wanted []pages, read map[int]map[int64][]byte) error {
	var query strings.Builder
	for i, p := range wanted {
		if i > 0 {
			query.WriteString(" UNION ALL ")
		}
		if read[p.run] == nil {
			read[p.run] = make(map[int64][]byte)
		}
		first, err := q.firstRow(ctx, p.table())
		if err != nil {
			return err
		}
		first -= p.first - p.first%tablePages // the rowid that the run's first page would have
		fmt.Fprintf(&query, "SELECT %d, rowid - (%d), data FROM %s WHERE rowid BETWEEN %d AND %d",
			p.run, first, p.table(), first+p.first, first+p.last)
	}
	rows, err := q.Query(ctx, query.String())
	if err != nil {
		return err
	}
	return each(rows, func() error {
		var run int
		var page int64
		var data []byte
		if err := rows.Scan(&run, &page, &data); err != nil {
			return err
		}
		read[run][page] = data
		return nil
	})
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
