// Package tables is the only package with DuckDB. It makes data.db and index.db from the index, and runs a user's SQL
// on them.
//
// In: the open index. Out: rows. Nothing else reads these files. They are updated when a statement asks, each in a new
// file that replaces the old one.
//
// Promises: a damaged or outdated file is made anew; a statement is one SELECT, reads only its database, and ends
// within its limits.
package tables

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/git-rekal/git-rekal/internal/materialize"

	duckdb "github.com/marcboeker/go-duckdb/v2"
)

// What a caller decides on.
var (
	errCorrupt = errors.New("database is damaged")
	errSchema  = errors.New("database has another schema")
	errLocked  = errors.New("database is in use by another process")
	errBehind  = errors.New("database is of another state of the index")
)

// DB is one open database file. Close it.
type DB struct {
	sql  *sql.DB
	left atomic.Bool // a statement runs that could not be stopped
}

// catalog is the name under which a file is attached; see attach.
const catalog = "rekal"

// settings of the engine. 192 MB keeps a process below its 250 MB; what needs more spills to disk. Tables of 4 million
// turns are made with 256 MB, and could not be with 128. Extensions are never fetched: DuckDB's core is all that is
// used. A reader has no business with more than a gigabyte of disk.
const (
	toRead   = "threads=1&memory_limit=192MB&max_temp_directory_size=1GB"
	toMake   = "threads=2&memory_limit=256MB"
	settings = "&autoinstall_known_extensions=false&autoload_known_extensions=false"
)

// layout of new files. With small row groups 225,000 turns were written for 1.3 s of processor time instead of 7.
// The storage version is the first that knows zstd.
const layout = "BLOCK_SIZE 65536, ROW_GROUP_SIZE 8192, STORAGE_VERSION 'v1.2.0'"

// unused are ways to compress that are not tried: without them 225,000 turns were
// written in 70 s instead of 82, and the files are 2 to 6 % larger.
const unused = "fsst,dict_fsst,alp,alprd,chimp,patas"

// fileHeaders is how many bytes stand before the blocks of a file.
const fileHeaders = 3 * 4096

// openReady opens the database file at path for reading, about 7 ms. The error is fs.ErrNotExist, fs.ErrPermission,
// errLocked, errCorrupt, errSchema, or errBehind for a file that was made in another state, where the cause is one of
// those.
func openReady(ctx context.Context, path, state string) (*DB, error) {
	file, err := os.Open(path) // what the operating system has to say, in its own words, before DuckDB does
	if err != nil {
		return nil, fmt.Errorf("tables: open %q: %w", path, err)
	}
	defer file.Close() // nothing was written
	return connect(path, "", toRead, "READ_ONLY", func(d *DB) error { return d.check(ctx, path, state) })
}

// create makes a database file at a path where none is.
func create(ctx context.Context, path string, schema schema) (*DB, error) {
	return connect(path, "", toMake, layout, func(d *DB) error {
		if err := d.sql.PingContext(ctx); err != nil {
			return classify(err)
		}
		if err := os.Chmod(path, 0o600); err != nil {
			return err
		}
		_, err := d.sql.ExecContext(ctx, "BEGIN; "+schema.ddl+"; COMMIT")
		return classify(err)
	})
}

// createInMemory makes a database that is never a file, and may write below a folder.
func createInMemory(ctx context.Context, folder, ddl string) (*DB, error) {
	return connect(":memory:", folder, toExport, "", func(d *DB) error {
		_, err := d.sql.ExecContext(ctx, "BEGIN; "+ddl+"; COMMIT")
		return classify(err)
	})
}

// connect attaches a file to a database in memory, because a path in a data source name may not hold '?' or '%'.
// Afterwards the engine can open no other file, but those below the folder if one is given, and no setting can be
// changed.
func connect(path, folder, limits, options string, begin func(*DB) error) (*DB, error) {
	connector, err := duckdb.NewConnector(":memory:?"+limits+settings, attachFile(path, folder, options))
	if err != nil {
		return nil, fmt.Errorf("tables: open %q: %w", path, err)
	}
	d := &DB{sql: sql.OpenDB(connector)}
	if err := begin(d); err != nil {
		return nil, fmt.Errorf("tables: open %q: %w", path, errors.Join(err, d.Close()))
	}
	return d, nil
}

// attachFile is what a new connection does: the first one attaches the file, all use it. Every
// commit goes into the file at once (no write-ahead log beside it): the same fsyncs, half the
// bytes, and no second file to keep private. What does not fit into memory is spilled beside
// the file, never into the working directory, and into a folder of its own: two engines
// that spill into one folder overwrite each other's files.
func attachFile(path, folder, options string) func(driver.ExecerContext) error {
	allowed, spill := "", spillDir(path, os.Getpid())
	if options != "" {
		options = " (" + options + ")"
	}
	if folder != "" {
		spill = spillDir(filepath.Join(folder, "rows"), os.Getpid())
		allowed = "SET allowed_directories = ['" + escapeQuotes(folder) + "']; "
	}
	first := fmt.Sprintf("ATTACH '%s' AS %s%s; USE %s; SET wal_autocheckpoint = '1B'; SET temp_directory = '%s'; SET disabled_compression_methods = '%s'; %sSET enable_external_access = false; SET lock_configuration = true",
		escapeQuotes(path), catalog, options, catalog, escapeQuotes(spill), unused, allowed)
	return func(conn driver.ExecerContext) error {
		query := "USE " + catalog
		if first != "" {
			query, first = first, ""
		}
		_, err := conn.ExecContext(context.Background(), query, nil)
		return err
	}
}

// spillDir is where a process puts what does not fit into memory while it has the file at path
// open. It is there only when something was spilled, and Close removes it.
func spillDir(path string, pid int) string {
	return filepath.Join(filepath.Dir(path), fmt.Sprintf("%s%d.%s", materialize.SQLSpill, pid, filepath.Base(path)))
}

// escapeQuotes is text for a string literal.
func escapeQuotes(s string) string { return strings.ReplaceAll(s, "'", "''") }

// stateTable is the table whose comment says in which state the file was made: no row of any table, which are the same
// however the index grew.
const stateTable = "ledger_cursor"

// check compares the state in which a file was made, and its length.
func (d *DB) check(ctx context.Context, path, state string) error {
	var have sql.NullString
	var blocks int64
	err := d.sql.QueryRowContext(ctx,
		"SELECT comment, (SELECT used_blocks * block_size FROM pragma_database_size() WHERE database_name = '"+catalog+
			"') FROM duckdb_tables() WHERE table_name = '"+stateTable+"'").Scan(&have, &blocks)
	if err != nil {
		return classify(err)
	}
	// The engine opens a file that was cut, and fails when somebody asks for what is gone. Blocks that are
	// free do not count: those at the end are cut off behind a checkpoint whose header still has them.
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.Size() < fileHeaders+blocks {
		return fmt.Errorf("%w: it has %d bytes of %d", errCorrupt, info.Size(), fileHeaders+blocks)
	}
	if !strings.HasPrefix(have.String, state) { // one with more is as good
		return errBehind
	}
	return nil
}

// classify wraps the sentinel that fits an error of opening or reading a database.
func classify(err error) error {
	var e *duckdb.Error
	if !errors.As(err, &e) {
		if errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("%w: it has no state", errSchema)
		}
		return err
	}
	if e.Type == duckdb.ErrorTypeOutOfMemory || strings.Contains(e.Msg, "failed to pin block") ||
		strings.Contains(e.Msg, "could not allocate block") {
		first, _, _ := strings.Cut(e.Msg, "\n")
		return fmt.Errorf("database needs more memory: %s", first)
	}
	switch e.Type {
	case duckdb.ErrorTypeCatalog, duckdb.ErrorTypeBinder:
		return fmt.Errorf("%w: %w", errSchema, err)
	case duckdb.ErrorTypeIO:
		if strings.Contains(e.Msg, "Could not set lock on file") {
			return fmt.Errorf("%w: %w", errLocked, err)
		}
		if strings.Contains(e.Msg, "Permission denied") || strings.Contains(e.Msg, "Read-only file system") {
			return fmt.Errorf("%w: %w", fs.ErrPermission, err)
		}
		if strings.Contains(e.Msg, "No space left") {
			return fmt.Errorf("%w: %w", syscall.ENOSPC, err)
		}
		return fmt.Errorf("%w: %w", errCorrupt, err)
	case duckdb.ErrorTypeSerialization, duckdb.ErrorTypeInternal, duckdb.ErrorTypeFatal:
		return fmt.Errorf("%w: %w", errCorrupt, err)
	}
	return err
}

// Close closes the file. Rows that are still open become invalid. Where a statement could not be
// stopped (see Select), the file is left to the end of the process.
func (d *DB) Close() error {
	if d.left.Load() {
		return nil
	}
	return d.sql.Close()
}
