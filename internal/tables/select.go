package tables

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	duckdb "github.com/marcboeker/go-duckdb/v2"

	"github.com/git-rekal/git-rekal/internal/advice"
)

// Row is one row of a user's own statement.
type Row struct {
	Columns []string
	Values  []any
}

// Limits is what a user's own statement may take. The engine's own limit (see settings) covers
// what it sorts, joins and groups by, and not results or long strings: an answer of ten million
// rows took 18 GB under it. So the process is watched.
type Limits struct {
	Time   time.Duration
	Memory int64 // bytes by which the process may grow; only Linux tells how far it did
}

// QueryMemory is the memory of "git rekal query".
const QueryMemory = 208 << 20

// What a statement is stopped for.
var (
	ErrTime   = advice.New("it takes too long", "ask for less, or give it more with --timeout")
	ErrMemory = advice.New("it takes too much memory", "ask for less: fewer columns, a WHERE, a LIMIT")
)

// ErrStatement is a statement that is no SQL, or not a single SELECT; ErrName, a statement with unknown tables or
// columns.
var (
	ErrStatement = advice.New("wrong statement", `give one SELECT`)
	ErrName      = advice.New("no such name",
		`this lists tables and columns, with --index those of index.db: git rekal query "SELECT table_name, column_name FROM duckdb_columns() WHERE NOT internal"`)
)

// Select runs one read-only statement that a user typed, and gives each row to emit. The
// engine decides what the statement is: it runs inside a subquery, which DuckDB refuses
// for anything but a single SELECT. It returns ErrTime or ErrMemory for one that goes beyond
// its limits. Give a DB one such statement and close it: enable_logging(), which is a SELECT to the
// engine, can make the next one fail.
//
// The engine looks for an interruption between steps, and one call of repeat() can be a step of a
// minute and of gigabytes. Such a statement is left to itself: emit is not called any more, and
// Close returns at once. The process ought to end then.
func (d *DB) Select(ctx context.Context, statement string, limit Limits, emit func(Row) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	done := make(chan error, 1)
	go func() { done <- d.selectRows(ctx, statement, emit) }()
	err := waitWithinLimits(done, limit, stop)
	if errors.Is(err, errUnstoppable) {
		d.left.Store(true)
	}
	if cause := context.Cause(ctx); cause != nil {
		return fmt.Errorf("query: %w", cause)
	}
	return err
}

// How often a statement is looked at, how long one that was interrupted may take to end, and how
// much it may grow meanwhile.
const (
	checkEvery = 2 * time.Millisecond
	stopGrace  = time.Second
	stopRoom   = 16 << 20
)

// errUnstoppable says that a statement still runs.
var errUnstoppable = errors.New("it does not stop")

// waitWithinLimits waits for a statement's end, and stops it at its limits.
func waitWithinLimits(done <-chan error, limit Limits, stop func(error)) error {
	tick, end := time.NewTicker(checkEvery), time.NewTimer(limit.Time)
	defer tick.Stop()
	defer end.Stop()
	most, stopped := residentBytes()+limit.Memory, false
	for {
		why := error(nil)
		select {
		case err := <-done:
			return err
		case <-end.C:
			why = ErrTime
		case <-tick.C:
			if residentBytes() <= most {
				continue
			}
			why = ErrMemory
		}
		if stopped {
			return errUnstoppable
		}
		stop(why)
		stopped, most = true, most+stopRoom
		end.Reset(stopGrace)
	}
}

// residentBytes is how many bytes of memory of its own the process holds; 0 where the system does
// not tell.
func residentBytes() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, all, shared int64
	if _, err := fmt.Sscan(string(text), &size, &all, &shared); err != nil {
		return 0
	}
	return (all - shared) * int64(os.Getpagesize())
}

const inSubquery = `SELECT * FROM query(?)`

// startSelect also takes a statement that gives a column the name of a keyword without AS, as "sum(cost) cost" and
// "count(*) day" do: other engines do, and the columns of our own tables have such names.
func (d *DB) startSelect(ctx context.Context, statement string) (*sql.Rows, error) {
	rows, err := d.sql.QueryContext(ctx, inSubquery, statement)
	if e := (*duckdb.Error)(nil); errors.As(err, &e) &&
		(e.Type == duckdb.ErrorTypeParser || e.Type == duckdb.ErrorTypeSyntax) {
		if parsed, ok := d.addMissingAS(ctx, statement); ok {
			return d.sql.QueryContext(ctx, inSubquery, parsed)
		}
	}
	return rows, err
}

// maxMissingAS is how many columns of a statement may lack AS.
const maxMissingAS = 32

// addMissingAS puts AS where the engine can't read on, as long as it then reads further; ok says that it then reads
// all.
func (d *DB) addMissingAS(ctx context.Context, statement string) (parsed string, ok bool) {
	last := -1
	for range maxMissingAS {
		var at sql.NullInt64 // in characters; NULL where all can be read
		err := d.sql.QueryRowContext(ctx, `SELECT (json_serialize_sql(?::VARCHAR)->>'position')::BIGINT`, statement).Scan(&at)
		if err != nil || !at.Valid {
			return statement, err == nil
		}
		text := []rune(statement)
		if at.Int64 <= int64(last) || at.Int64 >= int64(len(text)) {
			break
		}
		last = int(at.Int64) + len("AS ")
		statement = string(text[:at.Int64]) + "AS " + string(text[at.Int64:])
	}
	return "", false
}

func (d *DB) selectRows(ctx context.Context, statement string, emit func(Row) error) error {
	rows, err := d.startSelect(ctx, statement)
	if err != nil {
		return fmt.Errorf("query: %w", withoutWrapper(err))
	}
	columns, err := rows.Columns()
	if err != nil {
		return errors.Join(fmt.Errorf("query: %w", err), rows.Close())
	}
	values, cells := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		cells[i] = &values[i]
	}
	defer rows.Close() // rows.Err says what went wrong
	for err == nil && rows.Next() {
		err = errors.Join(rows.Scan(cells...), ctx.Err())
		for i, v := range values {
			if d, ok := v.(duckdb.Decimal); ok { // what a literal like 1.5 is
				values[i] = json.Number(d.String())
			}
		}
		if err == nil {
			err = emit(Row{Columns: columns, Values: values})
		}
	}
	if err = cmp.Or(err, rows.Err()); err != nil {
		return fmt.Errorf("tables: read rows: %w", classify(err))
	}
	return nil
}

// withoutWrapper takes the excerpt of our own statement off an error of the engine.
func withoutWrapper(err error) error {
	var e *duckdb.Error
	if !errors.As(err, &e) {
		return err
	}
	if e.Type == duckdb.ErrorTypeOutOfMemory {
		return ErrMemory
	}
	text, _, _ := strings.Cut(err.Error(), "\n\nLINE ")
	wrong := error(nil)
	switch e.Type {
	case duckdb.ErrorTypeParser, duckdb.ErrorTypeSyntax:
		wrong = ErrStatement
	case duckdb.ErrorTypeCatalog, duckdb.ErrorTypeBinder:
		wrong = ErrName
		_, text, _ = strings.Cut(text, "Error: ")
	}
	return &engineError{text: text, err: err, wrong: wrong}
}

// engineError shows an engine's error without what it says of a statement that the user
// did not type.
type engineError struct {
	text  string
	err   error
	wrong error // ErrStatement, ErrName, or nil where it is not the statement that is wrong
}

func (e *engineError) Error() string { return e.text }

// Unwrap returns what is wrong, and what the engine said.
func (e *engineError) Unwrap() []error {
	if e.wrong == nil {
		return []error{e.err}
	}
	return []error{e.wrong, e.err}
}
