package transcript

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"time"

	"github.com/mattn/go-sqlite3"
)

// A database of an agent is open in the agent, which must not notice that it is read:
//
//   - It is opened read-only, and never made: what is not there stays so. A read-only connection makes no checkpoint.
//   - Each statement is a transaction of its own, and ends after turnTime: a writer waits for no longer than that where
//     the database has no log (WAL), and not at all where it has one.
//   - Without a log or a journal beside it, it is read as if nobody could write to it (immutable), because SQLite would
//     leave files behind there to say that somebody reads. When somebody wrote to it in the meantime, it is read again.

// turnTime is how long one transaction takes at most, but for one row that takes longer.
const turnTime = 40 * time.Millisecond

// dbTries bounds how often a database is read again because it changed while it was read as one that can't.
const dbTries = 3

var errChanged = errors.New("it changed while it was read")

// readDB hands a database to read. It may do so several times: the last one counts.
func readDB(path string, read func(*rows) error) error {
	for try := 1; ; try++ {
		err := readOnce(path, read)
		if !errors.Is(err, errChanged) || try == dbTries {
			return err
		}
	}
}

func readOnce(path string, read func(*rows) error) (err error) {
	alone := isAlone(path)
	stamp, _ := stampOf(path)
	query := "?mode=ro&_query_only=1&_busy_timeout=40"
	if alone {
		query = "?mode=ro&immutable=1"
	}
	db, err := sql.Open("sqlite3", (&url.URL{Scheme: "file", OmitHost: true, Path: path}).String()+query)
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	defer func() {
		err = errors.Join(err, db.Close())
		if now, _ := stampOf(path); alone && (now != stamp || !isAlone(path)) {
			err = errors.Join(errChanged, err)
		}
	}()
	return read(&rows{db, map[string]*sql.Stmt{}})
}

// isBusy reports whether a database could not be read because somebody writes to it at the moment.
func isBusy(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && (e.Code == sqlite3.ErrBusy || e.Code == sqlite3.ErrLocked)
}

// isAlone reports whether no log or journal lies beside a database.
func isAlone(path string) bool {
	for _, beside := range []string{"-wal", "-journal"} {
		if info, err := os.Lstat(path + beside); err == nil && info.Size() > 0 {
			return false
		}
	}
	return true
}

// rows reads from a database.
type rows struct {
	db       *sql.DB
	prepared map[string]*sql.Stmt // by their text; they are closed with the database
}

// each hands on the rows of a statement, as long as turnTime lasts: then there are more. A row that can't be read is
// left out by visit, which says so by no error.
func (r *rows) each(ctx context.Context, visit func(scan func(...any) error) error, statement string,
	args ...any,
) (more bool, err error) {
	query := r.prepared[statement]
	if query == nil {
		if query, err = r.db.PrepareContext(ctx, statement); err != nil {
			return false, fmt.Errorf("query: %w", err)
		}
		r.prepared[statement] = query
	}
	until := time.Now().Add(turnTime) //nolint:forbidigo // how long a lock is held is measured, and told to nobody
	found, err := query.QueryContext(ctx, args...)
	if err != nil {
		return false, fmt.Errorf("query: %w", err)
	}
	defer found.Close()
	for found.Next() {
		if err := visit(found.Scan); err != nil {
			return false, err
		}
		if time.Now().After(until) { //nolint:forbidigo // as above
			return true, nil
		}
	}
	if err := found.Err(); err != nil {
		return false, fmt.Errorf("query: %w", err)
	}
	return false, nil
}
