package db_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/git-rekal/git-rekal/internal/db"
)

var toy = db.Schema{Kind: "toy", Version: 3, DDL: "CREATE TABLE t (n INTEGER, s VARCHAR, b BLOB, v FLOAT[])"}

// fill creates a database of the toy schema with n rows.
func fill(t *testing.T, path string, n int) {
	t.Helper()
	ctx := context.Background()
	d, err := db.Open(ctx, path, db.ReadWrite, toy)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	tx, err := d.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	err = tx.Append("t", func(row func(...any) error) error {
		for i := range n {
			if err := row(i, "it's", []byte{0, 1}, []float32{1, 2}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
}

func count(t *testing.T, path string) (n int) {
	t.Helper()
	ctx := context.Background()
	d, err := db.Open(ctx, path, db.ReadOnly, toy)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	rows, err := d.Query(ctx, "SELECT count(*) FROM t WHERE s = ?", "it's")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	rows.Next()
	if err := rows.Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestOpenAnyPath(t *testing.T) {
	for _, name := range []string{"plain.db", "per%cent%zz.db", "question?x=y.db", "it's.db", "with space.db", "ünïcode;.db"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name)
			fill(t, path, 3000)
			if got := count(t, path); got != 3000 {
				t.Errorf("rows = %d, want 3000", got)
			}
			fi, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if fi.Mode().Perm() != 0o600 {
				t.Errorf("mode = %v, want 0600", fi.Mode().Perm())
			}
			entries, err := os.ReadDir(filepath.Dir(path))
			if err != nil || len(entries) != 1 {
				t.Errorf("beside the database: %v, %v", entries, err)
			}
		})
	}
}

func TestOpenErrors(t *testing.T) {
	good := filepath.Join(t.TempDir(), "good.db")
	fill(t, good, 100000)
	whole, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	other := toy
	other.Version++
	tests := []struct {
		name   string
		bytes  []byte // nil: no file
		schema db.Schema
		mode   db.Mode
		want   error
	}{
		{"absent", nil, toy, db.ReadOnly, fs.ErrNotExist},
		{"empty", []byte{}, toy, db.ReadOnly, db.ErrCorrupt},
		{"empty to write", []byte{}, toy, db.ReadWrite, db.ErrCorrupt},
		{"garbage", []byte("this is no database"), toy, db.ReadOnly, db.ErrCorrupt},
		{"cut short", whole[:len(whole)-1], toy, db.ReadOnly, db.ErrCorrupt},
		{"other version", whole, other, db.ReadOnly, db.ErrSchema},
		{"other kind", whole, db.Schema{Kind: "data", Version: toy.Version}, db.ReadWrite, db.ErrSchema},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.db")
			if tt.bytes != nil {
				if err := os.WriteFile(path, tt.bytes, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			d, err := db.Open(context.Background(), path, tt.mode, tt.schema)
			if err == nil {
				err = d.Close()
			}
			if !errors.Is(err, tt.want) {
				t.Errorf("error = %v, want %v", err, tt.want)
			}
		})
	}
}

func TestRollback(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "x.db")
	fill(t, path, 10)
	d, err := db.Open(ctx, path, db.ReadWrite, toy)
	if err != nil {
		t.Fatal(err)
	}
	tx, err := d.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := tx.Exec(ctx, "DELETE FROM t"); err != nil {
		t.Fatal(err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if got := count(t, path); got != 10 {
		t.Errorf("rows = %d, want 10", got)
	}
}
