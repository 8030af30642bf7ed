package tables

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/git-rekal/git-rekal/internal/bucket"
	"github.com/git-rekal/git-rekal/internal/db"
)

// An export is a folder of Parquet files for other engines, one or more for each table, repository and month (UTC) of the rows:
//
//	manifest.json
//	turns/repository=github.com-acme-shop/month=2026-03/9f2c51aa03b7e4d1.parquet
//
// A file is named by its sum and never changed. A run makes new files elsewhere, puts them into place, replaces the manifest, and then removes what
// the manifest does not list any more. The folder is one here, or one of a bucket (place.go).
const (
	manifestName = "manifest.json"
	exportKind   = Kind("parquet 1") // another number has all files written anew, when exportedTables changes
)

// exportedTable is which rows are exported: t is the table, s their session, c their checkpoint.
type exportedTable struct {
	name, from string
	when       string // the time that decides on the month
	columns    string // of t
	texts      string // columns that are left out where texts are
	order      string
}

const (
	ofSession   = " t JOIN sessions s ON s.id = t.session_id"
	ofStart     = "coalesce(s.started_at, s.captured_at)"
	countRanges = `list_sum(list_transform(string_split(t.lines, ','), r -> CAST(split_part(r, '-', -1) AS INTEGER) - CAST(split_part(r, '-', 1) AS INTEGER) + 1))`
)

//nolint:gochecknoglobals // a table
var exportedTables = []exportedTable{
	{"sessions", "sessions s", ofStart, "s.*", "title", "id"},
	{"turns", "turns" + ofSession, "coalesce(t.ts, " + ofStart + ")", "t.*", "content", "session_id, turn_index"},
	{"tool_calls", "tool_calls" + ofSession + " LEFT JOIN turns u ON u.session_id = t.session_id AND u.turn_index = t.turn_index", "coalesce(u.ts, " + ofStart + ")", "t.*", "cmd_prefix", "session_id, call_order"},
	{"usage", "usage" + ofSession, "coalesce(t.ts, " + ofStart + ")", "t.*", "", "session_id, turn_index, request"},
	{"checkpoints", "checkpoints t", "t.ts", "t.*", "", "ts, id"},
	{"files_touched", "files_touched t JOIN checkpoints c ON c.id = t.checkpoint_id", "c.ts", "t.*", "", "checkpoint_id, id"},
	{"checkpoint_sessions", "checkpoint_sessions" + ofSession + " JOIN checkpoints c ON c.id = t.checkpoint_id", "c.ts", "t.*", "", "checkpoint_id, session_id"},
	{"memories", "memories t", "t.ts", "t.*", "title, content", "id"},
	{"lines", "wrote" + ofSession, "t.ts", "t.*, " + countRanges + " AS line_count", "", "git_sha, path, session_id, ts, lines"},
	{"session_facets", "session_facets" + ofSession, ofStart, "t.* EXCLUDE (left_paths, left_blobs)", "title", "session_id"},
}

// exportSchema is what an export reads. Nothing of a purged session or memory remains.
func exportSchema() schema {
	facets := slices.IndexFunc(indexTables, func(t table) bool { return t.name == "session_facets" })
	return schema{
		ddl: dataDDL + facetsDDL, tables: append(slices.Clone(dataTables), indexTables[facets]),
		then: `DELETE FROM sessions WHERE id IN (SELECT id FROM purged); DELETE FROM memories WHERE id IN (SELECT id FROM purged)`,
	}
}

// Manifest is what an export holds.
type Manifest struct {
	Schema       int                           `json:"schema"`
	Text         bool                          `json:"text"` // false: without prompts, answers, titles, commands and memories
	Repositories map[string]ExportedRepository `json:"repositories"`
	Files        []ExportedFile                `json:"files"` // sorted by path
}

// ExportedRepository is how far a repository is exported.
type ExportedRepository struct {
	Source string `json:"source"` // its remote without scheme and user, or its folder
	State  string `json:"state"`  // a sum of the index's state
}

// ExportedFile is one file.
type ExportedFile struct {
	Path       string `json:"path"` // below the export's folder, with slashes
	Table      string `json:"table"`
	Repository string `json:"repository"`
	Month      string `json:"month"` // "2026-03"
	Bytes      int64  `json:"bytes"`
	SHA256     string `json:"sha256"`
	Content    string `json:"content"` // how many rows, and hashes of them, of all files of this table, repository and month
}

// Export is a run that writes into a folder. Close it.
type Export struct {
	name    string // as the user gave it
	to      place
	scratch string // a folder here

	mu       sync.Mutex // for what follows, and for DuckDB's memory
	manifest Manifest
	read     []byte // what the manifest was
	fresh    []freshFile
	changed  []string // repositories
	added    map[string]bool
}

// freshFile is a file that is to be put into place.
type freshFile struct {
	ExportedFile
	from string
}

// ErrExport is a folder that can't take this export.
var ErrExport = errors.New("another folder is needed")

// OpenExport begins a run into a folder, which is made if needed, for its owner alone. Without text, prompts, answers, titles, commands and
// memories stay out. The error is an ErrExport where the folder holds something else.
func OpenExport(ctx context.Context, dir string, text bool) (*Export, error) {
	to, err := openFolder(ctx, dir)
	if err != nil {
		return nil, fmt.Errorf("export to %q: %w", dir, err)
	}
	return openExport(ctx, dir, to, text)
}

// OpenExportTo is OpenExport into a bucket, which the run closes.
func OpenExportTo(ctx context.Context, b *bucket.Bucket, text bool) (*Export, error) {
	return openExport(ctx, b.String(), &remote{Bucket: b}, text)
}

func openExport(ctx context.Context, name string, to place, text bool) (e *Export, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("export to %q: %w", name, err), to.close())
		}
	}()
	e = &Export{name: name, to: to, added: map[string]bool{}, manifest: Manifest{Schema: 1, Text: text, Repositories: map[string]ExportedRepository{}}}
	if e.read, err = to.manifest(ctx); err == nil {
		err = json.Unmarshal(e.read, &e.manifest)
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	switch {
	case err != nil:
		return nil, err
	case e.manifest.Schema != 1:
		return nil, fmt.Errorf("%w: its manifest has schema %d", ErrExport, e.manifest.Schema)
	case e.manifest.Text != text:
		return nil, fmt.Errorf("%w: what is there was written with another choice of --no-text", ErrExport)
	}
	e.scratch, err = to.scratch()
	return e, err
}

// Add writes what is new or changed in a repository, for Finish to publish. A name is a value in a path: letters, digits, '.', '_' and '-'.
// It may be called side by side.
func (e *Export) Add(ctx context.Context, name, source string, from *db.DB) error {
	state, err := stateOf(ctx, exportKind, from)
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(state))
	now := ExportedRepository{Source: source, State: hex.EncodeToString(sum[:])}
	e.mu.Lock()
	defer e.mu.Unlock()
	switch old, there := e.manifest.Repositories[name]; {
	case e.added[name], there && old.Source != source:
		return fmt.Errorf("export: %q is %s already: two repositories of one name need two folders", name, old.Source)
	case old == now:
		e.added[name] = true
		return nil
	}
	files, made, err := e.write(ctx, name, from)
	if err != nil {
		return fmt.Errorf("export of %s: %w", source, err)
	}
	e.fresh = append(e.fresh, made...)
	e.added[name], e.manifest.Repositories[name], e.changed = true, now, append(e.changed, name)
	e.manifest.Files = append(slices.DeleteFunc(e.manifest.Files, func(f ExportedFile) bool { return f.Repository == name }), files...)
	return nil
}

// write makes the files that a repository lacks, and gives all that it is to have, and those that it made.
func (e *Export) write(ctx context.Context, name string, from *db.DB) (all []ExportedFile, made []freshFile, err error) {
	scratch := filepath.Join(e.scratch, name)
	if err := os.MkdirAll(scratch, 0o700); err != nil {
		return nil, nil, err
	}
	d, err := createIn(ctx, filepath.Join(scratch, "rows.db"), exportSchema(), scratch)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, d.Close(), os.Remove(filepath.Join(scratch, "rows.db"))) }()
	if err := d.fill(ctx, exportSchema(), from, ""); err != nil {
		return nil, nil, err
	}
	if !from.Stands() {
		return nil, nil, ErrMoved
	}
	old := map[string][]ExportedFile{}
	for _, f := range e.manifest.Files {
		if f.Repository == name {
			old[f.Table+f.Month+f.Content] = append(old[f.Table+f.Month+f.Content], f)
		}
	}
	for _, t := range exportedTables {
		contents, err := d.contents(ctx, t, e.manifest.Text)
		if err != nil {
			return nil, nil, err
		}
		var changed []string
		for _, month := range slices.Sorted(maps.Keys(contents)) {
			kept := old[t.name+month+contents[month]]
			if all = append(all, kept...); len(kept) == 0 {
				changed = append(changed, "'"+month+"'")
			}
		}
		files, err := e.copyMonths(ctx, d, t, name, scratch, changed, contents)
		if err != nil {
			return nil, nil, fmt.Errorf("table %s: %w", t.name, err)
		}
		made = append(made, files...)
		for _, f := range files {
			all = append(all, f.ExportedFile)
		}
	}
	return all, made, nil
}

// rows is a SELECT of the rows with their month.
func (t exportedTable) rows(text bool) string {
	rows := "SELECT " + t.columns + ", strftime(" + t.when + ", '%Y-%m') AS month FROM " + t.from
	if t.texts != "" && !text {
		rows = "SELECT * EXCLUDE (" + t.texts + ") FROM (" + rows + ")"
	}
	return rows
}

// contents tells months of equal rows: how many there are, and two sums of their hashes.
func (d *DB) contents(ctx context.Context, t exportedTable, text bool) (map[string]string, error) {
	rows, err := d.sql.QueryContext(ctx, "SELECT month, concat_ws('-', count(*), bit_xor(hash(r)), sum(hash(r))::HUGEINT) FROM ("+t.rows(text)+") r GROUP BY month")
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
func (e *Export) copyMonths(ctx context.Context, d *DB, t exportedTable, name, scratch string, months []string, contents map[string]string) (files []freshFile, err error) {
	if len(months) == 0 {
		return nil, nil
	}
	to := filepath.Join(scratch, t.name)
	if _, err := d.sql.ExecContext(ctx, fmt.Sprintf("COPY (SELECT * FROM (%s) WHERE month IN (%s) ORDER BY month, %s) TO '%s' (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (month))",
		t.rows(e.manifest.Text), strings.Join(months, ", "), t.order, escapeQuotes(to))); err != nil {
		return nil, classify(err)
	}
	written, err := filepath.Glob(filepath.Join(escapeGlob(to), "month=*", "*.parquet"))
	for _, path := range written {
		month := strings.TrimPrefix(filepath.Base(filepath.Dir(path)), "month=")
		f := ExportedFile{Table: t.name, Repository: name, Month: month, Content: contents[month]}
		if f.Bytes, f.SHA256, err = sumOf(path); err != nil {
			return nil, err
		}
		f.Path = fmt.Sprintf("%s/repository=%s/month=%s/%s.parquet", t.name, name, month, f.SHA256[:16])
		if err := os.Chmod(path, 0o600); err != nil {
			return nil, err
		}
		files = append(files, freshFile{f, path})
	}
	return files, err
}

func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

func sumOf(path string) (int64, string, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, "", err
	}
	defer f.Close() // nothing was written
	h := sha256.New()
	n, err := io.Copy(h, f)
	return n, hex.EncodeToString(h.Sum(nil)), err
}

// Finish publishes what Add wrote, and tells how many files are new and were removed. Where nothing changed it writes nothing.
func (e *Export) Finish(ctx context.Context) (written, removed int, err error) {
	slices.SortFunc(e.manifest.Files, func(a, b ExportedFile) int { return cmp.Compare(a.Path, b.Path) })
	text, err := json.MarshalIndent(e.manifest, "", " ")
	if err != nil || string(text) == string(e.read) {
		return 0, 0, err
	}
	err = eachAtOnce(e.fresh, func(f freshFile) error { return e.to.put(ctx, f) })
	var old []string
	if err == nil {
		old, err = e.unlisted(ctx)
	}
	if err == nil {
		err = e.to.publish(ctx, text)
	}
	if err == nil {
		err = eachAtOnce(old, func(path string) error { return e.to.remove(ctx, path) })
	}
	if err != nil {
		return 0, 0, fmt.Errorf("export to %q: %w", e.name, err)
	}
	return len(e.fresh), len(old), nil
}

// unlisted are the files of repositories that changed which the manifest does not list: what it replaces, and what runs left that died.
// They are looked for before the manifest is replaced: what another run puts into a bucket after that is its own.
func (e *Export) unlisted(ctx context.Context) (old []string, err error) {
	listed := map[string]bool{}
	for _, f := range e.manifest.Files {
		listed[f.Path] = true
	}
	var folders []string
	for _, t := range exportedTables {
		for _, name := range e.changed {
			folders = append(folders, t.name+"/repository="+name+"/")
		}
	}
	var mu sync.Mutex
	err = eachAtOnce(folders, func(folder string) error {
		there, err := e.to.list(ctx, folder)
		mu.Lock()
		defer mu.Unlock()
		old = append(old, slices.DeleteFunc(there, func(path string) bool { return listed[path] })...)
		return err
	})
	return old, err
}

// Close ends a run. What was not published is removed.
func (e *Export) Close() error { return errors.Join(os.RemoveAll(e.scratch), e.to.close()) }
