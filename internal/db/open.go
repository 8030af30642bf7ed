// Package db is the index: one SQLite file, from which recall, why, log and the agents' server read. It owns, fills and
// queries the file's tables.
//
// In and out: rows and bytes. Each blob belongs to the package that wrote it. db never tokenises, scores or ranks, and
// knows no git.
//
// Promises: a transaction is all or nothing, also on disk; readers keep the state that they found while one process
// writes; a new file has mode 0600; a damaged file, or one of another schema version, is reported (ErrCorrupt,
// ErrSchema) and left for the caller to replace. Several goroutines may use a DB, one a Tx. The caller holds the lock
// that decides which process writes.
package db

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/mattn/go-sqlite3"

	"github.com/git-rekal/git-rekal/internal/advice"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Mode says what a file is opened for.
type Mode int

// The modes of Open.
const (
	ReadOnly  Mode = iota // the file must exist
	ReadWrite             // a file that does not exist is created with its schema
	Fresh                 // ReadWrite of a file that nobody knows yet: what is written is safe once it is closed
)

// What a caller decides on.
var (
	ErrCorrupt = advice.New("database is damaged", `run "git rekal index"`)
	ErrSchema  = errors.New("database has another schema")
	ErrNewer   = fmt.Errorf("%w, of a later version", ErrSchema)
	ErrLocked  = advice.New("database is in use by another process", "try again in a moment")
	ErrRoom    = advice.New("database needs more memory",
		"the ledgers hold very long turns; nothing is lost, and recall answers from the state before")
)

// DB is one open file. Close it.
type DB struct {
	sql  *sql.DB
	mode Mode
	path string
	file os.FileInfo // as it was opened

	barred []string // see Bar
	later  Later    // see SetMoment
}

// Sizes, in bytes: a page of a run fits into a page of the file (search.go). Of a large file so much is mapped, and so
// much of the log stays when it was written back.
const (
	filePage  = 16 << 10
	maxMapped = 1 << 30
	maxLog    = 1 << 20
)

// Layout is one sort of database file: how its header differs from that of other files, and the tables of a new one.
type Layout struct {
	Application, Version int64  // application_id and user_version
	Since                int64  // the oldest version that is read as well; 0: Version
	Settings             string // pragmas that a new file has before anything is written to it, so before it gets a log
	Tables               string // statements that make the tables
	// Temporary says that all of it can be made again, and how long a process waits for others: nothing waits for the
	// disk, and there is no log.
	Temporary time.Duration
}

// indexLayout is the layout of the index.
func indexLayout() Layout {
	return Layout{
		Application: application, Version: Version + int64(len(session.AllFacts())),
		Tables: strings.ReplaceAll(schema, "$facts", session.FactList("% TEXT")),
	}
}

// Open opens the index at path, about a millisecond. The error is fs.ErrNotExist (ReadOnly), fs.ErrPermission,
// ErrLocked, ErrCorrupt or ErrSchema where the cause is one of those. Who only reads sees one state of the file until
// Close.
func Open(ctx context.Context, path string, mode Mode) (*DB, error) {
	return indexLayout().Open(ctx, path, mode)
}

// OpenReplaced is Open of an index that a new one replaces, for what it knows of vectors and signatures: an older
// program may have made it.
func OpenReplaced(ctx context.Context, path string) (*DB, error) {
	l := indexLayout()
	l.Since = vectorsSince
	return l.Open(ctx, path, ReadOnly)
}

// Open is the function Open for a file of another layout.
func (l Layout) Open(ctx context.Context, path string, mode Mode) (*DB, error) {
	if err := touch(path, mode); err != nil {
		return nil, fmt.Errorf("db: open %q: %w", path, err)
	}
	d, err := l.open(ctx, path, mode, "")
	if err != nil && mode == ReadOnly && isReadOnlyFolder(err) && !hasLog(path) {
		d, err = l.open(ctx, path, mode, "1") // nobody can write it, so nobody does
	}
	if err != nil {
		return nil, fmt.Errorf("db: open %q: %w", path, err)
	}
	return d, nil
}

func (l Layout) open(ctx context.Context, path string, mode Mode, immutable string) (*DB, error) {
	d := &DB{
		sql:  sql.OpenDB(connector{sourceURI(path, mode, immutable, cmp.Or(l.Temporary, patience)), l.pragmas(mode)}),
		mode: mode, path: path,
	}
	d.sql.SetMaxOpenConns(1) // who writes sees what it wrote, and who reads one state
	if err := d.check(ctx, l); err != nil {
		return nil, errors.Join(classify(err), d.sql.Close())
	}
	return d, nil
}

// patience is how long a process waits for others.
const patience = 10 * time.Second

// connector makes connections that some pragmas hold for.
type connector struct{ source, pragmas string }

func (c connector) Driver() driver.Driver { return &sqlite3.SQLiteDriver{} }

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := (&sqlite3.SQLiteDriver{}).Open(c.source)
	if err != nil {
		return nil, err
	}
	exec, ok := conn.(driver.ExecerContext)
	if !ok {
		return nil, fmt.Errorf("the driver's connection is a %T", conn)
	}
	if _, err := exec.ExecContext(ctx, c.pragmas, nil); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// pragmas of a connection. A file that nobody knows yet needs no log: a process that dies leaves it to be removed.
func (l Layout) pragmas(mode Mode) string {
	if l.Temporary > 0 {
		// A change that fills the cache must not lock readers out before it is through.
		return "PRAGMA temp_store = MEMORY; PRAGMA secure_delete = ON; PRAGMA journal_mode = DELETE; PRAGMA synchronous = OFF; PRAGMA cache_spill = OFF"
	}
	all := fmt.Sprintf("PRAGMA mmap_size = %d; PRAGMA temp_store = MEMORY; ", maxMapped)
	switch mode {
	case ReadOnly:
		return all + "PRAGMA query_only = 1; BEGIN; PRAGMA schema_version"
	case Fresh:
		return all + fmt.Sprintf("PRAGMA page_size = %d; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -65536", filePage)
	}
	return all + fmt.Sprintf("PRAGMA page_size = %d; %s; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = %d; PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -32768",
		filePage, l.Settings, maxLog)
}

// sourceURI names a file to the driver: any path, as a URI.
func sourceURI(path string, mode Mode, immutable string, patience time.Duration) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		abs = path
	}
	v := url.Values{
		"mode": {"rwc"}, "_busy_timeout": {strconv.FormatInt(patience.Milliseconds(), 10)},
		"_stmt_cache_size": {"64"}, "_mutex": {"no"},
	}
	if mode == ReadOnly {
		v.Set("mode", "ro")
	}
	if immutable != "" {
		v.Set("immutable", immutable)
	}
	return (&url.URL{Scheme: "file", Path: abs, RawQuery: v.Encode()}).String()
}

// touch finds what the operating system has to say of a file, in its own words. Where there is none yet, who writes
// makes an empty one.
func touch(path string, mode Mode) error {
	flag := os.O_RDONLY
	if mode != ReadOnly {
		flag = os.O_RDWR | os.O_CREATE
	}
	f, err := os.OpenFile(path, flag, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

func isReadOnlyFolder(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && (e.Code == sqlite3.ErrCantOpen || e.Code == sqlite3.ErrReadonly ||
		e.Code == sqlite3.ErrIoErr)
}

func hasLog(path string) bool {
	info, err := os.Stat(path + "-wal")
	return err == nil && info.Size() > 0
}

// check compares the layout of a file, and the length: SQLite itself does not miss a part of the last page. The length
// is asked last: a writer puts the log's pages into the file, then empties the log. A file that has no tables yet gets
// them; who only reads finds none.
func (d *DB) check(ctx context.Context, l Layout) (err error) {
	if d.file, err = os.Stat(d.path); err != nil {
		return err
	}
	number := func(pragma string) (n int64) { // no SELECT: the schema need not be read for it
		err = cmp.Or(err, query(ctx, d, "PRAGMA "+pragma).one(&n))
		return n
	}
	id, version, bytes := number("application_id"), number("user_version"), number("page_count")*number("page_size")
	if err == nil && id == 0 && version == 0 {
		if d.mode == ReadOnly {
			return fs.ErrNotExist
		}
		return d.createTables(ctx, l)
	}
	if err == nil && id == l.Application && version > l.Version {
		return fmt.Errorf("%w: version %d, not version %d", ErrNewer, version, l.Version)
	}
	if err == nil && (id != l.Application || version < cmp.Or(l.Since, l.Version)) {
		err = fmt.Errorf("%w: %x version %d, not version %d", ErrSchema, id, version, l.Version)
	}
	if err != nil {
		return err
	}
	if hasLog(d.path) {
		return nil
	}
	size, err := d.Size()
	if err == nil && size < bytes {
		err = fmt.Errorf("%w: it has %d bytes of %d", ErrCorrupt, size, bytes)
	}
	return err
}

// createTables makes the tables, unless another process has just made them.
func (d *DB) createTables(ctx context.Context, l Layout) error {
	if _, err := d.sql.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	version := 0
	if err := query(ctx, d, "PRAGMA user_version").one(&version); err != nil || version != 0 {
		_, undone := d.sql.ExecContext(ctx, "ROLLBACK")
		return errors.Join(err, undone)
	}
	_, err := d.sql.ExecContext(ctx, fmt.Sprintf("%s; PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT",
		l.Tables, l.Application, l.Version))
	return err
}

// classify wraps the sentinel that fits an error of opening or reading a file.
func classify(err error) error {
	var e sqlite3.Error
	if !errors.As(err, &e) {
		return err
	}
	kind := error(nil)
	switch e.Code {
	case sqlite3.ErrCorrupt, sqlite3.ErrNotADB, sqlite3.ErrFormat:
		kind = ErrCorrupt
	case sqlite3.ErrError, sqlite3.ErrSchema:
		kind = ErrSchema
	case sqlite3.ErrBusy, sqlite3.ErrLocked, sqlite3.ErrProtocol:
		kind = ErrLocked
	case sqlite3.ErrPerm, sqlite3.ErrReadonly, sqlite3.ErrCantOpen, sqlite3.ErrAuth:
		kind = fs.ErrPermission
	case sqlite3.ErrFull:
		kind = syscall.ENOSPC
	case sqlite3.ErrNomem, sqlite3.ErrTooBig:
		kind = ErrRoom
	case sqlite3.ErrIoErr:
		// the file was replaced while it was opened; the number of the system is of another call
		if e.ExtendedCode == sqlite3.ErrIoErrFstat {
			kind = fs.ErrNotExist
			break
		}
		if kind = ErrCorrupt; e.SystemErrno != 0 {
			kind = e.SystemErrno
		}
	default:
		return err
	}
	return fmt.Errorf("%w: %w", kind, err)
}

// Close closes the file. Rows that are still open become invalid. What was written goes from the log into the file as
// far as nobody reads what stood there.
func (d *DB) Close() error {
	// a transaction that nobody ended keeps the connection
	ctx, stop := context.WithTimeout(context.Background(), time.Second)
	defer stop()
	err := error(nil)
	switch d.mode {
	case ReadWrite:
		// what others still read stays in the log
		_, _ = d.sql.ExecContext(ctx, "PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)")
	case Fresh:
		_, err = d.sql.ExecContext(ctx, "PRAGMA journal_mode = WAL") // nobody can change that while somebody reads
	case ReadOnly:
	}
	err = errors.Join(err, d.sql.Close())
	if d.mode == Fresh && err == nil {
		err = syncFile(d.path)
	}
	return classify(err)
}

// Vacuum writes the file anew, so that nothing is left in it of rows that were deleted. It waits for those who read.
func (d *DB) Vacuum(ctx context.Context) error {
	if _, err := d.sql.ExecContext(ctx, "VACUUM"); err != nil {
		return fmt.Errorf("db: vacuum: %w", classify(err))
	}
	var busy bool
	var pages, moved int
	if err := query(ctx, d, "PRAGMA wal_checkpoint(TRUNCATE)").one(&busy, &pages, &moved); err != nil || busy {
		return fmt.Errorf("db: vacuum: %w", cmp.Or(err, ErrLocked))
	}
	return nil
}

// syncFile makes a file safe that was written without care.
func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Size is how many bytes the file has.
func (d *DB) Size() (int64, error) {
	info, err := os.Stat(d.path)
	if err != nil {
		return 0, fmt.Errorf("db: %w", err)
	}
	return info.Size(), nil
}

// IsStillAtPath reports whether the file is the one at its path still, and was not made anew.
func (d *DB) IsStillAtPath() bool {
	now, err := os.Stat(d.path)
	return err == nil && (d.file == nil || os.SameFile(d.file, now))
}

// Reopen is another reader of what stands at the same path, which may have moved on. What is barred stays so.
func (d *DB) Reopen(ctx context.Context) (*DB, error) {
	out, err := Open(ctx, d.path, ReadOnly)
	if err != nil {
		return nil, err
	}
	if err := out.Bar(ctx, d.barred); err != nil {
		return nil, errors.Join(err, out.Close())
	}
	return out, nil
}

// Copy is a copy of the database in memory, to be written to, in the state that this reader sees.
func (d *DB) Copy(ctx context.Context) (*DB, error) {
	to := &DB{
		sql: sql.OpenDB(connector{"file::memory:?_mutex=no", Layout{}.pragmas(Fresh)}), mode: ReadOnly, path: d.path,
		file: d.file,
	}
	to.sql.SetMaxOpenConns(1)
	err := d.backup(ctx, to)
	if err != nil {
		return nil, fmt.Errorf("db: copy: %w", errors.Join(classify(err), to.sql.Close()))
	}
	return to, nil
}

func (d *DB) backup(ctx context.Context, to *DB) error {
	source, err := d.sql.Conn(ctx)
	if err != nil {
		return err
	}
	defer source.Close() // it goes back to where it came from
	target, err := to.sql.Conn(ctx)
	if err != nil {
		return err
	}
	defer target.Close()
	return source.Raw(func(from any) error {
		return target.Raw(func(into any) error {
			f, fine := from.(*sqlite3.SQLiteConn)
			i, ok := into.(*sqlite3.SQLiteConn)
			if !fine || !ok {
				return fmt.Errorf("the driver's connections are a %T and a %T", from, into)
			}
			b, err := i.Backup("main", f, "main")
			if err != nil {
				return err
			}
			_, err = b.Step(-1)
			return errors.Join(err, b.Finish())
		})
	})
}
