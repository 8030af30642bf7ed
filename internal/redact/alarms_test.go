package redact_test

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/git-rekal/git-rekal/internal/redact"
)

// TestAlarms counts what redaction finds in folders that hold code, documentation or sessions (*.json.gz,
// *.jsonl.gz) and no secrets: REKAL_ALARMS=DIR:DIR.
func TestAlarms(t *testing.T) {
	dirs := os.Getenv("REKAL_ALARMS")
	if dirs == "" {
		t.Skip("REKAL_ALARMS names no folders")
	}
	r := redact.New()
	bytes, found := 0, 0
	look := func(name, text string) {
		if text == "" || len(text) > 1<<20 || !utf8.ValidString(text) || strings.Contains(text, "\x00") {
			return
		}
		bytes += len(text)
		out, rep := apply(t, r, entryOf(text))
		n := 0
		for _, of := range rep.Rules {
			n += of
		}
		if found += n; n > 0 {
			t.Logf("%v %q %s", rep.Rules, around(text, out.Sessions[0].Turns[0].Content), name)
		}
	}
	for _, dir := range filepath.SplitList(dirs) {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			text, err := readAny(path)
			if err != nil {
				return err
			}
			for _, s := range text {
				look(path, s)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d in %.2f MB: %.2f a MB", found, float64(bytes)/1e6, float64(found)/float64(bytes)*1e6)
}

// around is the first place where the two differ.
func around(was, is string) string {
	i := 0
	for i < min(len(was), len(is)) && was[i] == is[i] {
		i++
	}
	return was[max(0, i-40):i] + "»" + was[i:min(len(was), i+60)]
}

// readAny is a file's text, or the strings of the JSON that it packs.
func readAny(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if filepath.Ext(path) != ".gz" {
		b, err := io.ReadAll(f)
		return []string{string(b)}, err
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	var out []string
	for d := json.NewDecoder(z); ; {
		var v any
		if err := d.Decode(&v); err != nil {
			return out, nil // a text, or its end
		}
		out = append(out, stringsIn(v)...)
	}
}

func stringsIn(v any) []string {
	var out []string
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, e := range v {
			out = append(out, stringsIn(e)...)
		}
	case map[string]any:
		for _, e := range v {
			out = append(out, stringsIn(e)...)
		}
	}
	return out
}
