package tables

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	duckdb "github.com/marcboeker/go-duckdb/v2"

	"github.com/git-rekal/git-rekal/internal/db"
)

// fill bulk-inserts what the index says into a table, about a microsecond a row. The Go type must fit
// the column: int32 or int64 for INTEGER, time.Time for TIMESTAMP, []float32 for FLOAT[].
func fill(ctx context.Context, conn *sql.Conn, t table, from *db.DB) error {
	err := conn.Raw(func(dc any) error {
		raw, ok := dc.(driver.Conn)
		if !ok {
			return fmt.Errorf("the driver's connection is a %T", dc)
		}
		appender, err := duckdb.NewAppender(raw, catalog, "", t.name)
		if err != nil {
			return err
		}
		err = from.Each(ctx, t.query, func(rows *db.Rows) error {
			values, err := t.read(rows)
			if err != nil {
				return err
			}
			return errors.Join(appender.AppendRow(values...), ctx.Err())
		})
		return errors.Join(err, appender.Close())
	})
	if err != nil {
		return fmt.Errorf("tables: fill %s: %w", t.name, classify(err))
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
