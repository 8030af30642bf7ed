package transcript

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"
)

// FuzzLines: however the bytes come, lines are the same, and their offsets too; and each is at most as
// long as it may be.
func FuzzLines(f *testing.F) {
	f.Fuzz(func(t *testing.T, raw []byte) {
		read := func(r io.Reader) (out []string, done int64) {
			done, err := eachRecord(context.Background(), r, &Counts{}, func(ln line) bool {
				if ln.start < 0 || ln.start > int64(len(raw)) || len(ln.text) > MaxLine {
					t.Fatalf("line at %d of %d bytes", ln.start, len(ln.text))
				}
				out = append(out, string(ln.text))
				return json.Valid(ln.text)
			})
			if err != nil {
				t.Fatal(err)
			}
			return out, done
		}
		all, done := read(bytes.NewReader(raw))
		some, then := read(iotest.OneByteReader(bytes.NewReader(raw)))
		if done != then || done > int64(len(raw)) || len(all) != len(some) {
			t.Fatalf("%d lines and %d bytes, or %d and %d", len(all), done, len(some), then)
		}
		for i := range all {
			if all[i] != some[i] {
				t.Fatalf("line %d: %q or %q", i, all[i], some[i])
			}
		}
	})
}

// FuzzFields: what is JSON is read as such; what is read as an object has the members that JSON
// sees.
func FuzzFields(f *testing.F) {
	f.Fuzz(func(t *testing.T, raw []byte) {
		var members map[string]json.RawMessage
		valid := json.Unmarshal(raw, &members) == nil && members != nil
		seen := map[string]string{}
		ok := eachMember(raw, func(key, value []byte) {
			var name string
			if json.Unmarshal([]byte(`"`+string(key)+`"`), &name) == nil {
				seen[name] = string(value)
			}
			_ = stringOf(value)
		})
		if !valid {
			return
		}
		if !ok {
			if bytes.Count(raw, []byte("["))+bytes.Count(raw, []byte("{")) <= maxDepth {
				t.Fatalf("%q is an object", raw)
			}
			return
		}
		for key, value := range members {
			if seen[key] != string(value) {
				t.Fatalf("%q: %q is %q, not %q", raw, key, seen[key], value)
			}
		}
	})
}

// FuzzSpawner: whatever describes a subagent, its parent's name is one that the ledger takes.
func FuzzSpawner(f *testing.F) {
	f.Fuzz(func(t *testing.T, meta, sibling []byte) {
		dir := t.TempDir()
		file := File{AgentID: "a", Parent: "p", Meta: filepath.Join(dir, "meta"), Path: filepath.Join(dir, "a")}
		other := File{AgentID: "b", Parent: "p", Path: filepath.Join(dir, "b")}
		for path, text := range map[string][]byte{file.Meta: meta, other.Path: sibling, file.Path: nil} {
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got, err := FindSpawner(t.Context(), file, []File{file, other})
		if err != nil {
			t.Fatal(err)
		}
		if got != ledgerName(got) || validText(got) != got {
			t.Fatalf("%q", got)
		}
	})
}
