package capture

import (
	"os"
	"path/filepath"
	"testing"
)

// FuzzCache: a cache that was damaged is none, or one that can be used; and what is
// written is what is read.
func FuzzCache(f *testing.F) {
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		path := filepath.Join(dir, cacheFile)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		st := readCache(path)
		if st.Version != cacheVersion || st.Sessions == nil || st.Recorded == nil || st.Rewrites == nil || st.Latest == nil || st.Files == nil || st.Searched == nil {
			t.Fatalf("%+v", st)
		}
		for id, k := range st.Sessions {
			if k == nil {
				t.Fatalf("session %q is nil", id)
			}
		}
		st.forget(map[string]bool{})
		if err := st.save(dir); err != nil {
			t.Fatal(err)
		}
		readCache(path)
	})
}
