package capture

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/git-rekal/git-rekal/internal/statedb"
)

// FuzzCache: a cache that was damaged is none, or one that can be used; and what is
// written is what is read.
func FuzzCache(f *testing.F) {
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		if err := statedb.SetText(t.Context(), dir, cacheName, data, ""); err != nil {
			t.Fatal(err)
		}
		st := readCache(t.Context(), dir)
		if st.Sessions == nil || st.Recorded == nil || st.Rewrites == nil || st.Latest == nil || st.Files == nil ||
			st.Known == nil || st.Memories == nil || st.Marks == nil || st.Others == nil {
			t.Fatalf("%+v", st)
		}
		for id, k := range st.Sessions {
			if k == nil {
				t.Fatalf("session %q is nil", id)
			}
		}
		st.dropStampsOfMissing(map[string]bool{})
		if err := st.save(t.Context(), dir); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(st, readCache(t.Context(), dir), cmpopts.EquateEmpty(),
			cmpopts.IgnoreUnexported(state{})); diff != "" {
			t.Errorf("read (-written +read):\n%s", diff)
		}
	})
}
