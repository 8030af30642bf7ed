package tables

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql/driver"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/git-rekal/git-rekal/internal/materialize"

	"github.com/git-rekal/git-rekal/internal/bucket"
	"github.com/git-rekal/git-rekal/internal/db"
)

// An export is a folder of Parquet files for other engines, one or more for each table, repository and month (UTC) of
// the rows:
//
//	manifest.json
//	turns/repository=github.com-acme-shop/month=2026-03/9f2c51aa03b7e4d1.parquet
//
// A file is named by its sum and never changed. A run makes new files elsewhere, puts them into place, replaces the
// manifest, and then removes what the manifest does not list any more. The folder is one here, or one of a bucket
// (place.go).
//
// Most rows are those of sessions' turns, calls and requests. Which months of them changed is told by what their
// sessions were made of, so that only these are read. Months are written side by side, each by an engine of its own.
const (
	manifestName = "manifest.json"
	// another number has all files written anew, when exportedTables changes
	exportKind = materialize.SQLFile("parquet 4")
)

// exportedTable is which rows are exported: t is the table, s their session, c their checkpoint.
type exportedTable struct {
	name, from string
	when       string // the time that decides on the month
	columns    string // of t
	texts      string // columns that are left out where texts are
	order      string
	byMonth    bool // it is read month by month
}

const (
	ofSession   = " t JOIN sessions s ON s.id = t.session_id"
	ofStart     = "coalesce(s.started_at, s.captured_at)"
	countRanges = `coalesce(list_sum(list_transform(string_split(nullif(t.lines, ''), ','), r -> CAST(split_part(r, '-', -1) AS INTEGER) - CAST(split_part(r, '-', 1) AS INTEGER) + 1)), 0)`
)

//nolint:gochecknoglobals // a table
var exportedTables = []exportedTable{
	{"sessions", "sessions s", ofStart, "s.*", "title", "id", false},
	{"turns", "turns" + ofSession, "coalesce(t.ts, " + ofStart + ")", "t.*", "content", "session_id, turn_index", true},
	{
		"tool_calls", "tool_calls" + ofSession +
			" LEFT JOIN turns u ON u.session_id = t.session_id AND u.turn_index = t.turn_index",
		"coalesce(u.ts, " + ofStart + ")", "t.*", "cmd_prefix, program", "session_id, call_order", true,
	},
	{"usage", "usage" + ofSession, "coalesce(t.ts, " + ofStart + ")", "t.*", "", "session_id, turn_index, request", true},
	{"checkpoints", "checkpoints t", "t.ts", "t.*", "", "ts, id", false},
	{
		"files_touched", "files_touched t JOIN checkpoints c ON c.id = t.checkpoint_id", "c.ts", "t.*", "",
		"checkpoint_id, id", false,
	},
	{
		"checkpoint_sessions", "checkpoint_sessions" + ofSession + " JOIN checkpoints c ON c.id = t.checkpoint_id", "c.ts",
		"t.*", "", "checkpoint_id, session_id", false,
	},
	{"memories", "memories t", "t.ts", "t.*", "title, content, rejects", "id", false},
	{
		"lines", "wrote" + ofSession, "t.ts", "t.*, " + countRanges + " AS line_count", "",
		"git_sha, path, session_id, ts, lines", false,
	},
	{
		"session_facets", "session_facets" + ofSession, ofStart, "t.* EXCLUDE (left_paths, left_blobs)", "title",
		"session_id", false,
	},
	{"head_lines", "head_lines t", "t.ts", "t.*", "", "path, whose, session_id", false},
}

// Head is whose the lines are that stand in a repository's HEAD. The zero value is for a repository without code.
type Head struct {
	Commit string
	TS     time.Time
	Lines  []HeadLines
}

// HeadLines are lines of a file: of a session that is known to have written them, of commits of no known session, or of
// commits of sessions that are not known to have written them.
type HeadLines struct {
	Path, Whose, Session string // Whose is "session", "no_session" or "unknown"; Session is "" but for the first
	N                    int
}

const headDDL = `CREATE TABLE head_lines (git_sha VARCHAR NOT NULL, path VARCHAR NOT NULL, whose VARCHAR NOT NULL, session_id VARCHAR, line_count INTEGER NOT NULL, ts TIMESTAMP NOT NULL);`

// fillHead adds the lines of HEAD.
func (d *DB) fillHead(ctx context.Context, head Head) error {
	conn, err := d.sql.Conn(ctx)
	if err != nil {
		return classify(err)
	}
	defer conn.Close() // it goes back to where it came from
	return appendRows(ctx, conn, "head_lines", func(add func(...driver.Value) error) error {
		for _, l := range head.Lines {
			var session any
			if l.Session != "" {
				session = l.Session
			}
			if err := add(head.Commit, l.Path, l.Whose, session, int32(l.N), head.TS.UTC()); err != nil {
				return err
			}
		}
		return nil
	})
}

// Manifest is what an export holds.
type Manifest struct {
	Schema int `json:"schema"`
	// false: without prompts, answers, titles, commands and memories
	Text         bool                          `json:"text"`
	Repositories map[string]ExportedRepository `json:"repositories"`
	Files        []ExportedFile                `json:"files"` // sorted by path
}

// ExportedRepository is how far a repository is exported.
type ExportedRepository struct {
	Source string `json:"source"` // its remote without scheme and user, or its folder
	State  string `json:"state"`  // a sum of the index's state
	// Months are sums of the sessions that have turns, calls or requests in a month, of what made them.
	Months map[string]string `json:"months"`
}

// ExportedFile is one file.
type ExportedFile struct {
	Path       string `json:"path"` // below the export's folder, with slashes
	Table      string `json:"table"`
	Repository string `json:"repository"`
	Month      string `json:"month"` // "2026-03"
	Bytes      int64  `json:"bytes"`
	SHA256     string `json:"sha256"`
	// Content is how many rows, and hashes of them, of all files of this table, repository and month; "" for those that
	// Months tell of.
	Content string `json:"content"`
}

// Export is a run that writes into a folder. Close it.
type Export struct {
	name    string // as the user gave it
	to      place
	scratch string // a folder here

	engines  chan struct{} // as many as may work at once
	mu       sync.Mutex    // for what follows
	manifest Manifest
	read     []byte // what the manifest was
	fresh    []freshFile
	added    map[string]bool // repositories
}

// freshFile is a file that is to be put into place.
type freshFile struct {
	ExportedFile
	from string
}

// ErrExport is a folder that can't take this export.
var ErrExport = errors.New("another folder is needed")

// OpenExport begins a run into a folder, which is made if needed, for its owner alone. Without text, prompts, answers,
// titles, commands and memories stay out. The error is an ErrExport where the folder holds something else.
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
	e = &Export{
		name: name, to: to, engines: make(chan struct{}, min(runtime.GOMAXPROCS(0), maxEngines)),
		added: map[string]bool{}, manifest: Manifest{Schema: 1, Text: text, Repositories: map[string]ExportedRepository{}},
	}
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

// Add writes what is new or changed in a repository, for Finish to publish. A name is a value in a path: letters,
// digits, '.', '_' and '-'. Lines are counted where the index, or the commit at HEAD, is another than at the last run.
// It may be called side by side.
func (e *Export) Add(ctx context.Context, name, source string, from *db.DB, head string,
	lines func() (Head, error),
) error {
	state, err := stateOf(ctx, exportKind, from, false)
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(state + " " + head))
	now := ExportedRepository{Source: source, State: hex.EncodeToString(sum[:])}
	r := &repositoryExport{e: e, name: name, from: from, state: state}
	same, err := e.beginRepository(r, now)
	if err != nil || same {
		return err
	}
	if r.head, err = lines(); err != nil {
		return err
	}
	if err := r.write(ctx); err != nil {
		return fmt.Errorf("export of %s: %w", source, err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	now.Months = r.months
	e.manifest.Repositories[name], e.fresh = now, append(e.fresh, r.fresh...)
	e.manifest.Files = slices.DeleteFunc(e.manifest.Files, func(f ExportedFile) bool { return f.Repository == name })
	for _, f := range r.fresh {
		r.kept = append(r.kept, f.ExportedFile)
	}
	e.manifest.Files = append(e.manifest.Files, r.kept...)
	return nil
}

// beginRepository registers a repository with the export, and finds what is already exported of it. same says that
// nothing has changed.
func (e *Export) beginRepository(r *repositoryExport, now ExportedRepository) (same bool, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	old, there := e.manifest.Repositories[r.name]
	if e.added[r.name] || there && old.Source != now.Source {
		return false, fmt.Errorf("export: %q is %s already: two repositories of one name need two folders", r.name,
			old.Source)
	}
	e.added[r.name], r.oldMonths, r.old = true, old.Months, map[string][]ExportedFile{}
	for _, f := range e.manifest.Files {
		if f.Repository == r.name {
			r.old[f.Table+f.Month+f.Content] = append(r.old[f.Table+f.Month+f.Content], f)
		}
	}
	return old.State == now.State, nil
}

// rows is a SELECT of the rows with their month.
func (t exportedTable) rows(text bool) string {
	rows := "SELECT " + t.columns + ", strftime(" + t.when + ", '%Y-%m') AS month FROM " + t.from
	if t.texts != "" && !text {
		rows = "SELECT * EXCLUDE (" + t.texts + ") FROM (" + rows + ")"
	}
	return rows
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

// Finish publishes what Add wrote, and tells how many files are new and were removed. Where nothing changed it writes
// nothing.
func (e *Export) Finish(ctx context.Context) (written, removed int, err error) {
	slices.SortFunc(e.manifest.Files, func(a, b ExportedFile) int { return cmp.Compare(a.Path, b.Path) })
	text, err := json.MarshalIndent(e.manifest, "", " ")
	if err == nil {
		err = eachAtOnce(e.fresh, func(f freshFile) error { return e.to.put(ctx, f) })
	}
	var old []string
	if err == nil {
		old, err = e.unlistedFiles(ctx)
	}
	if err == nil && string(text) != string(e.read) {
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

// unlistedFiles are the files of this run's repositories that the manifest does not list: files that this run replaces,
// and files of runs that died. They are listed before the manifest is replaced: files that appear in a bucket after
// that belong to another run.
func (e *Export) unlistedFiles(ctx context.Context) (old []string, err error) {
	listed := map[string]bool{}
	for _, f := range e.manifest.Files {
		listed[f.Path] = true
	}
	below := "/"
	if len(e.added) == 1 {
		for name := range e.added {
			below = "/repository=" + name + "/"
		}
	}
	for _, t := range exportedTables {
		there, err := e.to.list(ctx, t.name+below)
		if err != nil {
			return nil, err
		}
		for _, path := range there {
			_, name, _ := strings.Cut(path, "/repository=")
			if name, _, _ = strings.Cut(name, "/"); e.added[name] && !listed[path] {
				old = append(old, path)
			}
		}
	}
	return old, nil
}

// Close ends a run. What was not published is removed.
func (e *Export) Close() error { return errors.Join(os.RemoveAll(e.scratch), e.to.close()) }
