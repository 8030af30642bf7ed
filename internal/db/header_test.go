package db

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// watched is a file beside which something happens after it was asked something for the nth time.
type watched struct {
	*os.File
	n    int
	then func()
}

func (w *watched) ReadAt(b []byte, at int64) (int, error) {
	n, err := w.File.ReadAt(b, at)
	w.asked()
	return n, err
}

func (w *watched) Stat() (fs.FileInfo, error) {
	info, err := w.File.Stat()
	w.asked()
	return info, err
}

func (w *watched) asked() {
	if w.n--; w.n == 0 {
		w.then()
	}
}

// TestHeaderBesideAWriter holds that a file is not taken for damaged while its writer puts the log back into it, whenever that is.
func TestHeaderBesideAWriter(t *testing.T) {
	for n := range 3 {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.db")
			empty, err := Open(t.Context(), path, Fresh)
			if err != nil || empty.Close() != nil {
				t.Fatal(err)
			}
			w, err := Open(t.Context(), path, ReadWrite)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.sql.ExecContext(t.Context(), "CREATE TABLE grown AS SELECT randomblob(1000000) AS x"); err != nil {
				t.Fatal(err)
			}
			f, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			before, err := f.Stat()
			if err != nil {
				t.Fatal(err)
			}
			done := func() {
				if err := w.Close(); err != nil {
					t.Error(err)
				}
			}
			file := &watched{File: f, n: n, then: done}
			if n == 0 {
				done()
			}
			if err := indexLayout().checkHeader(file, path); err != nil {
				t.Error(err)
			}
			if n > 1 && file.n > 0 {
				done() // it was not asked so often
			}
			if after, err := f.Stat(); err != nil || after.Size() < before.Size()+1_000_000 || hasLog(path) {
				t.Errorf("the log was not put back: %d bytes after %d, %v", after.Size(), before.Size(), err)
			}
		})
	}
}
