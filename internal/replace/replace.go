// Package replace replaces a file at once: a reader, also one behind a kill, finds the old text or the new.
package replace

import (
	"errors"
	"os"
	"path/filepath"
)

// File gives a file another text. Only its owner may read it then.
func File(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
