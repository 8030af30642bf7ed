package tests

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/segment"
	"github.com/git-rekal/git-rekal/tests/harness"
)

// TestCompat keeps the ledgers of every released format readable: what lies in
// testdata/compat was written once and is never changed. Format 1 is the current one, so
// writing it again must give the same bytes.
func TestCompat(t *testing.T) {
	files, err := filepath.Glob("testdata/compat/v1/*.ndjson")
	if err != nil || len(files) < 2 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			entry, err := segment.Decode(want)
			if err != nil {
				t.Fatal(err)
			}
			clean, _, err := harness.Redactor().Apply(context.Background(), entry)
			if err != nil {
				t.Fatal(err)
			}
			got, err := segment.Encode(clean)
			if err != nil || len(got) != 1 {
				t.Fatalf("%d segments, %v", len(got), err)
			}
			if diff := cmp.Diff(string(want), string(got[0])); diff != "" {
				t.Errorf("written again (-want +got):\n%s", diff)
			}
		})
	}
}
