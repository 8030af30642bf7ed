package setup

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/git-rekal/git-rekal/tests/harness"
)

// What is to replace a file is from its first byte on no more readable than that: nothing need narrow it later.
func TestTempIsAsPrivate(t *testing.T) {
	for _, mode := range []fs.FileMode{0o600, 0o640, 0o400} {
		path := filepath.Join(t.TempDir(), "config")
		if err := os.WriteFile(path, nil, mode); err != nil {
			t.Fatal(err)
		}
		f, err := makeTemp(path, 0o666)
		if err != nil {
			t.Fatal(err)
		}
		info, err := f.Stat()
		if err = errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		harness.Equal(t, "bits beyond "+mode.String(), fs.FileMode(0), info.Mode().Perm()&^mode)
	}
}
