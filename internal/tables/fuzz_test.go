package tables_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/materialize"
	"github.com/git-rekal/git-rekal/internal/tables"
)

// FuzzSelect: whatever a user's statement is, it ends, is an error of one kind or an answer, and
// changes and adds no file.
func FuzzSelect(f *testing.F) {
	dir, err := os.MkdirTemp("", "rekal-fuzz-")
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = os.RemoveAll(dir) })
	from := index(f)
	path := filepath.Join(dir, "data.db")
	d, err := tables.Open(f.Context(), dir, materialize.DataDB, "", from, func() {})
	if err == nil {
		err = d.Close()
	}
	if err != nil {
		f.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	limits := tables.Limits{Time: 2 * time.Second, Memory: 256 << 20}
	f.Fuzz(func(t *testing.T, statement string) {
		d, err := tables.Open(t.Context(), dir, materialize.DataDB, "", from, func() {})
		if err != nil {
			t.Fatal(err)
		}
		err = d.Select(t.Context(), statement, limits, func(r tables.Row) error {
			if len(r.Columns) != len(r.Values) {
				t.Errorf("%d columns, %d values", len(r.Columns), len(r.Values))
			}
			return nil
		})
		if err != nil && !strings.HasPrefix(err.Error(), "query: ") && !strings.HasPrefix(err.Error(), "tables: ") {
			t.Errorf("%q: %v", statement, err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		after, err := os.ReadFile(path)
		if err != nil || string(after) != string(before) {
			t.Fatalf("%q changed the file: %v", statement, err)
		}
		if files, err := os.ReadDir(dir); err != nil || len(files) != 2 {
			t.Fatalf("%q left %v, %v", statement, files, err)
		}
	})
}
