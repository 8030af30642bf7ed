package statedb_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/git-rekal/git-rekal/internal/db"
	"github.com/git-rekal/git-rekal/internal/statedb"
	"github.com/git-rekal/git-rekal/tests/harness"
)

func set(t *testing.T, dir, text, born string) {
	t.Helper()
	if err := statedb.SetText(t.Context(), dir, "a", []byte(text), born); err != nil {
		t.Fatal(err)
	}
}

func want(t *testing.T, dir, name, text string) (born string) {
	t.Helper()
	got, born := statedb.Text(t.Context(), dir, name)
	if string(got) != text {
		t.Errorf("%s is %q, want %q", name, got, text)
	}
	return born
}

func TestMadeAnew(t *testing.T) {
	for name, harm := range map[string]func(file string) error{
		"gone":              os.Remove,
		"nonsense":          func(file string) error { return os.WriteFile(file, []byte("nonsense"), 0o600) },
		"cut off":           func(file string) error { return os.Truncate(file, 5000) },
		"empty":             func(file string) error { return os.Truncate(file, 0) },
		"without a table":   func(file string) error { return inFile(t, file, "DROP TABLE texts") },
		"another program's": func(file string) error { return inFile(t, file, "PRAGMA application_id = 7") },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			set(t, dir, "one", "")
			born := want(t, dir, "a", "one")
			if err := harm(filepath.Join(dir, "state.db")); err != nil {
				t.Fatal(err)
			}
			want(t, dir, "a", "")
			set(t, dir, "two", born) // of one that goes by what the former one said
			want(t, dir, "a", "")
			set(t, dir, "three", "")
			want(t, dir, "a", "three")
		})
	}
}

func inFile(t *testing.T, file, statement string) error {
	t.Helper()
	return statedb.Change(t.Context(), filepath.Dir(file),
		func(ctx context.Context, tx *db.Tx) error { return tx.Exec(ctx, statement) })
}

// A damage that SQLite does not see: the text is none.
func TestFlippedBit(t *testing.T) {
	dir := t.TempDir()
	set(t, dir, "one", "")
	if err := inFile(t, filepath.Join(dir, "state.db"), "UPDATE texts SET text = 'ona' WHERE name = 'a'"); err != nil {
		t.Fatal(err)
	}
	want(t, dir, "a", "")
}

// Short texts come at once; of a long one only its name, and of a damaged one nothing.
func TestShortTexts(t *testing.T) {
	dir := t.TempDir()
	harness.Equal(t, "before there is a file", map[string][]byte{}, statedb.ShortTexts(t.Context(), dir))
	set(t, dir, "one", "")
	for name, text := range map[string]string{"empty": "", "long": strings.Repeat("x", 70_000), "harmed": "two"} {
		if err := statedb.SetText(t.Context(), dir, name, []byte(text), ""); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "state.db")
	if err := inFile(t, file, "UPDATE texts SET text = 'twx' WHERE name = 'harmed'"); err != nil {
		t.Fatal(err)
	}
	harness.Equal(t, "all", map[string][]byte{"a": []byte("one"), "empty": {}, "long": nil},
		statedb.ShortTexts(t.Context(), dir))
	if err := os.Truncate(file, 5000); err != nil {
		t.Fatal(err)
	}
	harness.Equal(t, "of a damaged file", map[string][]byte{}, statedb.ShortTexts(t.Context(), dir))
}

// Where the folder is gone nothing is made.
func TestFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "rekal")
	set(t, dir, "one", "")
	if _, err := os.Stat(dir); err == nil {
		t.Error("it made the folder")
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	set(t, dir, "one", "")
	if info, err := os.Stat(filepath.Join(dir, "state.db")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read it: %v, %v", info, err)
	}
}

// Who has read what is forgotten since does not write it back.
func TestForget(t *testing.T) {
	dir := t.TempDir()
	set(t, dir, "one", "")
	born, before := want(t, dir, "a", "one"), want(t, dir, "b", "")
	if err := statedb.Forget(t.Context(), dir, "a"); err != nil {
		t.Fatal(err)
	}
	set(t, dir, "two", born)
	set(t, dir, "two", before)
	set(t, dir, "three", want(t, dir, "a", ""))
	want(t, dir, "a", "three")
}

// A clean that takes the folder away meanwhile is no error.
func TestCleanedMeanwhile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "rekal")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	err := statedb.Change(t.Context(), dir, func(context.Context, *db.Tx) error {
		return errors.Join(os.RemoveAll(dir), db.ErrCorrupt)
	})
	if err != nil {
		t.Error(err)
	}
}

// A later version's state stays as it is: two versions beside each other must not make it anew in turn.
func TestLaterVersion(t *testing.T) {
	dir := t.TempDir()
	set(t, dir, "one", "")
	file := filepath.Join(dir, "state.db")
	if err := inFile(t, file, "PRAGMA user_version = 99"); err != nil {
		t.Fatal(err)
	}
	want(t, dir, "a", "")
	set(t, dir, "two", "")
	d, err := sql.Open("sqlite3", file)
	if err == nil {
		_, err = d.ExecContext(t.Context(), "PRAGMA user_version = 2")
		err = errors.Join(err, d.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	want(t, dir, "a", "one")
}

// Others read while a change is made, however large that is.
func TestReadBesideChange(t *testing.T) {
	dir := t.TempDir()
	set(t, dir, "one", "")
	err := statedb.Change(t.Context(), dir, func(ctx context.Context, tx *db.Tx) error {
		err := tx.Exec(ctx, "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n LIMIT 1000) INSERT INTO edits SELECT 'a.go', i, randomblob(10000) FROM n")
		want(t, dir, "a", "one")
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// Several processes, here connections, lose nothing, also where all of them find no file.
func TestAtOnce(t *testing.T) {
	dir := t.TempDir()
	var beside sync.WaitGroup
	for i := range 16 {
		beside.Go(func() {
			for j := range 8 {
				name := fmt.Sprint(i, " ", j)
				if err := statedb.SetText(t.Context(), dir, name, []byte(name), ""); err != nil {
					t.Error(err)
				}
			}
		})
	}
	beside.Wait()
	for i := range 16 {
		for j := range 8 {
			name := fmt.Sprint(i, " ", j)
			want(t, dir, name, name)
		}
	}
}
