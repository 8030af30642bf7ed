package harness

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
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
	out, err := ReadTranscripts(Data(t, "claude-code/transcripts-60.tar.gz"))
	if err == nil && len(out) != 60 {
		err = fmt.Errorf("%d transcripts, not 60", len(out))
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// ReadTranscripts reads an archive of transcripts, by session ID.
func ReadTranscripts(path string) (map[string][]byte, error) {
	text, err := read(path)
	if err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	for archive := tar.NewReader(bytes.NewReader(text)); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if id, ok := strings.CutSuffix(filepath.Base(h.Name), ".jsonl"); ok && h.Typeflag == tar.TypeReg {
			if out[id], err = io.ReadAll(archive); err != nil {
				return nil, fmt.Errorf("%s: %w", h.Name, err)
			}
		}
	}
}

// EachLine decodes the JSON lines of a file, which may be compressed.
func EachLine[T any](path string, f func(T)) error {
	text, err := read(path)
	if err != nil {
		return err
	}
	for dec := json.NewDecoder(bytes.NewReader(text)); ; {
		var v T
		if err := dec.Decode(&v); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		f(v)
	}
}

// Unzipped is what a file of the real data holds, which is kept compressed.
func Unzipped(t testing.TB, name string) []byte {
	t.Helper()
	raw, err := read(Data(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// read reads a file, which may be compressed.
func read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if !strings.HasSuffix(path, ".gz") {
		return io.ReadAll(f)
	}
	plain, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return io.ReadAll(plain)
}
