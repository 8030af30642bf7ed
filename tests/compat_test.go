package tests

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-rekal/git-rekal/internal/segment"
	"github.com/git-rekal/git-rekal/internal/session"
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

// TestCompatLater: what a later version adds hides nothing of the rest, and is never written again without it.
func TestCompatLater(t *testing.T) {
	read := func(path string) session.Entry {
		t.Helper()
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		e, err := segment.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	want, got := read("testdata/compat/v1/kinds.ndjson"), read("testdata/compat/later/kinds.ndjson")
	if got.Unknown != 5 || got.Needs != "0.9.0" {
		t.Errorf("%d unknown, needs %q", got.Unknown, got.Needs)
	}
	clean, _, err := harness.Redactor().Apply(context.Background(), got)
	if err != nil {
		t.Fatal(err)
	}
	if parts, err := segment.Encode(clean); !errors.Is(err, segment.ErrUnknown) || parts != nil {
		t.Errorf("%d segments, %v", len(parts), err)
	}
	// Words, longer object IDs and a cursor are values, and stand as they are.
	cp, part := want.Checkpoint, &want.Sessions[0]
	sha := got.Checkpoint.GitSHA
	cp.GitSHA, cp.ActorType, cp.Via = sha, "service", "stash-pop"
	cp.Files[0].Change, cp.Files[0].Blob = "C", sha
	part.Hash, part.Bytes, part.Cursor = "", 0, "eyJ2Ijo3fQ=="
	part.Turns[0].Role = "reviewer"
	part.Model = "x-9"
	want.Unknown, want.Needs = got.Unknown, got.Needs
	harness.Equal(t, "the rest", want, got)
}
