package harness

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Data is the path of a file or folder of the real data: in $REKAL_DATA, or in shared/data beside the
// repository. The test is skipped where it is not there.
func Data(t testing.TB, name string) string {
	t.Helper()
	_ = os.Getenv("REKAL_DATA_SUM") // other data, another run
	path := filepath.Join(cmp.Or(os.Getenv("REKAL_DATA"), filepath.Join(Root(t), "../shared/data")), name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no real data: %v", err)
	}
	return path
}

// Transcripts are 60 real sessions of Claude Code, as they lay on disk, by session ID.
func Transcripts(t testing.TB) map[string][]byte {
	t.Helper()
	f, err := os.Open(Data(t, "claude-code/transcripts-60.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for in := tar.NewReader(z); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if id, ok := strings.CutSuffix(filepath.Base(h.Name), ".jsonl"); ok {
			if out[id], err = io.ReadAll(in); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(out) != 60 {
		t.Fatalf("%d transcripts, not 60", len(out))
	}
	return out
}

// Unzipped is what a file of the real data holds, which is kept compressed.
func Unzipped(t testing.TB, name string) []byte {
	t.Helper()
	f, err := os.Open(Data(t, name))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(plain)
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return raw
}
