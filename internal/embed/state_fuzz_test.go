package embed

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// FuzzState: whatever stands in embed.json, the server is asked again some day, and a later answer is noted.
func FuzzState(f *testing.F) {
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "embed.json")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		now := time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC)
		m := readMemory(path, "u", "m")
		if m.isResting(now) && m.isResting(now.Add(2*Rest)) && m.isResting(now.Add(1000*Rest)) {
			t.Fatalf("%q: it rests for ever", data)
		}
		if err := m.noteFailure(now); err != nil {
			t.Fatal(err)
		}
		if !readMemory(path, "u", "m").isResting(now) {
			t.Fatalf("%q: a failure is not noted", data)
		}
	})
}
