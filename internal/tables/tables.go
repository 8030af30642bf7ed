package tables

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	duckdb "github.com/marcboeker/go-duckdb/v2"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/lock"
	"github.com/git-rekal/git-rekal/internal/materialize"
)

// data.db and index.db are made by the statement that finds them behind, under `.git/rekal/lock.tables`, from one state
// of the index. A commit, a recall or a sync never makes them; `git rekal index` does. Sums and scores are computed in
// Go in a fixed order, because parallel sums in SQL differ from run to run.

const patience = 10 * time.Minute // to wait for another process that makes one

// Open opens a database in a folder, in the state of the index. If the database is missing or behind, Open makes it
// anew, and calls slow before. It returns ErrMoved if the index was replaced meanwhile. Vectors of latent semantic
// analysis, which take longer than all else, are made only for a statement that may ask for them.
func Open(ctx context.Context, dir string, kind materialize.SQLFile, statement string, from *db.DB,
	slow func(),
) (*DB, error) {
	state, err := stateOf(ctx, kind, from, kind == materialize.IndexDB && asksForVectors(statement))
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, string(kind))
	held := (*lock.Lock)(nil)
	for tries := 0; ; tries++ {
		d, err := openReady(ctx, path, state)
		if err == nil || !mayRemake(err) || tries == maxTries {
			return d, errors.Join(err, held.Release())
		}
		if held == nil { // somebody else may make it just now
			slow()
			held, err = lock.Acquire(ctx, filepath.Join(dir, materialize.SQLLock), lock.ToWrite, patience)
		} else {
			err = remake(ctx, path, kind, from, state)
		}
		if err != nil {
			return nil, errors.Join(err, held.Release())
		}
	}
}

// withVectors stands in the state of a database with vectors, before those of the search that there are.
const withVectors = " vectors "

// asksForVectors reports whether a statement names what they are in, or may put a name together: query() and
// query_table() take text.
func asksForVectors(statement string) bool {
	return slices.ContainsFunc([]string{"session_embeddings", "index_state", "query"},
		func(name string) bool { return strings.Contains(strings.ToLower(statement), name) })
}

// maxTries bounds how often one begins again: who makes the index anew removes what was made of the old one.
const maxTries = 5

// ErrMoved says that the index was made anew meanwhile: it must be opened again.
var ErrMoved = errors.New("the index is being made anew: try again in a moment")

// mayRemake reports whether a database is made anew for an error. One that another program holds open for writing is,
// too: the new file takes its place, and that program keeps the old one.
func mayRemake(err error) bool {
	return slices.ContainsFunc([]error{errBehind, errCorrupt, errSchema, errLocked, fs.ErrNotExist},
		func(kind error) bool { return errors.Is(err, kind) })
}

// stateOf tells apart what a database was made of: the state of the index, what its reader may not see, and the
// tables of this version. That of the search, which changes while vectors are made in the background, counts only
// where vectors do.
func stateOf(ctx context.Context, kind materialize.SQLFile, from *db.DB, vectors bool) (string, error) {
	at, err := db.Cursor(ctx, from)
	if err != nil {
		return "", err
	}
	parts := []any{kind, version(), at}
	if barred := from.Barred(); len(barred) > 0 {
		parts = append(parts, sha256.Sum256([]byte(strings.Join(barred, " "))))
	}
	text, err := json.Marshal(parts)
	if err != nil || !vectors {
		return string(text), err
	}
	search, err := db.SearchState(ctx, from)
	return string(text) + withVectors + search, err
}

// remake makes a database from the index, beside the old one, and puts it in its place.
func remake(ctx context.Context, path string, kind materialize.SQLFile, from *db.DB, state string) error {
	if err := materialize.SweepSQL(filepath.Dir(path)); err != nil {
		return err
	}
	schema := schemaOf(kind)
	d, err := create(ctx, path+materialize.SQLFresh, schema)
	if err != nil {
		return err
	}
	err = errors.Join(d.fill(ctx, schema, from, state), d.Close())
	if err == nil && !from.IsStillAtPath() { // what it was made of may have had to go
		return errors.Join(ErrMoved, materialize.SweepSQL(filepath.Dir(path)))
	}
	if err == nil {
		err = os.Rename(path+materialize.SQLFresh, path)
	}
	if err != nil {
		return fmt.Errorf("tables: make %s: %w", kind, err)
	}
	return nil
}

// fill fills the tables.
func (d *DB) fill(ctx context.Context, schema schema, from *db.DB, state string) error {
	conn, err := d.sql.Conn(ctx)
	if err != nil {
		return classify(err)
	}
	defer conn.Close() // it goes back to where it came from
	for _, t := range schema.tables {
		if err := fillTable(ctx, conn, t, from); err != nil {
			return err
		}
	}
	if strings.Contains(state, withVectors) {
		if err := fillLSA(ctx, conn, from); err != nil {
			return fmt.Errorf("tables: %w", err)
		}
	}
	if schema.then != "" {
		if _, err := conn.ExecContext(ctx, schema.then); err != nil {
			return classify(err)
		}
	}
	_, err = conn.ExecContext(ctx, "COMMENT ON TABLE "+stateTable+" IS '"+escapeQuotes(state)+"'")
	return classify(err)
}

// EngineVersion asks DuckDB for its version: "v1.4.1".
func EngineVersion(ctx context.Context) (string, error) {
	d, err := sql.Open("duckdb", ":memory:?threads=1")
	if err != nil {
		return "", fmt.Errorf("tables: %w", err)
	}
	defer d.Close() // nothing was written
	var v string
	if err := d.QueryRowContext(ctx, "SELECT version()").Scan(&v); err != nil {
		return "", fmt.Errorf("tables: %w", err)
	}
	return v, nil
}

// fillTable bulk-inserts what the index says into a table, about a microsecond a row. The Go type must fit
// the column: int32 or int64 for INTEGER, time.Time for TIMESTAMP, []float32 for FLOAT[].
func fillTable(ctx context.Context, conn *sql.Conn, t table, from *db.DB, args ...any) error {
	return appendRows(ctx, conn, t.name, func(add func(...driver.Value) error) error {
		return db.Each(ctx, from, func(rows *db.Rows) error {
			values, err := t.read(rows)
			if err != nil {
				return err
			}
			return add(values...)
		}, t.query, args...)
	})
}

// appendRows adds the rows of each to a table.
func appendRows(ctx context.Context, conn *sql.Conn, table string,
	each func(add func(...driver.Value) error) error,
) error {
	err := conn.Raw(func(dc any) error {
		raw, ok := dc.(driver.Conn)
		if !ok {
			return fmt.Errorf("the driver's connection is a %T", dc)
		}
		appender, err := duckdb.NewAppender(raw, catalog, "", table)
		if err != nil {
			return err
		}
		err = each(func(values ...driver.Value) error { return errors.Join(appender.AppendRow(values...), ctx.Err()) })
		return errors.Join(err, appender.Close())
	})
	if err != nil {
		return fmt.Errorf("tables: fill %s: %w", table, classify(err))
	}
	return nil
}
