package capture

import (
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// FuzzCache: a cache that was damaged is none, or one that can be used; and what is
// written is what is read.
func FuzzCache(f *testing.F) {
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		if len(data)%2 == 0 { // what has the right checksum is decoded
			data = append(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(data)), data...)
		}
		path := filepath.Join(dir, cacheFile)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		st := readCache(path)
		if st.Sessions == nil || st.Recorded == nil || st.Rewrites == nil || st.Latest == nil || st.Files == nil || st.Known == nil || st.Memories == nil || st.Marks == nil || st.Others == nil {
			t.Fatalf("%+v", st)
		}
		for id, k := range st.Sessions {
			if k == nil {
				t.Fatalf("session %q is nil", id)
			}
		}
		st.dropStampsOfMissing(map[string]bool{})
		if err := st.save(dir); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(st, readCache(path), cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(state{})); diff != "" {
			t.Errorf("read (-written +read):\n%s", diff)
		}
	})
}
