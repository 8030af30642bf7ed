package db_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/session"
)

const one = "01KAB3F9AAAAAAAAAAAAAAAAA1"

func TestOpenAnyPath(t *testing.T) {
	whole, err := os.ReadFile(sessions(t, one))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"plain.db", "per%cent%zz.db", "question?x=y.db", "it's.db", "with space.db",
		"ünïcode;.db", "a#b&c.db",
	} {
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
		{"empty", []byte{}, db.ReadOnly, fs.ErrNotExist},
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

// A file is not taken for damaged while its writer puts the log back into it.
func TestOpenBesideAWriter(t *testing.T) {
	path := sessions(t, one)
	done := make(chan error, 1)
	go func() {
		for range 40 {
			err := db.Change(t.Context(), path, db.ReadWrite, func(ctx context.Context, tx *db.Tx) error {
				return errors.Join(tx.Exec(ctx, "CREATE TABLE IF NOT EXISTS grown (x)"),
					tx.Exec(ctx, "INSERT INTO grown VALUES (randomblob(300000))"))
			})
			if err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for {
		d, err := db.Open(t.Context(), path, db.ReadOnly)
		if err == nil {
			err = d.Close()
		}
		if err != nil {
			t.Error(err)
		}
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
			return
		default:
		}
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

// TestDamagedPages checks that a page that was never written (zeros, as a crash of the system leaves one) is noticed,
// and never believed: whatever is read is an error or what was written.
func TestDamagedPages(t *testing.T) {
	for name, mode := range map[string]db.Mode{"made anew": db.Fresh, "grown": db.ReadWrite} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "index.db")
			d, err := db.Open(t.Context(), path, mode)
			if err != nil {
				t.Fatal(err)
			}
			fill(t, d)
			if err := d.Close(); err != nil {
				t.Fatal(err)
			}
			whole, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			want, err := read(t, path)
			if err != nil || len(want) == 0 {
				t.Fatalf("%d rows, %v", len(want), err)
			}
			const page = 16 << 10
			noticed := 0
			for n := range len(whole) / page {
				damaged := bytes.Clone(whole)
				clear(damaged[n*page : (n+1)*page])
				if err := os.WriteFile(path, damaged, 0o600); err != nil {
					t.Fatal(err)
				}
				got, err := read(t, path)
				switch {
				case errors.Is(err, db.ErrCorrupt), errors.Is(err, db.ErrSchema):
					noticed++
				case err != nil:
					t.Errorf("page %d: %v", n+1, err)
				case !slices.Equal(got, want):
					t.Errorf("page %d: other rows without an error", n+1)
				}
			}
			if all := len(whole) / page; noticed < all-58 || all < 80 { // the tables that nobody read have a page each
				t.Errorf("noticed in %d of %d pages", noticed, all)
			}
		})
	}
}

// fill writes some pages of turns.
func fill(t *testing.T, d *db.DB) {
	t.Helper()
	tx, err := d.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	var parts []session.Session
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range 16 {
		s := session.Session{ID: fmt.Sprintf("S%03d", i)}
		for j := range 30 {
			s.Turns = append(s.Turns, session.Turn{Index: j, Role: session.RoleHuman, Content: noise(rng, 2000)})
		}
		if i < 2 {
			s.Turns[0].Content = noise(rng, 50_000) // on pages of its own
		}
		parts = append(parts, s)
	}
	if err := tx.AppendTurns(t.Context(), parts); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// noise is text that does not pack.
func noise(rng *rand.Rand, size int) string {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte('!' + rng.IntN(90))
	}
	return string(b)
}

// read is all turns of a file.
func read(t *testing.T, path string) (out []string, err error) {
	t.Helper()
	d, err := db.Open(t.Context(), path, db.ReadOnly)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	for i := range 16 {
		turns, err := d.Turns(t.Context(), fmt.Sprintf("S%03d", i), 0, 100, "")
		if err != nil {
			return nil, err
		}
		for _, turn := range turns {
			out = append(out, turn.Content)
		}
	}
	return out, nil
}
