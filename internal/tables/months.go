package tables

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/git-rekal/git-rekal/internal/db"
)

// Months are read by so many engines at once, of so much memory each, which is more than any month needed.
const (
	maxEngines = 4
	toExport   = "threads=1&memory_limit=160MB"
)

// chunkTurns is how many turns an engine takes in at once, if they are of several months.
const chunkTurns = 16 << 10

// repositoryExport writes one repository.
type repositoryExport struct {
	e         *Export
	name      string
	from      *db.DB
	head      Head
	state     string
	oldMonths map[string]string
	old       map[string][]ExportedFile // by table, month and content

	months map[string]string

	mu    sync.Mutex // for what follows
	kept  []ExportedFile
	fresh []freshFile
}

// chunk is what one engine writes: the tables that are not read by month, or all other tables of some months.
type chunk struct {
	number   int
	months   []string
	sessions []string // those that have rows of these months
}

// write finds what changed, and writes it.
func (r *repositoryExport) write(ctx context.Context) error {
	chunks, err := r.planChunks(ctx)
	if err != nil {
		return err
	}
	next := make(chan chunk, len(chunks))
	for _, c := range chunks {
		next <- c
	}
	close(next)
	var wait sync.WaitGroup
	failed := make([]error, min(len(chunks), cap(r.e.engines)))
	for i := range failed {
		wait.Go(func() { failed[i] = r.writeChunks(ctx, i > 0, next) })
	}
	wait.Wait()
	if err := errors.Join(failed...); err != nil {
		return err
	}
	if !r.from.IsStillAtPath() {
		return ErrMoved
	}
	return nil
}

// writeChunks writes chunks until none is left. A helper opens the index once more, and does nothing if the index moved
// on meanwhile.
func (r *repositoryExport) writeChunks(ctx context.Context, asHelper bool, next <-chan chunk) (err error) {
	from := r.from
	if asHelper {
		if from, err = r.from.Reopen(ctx); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, from.Close()) }()
		if state, err := stateOf(ctx, exportKind, from, false); err != nil || state != r.state {
			return err
		}
	}
	for c := range next {
		r.e.engines <- struct{}{}
		err := r.writeChunk(ctx, from, c)
		<-r.e.engines
		if err != nil {
			return err
		}
	}
	return nil
}

// planChunks finds the months that changed, and puts them into chunks. The first chunk has no months.
func (r *repositoryExport) planChunks(ctx context.Context) ([]chunk, error) {
	sums, err := sessionSums(ctx, r.from)
	if err != nil {
		return nil, err
	}
	type month struct {
		sessions []string
		turns    int
	}
	all := map[string]*month{}
	err = db.Each(ctx, r.from, func(rows *db.Rows) error {
		var id, name string
		var turns int
		if err := rows.Scan(&id, &name, &turns); err != nil || sums[id] == nil {
			return err // sums has no memory, and nothing that is purged
		}
		m := all[name]
		if m == nil {
			m = &month{}
			all[name] = m
		}
		m.sessions, m.turns = append(m.sessions, id), m.turns+turns
		return nil
	}, monthsOfSessions)
	if err != nil {
		return nil, err
	}
	r.months = map[string]string{}
	chunks, size := []chunk{{}}, chunkTurns
	for _, name := range slices.Sorted(maps.Keys(all)) {
		h := sha256.New()
		h.Write([]byte(exportKind))
		for _, id := range all[name].sessions {
			h.Write(sums[id])
		}
		if r.months[name] = hex.EncodeToString(h.Sum(nil)[:16]); r.months[name] == r.oldMonths[name] {
			for _, t := range exportedTables {
				r.kept = append(r.kept, r.old[t.name+name]...)
			}
			continue
		}
		if size += all[name].turns; size > chunkTurns {
			chunks, size = append(chunks, chunk{number: len(chunks)}), all[name].turns
		}
		last := &chunks[len(chunks)-1]
		last.months, last.sessions = append(last.months, name), append(last.sessions, all[name].sessions...)
	}
	for i := range chunks {
		slices.Sort(chunks[i].sessions)
		chunks[i].sessions = slices.Compact(chunks[i].sessions)
	}
	return chunks, nil
}

// monthsOfSessions are the months of which a session has rows in tables that are read by month, with how many turns.
const monthsOfSessions = `SELECT session, month, sum(n) FROM (
	SELECT session, strftime('%Y-%m', ts / 1000000, 'unixepoch') AS month, count(*) AS n FROM turns WHERE ts IS NOT NULL GROUP BY 1, 2
	UNION ALL SELECT session, strftime('%Y-%m', ts / 1000000, 'unixepoch') AS month, 0 FROM usage WHERE ts IS NOT NULL GROUP BY 1, 2
	UNION ALL SELECT id, strftime('%Y-%m', coalesce(started_at, captured_at) / 1000000, 'unixepoch'), 0 FROM sessions)
	GROUP BY session, month ORDER BY session, month`

// sessionSums tell apart what sessions that are not purged were made of: their row, and the commits of ledgers that
// hold their parts.
func sessionSums(ctx context.Context, from *db.DB) (map[string][]byte, error) {
	sums := map[string][]byte{}
	err := db.Each(ctx, from, func(rows *db.Rows) error {
		var id, row string
		if err := rows.Scan(&id, &row); err != nil {
			return err
		}
		sum := sha256.Sum256(append(sums[id], row...))
		sums[id] = sum[:]
		return nil
	}, `SELECT s.id, concat_ws(' ', s.id, s.last_entry, s.first_turn, s.next_turn, s.first_tool, s.next_tool, s.started_at, s.captured_at, p.oid, p.email)
		FROM sessions s LEFT JOIN (SELECT DISTINCT item, oid, email FROM parts JOIN entries ON n = entry) p ON p.item = s.id WHERE s.id NOT IN (SELECT id FROM purged) ORDER BY s.id, p.oid, p.email`)
	return sums, err
}

// writeChunk makes the files of a chunk that are missing.
func (r *repositoryExport) writeChunk(ctx context.Context, from *db.DB, c chunk) (err error) {
	scratch := filepath.Join(r.e.scratch, r.name, fmt.Sprint(c.number))
	if err := os.MkdirAll(scratch, 0o700); err != nil {
		return err
	}
	d, err := createInMemory(ctx, scratch, dataDDL()+facetsDDL()+headDDL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if err := d.fillChunk(ctx, from, c); err != nil {
		return err
	}
	if len(c.months) == 0 {
		if err := d.fillHead(ctx, r.head); err != nil {
			return err
		}
	}
	for _, t := range exportedTables {
		if t.byMonth != (len(c.months) > 0) {
			continue
		}
		changed, contents := c.months, map[string]string{}
		if !t.byMonth {
			if contents, err = d.contentSums(ctx, t, r.e.manifest.Text); err != nil {
				return err
			}
			changed = r.changedMonths(t, contents)
		}
		if err := r.copyMonths(ctx, d, t, scratch, changed, contents); err != nil {
			return fmt.Errorf("table %s: %w", t.name, err)
		}
	}
	return nil
}

// changedMonths are the months whose rows are not in files by now; it keeps the files of the others.
func (r *repositoryExport) changedMonths(t exportedTable, contents map[string]string) (months []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, month := range slices.Sorted(maps.Keys(contents)) {
		kept := r.old[t.name+month+contents[month]]
		if r.kept = append(r.kept, kept...); len(kept) == 0 {
			months = append(months, month)
		}
	}
	return months
}

// fillChunk reads what a chunk is made of. Nothing of a purged session or memory is read.
func (d *DB) fillChunk(ctx context.Context, from *db.DB, c chunk) error {
	facets := slices.IndexFunc(indexTables, func(t table) bool { return t.name == "session_facets" })
	conn, err := d.sql.Conn(ctx)
	if err != nil {
		return classify(err)
	}
	defer conn.Close() // it goes back to where it came from
	for _, t := range append(slices.Clone(dataTables), indexTables[facets]) {
		i := slices.IndexFunc(exportedTables, func(x exportedTable) bool { return x.name == t.name })
		byMonth := i >= 0 && exportedTables[i].byMonth
		var args []any
		switch {
		case len(c.months) > 0 && (byMonth || t.name == "sessions"):
			t, args = t.limitedTo(c.sessions)
		case len(c.months) > 0 || byMonth || i < 0 && t.name != "wrote" && t.name != "purged":
			continue
		}
		if err := fillTable(ctx, conn, t, from, args...); err != nil {
			return err
		}
	}
	_, err = conn.ExecContext(ctx, `DELETE FROM sessions WHERE id IN (SELECT id FROM purged); DELETE FROM memories WHERE id IN (SELECT id FROM purged)`)
	return classify(err)
}

// limitedTo reads the rows of some sessions.
func (t table) limitedTo(ids []string) (table, []any) {
	column := "session"
	if t.name == "sessions" {
		column = "id"
	}
	from, _, _ := strings.Cut(t.query, " ORDER BY ")
	from, _, _ = strings.Cut(from, " WHERE ")
	t.query = from + " WHERE " + column + " IN (SELECT value FROM json_each(?))"
	return t, []any{ids}
}

// contentSums tells months of equal rows: how many there are, and two sums of their hashes.
func (d *DB) contentSums(ctx context.Context, t exportedTable, text bool) (map[string]string, error) {
	rows, err := d.sql.QueryContext(ctx,
		"SELECT month, concat_ws('-', count(*), bit_xor(hash(r)), sum(hash(r))::HUGEINT) FROM ("+t.rows(text)+") r GROUP BY month")
	if err != nil {
		return nil, classify(err)
	}
	defer rows.Close() // rows.Err says what went wrong
	out := map[string]string{}
	for rows.Next() {
		var month, content string
		if err := rows.Scan(&month, &content); err != nil {
			return nil, err
		}
		out[month] = content
	}
	return out, classify(rows.Err())
}

// copyMonths writes the files of some months of a table.
func (r *repositoryExport) copyMonths(ctx context.Context, d *DB, t exportedTable, scratch string, months []string,
	contents map[string]string,
) error {
	if len(months) == 0 {
		return nil
	}
	to := filepath.Join(scratch, t.name)
	if _, err := d.sql.ExecContext(ctx,
		fmt.Sprintf("COPY (SELECT * FROM (%s) WHERE month IN ('%s') ORDER BY month, %s) TO '%s' (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (month))",
			t.rows(r.e.manifest.Text), strings.Join(months, "', '"), t.order, escapeQuotes(to))); err != nil {
		return classify(err)
	}
	written, err := fs.Glob(os.DirFS(to), "month=*/*.parquet")
	for _, name := range written {
		path := filepath.Join(to, name)
		month := strings.TrimPrefix(filepath.Base(filepath.Dir(path)), "month=")
		f := ExportedFile{Table: t.name, Repository: r.name, Month: month, Content: contents[month]}
		if f.Bytes, f.SHA256, err = sumOf(path); err != nil {
			return err
		}
		f.Path = fmt.Sprintf("%s/repository=%s/month=%s/%s.parquet", t.name, r.name, month, f.SHA256[:16])
		if err := os.Chmod(path, 0o600); err != nil {
			return err
		}
		r.mu.Lock()
		r.fresh = append(r.fresh, freshFile{f, path})
		r.mu.Unlock()
	}
	return err
}
