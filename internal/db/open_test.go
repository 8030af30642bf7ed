package db_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/git-rekal/git-rekal/internal/db"
)

const one = "01KAB3F9AAAAAAAAAAAAAAAAA1"

func TestOpenAnyPath(t *testing.T) {
	whole, err := os.ReadFile(sessions(t, one))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"plain.db", "per%cent%zz.db", "question?x=y.db", "it's.db", "with space.db", "ünïcode;.db", "a#b&c.db"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name)
			if err := os.WriteFile(path, whole, 0o600); err != nil {
				t.Fatal(err)
			}
			d, err := db.Open(t.Context(), path, db.ReadWrite)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := d.Session(t.Context(), one); err != nil {
				t.Error(err)
			}
			if err := d.Close(); err != nil {
				t.Error(err)
			}
			entries, err := os.ReadDir(filepath.Dir(path))
			if err != nil || len(entries) != 1 {
				t.Errorf("beside the database: %v, %v", entries, err)
			}
		})
	}
}

func TestOpenErrors(t *testing.T) {
	whole, err := os.ReadFile(sessions(t, one))
	if err != nil {
		t.Fatal(err)
	}
	// at gives a file another number where the header has one (https://www.sqlite.org/fileformat.html).
	at := func(offset int, number ...byte) []byte {
		return slices.Concat(whole[:offset], number, whole[offset+len(number):])
	}
	for _, tt := range []struct {
		name  string
		bytes []byte // nil: no file
		mode  db.Mode
		want  error
	}{
		{"absent", nil, db.ReadOnly, fs.ErrNotExist},
		{"empty", []byte{}, db.ReadOnly, db.ErrSchema},
		{"empty to write", []byte{}, db.ReadWrite, nil},
		{"garbage", []byte("this is no database"), db.ReadOnly, db.ErrCorrupt},
		{"cut short", whole[:len(whole)-1], db.ReadOnly, db.ErrCorrupt},
		{"other version", at(60, 0, 0, 0, 99), db.ReadOnly, db.ErrSchema},
		{"other program", at(68, 'z', 'z', 'z', 'z'), db.ReadWrite, db.ErrSchema},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.db")
			if tt.bytes != nil {
				if err := os.WriteFile(path, tt.bytes, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			d, err := db.Open(t.Context(), path, tt.mode)
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
	path := sessions(t, one)
	d, err := db.Open(t.Context(), path, db.ReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	tx, err := d.Begin(t.Context())
	if err == nil {
		err = errors.Join(tx.Exec(t.Context(), "DELETE FROM sessions"), tx.Rollback(), d.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := openData(t, path).Session(t.Context(), one); err != nil {
		t.Error(err)
	}
}

// A reader sees one state, whatever others write; a folder that nobody can write is read as it is.
func TestReaders(t *testing.T) {
	path := sessions(t, one)
	before := openData(t, path)
	d, err := db.Open(t.Context(), path, db.ReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	tx, err := d.Begin(t.Context())
	if err == nil {
		err = errors.Join(tx.Exec(t.Context(), "DELETE FROM sessions"), tx.Commit(t.Context()))
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := before.Session(t.Context(), one); err != nil {
		t.Errorf("a reader lost what it saw: %v", err)
	}
	if _, err := openData(t, path).Session(t.Context(), one); err == nil {
		t.Error("a later reader does not see what was written")
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// A copy in memory takes what is written to it, and the file does not.
func TestCopy(t *testing.T) {
	from := openData(t, sessions(t, one))
	to, err := from.Copy(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	tx, err := to.Begin(t.Context())
	if err == nil {
		err = errors.Join(tx.Exec(t.Context(), "DELETE FROM sessions"), tx.Commit(t.Context()))
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := to.Session(t.Context(), one); err == nil {
		t.Error("it is not gone from the copy")
	}
	if _, err := from.Session(t.Context(), one); err != nil {
		t.Error(err)
	}
}
