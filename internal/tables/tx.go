package tables

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	duckdb "github.com/marcboeker/go-duckdb/v2"
)

// fill bulk-inserts into a table: rows calls row once for each row with a value for every
// column in the table's order (nil for NULL), about a microsecond each. The Go type must fit
// the column: int32 or int64 for INTEGER, time.Time for TIMESTAMP, []float32 for FLOAT[].
func fill(ctx context.Context, conn *sql.Conn, table string, rows func(row func(values ...any) error) error) error {
	err := conn.Raw(func(dc any) error {
		raw, ok := dc.(driver.Conn)
		if !ok {
			return fmt.Errorf("the driver's connection is a %T", dc)
		}
		appender, err := duckdb.NewAppender(raw, catalog, "", table)
		if err != nil {
			return err
		}
		var values []driver.Value
		err = rows(func(row ...any) error {
			values = values[:0]
			for _, v := range row {
				values = append(values, v)
			}
			return errors.Join(appender.AppendRow(values...), ctx.Err())
		})
		return errors.Join(err, appender.Close())
	})
	if err != nil {
		return fmt.Errorf("tables: fill %s: %w", table, classify(err))
	}
	return nil
}

// each calls scan for every row and closes the rows.
func each(rows *sql.Rows, scan func() error) error {
	defer rows.Close() // rows.Err says what went wrong
	for rows.Next() {
		if err := scan(); err != nil {
			return fmt.Errorf("tables: read a row: %w", classify(err))
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("tables: read rows: %w", classify(err))
	}
	return nil
}
