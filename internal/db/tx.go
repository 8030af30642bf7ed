package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	duckdb "github.com/marcboeker/go-duckdb/v2"
)

// Rows is the answer to a query. Close it.
type Rows = sql.Rows

// Query runs one statement that returns rows. Each costs about a millisecond to plan: prefer
// one with a list over many.
func (d *DB) Query(ctx context.Context, query string, args ...any) (*Rows, error) {
	rows, err := d.sql.QueryContext(ctx, query, valid(args)...)
	if err != nil {
		return nil, fmt.Errorf("db: query: %w", classify(err))
	}
	return rows, nil
}

// valid writes arguments as the ledger writes texts. The engine refuses a text that is not UTF-8, and in
// a list it ends the process.
func valid(args []any) []any {
	out := slices.Clone(args)
	for i, arg := range out {
		switch v := arg.(type) {
		case string:
			out[i] = validText(v)
		case []string:
			if slices.ContainsFunc(v, func(s string) bool { return !utf8.ValidString(s) }) {
				v = slices.Clone(v)
				for k, s := range v {
					v[k] = validText(s)
				}
				out[i] = v
			}
		}
	}
	return out
}

func validText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

// Tx is one transaction, on one connection. End it with Commit or Rollback.
type Tx struct {
	conn    *sql.Conn
	done    bool
	created map[string]int64 // tables of runs of this transaction, and the rowids of their first pages; -1: not asked yet
}

// Begin starts a transaction.
func (d *DB) Begin(ctx context.Context) (*Tx, error) {
	conn, err := d.sql.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("db: begin: %w", err)
	}
	if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil {
		return nil, fmt.Errorf("db: begin: %w", errors.Join(err, conn.Close()))
	}
	return &Tx{conn: conn}, nil
}

// Commit makes the transaction's writes durable: 15 to 30 ms.
func (t *Tx) Commit(ctx context.Context) error {
	return t.end(ctx, "COMMIT")
}

// Rollback undoes the transaction; after Commit it does nothing, so that it can be deferred.
func (t *Tx) Rollback() error {
	// The caller's context may be what ended the transaction.
	return t.end(context.Background(), "ROLLBACK")
}

func (t *Tx) end(ctx context.Context, statement string) error {
	if t.done {
		return nil
	}
	t.done = true
	_, err := t.conn.ExecContext(ctx, statement)
	if err != nil && statement == "COMMIT" {
		_, _ = t.conn.ExecContext(context.Background(), "ROLLBACK")
	}
	if err := errors.Join(err, t.conn.Close()); err != nil {
		return fmt.Errorf("db: %s: %w", statement, classify(err))
	}
	return nil
}

// Exec runs statements that return no rows.
func (t *Tx) Exec(ctx context.Context, query string, args ...any) error {
	if _, err := t.conn.ExecContext(ctx, query, args...); err != nil {
		return fmt.Errorf("db: exec: %w", classify(err))
	}
	return nil
}

// Query runs one statement that returns rows, and sees what the transaction wrote.
func (t *Tx) Query(ctx context.Context, query string, args ...any) (*Rows, error) {
	rows, err := t.conn.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("db: query: %w", classify(err))
	}
	return rows, nil
}

// Append bulk-inserts into a table: fill calls row once for each row with a value for every
// column in the table's order (nil for NULL), about a microsecond each. The Go type must fit
// the column: int32 or int64 for INTEGER, time.Time for TIMESTAMP, []byte for BLOB, []float32 for
// FLOAT[]. An error leaves the transaction unusable but for Rollback.
func (t *Tx) Append(table string, fill func(row func(values ...any) error) error) error {
	err := t.conn.Raw(func(dc any) error {
		conn, ok := dc.(driver.Conn)
		if !ok {
			return fmt.Errorf("the driver's connection is a %T", dc)
		}
		appender, err := duckdb.NewAppender(conn, catalog, "", table)
		if err != nil {
			return err
		}
		var values []driver.Value
		err = fill(func(row ...any) error {
			values = values[:0]
			for _, v := range row {
				values = append(values, v)
			}
			return appender.AppendRow(values...)
		})
		return errors.Join(err, appender.Close())
	})
	if err != nil {
		return fmt.Errorf("db: append to %s: %w", table, classify(err))
	}
	return nil
}
