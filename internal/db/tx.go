package db

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/git-rekal/git-rekal/internal/attribution"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Rows is the answer to a query. Close it.
type Rows = sql.Rows

// Querier is what DB and Tx have in common.
type Querier interface {
	Query(ctx context.Context, query string, args ...any) (*Rows, error)
}

// Query runs one statement that returns rows.
func (d *DB) Query(ctx context.Context, query string, args ...any) (*Rows, error) {
	return wrapQueryError(d.sql.QueryContext(ctx, query, sqlValues(args)...))
}

func wrapQueryError(rows *Rows, err error) (*Rows, error) {
	if err != nil {
		return nil, fmt.Errorf("db: query: %w", classify(err))
	}
	return rows, nil
}

// sqlValues writes lists as JSON, for json_each, and times as microseconds since 1970: in place.
func sqlValues(args []any) []any {
	for i, arg := range args {
		switch v := arg.(type) {
		case []string, []int64, [][4]int64, []attribution.Commit, []Claim:
			args[i] = asJSON(v)
		case time.Time:
			args[i] = microsOrNull(v)
		}
	}
	return args
}

// asJSON is a list as JSON.
func asJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // unreachable: texts and numbers
	}
	if string(text) == "null" {
		return "[]"
	}
	return string(text)
}

// Tx is one transaction, on one connection. End it with Commit or Rollback. Behind the first statement that fails,
// those that write do nothing and return its error, and so does Commit.
type Tx struct {
	conn   *sql.Conn
	done   bool
	failed error
}

// Change writes into the index at path in one transaction.
func Change(ctx context.Context, path string, mode Mode, do func(context.Context, *Tx) error) (err error) {
	return indexLayout().Change(ctx, path, mode, do)
}

// Change is the function Change for a file of another layout.
func (l Layout) Change(ctx context.Context, path string, mode Mode, do func(context.Context, *Tx) error) error {
	d, err := l.Open(ctx, path, mode)
	if err != nil {
		return err
	}
	return errors.Join(d.Change(ctx, do), d.Close())
}

// Change does something in one transaction.
func (d *DB) Change(ctx context.Context, do func(context.Context, *Tx) error) error {
	tx, err := d.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback() // what failed is reported; the file is unchanged
	if err := do(ctx, tx); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// Begin starts a transaction that writes.
func (d *DB) Begin(ctx context.Context) (*Tx, error) {
	conn, err := d.sql.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("db: begin: %w", classify(err))
	}
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return nil, fmt.Errorf("db: begin: %w", errors.Join(classify(err), conn.Close()))
	}
	return &Tx{conn: conn}, nil
}

// Commit makes the transaction's writes durable.
func (t *Tx) Commit(ctx context.Context) error { return t.end(ctx, "COMMIT") }

// Rollback undoes the transaction; after Commit it does nothing, so that it can be deferred.
func (t *Tx) Rollback() error {
	// The caller's context may be what ended the transaction.
	return t.end(context.Background(), "ROLLBACK")
}

func (t *Tx) end(ctx context.Context, statement string) error {
	if t.done {
		return nil
	}
	if statement == "COMMIT" && t.failed != nil {
		return t.failed
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
	if t.failed != nil {
		return t.failed
	}
	if _, err := t.conn.ExecContext(ctx, query, sqlValues(args)...); err != nil {
		t.failed = fmt.Errorf("db: exec: %w", classify(err))
	}
	return t.failed
}

// Query runs one statement that returns rows, and sees what the transaction wrote.
func (t *Tx) Query(ctx context.Context, query string, args ...any) (*Rows, error) {
	return wrapQueryError(t.conn.QueryContext(ctx, query, sqlValues(args)...))
}

// insert runs a statement for each row: fill calls row with the statement's values, which does nothing behind an error.
func (t *Tx) insert(ctx context.Context, statement string, fill func(row func(args ...any))) error {
	if t.failed != nil {
		return t.failed
	}
	_, into, _ := strings.Cut(statement, "INTO ")
	table, _, _ := strings.Cut(into, " ")
	// By the driver's own statement: database/sql takes as long as SQLite for a row.
	err := t.conn.Raw(func(conn any) error {
		own, ok := conn.(driver.ConnPrepareContext)
		if !ok {
			return fmt.Errorf("the driver's connection is a %T", conn)
		}
		stmt, err := own.PrepareContext(ctx, statement)
		if err != nil {
			return err
		}
		run := rowRunner(ctx, stmt)
		fill(func(args ...any) {
			if err == nil {
				err = run(args...)
			}
		})
		return errors.Join(err, stmt.Close())
	})
	if err != nil {
		t.failed = fmt.Errorf("db: add to %s: %w", table, classify(err))
	}
	return t.failed
}

// rowRunner runs a statement with the values of one row after the other.
func rowRunner(ctx context.Context, stmt driver.Stmt) func(args ...any) error {
	here := context.WithoutCancel(ctx) // with another one the driver starts a goroutine for each row
	exec, ok := stmt.(driver.StmtExecContext)
	var row []driver.NamedValue
	return func(args ...any) error {
		if !ok {
			return fmt.Errorf("the driver's statement is a %T", stmt)
		}
		row = row[:0]
		for i, arg := range sqlValues(args) {
			v, err := driver.DefaultParameterConverter.ConvertValue(arg)
			if err != nil {
				return err
			}
			row = append(row, driver.NamedValue{Ordinal: i + 1, Value: v})
		}
		_, err := exec.ExecContext(here, row)
		return cmp.Or(err, ctx.Err())
	}
}

// insertInto is the statement that adds a row with so many values to a table.
func insertInto(table string, n int) string {
	return "INSERT INTO " + table + valuesClause(n)
}

func valuesClause(n int) string { return " VALUES (?" + strings.Repeat(",?", n-1) + ")" }

// writeRows adds rows to a table. Columns gives the places of a row's values in the order of the table's columns, as
// for readRows.
func writeRows[T any](ctx context.Context, t *Tx, into string, rows []T, columns func(*T) []any) error {
	return t.insert(ctx, into+valuesClause(len(columns(new(T)))), func(row func(args ...any)) {
		for i := range rows {
			row(columns(&rows[i])...)
		}
	})
}

// answer is what a query gave, or why it gave nothing.
type answer struct {
	rows *Rows
	err  error
}

func query(ctx context.Context, q Querier, query string, args ...any) answer {
	rows, err := q.Query(ctx, query, args...)
	return answer{rows, err}
}

// each calls scan for every row, and closes them.
func (a answer) each(scan func(rows *Rows) error) error {
	if a.err != nil {
		return a.err
	}
	defer a.rows.Close() // rows.Err says what went wrong
	for a.rows.Next() {
		if err := scan(a.rows); err != nil {
			return fmt.Errorf("db: read a row: %w", classify(err))
		}
	}
	if err := a.rows.Err(); err != nil {
		return fmt.Errorf("db: read rows: %w", classify(err))
	}
	return nil
}

// one reads the only row into places, if there is one.
func (a answer) one(cells ...any) error {
	return a.each(func(rows *Rows) error { return rows.Scan(cells...) })
}

// readRows reads every row into a value of its own, of which places gives one for each column.
func readRows[T any](a answer, places func(*T) []any) ([]T, error) {
	var out []T
	err := a.each(func(rows *Rows) error {
		var one T
		err := rows.Scan(places(&one)...)
		out = append(out, one)
		return err
	})
	return out, err
}

func asList(places ...any) []any { return places }

// withFacts are places, and behind them those of the facts of a session.
func withFacts(facts *session.Facts, places ...any) []any {
	for _, text := range facts.Texts() {
		places = append(places, textColumn{text})
	}
	return places
}

// readTexts reads rows of one column, a text.
func readTexts(a answer) ([]string, error) {
	return readRows(a, func(s *string) []any { return asList(s) })
}

// readMap reads rows of two columns: a key and a value.
func readMap[K comparable, V any](a answer) (map[K]V, error) {
	out := map[K]V{}
	err := a.each(func(rows *Rows) error {
		var key K
		var value V
		err := rows.Scan(&key, &value)
		out[key] = value
		return err
	})
	return out, err
}

// readGroups reads rows of two texts: a key, and one of its values.
func readGroups(a answer) (map[string][]string, error) {
	out := map[string][]string{}
	err := a.each(func(rows *Rows) error {
		var key, value string
		err := rows.Scan(&key, &value)
		out[key] = append(out[key], value)
		return err
	})
	return out, err
}

// orNull is a text for a column that holds NULL instead of "".
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// microsOrNull is a time as the tables hold it: microseconds since 1970, NULL for the zero time.
func microsOrNull(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}

// timeColumn is a column of a time: microseconds since 1970, NULL for the zero time.
type timeColumn struct{ t *time.Time }

// Value implements driver.Valuer.
func (m timeColumn) Value() (driver.Value, error) { return microsOrNull(*m.t), nil }

// Scan implements sql.Scanner.
func (m timeColumn) Scan(v any) error {
	switch v := v.(type) {
	case nil:
		*m.t = time.Time{}
	case int64:
		*m.t = time.UnixMicro(v).UTC()
	default:
		return fmt.Errorf("a time is a %T", v)
	}
	return nil
}

// textColumn is a column that is NULL for "".
type textColumn struct{ s *string }

// Value implements driver.Valuer.
func (t textColumn) Value() (driver.Value, error) { return orNull(*t.s), nil }

// Scan implements sql.Scanner.
func (t textColumn) Scan(v any) error {
	switch v := v.(type) {
	case nil:
		*t.s = ""
	case string:
		*t.s = v
	case []byte:
		*t.s = string(v)
	default:
		return fmt.Errorf("a text is a %T", v)
	}
	return nil
}

// listColumn is a column of a list, which is stored as JSON; NULL for nil.
type listColumn[T any] struct{ of *[]T }

// Value implements driver.Valuer.
func (l listColumn[T]) Value() (driver.Value, error) {
	if *l.of == nil {
		return nil, nil
	}
	return asJSON(*l.of), nil
}

// Scan implements sql.Scanner.
func (l listColumn[T]) Scan(v any) error {
	*l.of = nil
	if s, ok := v.(string); ok {
		return json.Unmarshal([]byte(s), l.of)
	}
	return nil
}

// Each calls scan for every row that a query gives.
func Each(ctx context.Context, q Querier, scan func(*Rows) error, statement string, args ...any) error {
	return query(ctx, q, statement, args...).each(scan)
}
