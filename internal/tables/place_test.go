package tables_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/git-rekal/git-rekal/internal/bucket"
	"github.com/git-rekal/git-rekal/internal/lock"
	"github.com/git-rekal/git-rekal/internal/tables"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// A run into a bucket removes what runs that died left in the temporary folder, and nothing of a run that lasts.
func TestExportRemovesAbandoned(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	elsewhere := t.TempDir()
	for name, age := range map[string]time.Duration{
		"git-rekal-export-died": 0, "git-rekal-export-lasts": 0,
		"git-rekal-export-begins": 0, "git-rekal-export-old": 25 * time.Hour, "other": 0,
	} {
		dir := filepath.Join(tmp, name)
		if err := os.MkdirAll(filepath.Join(dir, "shop", "0"), 0o700); err != nil {
			t.Fatal(err)
		}
		if name == "git-rekal-export-died" || name == "git-rekal-export-lasts" {
			held, err := lock.Acquire(t.Context(), filepath.Join(dir, ".lock"), lock.ToWrite, 0)
			if err != nil {
				t.Fatal(err)
			}
			if name == "git-rekal-export-died" {
				err = held.Release()
			} else {
				t.Cleanup(func() { _ = held.Release() })
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chtimes(dir, time.Time{}, time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(elsewhere, filepath.Join(tmp, "git-rekal-export-link")); err != nil {
		t.Fatal(err)
	}
	kept := []string{"git-rekal-export-begins", "git-rekal-export-lasts", "git-rekal-export-link", "other"}
	e := openBucketExport(t)
	if n := len(names(t, tmp)); n != len(kept)+1 {
		t.Errorf("beside its own folder: %q", names(t, tmp))
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	harness.Equal(t, "left", kept, names(t, tmp))
}

// openBucketExport begins a run into a bucket that holds nothing.
func openBucketExport(t *testing.T) *tables.Export {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte("<Error><Code>NoSuchKey</Code></Error>"))
	}))
	t.Cleanup(server.Close)
	settings := map[string]string{
		"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret",
		"AWS_ENDPOINT_URL": server.URL,
	}
	b, err := bucket.Open("s3://lake/a", func(name string) string { return settings[name] })
	if err != nil {
		t.Fatal(err)
	}
	e, err := tables.OpenExportTo(context.Background(), b, true)
	if err != nil {
		t.Fatal(err)
	}
	return e
}
